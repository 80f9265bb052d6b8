// One list of a client's services: its items, a search in them, and their form.
import { useState } from 'react';
import { useWrite } from '../../api/queries.ts';
import { curlOf, documentCommand } from '../../kinds/commands.ts';
import type { Row } from '../../kinds/entry.ts';
import { Review } from '../../kinds/review.tsx';
import { inSentence, labelOf } from '../../kinds/words.ts';
import { Badge, Chips } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Find } from '../../ui/find.tsx';
import { Empty } from '../../ui/state.tsx';
import { Table, type TableColumn } from '../../ui/table.tsx';
import { say } from '../../ui/toast.tsx';
import { InUse } from './in-use.tsx';
import { ItemForm } from './item-form.tsx';
import { documentAfter, type ItemKind, type ListName, type Service, usesOf } from './model.ts';

/** A longer list is searched. */
const SHOWN = 200;
const CHIPS = 3;

const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
const text = (value: unknown) => (value === null || value === undefined ? '–' : <bdi>{String(value)}</bdi>);
const chips = (value: unknown) => <Chips items={textsOf(value)} most={CHIPS} />;

/** A policy's configuration in a line. */
function configWords(config: unknown): string {
  return Object.entries(Object(config))
    .map(([name, value]) => {
      const said = Array.isArray(value) ? value.join(', ') : typeof value === 'object' ? JSON.stringify(value) : value;
      return `${inSentence(labelOf(name))}: ${said}`;
    })
    .join('; ');
}

const columnsOf: Readonly<Record<ListName, readonly TableColumn<Row>[]>> = {
  resources: [
    { id: 'type', head: 'type', cell: ({ type }) => text(type) },
    { id: 'scopes', head: 'scopes', cell: ({ scopes }) => chips(scopes) },
    { id: 'uris', head: 'URIs', cell: ({ uris }) => chips(uris) },
    { id: 'owner', head: 'owner', cell: ({ owner }) => text(owner) },
  ],
  scopes: [{ id: 'displayName', head: 'display name', cell: ({ displayName }) => text(displayName) }],
  policies: [
    {
      id: 'type',
      head: 'type',
      cell: ({ type, logic }) => (
        <span className="chips">
          <Badge>{String(type)}</Badge>
          {logic === 'negative' && <Badge tone="warn">reversed</Badge>}
        </span>
      ),
    },
    { id: 'config', head: 'permits', cell: ({ config }) => <span dir="auto">{configWords(config)}</span> },
  ],
  permissions: [
    {
      id: 'about',
      head: 'about',
      cell: ({ resources, resourceType }) => (
        <Chips
          items={[
            ...textsOf(resources),
            ...(resourceType === null || resourceType === undefined ? [] : [`type ${resourceType}`]),
          ]}
          most={CHIPS}
        />
      ),
    },
    { id: 'scopes', head: 'scopes', cell: ({ scopes }) => (textsOf(scopes).length === 0 ? 'all' : chips(scopes)) },
    {
      id: 'policies',
      head: 'decided by',
      cell: ({ policies }) => (textsOf(policies).length === 0 ? <Badge tone="warn">denies</Badge> : chips(policies)),
    },
  ],
};

export function Items({
  realm,
  id,
  service,
  kind,
  isWriter,
}: {
  realm: string;
  /** Of the client. */
  id: string;
  service: Service;
  kind: ItemKind;
  isWriter: boolean;
}) {
  const { list, one, label } = kind;
  const filters = useFilters();
  const q = filters.get('q');
  const opened = filters.get('item');
  const [deleted, setDeleted] = useState<string>();
  const remove = useWrite(kind.remove);
  const all: readonly Row[] = service[list];
  const wanted = q.toLowerCase();
  const found = all.filter((row) =>
    JSON.stringify([row.name, row.displayName, row.type]).toLowerCase().includes(wanted),
  );
  const item = all.find(({ name }) => name === opened);
  const isNew = filters.get('new') !== '';
  /** The item whose form was open last: another administrator may delete it meanwhile. */
  const [seen, setSeen] = useState<Row>();
  if (item && item !== seen) setSeen(item);
  const gone = item === undefined && opened !== '' && seen?.name === opened ? seen : undefined;
  const close = () => {
    setSeen(undefined);
    filters.set({ new: null, item: null });
  };
  const params = { realm, clientId: id, name: deleted ?? '' };
  const uses = deleted === undefined ? [] : usesOf(service, list, deleted);
  return (
    <div className="list">
      <div className="list-tools">
        {all.length > 0 && <Find label={`Find ${one}`} value={q} onChange={(words) => filters.set({ q: words })} />}
        {isWriter && (
          <div className="spread">
            <Button icon="add" onPress={() => filters.set({ new: '1', item: null })}>
              Add {one}
            </Button>
          </div>
        )}
      </div>
      {all.length === 0 ? (
        <div className="panel">
          <Empty icon="role" title={`There are no ${list} yet`}>
            <p>{kind.lead}</p>
          </Empty>
        </div>
      ) : (
        <Table<Row>
          label={`${list} of ${service.clientId}`}
          rows={found.slice(0, SHOWN)}
          idOf={({ name }) => String(name)}
          {...(isWriter && { onOpen: ({ name }: Row) => filters.set({ item: String(name), new: null }) })}
          columns={[{ id: 'name', head: label, cell: ({ name }) => <bdi>{String(name)}</bdi> }, ...columnsOf[list]]}
          empty={<Empty icon="search" title={`No ${label} matches`} />}
        />
      )}
      {found.length > SHOWN && (
        <p className="hint">
          The first {SHOWN} of {found.length.toLocaleString('en')} are shown. Search for the others.
        </p>
      )}
      {isWriter && !isNew && opened !== '' && !item && !gone && (
        <Dialog title={`There is no ${label} ${opened}`} isOpen onClose={close}>
          <p>It may have been deleted meanwhile, or the address is wrong.</p>
        </Dialog>
      )}
      {isWriter && (isNew || item || gone) && (
        <ItemForm
          key={String((item ?? gone)?.name ?? ' new')}
          realm={realm}
          id={id}
          service={service}
          kind={kind}
          item={isNew ? undefined : (item ?? gone)}
          isGone={!isNew && gone !== undefined}
          onClose={close}
          onDelete={(name) => {
            close();
            setDeleted(name);
          }}
        />
      )}
      {deleted !== undefined && uses.length > 0 && (
        <InUse list={list} name={deleted} uses={uses} onClose={() => setDeleted(undefined)} />
      )}
      {deleted !== undefined && uses.length === 0 && (
        <Review
          title={`Delete the ${label} ${deleted}`}
          realm={realm}
          document={documentAfter(service, list, deleted, undefined)}
          changes={{ [list]: all.filter(({ name }) => name !== deleted).map(({ name }) => name) }}
          before={{ [list]: all.map(({ name }) => name) }}
          save={`Delete the ${label}`}
          danger
          onSave={() =>
            remove.mutate(
              { params },
              {
                onSuccess: () => {
                  setDeleted(undefined);
                  say(`Deleted the ${label} ${deleted}.`);
                },
              },
            )
          }
          onClose={() => {
            remove.reset();
            setDeleted(undefined);
          }}
          isSaving={remove.isPending}
          problem={remove.error}
          commands={() => ({
            realmctl: documentCommand(realm, documentAfter(service, list, deleted, undefined)),
            curl: curlOf(kind.remove, params),
          })}
        />
      )}
    </div>
  );
}
