// The form of one item, in a dialog. An item that is there is read anew, with its tag, so that nobody's change is lost.
import { useMemo } from 'react';
import { type ConsoleAnswer, call } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { curlOf, documentCommand, realmManifest } from '../../kinds/commands.ts';
import { contractFaults } from '../../kinds/create.tsx';
import { EditingDialogs, EditingFaults, useEditing } from '../../kinds/editing.tsx';
import type { Row } from '../../kinds/entry.ts';
import { FieldInput } from '../../kinds/field-input.tsx';
import { formFields } from '../../kinds/fields.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';
import { documentAfter, type ItemKind, itemFields, type Service, valueAt, withField } from './model.ts';

interface Props {
  realm: string;
  id: string;
  service: Service;
  kind: ItemKind;
  /** undefined: a new one. */
  item: Row | undefined;
  /** Deleted since it was read: the form keeps what is typed. */
  isGone: boolean;
  onClose: () => void;
  onDelete: (name: string) => void;
}

export function ItemForm(props: Props) {
  const { realm, id, kind, item } = props;
  const name = item === undefined ? undefined : String(item.name);
  const read = useRead(
    kind.get,
    { params: { realm, clientId: id, name: name ?? '' } },
    { enabled: name !== undefined },
  );
  const fresh = useMemo(
    (): ConsoleAnswer<Row> => ({
      status: 200,
      body: { ...kind.fresh, name: '' },
      etag: undefined,
      nextCursor: undefined,
      total: undefined,
    }),
    [kind],
  );
  const title = name === undefined ? `Add ${kind.one}` : `Edit ${name}`;
  if (name !== undefined && !read.data)
    return (
      <Dialog title={title} isOpen onClose={props.onClose} size="wide">
        {read.error ? <ProblemNote problem={read.error} retry={() => void read.refetch()} /> : <Loading lines={5} />}
      </Dialog>
    );
  return <Loaded {...props} title={title} read={(read.data as ConsoleAnswer<Row> | undefined) ?? fresh} />;
}

function Loaded({
  realm,
  id,
  service,
  kind,
  item,
  isGone,
  title,
  read,
  onClose,
  onDelete,
}: Props & { title: string; read: ConsoleAnswer<Row> }) {
  const isNew = item === undefined;
  const creates = isNew || isGone;
  const at = { realm, clientId: id };
  const ofItem = { ...at, name: String(item?.name ?? '') };
  const editing = useEditing({
    realm,
    read,
    fields: topFields(kind),
    check: (changes, row) => contractFaults(kind.schema, { ...row, ...changes }),
    write: async (changes, tagged, row) => {
      const body = { ...row, ...changes };
      return (await (creates
        ? call(kind.create, { params: at, body })
        : call(kind.put, { params: ofItem, body, ...tagged }))) as ConsoleAnswer<Row>;
    },
    readAgain: async () => (await call(kind.get, { params: ofItem })) as ConsoleAnswer<Row>,
    onSaved: (row) => {
      onClose();
      const name = String(row?.name ?? ofItem.name);
      say(creates ? `Added the ${kind.label} ${name}.` : `Saved the ${kind.label} ${name}.`);
    },
  });
  const { before, edits, changes, faults } = editing;
  const now = { ...before, ...edits };
  const fields = itemFields(kind.list, service, now).filter((field) => isNew || field.name !== 'name');
  const document = documentAfter(service, kind.list, isNew ? String(now.name ?? '') : ofItem.name, now);
  const edit = (name: string, value: unknown) => {
    for (const [field, of] of Object.entries(withField(now, name, value)))
      if (of !== now[field]) editing.edit(field, of);
  };
  return (
    <Dialog title={title} isOpen onClose={onClose} size="wide">
      <form className="stack" onSubmit={editing.submit} noValidate>
        {isGone && (
          <Note tone="warn" live>
            <strong>
              The {kind.label} {ofItem.name} was deleted meanwhile.
            </strong>
            <span>What you typed is still here. It can be added again, or left.</span>
          </Note>
        )}
        <EditingFaults editing={editing} />
        {faults.get('config') && <Note tone="bad">{`The configuration ${faults.get('config')}.`}</Note>}
        {faults.get('') && <Note tone="bad">{`It ${faults.get('')}.`}</Note>}
        {fields.map((field) => (
          <FieldInput
            key={`${editing.round} ${String(now.type)} ${field.name}`}
            field={field}
            path={field.name}
            value={valueAt(now, field.name)}
            onChange={(value) => edit(field.name, value)}
            context={{ realm, faults }}
          />
        ))}
        <div className="row end">
          {!creates && (
            <Button variant="danger" onPress={() => onDelete(ofItem.name)}>
              Delete
            </Button>
          )}
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isDisabled={!creates && Object.keys(changes).length === 0}>
            {isGone ? 'Review and add again' : isNew ? 'Review and add' : 'Review and save'}
          </Button>
        </div>
      </form>
      <EditingDialogs
        editing={editing}
        title={title}
        save={creates ? 'Add' : 'Save'}
        document={document}
        commands={async () => ({
          realmctl: documentCommand(realm, document),
          curl: creates ? curlOf(kind.create, at, now) : curlOf(kind.put, ofItem, now),
          manifest: await realmManifest(realm, document),
        })}
      />
    </Dialog>
  );
}

/** The fields of an item as its route has them: a policy's configuration is one. */
const topFields = (kind: ItemKind) => formFields(kind.schema, {});
