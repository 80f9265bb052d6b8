// Editing an object: only what was changed is sent, with the tag of what was read. If somebody else was faster, both changes are
// shown beside what they began with (merge.tsx).
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, lazy, Suspense, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { type ConsoleAnswer, call, type ServerProblem } from '../api/client.ts';
import type { PageProps } from '../pages/page.ts';
import { realmAddress } from '../shell/addresses.ts';
import { useFilters } from '../ui/filters.ts';
import { Page } from '../ui/page.tsx';
import { Loading, ProblemNote } from '../ui/state.tsx';
import { say } from '../ui/toast.tsx';
import { titleOf } from './all.ts';
import { editCommands, objectCommands } from './commands.ts';
import { asDeclared, copyOfObject } from './copied.ts';
import { contractFaults, FaultNote, ordered } from './create.tsx';
import type { KindEntry, LoadedKind, Row } from './entry.ts';
import { formFields, grouped } from './fields.ts';
import { changedFields, FormActions, FormFields } from './form.tsx';
import { paramsOf, readObject, useKind, useObject } from './loaded.ts';
import { holdableOf, ManagedBadge, managedOf, useHolds } from './managed.tsx';
import { COPY_MODE, ManagedWays } from './managed-ways.tsx';
import { CLIENTS, listAddress, nameOf, objectAddress } from './pages.tsx';
import { declaredFields, documentOf, faultsOf, secretsOf } from './plan.ts';
import { Review } from './review.tsx';

const Merge = lazy(() => import('./merge.tsx'));
const Copy = lazy(async () => ({ default: (await import('./modify-and-copy.tsx')).CopyDialog }));

export function EditPage({ entry, params }: PageProps & { entry: KindEntry }) {
  const { realm, key = '', clientId: of } = params;
  const kind = useKind(entry);
  const object = useObject(entry, { realm, key, of });
  const owner = useObject(CLIENTS ?? entry, { realm, key: of ?? '' }, entry.ofClient === true);
  const row = object.data?.body;
  const name = row ? nameOf(entry, row) : key;
  const isReady = kind && object.data && row && (!entry.ofClient || owner.data);
  return (
    <Page
      title={`Edit ${name}`}
      narrow
      badges={<ManagedBadge managed={managedOf(row)} realm={realm} />}
      crumbs={[
        { label: realm, to: realmAddress(realm) },
        { label: titleOf(entry), to: listAddress(realm, entry, of) },
        ...(row ? [{ label: name, to: objectAddress(realm, entry, row, of) }] : []),
      ]}
    >
      {object.error && <ProblemNote problem={object.error} retry={() => void object.refetch()} />}
      {isReady ? (
        <EditForm
          entry={entry}
          kind={kind}
          address={{ realm, key, of }}
          read={object.data}
          owner={entry.ofClient ? String(owner.data?.body?.clientId ?? '') : undefined}
        />
      ) : (
        !object.error && <Loading lines={8} />
      )}
    </Page>
  );
}

interface EditProps {
  entry: KindEntry;
  kind: LoadedKind;
  address: { realm: string; key: string; of: string | undefined };
  read: ConsoleAnswer<Row>;
  owner: string | undefined;
}

function EditForm({ entry, kind, address, read, owner }: EditProps) {
  const { realm, of } = address;
  const [, navigate] = useLocation();
  const client = useQueryClient();
  // a refetch in the background must not change what the reader began with
  const [base, setBase] = useState(read);
  const [edits, setEdits] = useState<Row>({});
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const [review, setReview] = useState(false);
  const [theirs, setTheirs] = useState<ConsoleAnswer<Row>>();
  const before = base.body ?? {};
  const filters = useFilters();
  const managed = managedOf(before);
  const isCopy = managed !== undefined && filters.get(COPY_MODE.name) === COPY_MODE.value;
  const thing = holdableOf(entry, before, owner);
  const hold = useHolds(realm, managed !== undefined)(thing);
  const { put, upsert } = kind.routes;
  const schema = put?.body ?? kind.input;
  const groups = useMemo(
    () =>
      grouped(
        ordered(
          entry,
          formFields(kind.input, { names: kind.names, forms: entry.form?.fields, secrets: secretsOf(kind) }),
        ),
        entry.form?.groups,
      ),
    [entry, kind],
  );
  const changes = changedFields(before, edits);
  const keys = Object.fromEntries([entry.key].flat().map((field) => [field, before[field]]));
  const body = upsert ? { ...keys, ...changes } : whole(schema, before, changes);
  const save = useMutation<ConsoleAnswer<Row>, ServerProblem>({
    mutationFn: async () => {
      const headers = base.etag === undefined ? {} : { headers: { 'if-match': base.etag } };
      const route = put ?? upsert;
      if (!route) throw new Error(`${entry.many} can’t be edited here`);
      const params = put ? paramsOf(entry, address) : { realm };
      return (await call(route, { params, body, ...headers })) as ConsoleAnswer<Row>;
    },
    onSuccess: async ({ body: row }) => {
      await client.invalidateQueries({ predicate: ({ queryKey: [of] }) => of === realm });
      say(`Saved the ${entry.label}.`);
      navigate(row ? objectAddress(realm, entry, row, of) : listAddress(realm, entry, of));
    },
    onError: async (problem) => {
      if (problem.is('precondition-failed')) {
        setReview(false);
        setTheirs(await readObject(entry, address));
        return;
      }
      setFaults(faultsOf(problem));
      if (problem.problem?.errors) setReview(false);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = contractFaults(schema, body);
    setFaults(found);
    save.reset();
    if (found.size === 0) setReview(true);
  };
  const count = Object.keys(changes).length;
  const document = documentOf(entry, kind, { ...keys, ...changes }, owner);
  const copy = () => copyOfObject(entry, kind, { realm, manager: managed?.get('') ?? '', owner }, before, changes);
  return (
    <form className="form" onSubmit={submit} noValidate>
      {faults.size > 0 && <FaultNote faults={faults} />}
      {save.error && !review && !theirs && <ProblemNote problem={save.error} quietFields />}
      {managed && (
        <ManagedWays
          realm={realm}
          managed={managed}
          things={[thing]}
          write={entry.write}
          hold={hold}
          isCopy={isCopy}
          onMode={(on) => {
            setEdits({});
            filters.set({ [COPY_MODE.name]: on ? COPY_MODE.value : undefined });
          }}
          commands={async () => {
            const declared = documentOf(entry, kind, declaredFields(entry, kind, before), owner);
            const commands = await objectCommands(entry, address, before, declared);
            const manifest = await asDeclared(managed.get('') ?? '', commands.manifest);
            return { ...commands, ...(manifest !== undefined && { manifest }) };
          }}
        />
      )}
      <FormFields
        realm={realm}
        groups={groups}
        before={before}
        edits={edits}
        onEdit={(name, value) => setEdits((now) => ({ ...now, [name]: value }))}
        faults={faults}
        managed={managed}
        isOpen={() => isCopy || hold !== undefined}
      />
      <FormActions
        cancel={objectAddress(realm, entry, before, of)}
        submit={isCopy ? 'Show the declaration' : 'Review and save'}
        isDisabled={count === 0}
        said={count === 0 ? 'Nothing is changed yet.' : `${count} ${count === 1 ? 'field is' : 'fields are'} changed.`}
      />
      {review && isCopy && (
        <Suspense>
          <Copy make={copy} onClose={() => setReview(false)} />
        </Suspense>
      )}
      {review && !isCopy && (
        <Review
          title={`Save ${nameOf(entry, before)}`}
          realm={realm}
          document={document}
          changes={changes}
          before={before}
          save="Save"
          onSave={() => save.mutate()}
          onClose={() => setReview(false)}
          isSaving={save.isPending}
          problem={save.error}
          commands={() => editCommands(entry, address, body, document)}
        />
      )}
      {theirs?.body && (
        <Suspense>
          <Merge
            fields={groups.flatMap((group) => group.fields)}
            base={before}
            mine={edits}
            theirs={theirs.body}
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

/** A kind whose PUT replaces the object gets every field that its body demands; others get what was changed. */
function whole(schema: LoadedKind['input'], before: Row, changes: Row): Row {
  const missing =
    schema.safeParse(changes).error?.issues.filter(({ code, path }) => code === 'invalid_type' && path.length === 1) ??
    [];
  const needed = missing.flatMap(({ path: [name] }) =>
    typeof name === 'string' && !(name in changes) && name in before ? [[name, before[name]]] : [],
  );
  return { ...Object.fromEntries(needed), ...changes };
}
