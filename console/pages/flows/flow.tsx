// A flow: its steps in an editor, a simulation, and where it is in use. A save shows the server's plan first.
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { type ConsoleAnswer, call, type OutputOf, type ServerProblem } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { getFlow, listAuthenticators, putFlow } from '../../generated/routes.ts';
import { kindInSection } from '../../kinds/all.ts';
import { curlOf, documentCommand, objectCommands } from '../../kinds/commands.ts';
import { DeclaredOnlyNote, useLock } from '../../kinds/declared-only.tsx';
import { EditingDialogs, EditingFaults, useEditing } from '../../kinds/editing.tsx';
import type { Row } from '../../kinds/entry.ts';
import { ManagedBadge, managedOf, useHolds, watchSeconds } from '../../kinds/managed.tsx';
import { HeldBadge, HeldNote, HoldButton } from '../../kinds/managed-ways.tsx';
import { WITH_MANAGERS } from '../../kinds/managers.ts';
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
import { bodyOf, countOf, documentOf, placed, sameTree, stepsOf, type Tree } from './tree-model.ts';
import { BindingBadge, UsedBy } from './used-by.tsx';
import type { Registry } from './words.ts';

const Delete = lazy(() => import('../../kinds/delete.tsx'));
const Replay = lazy(() => import('./replay.tsx'));
type Flow = OutputOf<typeof getFlow>;

export default function FlowPage({ params: { realm, key = '' } }: PageProps) {
  const flow = useRead(
    getFlow,
    { params: { realm, alias: key }, query: WITH_MANAGERS },
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
  return <Loaded key={key} realm={realm} alias={key} read={flow.data} problem={flow.error} registry={registry} />;
}

/** The steps in an answer are a list with ids; a document has them as a tree, which a merge compares. */
const rowOf = (answer: ConsoleAnswer<Flow>): ConsoleAnswer<Row> => {
  const executions = answer.body?.executions ?? [];
  return { ...answer, body: { ...answer.body, executions: documentOf(stepsOf(executions)), stored: executions } };
};
const stepsIn = (row: Row | undefined): Tree => stepsOf((row?.stored ?? []) as NonNullable<Flow['executions']>);

const crumbsOf = (realm: string) => [
  { label: realm, to: realmAddress(realm) },
  { label: 'Flows', to: inRealm(realm, 'flows') },
];

function Loaded({
  realm,
  alias,
  read,
  problem,
  registry,
}: {
  realm: string;
  alias: string;
  read: ConsoleAnswer<Flow>;
  /** Why it could not be read again: it was deleted, for one. The edits stay. */
  problem: ServerProblem | null;
  registry: Registry;
}) {
  const may = useMay();
  const isReadOnly = !may(realm, 'flows:write');
  const row = useMemo(() => rowOf(read), [read]);
  const [saved, setSaved] = useState(() => stepsIn(row.body));
  const edits = useEdits(draftOf(realm, alias, read.etag) ?? saved);
  const { steps, begin } = edits;
  const all = useMemo(() => placed(steps), [steps]);
  const isChanged = !sameTree(steps, saved);
  const check = useCheck(realm, alias, steps, all, isChanged && !isReadOnly);
  const [asks, setAsks] = useState<'rename' | 'delete'>();
  const document = { flows: [{ alias, executions: documentOf(steps) }] };
  const body = { executions: bodyOf(steps) };
  const at = { realm, alias };
  const editing = useEditing({
    realm,
    read: row,
    fields: [{ name: 'executions', label: 'Steps' }],
    kept: isChanged ? { executions: documentOf(steps) } : {},
    check: () => new Map(),
    write: async (_, tagged) => rowOf(await call(putFlow, { params: at, body, ...tagged })),
    readAgain: async () => rowOf(await call(getFlow, { params: at, query: WITH_MANAGERS })),
    onSaved: () => say('Saved the flow.'),
    onReplaced: (now, left) => {
      setSaved(stepsIn(now));
      if (!('executions' in left)) begin(stepsIn(now));
    },
  });
  const { etag } = editing;
  useEffect(() => keepDraft(realm, alias, etag, isChanged ? steps : undefined), [realm, alias, etag, isChanged, steps]);
  useEffect(() => {
    if (!isChanged) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isChanged]);

  const entry = kindInSection('flows');
  const isBuiltIn = read.body?.builtIn === true;
  const managed = {
    managed: managedOf(read.body),
    realm,
    thing: { kind: 'flow', key: alias, write: 'flows:write' as const },
  };
  const lock = useLock(realm, 'flows', { kind: 'flow', key: alias });
  const hold = useHolds(realm, managed.managed !== undefined, true)({ kind: 'flow', key: alias });
  // a manager declares the steps: edits are taken away as a declaration, and not saved
  const isDeclared = !isReadOnly && (lock.isLocked || (!hold && (managed.managed?.has('executions') ?? false)));
  const commands = async (): Promise<Commands> => {
    const made = entry ? await objectCommands(entry, { realm, key: alias }, { alias }, document) : {};
    return isChanged ? { ...made, realmctl: documentCommand(realm, document), curl: curlOf(putFlow, at, body) } : made;
  };
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
              {isChanged && <Button onPress={editing.discard}>Discard</Button>}
              {isDeclared ? (
                <AsCommand commands={commands} label="Show the declaration" start="manifest" />
              ) : (
                <Button
                  variant="primary"
                  isDisabled={!isChanged || check.state === 'checking' || check.state === 'faulty'}
                  onPress={editing.review}
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
      {problem && <ProblemNote problem={problem} />}
      <EditingFaults editing={editing} />
      {isReadOnly && <Note>You may read the flow. Changing it needs the permission flows:write.</Note>}
      <DeclaredOnlyNote
        realm={realm}
        section="flows"
        kind="flow"
        many="flows"
        write="flows:write"
        things={[{ kind: 'flow', key: alias }, { kind: 'flow' }]}
      />
      {hold && !lock.isDeclaredOnly && <HeldNote hold={hold} realm={realm} isManaged={managed.managed !== undefined} />}
      {isDeclared && (
        <Note>
          {!lock.isDeclaredOnly && <span>A manager declares the steps of this flow, and would set them back.</span>}
          <span>Edit the steps here, then copy the declaration to where it is kept. Nothing is saved here.</span>
          {!lock.isDeclaredOnly && (
            <span>
              <HoldButton realm={realm} things={[{ kind: 'flow', key: alias }]} write="flows:write" />
            </span>
          )}
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
      <EditingDialogs
        editing={editing}
        title={`Save ${alias}`}
        document={document}
        commands={commands}
        copy={async () => ({ changed: (await commands()).manifest ?? '' })}
        isOpen={() => hold !== undefined}
      />
      {asks === 'rename' && <Rename realm={realm} alias={alias} etag={etag} onClose={() => setAsks(undefined)} />}
      {asks === 'delete' && entry && (
        <Suspense>
          <Delete
            entry={entry}
            address={{ realm, key: alias }}
            row={{ alias }}
            etag={etag}
            onClose={() => setAsks(undefined)}
          />
        </Suspense>
      )}
    </Page>
  );
}
