// The managers of a realm: what each declares, when it last applied, what was changed by hand since.
import { useState } from 'react';
import { Link } from 'wouter';
import type { OutputOf } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { listEvents, listManagers } from '../../generated/routes.ts';
import { kindOf } from '../../kinds/all.ts';
import { ManagerFacts } from '../../kinds/manager-dialog.tsx';
import { shortManager } from '../../kinds/managers.ts';
import { inSentence, labelOf } from '../../kinds/words.ts';
import { inRealm } from '../../shell/addresses.ts';
import { Badge, Chips } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Panel } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { ByHand, byHandQuery, isByHand } from './by-hand.tsx';
import { usersImported } from './history.tsx';
import { ReleaseDialog } from './release.tsx';

export type Manager = OutputOf<typeof listManagers>[number];
type Owned = Manager['owns'][number];

const PAGE_OBJECTS = 1000;

/** `12 clients, 3 roles` */
export function countsOf(owns: readonly Owned[]): string {
  const counts = Map.groupBy(owns, ({ kind }) => kind);
  return [...counts]
    .map(([kind, of]) => {
      if (kind === 'settings') return 'the settings';
      const entry = kindOf(kind);
      const label = inSentence(labelOf(kind));
      return `${of.length.toLocaleString('en')} ${of.length === 1 ? (entry?.label ?? label) : (entry?.many ?? label)}`;
    })
    .join(', ');
}

/** `12 clients, users`. The list names neither users nor objects of kinds that the reader may not read. */
export function declaredWords({ owns, users, hidden }: Pick<Manager, 'owns' | 'users' | 'hidden'>): string {
  const words = [countsOf(owns), ...(users ? ['users'] : []), ...(hidden ? ['more that you may not read'] : [])]
    .filter((one) => one !== '')
    .join(', ');
  if (words === '') return 'It declares nothing now';
  return words === 'users' ? 'Users alone' : words.charAt(0).toUpperCase() + words.slice(1);
}

export function Managers({ realm }: { realm: string }) {
  const filters = useFilters();
  const may = useMay();
  const cursor = filters.get('cursor') || undefined;
  const managers = useRead(
    listManagers,
    { params: { realm }, query: { limit: PAGE_OBJECTS, ...(cursor !== undefined && { cursor }) } },
    { keep: true },
  );
  const rows = managers.data?.body;
  const since = Math.min(...(rows ?? []).map(({ lastAppliedAt }) => lastAppliedAt));
  const mayReadEvents = may(realm, 'events:read');
  const events = useRead(
    listEvents,
    { params: { realm }, query: byHandQuery(Number.isFinite(since) ? since : 0) },
    { enabled: mayReadEvents && Number.isFinite(since), fill: true },
  );
  const [released, setReleased] = useState<string>();
  if (managers.error && !rows) return <ProblemNote problem={managers.error} retry={() => void managers.refetch()} />;
  if (!rows) return <Loading lines={6} />;
  if (rows.length === 0 && released === undefined)
    return (
      <Panel>
        <Empty icon="code" title="Nothing of this realm is declared elsewhere">
          <p>
            The operator, <code>realmctl apply</code> and pipelines declare realms in Git. What they declare is listed
            here, with each difference that administrators made by hand.
          </p>
        </Empty>
      </Panel>
    );
  const chosen = rows.find(({ manager }) => manager === filters.get('manager'));
  return (
    <div className="stack">
      {rows.map((manager) => {
        const edits = (events.data?.body ?? []).filter((event) => isByHand(event, manager));
        return (
          <Panel
            key={manager.manager}
            title={shortManager(manager.manager)}
            lead={
              <>
                {declaredWords(manager)}. Last applied <Time ms={manager.lastAppliedAt} />.
              </>
            }
            plain
            actions={
              <>
                {edits.length > 0 && (
                  <Badge tone="warn">
                    {edits.length} {edits.length === 1 ? 'change' : 'changes'} by hand since
                  </Badge>
                )}
                {may(realm, 'realm:read') && (
                  <Link
                    href={`${inRealm(realm, 'declared')}?${new URLSearchParams({ tab: 'history', manager: manager.manager })}`}
                  >
                    History
                  </Link>
                )}
                <Button
                  small
                  onPress={() => filters.set({ manager: chosen === manager ? undefined : manager.manager })}
                  aria-expanded={chosen === manager}
                >
                  {chosen === manager ? 'Close' : 'Details'}
                </Button>
              </>
            }
          >
            {edits.length > 0 && <ByHand realm={realm} events={edits} />}
            {chosen === manager && (
              <div className="content stack">
                <ManagerFacts manager={manager.manager} fields={[]} />
                <OwnedTable realm={realm} manager={manager} />
                {may(realm, 'managers:write') && (
                  <div>
                    <Button variant="danger" small onPress={() => setReleased(manager.manager)}>
                      Release what it owns…
                    </Button>
                  </div>
                )}
              </div>
            )}
          </Panel>
        );
      })}
      {!mayReadEvents && <p className="hint">Changes by hand are named for administrators with events:read.</p>}
      {events.error && <ProblemNote problem={events.error} />}
      <Pager shown={rows.length} nextCursor={managers.data?.nextCursor} />
      {released !== undefined && (
        <ReleaseDialog realm={realm} manager={released} onClose={() => setReleased(undefined)} />
      )}
    </div>
  );
}

/** The address at which an object is found by its key. */
function addressOf(realm: string, { kind, key }: Owned): string {
  if (kind === 'settings' || kind === 'resourceIndicator') return inRealm(realm, 'settings');
  const entry = kindOf(kind);
  if (!entry) return inRealm(realm, 'declared');
  if (entry.ofClient) return `${inRealm(realm, 'clients')}?${new URLSearchParams({ q: key.split('/')[0] ?? '' })}`;
  if (entry.at !== 'id' && entry.at === entry.key) return inRealm(realm, entry.path, key);
  return entry.searches
    ? `${inRealm(realm, entry.path)}?${new URLSearchParams({ q: key })}`
    : inRealm(realm, entry.path);
}

const OWNED_SHOWN = 200;

function OwnedTable({ realm, manager: { owns, users, hidden } }: { realm: string; manager: Manager }) {
  const may = useMay();
  return (
    <>
      {(owns.length > 0 || !(users || hidden)) && (
        <Table
          label="What it declares"
          rows={owns.slice(0, OWNED_SHOWN)}
          idOf={({ kind, key }) => `${kind} ${key}`}
          to={(row) => addressOf(realm, row)}
          columns={[
            { id: 'key', head: 'name', cell: ({ key }) => <bdi>{key}</bdi> },
            { id: 'kind', head: 'kind', cell: ({ kind }) => labelOf(kind) },
            { id: 'fields', head: 'declared fields', cell: ({ fields }) => <Chips items={fields} most={8} /> },
          ]}
          empty={<p className="empty">It declares nothing now.</p>}
        />
      )}
      {users && (
        <p className="hint">
          It has applied users, which are not listed here. The history has no plan of an import of users alone
          {may(realm, 'events:read') ? (
            <>
              ; <Link href={usersImported(realm)}>the events</Link> tell of it.
            </>
          ) : (
            '.'
          )}
        </p>
      )}
      {hidden && <p className="hint">It declares more, of kinds that you may not read.</p>}
      {owns.length > OWNED_SHOWN && (
        <p className="hint">
          The first {OWNED_SHOWN} of {owns.length.toLocaleString('en')} are shown; <code>realmctl managers</code> lists
          all.
        </p>
      )}
    </>
  );
}
