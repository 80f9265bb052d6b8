// The syncs with a directory: how far each is, what it did, which entries it could not take; a new one.
import { useState } from 'react';
import { Link } from 'wouter';
import type { OutputOf } from '../../api/client.ts';
import { useRead, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { listDirectories, listDirectorySyncs, syncDirectory } from '../../generated/routes.ts';
import { inRealm } from '../../shell/addresses.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Facts } from '../../ui/page.tsx';
import { LOOK_SECONDS, PAGE_ROWS, Paged } from '../../ui/paged.tsx';
import { Empty, Note, ProblemNote } from '../../ui/state.tsx';
import type { TableColumn } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';
import { Which } from './which.tsx';

type Directory = OutputOf<typeof listDirectories>[number];
type Sync = OutputOf<typeof listDirectorySyncs>[number];

const tones = { waiting: 'info', running: 'info', done: 'good', failed: 'bad' } as const;
const number = (count: number): string => count.toLocaleString('en');

const columns: readonly TableColumn<Sync>[] = [
  { id: 'created', head: 'asked for', cell: ({ created }) => <Time ms={created} /> },
  { id: 'state', head: 'state', cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge> },
  { id: 'kind', head: 'kind', cell: ({ kind }) => (kind === 'full' ? 'all users' : 'changed users') },
  { id: 'read', head: 'read', numeric: true, cell: ({ read }) => number(read) },
  { id: 'added', head: 'added', numeric: true, cell: ({ added }) => number(added) },
  { id: 'updated', head: 'updated', numeric: true, cell: ({ updated }) => number(updated) },
  { id: 'disabled', head: 'disabled', numeric: true, cell: ({ disabled }) => number(disabled) },
  { id: 'failed', head: 'not taken', numeric: true, cell: ({ failed }) => number(failed) },
];

export function Syncs({ realm }: { realm: string }) {
  const may = useMay();
  const sync = useWrite(syncDirectory);
  const directories = useRead(listDirectories, { params: { realm }, query: { limit: 1000 } });
  const begin = (alias: string, kind: 'full' | 'changed') =>
    sync.mutate({ params: { realm, alias }, query: { kind } }, { onSuccess: () => say('The sync has begun.') });
  return (
    <>
      {sync.error && <ProblemNote problem={sync.error} />}
      <Which<Directory>
        name="directory"
        label="Directory"
        read={directories}
        idOf={({ alias }) => alias}
        nameOf={({ alias }) => alias}
        none={
          <Empty
            icon="org"
            title="There is no directory"
            actions={<ButtonLink to={inRealm(realm, 'user-federation')}>User federation</ButtonLink>}
          >
            <p>The users of an LDAP directory are taken over by syncs, which are listed here.</p>
          </Empty>
        }
        actions={({ alias }) => (
          <>
            {may(realm, 'user-federation:write') && (
              <>
                <Button isDisabled={sync.isPending} onPress={() => begin(alias, 'changed')}>
                  Sync changed users
                </Button>
                <Button isDisabled={sync.isPending} onPress={() => begin(alias, 'full')}>
                  Sync all users
                </Button>
              </>
            )}
            <Link href={inRealm(realm, 'user-federation', alias)}>Settings of the directory</Link>
          </>
        )}
      >
        {({ alias }) => <Of realm={realm} alias={alias} />}
      </Which>
    </>
  );
}

function Of({ realm, alias }: { realm: string; alias: string }) {
  const { get } = useFilters();
  const [open, setOpen] = useState<string>();
  const cursor = get('cursor') || undefined;
  const syncs = useRead(
    listDirectorySyncs,
    { params: { realm, alias }, query: { limit: PAGE_ROWS, ...(cursor !== undefined && { cursor }) } },
    { keep: true, everySeconds: LOOK_SECONDS },
  );
  const shown = syncs.data?.body?.find(({ id }) => id === open);
  return (
    <>
      <Paged
        label="Syncs"
        read={syncs}
        columns={columns}
        idOf={({ id }) => id}
        onOpen={({ id }) => setOpen(id)}
        empty={
          <Empty icon="org" title="Nothing was synced yet">
            <p>The directory syncs at its own times, or when an administrator begins it here.</p>
          </Empty>
        }
      />
      {shown && <SyncDetails sync={shown} onClose={() => setOpen(undefined)} />}
    </>
  );
}

function SyncDetails({ sync, onClose }: { sync: Sync; onClose: () => void }) {
  const { state, started, finished, error, errors, failed } = sync;
  return (
    <Dialog title="Sync" isOpen onClose={onClose} size="wide">
      {error !== null && (
        <Note tone={state === 'failed' ? 'bad' : 'warn'}>
          <strong>{state === 'failed' ? 'It failed.' : 'Its last try failed.'}</strong>
          <bdi>{error}</bdi>
        </Note>
      )}
      <Facts
        facts={[
          { name: 'State', value: <Badge tone={tones[state]}>{state}</Badge> },
          { name: 'Begun', value: <Time ms={started} full /> },
          {
            name: 'Ended',
            value: finished === null ? <span className="none">not yet</span> : <Time ms={finished} full />,
          },
          { name: 'Entries read', value: number(sync.read) },
          { name: 'Entries not taken', value: number(failed) },
        ]}
      />
      {errors.length > 0 && (
        <>
          <h3>Entries that could not be taken{errors.length < failed && `, ${errors.length} of ${number(failed)}`}</h3>
          <Facts facts={errors.map(({ entry, message }) => ({ name: entry, value: <bdi>{message}</bdi> }))} />
        </>
      )}
    </Dialog>
  );
}
