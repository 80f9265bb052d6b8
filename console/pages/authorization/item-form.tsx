// The form of one item, in a dialog. An item that is there is read anew, with its tag, so that nobody's change is lost.
import { type FormEvent, useState } from 'react';
import type { ServerProblem } from '../../api/client.ts';
import { useRead, useWrite } from '../../api/queries.ts';
import { curlOf, documentCommand, realmManifest } from '../../kinds/commands.ts';
import { contractFaults } from '../../kinds/create.tsx';
import type { Row } from '../../kinds/entry.ts';
import { FieldInput } from '../../kinds/field-input.tsx';
import { changedFields, same } from '../../kinds/form.tsx';
import { faultsOf } from '../../kinds/plan.ts';
import { Review } from '../../kinds/review.tsx';
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
  const title = name === undefined ? `Add ${kind.one}` : `Edit ${name}`;
  if (name !== undefined && !read.data)
    return (
      <Dialog title={title} isOpen onClose={props.onClose} size="wide">
        {read.error ? <ProblemNote problem={read.error} retry={() => void read.refetch()} /> : <Loading lines={5} />}
      </Dialog>
    );
  const before = (name === undefined ? { ...kind.fresh, name: '' } : read.data?.body) as Row;
  return <Loaded {...props} title={title} read={before} etag={read.data?.etag} onReload={() => void read.refetch()} />;
}

function Loaded({
  realm,
  id,
  service,
  kind,
  item,
  title,
  read,
  etag: readTag,
  onClose,
  onDelete,
  onReload,
}: Props & { title: string; read: Row; etag: string | undefined; onReload: () => void }) {
  const isNew = item === undefined;
  const [{ before, etag }, setBase] = useState({ before: read, etag: readTag });
  const [now, setNow] = useState<Row>(read);
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const [review, setReview] = useState(false);
  const create = useWrite(kind.create);
  const put = useWrite(kind.put);
  const save = isNew ? create : put;
  const name = String(now.name ?? '');
  const isStale = save.error?.is('precondition-failed') ?? false;
  const fields = itemFields(kind.list, service, now).filter((field) => isNew || field.name !== 'name');
  const document = documentAfter(service, kind.list, isNew ? name : String(before.name), now);
  const params = isNew ? { realm, clientId: id } : { realm, clientId: id, name: String(before.name) };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.reset();
    const found = contractFaults(kind.schema, now);
    setFaults(found);
    if (found.size === 0) setReview(true);
  };
  const options = {
    onSuccess: () => {
      onClose();
      say(isNew ? `Added the ${kind.label} ${name}.` : `Saved the ${kind.label} ${name}.`);
    },
    onError: (problem: ServerProblem) => {
      setFaults(faultsOf(problem));
      if (problem.problem?.errors || problem.is('precondition-failed')) setReview(false);
    },
  };
  const write = () =>
    isNew
      ? create.mutate({ params, body: now }, options)
      : put.mutate({ params, body: now, ...(etag !== undefined && { headers: { 'if-match': etag } }) }, options);
  return (
    <Dialog title={title} isOpen onClose={onClose} size="wide">
      <form className="stack" onSubmit={submit} noValidate>
        {save.error && !review && !isStale && <ProblemNote problem={save.error} quietFields />}
        {isStale && (
          <Note tone="warn" live>
            <span>Another administrator changed it meanwhile. Your text is still here.</span>
            <span className="row">
              <Button
                small
                onPress={() => {
                  onReload();
                  onClose();
                }}
              >
                Show it as it is now
              </Button>
              <Button
                small
                onPress={() => {
                  setBase({ before, etag: undefined });
                  save.reset();
                  setReview(true);
                }}
              >
                Review mine against it
              </Button>
            </span>
          </Note>
        )}
        {faults.get('config') && <Note tone="bad">{`The configuration ${faults.get('config')}.`}</Note>}
        {faults.get('') && <Note tone="bad">{`It ${faults.get('')}.`}</Note>}
        {fields.map((field) => (
          <FieldInput
            key={`${String(now.type)} ${field.name}`}
            field={field}
            path={field.name}
            value={valueAt(now, field.name)}
            onChange={(value) => setNow((row) => withField(row, field.name, value))}
            context={{ realm, faults }}
          />
        ))}
        <div className="row end">
          {!isNew && (
            <Button variant="danger" onPress={() => onDelete(String(before.name))}>
              Delete
            </Button>
          )}
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isDisabled={!isNew && same(before, now)}>
            {isNew ? 'Review and add' : 'Review and save'}
          </Button>
        </div>
      </form>
      {review && (
        <Review
          title={title}
          realm={realm}
          document={document}
          changes={isNew ? now : changedFields(before, now)}
          before={isNew ? {} : before}
          save={isNew ? 'Add' : 'Save'}
          onSave={write}
          onClose={() => setReview(false)}
          isSaving={save.isPending}
          problem={save.error}
          commands={async () => ({
            realmctl: documentCommand(realm, document),
            curl: curlOf(isNew ? kind.create : kind.put, params, now),
            manifest: await realmManifest(realm, document),
          })}
        />
      )}
    </Dialog>
  );
}
