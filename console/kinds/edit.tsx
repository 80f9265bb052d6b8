// The page that edits an object of any kind: its fields, and the ways on if a manager declares them.
import { useMemo } from 'react';
import { useLocation } from 'wouter';
import { type ConsoleAnswer, call } from '../api/client.ts';
import type { PageProps } from '../pages/page.ts';
import { realmAddress } from '../shell/addresses.ts';
import { useFilters } from '../ui/filters.ts';
import { Page } from '../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../ui/state.tsx';
import { say } from '../ui/toast.tsx';
import { titleOf } from './all.ts';
import { applicable, withoutOthers } from './applicable.ts';
import { editCommands, objectCommands } from './commands.ts';
import { asDeclared, copyOfObject } from './copied.ts';
import { contractFaults, ordered } from './create.tsx';
import { allDeclared, useLock } from './declared-only.tsx';
import { EditingActions, EditingDialogs, EditingFaults, useEditing } from './editing.tsx';
import type { KindEntry, LoadedKind, Row } from './entry.ts';
import { formFields, grouped } from './fields.ts';
import { FormFields } from './form.tsx';
import { paramsOf, readObject, useKind, useObject } from './loaded.ts';
import { holdableOf, ManagedBadge, managedOf, useHolds } from './managed.tsx';
import { COPY_MODE, HeldNote, ManagedWays } from './managed-ways.tsx';
import { CLIENTS, listAddress, nameOf, objectAddress } from './pages.tsx';
import { declaredFields, documentOf, nameIn, secretsOf } from './plan.ts';

export function EditPage({ entry, params }: PageProps & { entry: KindEntry }) {
  const { realm, key = '', clientId: of } = params;
  const kind = useKind(entry);
  const object = useObject(entry, { realm, key, of });
  const owner = useObject(CLIENTS ?? entry, { realm, key: of ?? '' }, entry.ofClient === true);
  const row = object.data?.body;
  const name = row ? nameOf(entry, row) : key;
  const isGone = object.error?.status === 404;
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
      {object.error && !(isGone && row) && <ProblemNote problem={object.error} retry={() => void object.refetch()} />}
      {isReady ? (
        <EditForm
          entry={entry}
          kind={kind}
          address={{ realm, key, of }}
          read={object.data}
          isGone={isGone}
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
  /** Deleted since it was read: the form keeps what is typed, to be taken away. */
  isGone: boolean;
  owner: string | undefined;
}

function EditForm({ entry, kind, address, read, isGone, owner }: EditProps) {
  const { realm, of } = address;
  const [, navigate] = useLocation();
  const { put, upsert } = kind.routes;
  const schema = put?.body ?? kind.input;
  const all = useMemo(
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
  const keysOf = (row: Row) => Object.fromEntries([entry.key].flat().map((field) => [field, row[field]]));
  const bodyOf = (changes: Row, row: Row) => (upsert ? { ...keysOf(row), ...changes } : whole(schema, row, changes));
  const editing = useEditing({
    realm,
    read,
    fields: all.flatMap((group) => group.fields),
    check: (changes, row) => contractFaults(schema, bodyOf(changes, row)),
    write: async (changes, tagged, row) => {
      const route = put ?? upsert;
      if (!route) throw new Error(`${entry.many} can’t be edited here`);
      const params = put ? paramsOf(entry, address) : { realm };
      return (await call(route, { params, body: bodyOf(changes, row), ...tagged })) as ConsoleAnswer<Row>;
    },
    readAgain: () => readObject(entry, address),
    onSaved: (row) => {
      say(`Saved the ${entry.label}.`);
      navigate(row ? objectAddress(realm, entry, row, of) : listAddress(realm, entry, of));
    },
  });
  const { before, changes, edits } = editing;
  const groups = applicable(kind.applies, { ...before, ...edits }, all);
  const edit = (name: string, value: unknown) => {
    const now = withoutOthers(kind.applies, before, { ...edits, [name]: value });
    for (const [field, of] of Object.entries(now)) if (of !== edits[field]) editing.edit(field, of);
  };
  const filters = useFilters();
  const thing = holdableOf(entry, before, owner);
  const lock = useLock(realm, entry.section, thing);
  const declared = managedOf(before);
  const managed = lock.isDeclaredOnly
    ? allDeclared(
        declared,
        editing.fields.map(({ name }) => name),
      )
    : declared;
  const isCopy = isGone || (managed !== undefined && filters.get(COPY_MODE.name) === COPY_MODE.value);
  const hold = useHolds(realm, managed !== undefined, !isGone)(thing);
  const document = documentOf(entry, kind, { ...keysOf(before), ...changes }, owner);
  const copy = (stored: Row, changed: Row) => {
    const manager = (managedOf(stored) ?? managed)?.get('') ?? '';
    return copyOfObject(entry, kind, { realm, manager, owner }, stored, changed);
  };
  return (
    <form className="form" onSubmit={editing.submit} noValidate>
      <EditingFaults editing={editing} />
      {isGone && (
        <Note tone="warn" live>
          <strong>The {entry.label} was deleted meanwhile.</strong>
          <span>
            Nothing can be saved any more. What you typed is still here; the last step shows the declaration with it, to
            be copied.
          </span>
        </Note>
      )}
      {hold && !managed && <HeldNote hold={hold} realm={realm} isManaged={false} />}
      {managed && !isGone && (
        <ManagedWays
          realm={realm}
          managed={managed}
          things={[thing]}
          write={entry.write}
          hold={hold}
          isCopy={isCopy}
          {...(lock.isDeclaredOnly && { declaredOnly: entry.many })}
          onMode={(on) => {
            // edits go along to where they are declared; they do not come back from there
            if (!on) editing.discard();
            filters.set({ [COPY_MODE.name]: on ? COPY_MODE.value : undefined });
          }}
          commands={async () => {
            const whole = documentOf(entry, kind, declaredFields(entry, kind, before), owner);
            const commands = await objectCommands(entry, address, before, whole);
            const manifest = await asDeclared(managed.get('') ?? '', commands.manifest);
            return { ...commands, ...(manifest !== undefined && { manifest }) };
          }}
        />
      )}
      <FormFields
        key={editing.round}
        realm={realm}
        groups={groups}
        before={before}
        edits={edits}
        onEdit={edit}
        faults={editing.faults}
        managed={managed}
        isOpen={() => isCopy || hold !== undefined}
      />
      <EditingActions editing={editing} one="field" cancel={objectAddress(realm, entry, before, of)} isCopy={isCopy} />
      <EditingDialogs
        editing={editing}
        title={`Save ${nameOf(entry, before)}`}
        name={nameIn(entry, before)}
        document={document}
        commands={() => editCommands(entry, address, bodyOf(changes, before), document)}
        copy={copy}
        isCopy={isCopy}
        isOpen={() => hold !== undefined}
      />
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
