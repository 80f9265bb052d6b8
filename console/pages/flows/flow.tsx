// A flow: its steps in an editor, a simulation, and where it is in use. A save shows the server's plan first.
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import type { ConsoleAnswer, OutputOf } from '../../api/client.ts';
import { useRead, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { getFlow, listAuthenticators, putFlow } from '../../generated/routes.ts';
import { kindInSection } from '../../kinds/all.ts';
import { curlOf, documentCommand, objectCommands } from '../../kinds/commands.ts';
import { DeclaredOnlyNote, useLock } from '../../kinds/declared-only.tsx';
import { ManagedBadge, managedOf, useHolds, watchSeconds } from '../../kinds/managed.tsx';
import { HeldBadge } from '../../kinds/managed-ways.tsx';
import { Review } from '../../kinds/review.tsx';
import { inRealm, realmAddress } from '../../shell/addresses.ts';
import { AsCommand, type Commands } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { ActionMenu } from '../../ui/menu.tsx';
import { Page } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { say } from '../../ui/toast.tsx';
import type { PageProps } from '../page.ts';
import { useCheck } from './check.tsx';
import { draftOf, keepDraft } from './drafts.ts';
import { StepEditor } from './editor.tsx';
import { useEdits } from './edits.ts';
import { Rename } from './rename.tsx';
import { Simulation } from './simulation.tsx';
import { bodyOf, countOf, documentOf, placed, sameTree, stepsOf } from './tree-model.ts';
import { BindingBadge, UsedBy } from './used-by.tsx';
import type { Registry } from './words.ts';

const Delete = lazy(() => import('../../kinds/delete.tsx'));
const Replay = lazy(() => import('./replay.tsx'));
const Merge = lazy(() => import('../../kinds/merge.tsx'));
type Flow = OutputOf<typeof getFlow>;

export default function FlowPage({ params: { realm, key = '' } }: PageProps) {
  const flow = useRead(
    getFlow,
    { params: { realm, alias: key }, query: { with: 'managedBy' } },
    { everySeconds: watchSeconds },
  );
  const authenticators = useRead(listAuthenticators, { params: { realm } });
  const registry = useMemo<Registry>(
    () => new Map((authenticators.data?.body ?? []).map((one) => [one.id, one])),
    [authenticators.data],
  );
  const problem = flow.error ?? authenticators.error;
  if (!flow.data?.body || !authenticators.data)
    return (
      <Page title={key} crumbs={crumbsOf(realm)}>
        {problem ? (
          <ProblemNote
            problem={problem}
            retry={() => {
              void flow.refetch();
              void authenticators.refetch();
            }}
          />
        ) : (
          <Loading lines={8} />
        )}
      </Page>
    );
  return (
    <Loaded
      key={key}
      realm={realm}
      alias={key}
      read={flow.data}
      registry={registry}
      onReread={async () => (await flow.refetch()).data}
    />
  );
}

const crumbsOf = (realm: string) => [
  { label: realm, to: realmAddress(realm) },
  { label: 'Flows', to: inRealm(realm, 'flows') },
];

function Loaded({
  realm,
  alias,
  read,
  registry,
  onReread,
}: {
  realm: string;
  alias: string;
  read: ConsoleAnswer<Flow>;
  registry: Registry;
  /** Reads the flow as it is now. */
  onReread: () => Promise<ConsoleAnswer<Flow> | undefined>;
}) {
  const may = useMay();
  const isReadOnly = !may(realm, 'flows:write');
  const [base, setBase] = useState(read);
  const before = useMemo(() => stepsOf(base.body?.executions ?? []), [base]);
  const edits = useEdits(draftOf(realm, alias, base.etag) ?? before);
  const { steps, begin } = edits;
  const all = useMemo(() => placed(steps), [steps]);
  const isChanged = !sameTree(steps, before);
  const check = useCheck(realm, alias, steps, all, isChanged && !isReadOnly);
  const [review, setReview] = useState(false);
  const [theirs, setTheirs] = useState<ConsoleAnswer<Flow>>();
  const [asks, setAsks] = useState<'rename' | 'delete'>();
  const save = useWrite(putFlow);
  // the saved flow changed elsewhere while nothing was edited here
  useEffect(() => {
    if (isChanged || read.etag === base.etag) return;
    setBase(read);
    begin(stepsOf(read.body?.executions ?? []));
  }, [read, base, isChanged, begin]);
  useEffect(
    () => keepDraft(realm, alias, base.etag, isChanged ? steps : undefined),
    [realm, alias, base.etag, isChanged, steps],
  );
  useEffect(() => {
    if (!isChanged) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isChanged]);

  const document = { flows: [{ alias, executions: documentOf(steps) }] };
  const body = { executions: bodyOf(steps) };
  const entry = kindInSection('flows');
  const isBuiltIn = base.body?.builtIn === true;
  const managed = { managed: managedOf(read.body), realm };
  const lock = useLock(realm, 'flows', { kind: 'flow', key: alias });
  const hold = useHolds(realm, managed.managed !== undefined)({ kind: 'flow', key: alias });
  // a manager declares the steps: edits are taken away as a declaration, and not saved
  const isDeclared = !isReadOnly && (lock.isLocked || (!hold && (managed.managed?.has('executions') ?? false)));
  const commands = async (): Promise<Commands> => {
    const made = entry ? await objectCommands(entry, { realm, key: alias }, { alias }, document) : {};
    return isChanged
      ? { ...made, realmctl: documentCommand(realm, document), curl: curlOf(putFlow, { realm, alias }, body) }
      : made;
  };
  const write = () =>
    save.mutate(
      {
        params: { realm, alias },
        body,
        ...(base.etag !== undefined && { headers: { 'if-match': base.etag } }),
      },
      {
        onSuccess: (answer) => {
          setBase(answer);
          begin(stepsOf(answer.body?.executions ?? []));
          setReview(false);
          say('Saved the flow.');
        },
        onError: (problem) => {
          if (!problem.is('precondition-failed')) return;
          setReview(false);
          void onReread().then(setTheirs);
        },
      },
    );
  return (
    <Page
      title={alias}
      crumbs={crumbsOf(realm)}
      badges={
        <>
          {isBuiltIn && <Badge>built in</Badge>}
          <BindingBadge realm={realm} alias={alias} />
          <ManagedBadge {...managed} />
          {hold && <HeldBadge hold={hold} />}
        </>
      }
      actions={
        <>
          <AsCommand commands={commands} />
          {!isReadOnly && (
            <>
              {isChanged && (
                <Button
                  onPress={() => {
                    save.reset();
                    begin(before);
                  }}
                >
                  Discard
                </Button>
              )}
              {isDeclared ? (
                <AsCommand commands={commands} label="Show the declaration" start="manifest" />
              ) : (
                <Button
                  variant="primary"
                  isDisabled={!isChanged || check.state === 'checking' || check.state === 'faulty'}
                  onPress={() => {
                    save.reset();
                    setReview(true);
                  }}
                >
                  Review and save
                </Button>
              )}
              {!isBuiltIn && !lock.isLocked && (
                <ActionMenu
                  label="More actions"
                  actions={[
                    { id: 'rename', label: 'Rename the flow', icon: 'edit', onAction: () => setAsks('rename') },
                    {
                      id: 'delete',
                      label: 'Delete the flow',
                      icon: 'delete',
                      danger: true,
                      onAction: () => setAsks('delete'),
                    },
                  ]}
                >
                  <IconButton label="More actions" icon="more" variant="quiet" />
                </ActionMenu>
              )}
            </>
          )}
        </>
      }
    >
      {isReadOnly && <Note>You may read the flow. Changing it needs the permission flows:write.</Note>}
      <DeclaredOnlyNote
        realm={realm}
        section="flows"
        kind="flow"
        many="flows"
        write="flows:write"
        things={[{ kind: 'flow', key: alias }, { kind: 'flow' }]}
      />
      {isDeclared && (
        <Note>
          {!lock.isDeclaredOnly && <span>A manager declares the steps of this flow, and would set them back.</span>}
          <span>Edit the steps here, then copy the declaration to where it is kept. Nothing is saved here.</span>
        </Note>
      )}
      <Tabs
        label={alias}
        tabs={[
          {
            id: 'steps',
            label: `Steps (${countOf(steps)})`,
            content: () => (
              <StepEditor
                realm={realm}
                registry={registry}
                edits={edits}
                all={all}
                check={check}
                isReadOnly={isReadOnly}
              />
            ),
          },
          ...(may.partly(realm, 'users:read')
            ? [
                {
                  id: 'try',
                  label: 'Who signs in how',
                  content: () => <Simulation realm={realm} alias={alias} edited={isChanged ? steps : undefined} />,
                },
              ]
            : []),
          ...(may(realm, 'events:read')
            ? [
                {
                  id: 'replay',
                  label: 'Replay',
                  content: () => <Replay realm={realm} alias={alias} edited={isChanged ? steps : undefined} />,
                },
              ]
            : []),
          { id: 'used', label: 'In use', content: () => <UsedBy realm={realm} alias={alias} /> },
        ]}
      />
      {review && (
        <Review
          title={`Save ${alias}`}
          realm={realm}
          document={document}
          changes={{ executions: document.flows[0]?.executions }}
          before={{ executions: documentOf(before) }}
          save="Save"
          onSave={write}
          onClose={() => setReview(false)}
          isSaving={save.isPending}
          problem={save.error}
          commands={commands}
        />
      )}
      {theirs?.body && (
        <Suspense>
          <Merge
            fields={[{ name: 'executions', label: 'Steps' }]}
            base={{ executions: documentOf(before) }}
            mine={{ executions: documentOf(steps) }}
            theirs={{ executions: documentOf(stepsOf(theirs.body.executions ?? [])) }}
            onClose={() => setTheirs(undefined)}
            onMerged={(merged) => {
              setBase(theirs);
              setTheirs(undefined);
              save.reset();
              // the manager may declare the steps by now: the edit is left to be taken there
              if ('executions' in merged) setReview(!isDeclared);
              else begin(stepsOf(theirs.body?.executions ?? []));
            }}
          />
        </Suspense>
      )}
      {asks === 'rename' && <Rename realm={realm} alias={alias} etag={base.etag} onClose={() => setAsks(undefined)} />}
      {asks === 'delete' && entry && (
        <Suspense>
          <Delete
            entry={entry}
            address={{ realm, key: alias }}
            row={{ alias }}
            etag={base.etag}
            onClose={() => setAsks(undefined)}
          />
        </Suspense>
      )}
    </Page>
  );
}
