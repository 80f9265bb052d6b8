// The page that edits an object of any kind: its fields, and the ways on if a manager declares them.
import { useMemo } from 'react';
import { useLocation } from 'wouter';
import { type ConsoleAnswer, call } from '../api/client.ts';
import type { PageProps } from '../pages/page.ts';
import { realmAddress } from '../shell/addresses.ts';
import { Page } from '../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../ui/state.tsx';
import { say } from '../ui/toast.tsx';
import { titleOf } from './all.ts';
import { applicable, withoutOthers } from './applicable.ts';
import { editCommands } from './commands.ts';
import { contractFaults, ordered } from './create.tsx';
import { EditingActions, EditingDialogs, EditingFaults, useEditing } from './editing.tsx';
import type { KindEntry, LoadedKind, Row } from './entry.ts';
import { formFields, grouped } from './fields.ts';
import { FormFields } from './form.tsx';
import { paramsOf, readObject, useKind, useObject } from './loaded.ts';
import { holdableOf, ManagedBadge, managedOf } from './managed.tsx';
import { useManagedObject } from './managed-object.tsx';
import { CLIENTS, listAddress, nameOf, objectAddress } from './pages.tsx';
import { documentOf, nameIn, secretsOf } from './plan.ts';

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
      badges={
        <ManagedBadge
          managed={managedOf(row)}
          realm={realm}
          thing={row && !entry.ofClient ? { ...holdableOf(entry, row), write: entry.write } : undefined}
        />
      }
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
  const managed = useManagedObject({ entry, kind, address, owner, editing, isGone });
  const document = documentOf(entry, kind, { ...keysOf(before), ...changes }, owner);
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
      {managed.ways}
      <FormFields
        key={editing.round}
        realm={realm}
        groups={groups}
        before={before}
        edits={edits}
        onEdit={edit}
        faults={editing.faults}
        managed={managed.managed}
        isOpen={managed.isOpen}
      />
      <EditingActions
        editing={editing}
        one="field"
        cancel={objectAddress(realm, entry, before, of)}
        isCopy={managed.isCopy}
      />
      <EditingDialogs
        editing={editing}
        title={`Save ${nameOf(entry, before)}`}
        name={nameIn(entry, before)}
        document={document}
        commands={() => editCommands(entry, address, bodyOf(changes, before), document)}
        copy={managed.copy}
        isCopy={managed.isCopy}
        isOpen={managed.isHeld}
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
