// Things that need an administrator soon: secrets, certificates, invitations and reviews that end, and clients without a use.
import { Link } from 'wouter';
import type { OutputOf } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { listExpiring, listUnusedClients } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { word } from '../../kinds/shell-words.ts';
import { inRealm, realmAddress } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Select } from '../../ui/fields.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Page } from '../../ui/page.tsx';
import { PAGE_ROWS, Paged } from '../../ui/paged.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { Table, type TableColumn } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import type { PageProps } from '../page.ts';

type Expiring = OutputOf<typeof listExpiring>[number];
type Unused = OutputOf<typeof listUnusedClients>[number];

const DAYS = [7, 30, 90, 365] as const;
const EXPIRING_DAYS = 30;
const UNUSED_DAYS = 90;
/** The most that one answer lists. */
const MOST = 1000;

const kinds = {
  'client-secret': { label: 'client secret', to: (id: string) => ['clients', id] },
  'key-certificate': { label: 'key certificate', to: () => ['keys'] },
  'saml-client-certificate': { label: 'SAML certificate', to: () => ['saml-clients'] },
  invitation: { label: 'invitation', to: () => ['organizations'] },
  'initial-access-token': { label: 'initial access token', to: undefined },
  'scim-token': { label: 'SCIM token', to: undefined },
  agent: { label: 'agent', to: (id: string) => ['agents', id] },
  'agent-review': { label: 'review of an agent', to: (id: string) => ['agents', id] },
} as const satisfies Record<Expiring['kind'], { label: string; to: ((id: string) => readonly string[]) | undefined }>;

export default function Attention({ params: { realm } }: PageProps) {
  const may = useMay();
  const { get } = useFilters();
  const mayUnused = may.partly(realm, 'clients:read');
  const unused = get('tab') === 'unused';
  return (
    <Page
      title="Expiring and unused"
      lead="What ends soon, and clients that got no token for long."
      crumbs={[{ label: realm, to: realmAddress(realm) }]}
      actions={
        <AsCommand
          commands={() => ({
            realmctl: `realmctl get ${unused ? 'unused-clients' : 'expiring'} -r ${word(realm)}`,
            curl: unused
              ? curlOf(listUnusedClients, { realm }, undefined, { days: Number(get('days')) || UNUSED_DAYS })
              : curlOf(listExpiring, { realm }, undefined, { days: Number(get('days')) || EXPIRING_DAYS }),
          })}
        />
      }
    >
      <Tabs
        label="Expiring and unused"
        tabs={[
          { id: 'expiring', label: 'Expiring', content: () => <ExpiringList realm={realm} /> },
          ...(mayUnused
            ? [{ id: 'unused', label: 'Unused clients', content: () => <UnusedList realm={realm} /> }]
            : []),
        ]}
      />
    </Page>
  );
}

function Days({ label, words, fallback }: { label: string; words: (days: number) => string; fallback: number }) {
  const { get, set } = useFilters();
  return (
    <div className="list-tools">
      <Select
        label={label}
        hideLabel
        value={String(Number(get('days')) || fallback)}
        options={DAYS.map((days) => ({ id: String(days), label: words(days) }))}
        onChange={(days) => set({ days: days ?? undefined, cursor: undefined })}
      />
    </div>
  );
}

function ExpiringList({ realm }: { realm: string }) {
  const { get } = useFilters();
  const days = Number(get('days')) || EXPIRING_DAYS;
  const things = useRead(listExpiring, { params: { realm }, query: { days, limit: MOST } }, { keep: true });
  const rows = things.data?.body;
  const columns: TableColumn<Expiring>[] = [
    {
      id: 'name',
      head: 'name',
      cell: ({ kind, id, name }) => {
        const { to } = kinds[kind];
        return to ? (
          <Link href={inRealm(realm, ...to(id))}>
            <bdi>{name}</bdi>
          </Link>
        ) : (
          <bdi>{name}</bdi>
        );
      },
    },
    { id: 'kind', head: 'kind', cell: ({ kind }) => kinds[kind].label },
    { id: 'message', head: 'what ends', cell: ({ message }) => message },
    {
      id: 'at',
      head: 'ends',
      cell: ({ expiresAt, expired }) => (
        <span className="row">
          <Time ms={expiresAt} />
          {expired && <Badge tone="bad">ended</Badge>}
        </span>
      ),
    },
  ];
  return (
    <div className="list">
      <Days label="Ends within" words={(of) => `Within ${of} days`} fallback={EXPIRING_DAYS} />
      {things.error && <ProblemNote problem={things.error} retry={() => void things.refetch()} />}
      {rows ? (
        <Table
          label="Expiring things"
          rows={rows}
          columns={columns}
          idOf={({ kind, id, expiresAt }) => `${kind} ${id} ${expiresAt}`}
          stale={things.isPlaceholderData}
          empty={
            <Empty icon="check" title={`Nothing ends within ${days} days`}>
              <p>Of the kinds that your admin roles show.</p>
            </Empty>
          }
        />
      ) : (
        !things.error && <Loading lines={5} />
      )}
      {rows?.length === MOST && <p className="hint">The soonest {MOST.toLocaleString('en')} are shown.</p>}
    </div>
  );
}

const unusedColumns = (realm: string): TableColumn<Unused>[] => [
  {
    id: 'client',
    head: 'client',
    cell: ({ id, clientId }) => (
      <Link href={inRealm(realm, 'clients', id)}>
        <bdi>{clientId}</bdi>
      </Link>
    ),
  },
  {
    id: 'name',
    head: 'name',
    cell: ({ name }) => (name === null ? <span className="none">none</span> : <bdi>{name}</bdi>),
  },
  {
    id: 'enabled',
    head: 'state',
    cell: ({ enabled }) => (enabled ? <Badge tone="good">enabled</Badge> : <Badge tone="warn">disabled</Badge>),
  },
  {
    id: 'last',
    head: 'last token',
    cell: ({ lastUsedAt, countedSince }) =>
      lastUsedAt === null ? (
        <span className="none">
          none since <Time ms={countedSince} />
        </span>
      ) : (
        <Time ms={lastUsedAt} />
      ),
  },
];

function UnusedList({ realm }: { realm: string }) {
  const { get } = useFilters();
  const days = Number(get('days')) || UNUSED_DAYS;
  const cursor = get('cursor') || undefined;
  const clients = useRead(
    listUnusedClients,
    { params: { realm }, query: { days, limit: PAGE_ROWS, ...(cursor !== undefined && { cursor }) } },
    { keep: true },
  );
  return (
    <div className="list">
      <Days label="Without a token for" words={(of) => `No token for ${of} days`} fallback={UNUSED_DAYS} />
      <Paged
        label="Unused clients"
        read={clients}
        columns={unusedColumns(realm)}
        idOf={({ id }) => id}
        empty={
          <Empty icon="check" title="Each client got a token">
            <p>A client that is younger than {days} days is not listed.</p>
          </Empty>
        }
      />
    </div>
  );
}
