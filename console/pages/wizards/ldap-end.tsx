// The last step of connecting a directory: the test of its connection with people that a sync would take, and the first sync.
import { useEffect, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import type { OutputOf } from '../../api/client.ts';
import { useRead, useWrite } from '../../api/queries.ts';
import * as api from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { objectAddress } from '../../kinds/pages.tsx';
import { inRealm } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Facts, Panel } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import type { EndProps } from './create-wizard.tsx';
import { DirectoryFaults } from './directory-found.tsx';
import { DirectoryTest } from './directory-test.tsx';

const POLL_SECONDS = 1;
type Sync = OutputOf<typeof api.getDirectorySync>;

export default function LdapEnd({ realm, entry, row }: EndProps) {
  const alias = String(row.alias);
  return (
    <>
      <Note tone="good">
        <strong>
          The directory <bdi>{alias}</bdi> is set up.
        </strong>
      </Note>
      <DirectoryTest realm={realm} alias={alias} edit={`${objectAddress(realm, entry, row)}/edit`} />
      <SyncPanel realm={realm} alias={alias} isLive={row.mode === 'live'} />
      <div className="row end">
        <ButtonLink to={objectAddress(realm, entry, row)} variant="primary">
          Open the directory
        </ButtonLink>
      </div>
    </>
  );
}

const isOver = (sync: Sync | undefined): boolean => sync?.state === 'done' || sync?.state === 'failed';

/** The address has the sync, so a reload goes on showing it. */
function SyncPanel({ realm, alias, isLive }: { realm: string; alias: string; isLive: boolean }) {
  const [path, navigate] = useLocation();
  const [search] = useSearchParams();
  const syncId = search.get('sync') ?? '';
  const begin = useWrite(api.syncDirectory);
  const [hasEnded, setEnded] = useState(false);
  const first = begin.data?.body;
  const read = useRead(
    api.getDirectorySync,
    { params: { realm, alias, syncId } },
    { enabled: syncId !== '' && !isOver(first), ...(!hasEnded && { everySeconds: POLL_SECONDS }) },
  );
  const latest = read.data?.body;
  useEffect(() => {
    if (isOver(latest)) setEnded(true);
  }, [latest]);
  const sync = isOver(first) ? first : (latest ?? first);
  const start = () =>
    begin.mutate(
      { params: { realm, alias } },
      {
        onSuccess: ({ body }) => {
          if (!body) return;
          setEnded(false);
          const query = new URLSearchParams(search);
          query.set('sync', body.id);
          navigate(`${path}?${query}`, { replace: true });
        },
      },
    );
  return (
    <Panel
      title="First sync"
      lead={
        isLive
          ? 'People come with their first sign-in; a sync updates those who have come.'
          : 'Takes over all people that the filter finds. It goes on by itself if you leave.'
      }
      actions={<AsCommand commands={() => requestCommands(api.syncDirectory, { realm, alias })} quiet />}
    >
      <div className="stack">
        <div className="row">
          <Button isDisabled={begin.isPending || (sync !== undefined && !isOver(sync))} onPress={start}>
            {sync ? 'Sync again' : 'Start the sync'}
          </Button>
          {sync && (
            <Badge
              {...(sync.state === 'done'
                ? { tone: 'good' as const }
                : sync.state === 'failed'
                  ? { tone: 'bad' as const }
                  : { tone: 'info' as const })}
            >
              {sync.state}
            </Badge>
          )}
        </div>
        {(begin.error ?? read.error) && <ProblemNote problem={begin.error ?? read.error} />}
        {syncId !== '' && !sync && !read.error && <Loading lines={2} />}
        {sync && <Progress realm={realm} sync={sync} isOver={isOver(sync)} />}
      </div>
    </Panel>
  );
}

/** Without a total, or while the entries are counted, the bar only moves. */
function Bar({ sync: { read, total } }: { sync: Sync }) {
  if (total === null || total === 0) return <progress aria-label="The sync is under way" />;
  const percent = Math.min(100, Math.floor((read / total) * 100));
  return (
    <div className="row">
      <progress aria-label="The sync is under way" value={percent} max={100} />
      <span className="soft">
        {percent} %, {read.toLocaleString('en')} of {total.toLocaleString('en')} entries
      </span>
    </div>
  );
}

function Progress({ realm, sync, isOver }: { realm: string; sync: Sync; isOver: boolean }) {
  return (
    <>
      {!isOver && <Bar sync={sync} />}
      <div role="status">
        <Facts
          facts={[
            { name: 'Entries read', value: sync.read.toLocaleString('en') },
            { name: 'Added', value: sync.added.toLocaleString('en') },
            { name: 'Updated', value: sync.updated.toLocaleString('en') },
            { name: 'Disabled', value: sync.disabled.toLocaleString('en') },
            { name: 'Failed', value: sync.failed.toLocaleString('en') },
          ]}
        />
      </div>
      {sync.error !== null && (
        <Note tone="bad" live>
          <span dir="auto">{sync.error}</span>
        </Note>
      )}
      <DirectoryFaults title="Entries that could not be taken" faults={sync.errors} />
      {sync.state === 'done' && (
        <p>
          <Link href={inRealm(realm, 'users')}>See the people</Link>
        </p>
      )}
    </>
  );
}
