// A realm's settings: one form in groups, of which the address names the one that is shown. Edits in several groups are saved
// together, after the server's plan.
import { type FormEvent, lazy, Suspense, useMemo, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { SettingsInput } from '../../../server/contract/settings.ts';
import { settingsForm } from '../../../server/contract/settings-form.ts';
import { type ConsoleAnswer, call, type OutputOf } from '../../api/client.ts';
import { useRead, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { getSettings, putSettings } from '../../generated/routes.ts';
import { curlOf, documentCommand, realmManifest } from '../../kinds/commands.ts';
import { asDeclared, commandOf } from '../../kinds/copied.ts';
import { contractFaults, FaultNote } from '../../kinds/create.tsx';
import type { Row } from '../../kinds/entry.ts';
import { type FieldGroup, formFields, grouped } from '../../kinds/fields.ts';
import { changedFields, FormFields } from '../../kinds/form.tsx';
import { fieldsOf, type Holdable, type Managed, managedOf, useHolds } from '../../kinds/managed.tsx';
import { COPY_MODE, ManagedWays } from '../../kinds/managed-ways.tsx';
import { clusterResource, WITH_MANAGERS } from '../../kinds/managers.ts';
import { faultsOf } from '../../kinds/plan.ts';
import { Review } from '../../kinds/review.tsx';
import { realmAddress } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Page } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';
import type { PageProps } from '../page.ts';

const Merge = lazy(() => import('../../kinds/merge.tsx'));
const Copy = lazy(async () => ({ default: (await import('../../kinds/modify-and-copy.tsx')).CopyDialog }));
type Settings = OutputOf<typeof getSettings>;

const partOf = ({ title }: FieldGroup): string => title.toLowerCase().replaceAll(' ', '-');

/** Settings as the sections of a document. */
function documentOf({ resourceIndicators, ...realm }: Row): Row {
  return {
    ...(Object.keys(realm).length > 0 && { realm }),
    ...(resourceIndicators !== undefined && { resourceIndicators }),
  };
}
/** The same as the fields of a Realm resource. */
const resourceOf = ({ resourceIndicators, ...settings }: Row): Row => ({
  ...(Object.keys(settings).length > 0 && { settings }),
  ...(resourceIndicators !== undefined && { resourceIndicators }),
});

/** A setting in holds: each field is a thing of its own. */
const holdable = (field: string): Holdable => ({ kind: 'settings', key: field });
/** The managed fields of a group that holds can name. */
function managedIn({ fields }: FieldGroup, managed: Managed): Managed | undefined {
  const own = fields.flatMap(({ name }): [string, string][] => {
    const manager = managed.get(name);
    return manager === undefined || name === 'resourceIndicators' ? [] : [[name, manager]];
  });
  return own.length === 0 ? undefined : new Map([...own, ['', own[0]?.[1] ?? '']]);
}

export default function SettingsPage({ params: { realm } }: PageProps) {
  const settings = useRead(getSettings, { params: { realm }, query: WITH_MANAGERS });
  return (
    <Page
      title="Settings"
      crumbs={[{ label: realm, to: realmAddress(realm) }]}
      actions={
        <AsCommand
          commands={() => ({
            realmctl: `realmctl export ${realm} --no-users -o yaml`,
            curl: curlOf(getSettings, { realm }),
          })}
        />
      }
    >
      {settings.error && <ProblemNote problem={settings.error} retry={() => void settings.refetch()} />}
      {settings.data?.body ? <Form realm={realm} read={settings.data} /> : !settings.error && <Loading lines={8} />}
    </Page>
  );
}

function Form({ realm, read }: { realm: string; read: ConsoleAnswer<Settings> }) {
  const may = useMay();
  const mayWrite = may(realm, 'settings:write');
  const [search] = useSearchParams();
  const filters = useFilters();
  const [base, setBase] = useState(read);
  const [edits, setEdits] = useState<Row>({});
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const [review, setReview] = useState(false);
  const [theirs, setTheirs] = useState<ConsoleAnswer<Settings>>();
  const save = useWrite(putSettings);
  const groups = useMemo(
    () =>
      grouped(
        formFields(SettingsInput, { names: { browserFlow: 'flow' }, forms: settingsForm.fields }),
        settingsForm.groups,
      ),
    [],
  );
  const before: Row = base.body ?? {};
  const managed = managedOf(before);
  const isCopy = managed !== undefined && filters.get(COPY_MODE.name) === COPY_MODE.value;
  const holdOf = useHolds(realm, managed !== undefined);
  const shown = groups.find((group) => partOf(group) === search.get('group')) ?? groups[0];
  const changes = changedFields(before, edits);
  const managedHere = shown && managed && managedIn(shown, managed);
  const isHeld = (field: string) => holdOf(holdable(field)) !== undefined;
  const heldHere =
    managedHere && fieldsOf(managedHere).every(isHeld) ? holdOf(holdable(fieldsOf(managedHere)[0] ?? '')) : undefined;
  const inCluster = [...(managed?.values() ?? [])].find((manager) => clusterResource(manager)) ?? '';
  const count = Object.keys(changes).length;
  const faultyGroups = groups.filter(({ fields }) =>
    fields.some(({ name }) => [...faults.keys()].some((at) => at.split(/[.[]/)[0] === name)),
  );
  const changedGroups = groups.filter(({ fields }) => fields.some(({ name }) => name in changes));

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = contractFaults(SettingsInput, changes);
    setFaults(found);
    save.reset();
    if (found.size === 0) setReview(true);
  };
  const write = () =>
    save.mutate(
      { params: { realm }, body: changes, ...(base.etag !== undefined && { headers: { 'if-match': base.etag } }) },
      {
        onSuccess: (answer) => {
          // the answer of a write names no managers
          setBase({ ...answer, body: answer.body && { ...answer.body, managedBy: base.body?.managedBy } });
          setEdits({});
          setReview(false);
          say('Saved the settings.');
        },
        onError: (problem) => {
          if (problem.is('precondition-failed')) {
            setReview(false);
            void call(getSettings, { params: { realm }, query: WITH_MANAGERS }).then(setTheirs);
            return;
          }
          setFaults(faultsOf(problem));
          if (problem.problem?.errors) setReview(false);
        },
      },
    );
  if (!shown) return null;
  return (
    <form className="settings" onSubmit={submit} noValidate>
      <nav aria-label="Groups of settings">
        <ul>
          {groups.map((group) => (
            <li key={group.title}>
              <Link
                href={filters.address({ group: partOf(group) })}
                aria-current={group === shown ? 'true' : undefined}
              >
                {group.title}
                {faultyGroups.includes(group) ? ' (to correct)' : changedGroups.includes(group) ? ' •' : ''}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className="form">
        {faults.size > 0 && <FaultNote faults={faults} />}
        {save.error && !review && !theirs && <ProblemNote problem={save.error} quietFields />}
        {!mayWrite && <Note>You may read the settings. Changing them needs the permission settings:write.</Note>}
        {managedHere && mayWrite && (
          <ManagedWays
            realm={realm}
            managed={managedHere}
            things={fieldsOf(managedHere)
              .filter((field) => !isHeld(field))
              .map(holdable)}
            write="settings:write"
            hold={heldHere}
            isCopy={isCopy}
            onMode={(on) => {
              setEdits({});
              filters.set({ [COPY_MODE.name]: on ? COPY_MODE.value : undefined });
            }}
            commands={async () => ({
              manifest: await asDeclared(
                inCluster,
                await realmManifest(
                  realm,
                  resourceOf(Object.fromEntries(fieldsOf(managedHere).map((field) => [field, before[field]]))),
                ),
              ),
            })}
          />
        )}
        <FormFields
          realm={realm}
          groups={[shown]}
          before={before}
          edits={edits}
          onEdit={(name, value) => setEdits((now) => ({ ...now, [name]: value }))}
          faults={faults}
          isDisabled={!mayWrite}
          managed={managed}
          isOpen={(field) => isCopy || isHeld(field)}
          key={shown.title}
        />
        {mayWrite && (
          <div className="form-actions">
            <span className="said" role="status">
              {count === 0
                ? 'Nothing is changed yet.'
                : `${count} ${count === 1 ? 'setting is' : 'settings are'} changed.`}
            </span>
            {count > 0 && <Button onPress={() => setEdits({})}>Discard</Button>}
            <Button type="submit" variant="primary" isDisabled={count === 0}>
              {isCopy ? 'Show the declaration' : 'Review and save'}
            </Button>
          </div>
        )}
      </div>
      {review && isCopy && managed && (
        <Suspense>
          <Copy
            make={async () => ({
              changed: await asDeclared(inCluster, await realmManifest(realm, resourceOf(changes))),
              command: await commandOf(inCluster, resourceOf(changes)),
            })}
            onClose={() => setReview(false)}
          />
        </Suspense>
      )}
      {review && !isCopy && (
        <Review
          title="Save the settings"
          realm={realm}
          document={documentOf(changes)}
          changes={changes}
          before={before}
          save="Save"
          onSave={write}
          onClose={() => setReview(false)}
          isSaving={save.isPending}
          problem={save.error}
          commands={async () => ({
            realmctl: documentCommand(realm, documentOf(changes)),
            curl: curlOf(putSettings, { realm }, changes),
            manifest: await realmManifest(realm, resourceOf(changes)),
          })}
        />
      )}
      {theirs?.body && (
        <Suspense>
          <Merge
            fields={groups.flatMap(({ fields }) => fields)}
            base={before}
            mine={edits}
            theirs={{ ...theirs.body }}
            onClose={() => setTheirs(undefined)}
            onMerged={(merged) => {
              setBase(theirs);
              setEdits(merged);
              setTheirs(undefined);
              save.reset();
              setReview(true);
            }}
          />
        </Suspense>
      )}
    </form>
  );
}
