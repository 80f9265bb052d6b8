// How a user signs in: the lock, what the user must do first, passwords, passkeys, apps and devices, identity providers.
import { useState } from 'react';
import { useRead, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import {
  deleteCredential,
  deleteIdentityLink,
  getLockout,
  getRequiredActions,
  listCredentials,
  listIdentityLinks,
  putRequiredActions,
} from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { ConfirmWrite } from '../../kinds/confirm-write.tsx';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Facts, Panel } from '../../ui/page.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { actionsColumn, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';
import { ActionChoice } from './action-choice.tsx';
import { DeviceToken } from './device-token.tsx';
import { LinkDialog } from './link-dialog.tsx';
import type { UserTab } from './user.tsx';
import { Unlock } from './user-actions.tsx';
import { type Credential, credentialWords, type RequiredAction } from './words.ts';

export default function SignInWays({ realm, user }: UserTab) {
  const may = useMay();
  return (
    <div className="stack">
      <Credentials realm={realm} user={user} />
      {may(realm, 'users:read') && <Identities realm={realm} user={user} />}
      <Actions realm={realm} user={user} />
      <Lock realm={realm} user={user} />
    </div>
  );
}

type Of = Pick<UserTab, 'realm' | 'user'>;

/** The details of a credential apart from its dates. */
function CredentialState({ credential }: { credential: Credential }) {
  const { temporary, reported, backedUp, deviceBound, authenticator, codesLeft } = credential;
  return (
    <span className="row">
      {temporary && <Badge tone="info">to be changed at the next sign-in</Badge>}
      {reported && <Badge tone="bad">reported as stolen</Badge>}
      {backedUp !== undefined && <Badge>{backedUp ? 'synced' : 'on one device'}</Badge>}
      {deviceBound && <Badge>device-bound</Badge>}
      {authenticator && (
        <Badge tone={authenticator.proven ? 'good' : 'info'}>
          {authenticator.name ?? authenticator.aaguid}
          {authenticator.proven && ', proven'}
        </Badge>
      )}
      {authenticator?.statuses.map((status) => (
        <Badge key={status} tone="bad">
          {status}
        </Badge>
      ))}
      {codesLeft !== undefined && <Badge tone={codesLeft === 0 ? 'warn' : 'info'}>{codesLeft} left</Badge>}
    </span>
  );
}

function Credentials({ realm, user }: Of) {
  const may = useMay();
  const mayWrite = may.partly(realm, 'users:write');
  const params = { realm, userId: user.id };
  const credentials = useRead(listCredentials, { params });
  const [removed, setRemoved] = useState<Credential>();
  const [asked, setAsked] = useState<'link' | 'device'>();
  const rows = credentials.data?.body ?? [];
  return (
    <Panel
      title="Passwords, passkeys, apps and devices"
      plain
      actions={
        mayWrite && (
          <>
            {may(realm, 'users:write') && (
              <Button small onPress={() => setAsked('device')}>
                Add a device
              </Button>
            )}
            <Button small icon="key" onPress={() => setAsked('link')}>
              Make a set-up link
            </Button>
          </>
        )
      }
    >
      {credentials.error && <ProblemNote problem={credentials.error} retry={() => void credentials.refetch()} />}
      {!credentials.data && !credentials.error && <Loading lines={3} />}
      {credentials.data && (
        <Table
          label="Credentials"
          rows={rows}
          idOf={({ type, id }) => `${type} ${id}`}
          columns={[
            {
              id: 'type',
              head: 'kind',
              cell: ({ type, label }) => (
                <>
                  {credentialWords(type)}
                  {label && (
                    <>
                      {': '}
                      <bdi>{label}</bdi>
                    </>
                  )}
                </>
              ),
            },
            { id: 'state', head: 'state', cell: (row) => <CredentialState credential={row} /> },
            { id: 'created', head: 'added', cell: ({ createdAt }) => <Time ms={createdAt} /> },
            { id: 'used', head: 'last used', cell: ({ lastUsedAt }) => <Time ms={lastUsedAt} /> },
            ...actionsColumn(mayWrite, (row: Credential) => (
              <IconButton
                label={`Remove ${credentialWords(row.type)} ${row.label ?? ''}`.trim()}
                icon="delete"
                small
                onPress={() => setRemoved(row)}
              />
            )),
          ]}
          empty={
            <Empty icon="key" title="The user has no credential here">
              <p>A password, a set-up link or an identity provider lets the user sign in.</p>
            </Empty>
          }
        />
      )}
      {removed && <Remove realm={realm} user={user} credential={removed} onClose={() => setRemoved(undefined)} />}
      {asked === 'link' && <LinkDialog realm={realm} user={user} onClose={() => setAsked(undefined)} />}
      {asked === 'device' && <DeviceToken realm={realm} user={user} onClose={() => setAsked(undefined)} />}
    </Panel>
  );
}

function Remove({ realm, user, credential, onClose }: Of & { credential: Credential; onClose: () => void }) {
  const { id, type, label } = credential;
  return (
    <ConfirmWrite
      title={`Remove ${label === null ? `this ${credentialWords(type).toLowerCase()}` : label}?`}
      action="Remove"
      route={deleteCredential}
      input={{ params: { realm, userId: user.id, type, id } }}
      done="Removed it and ended all sessions."
      onClose={onClose}
    >
      <p>
        <bdi>{user.username}</bdi> can’t sign in with it any more. All sessions and tokens of the user end.
      </p>
    </ConfirmWrite>
  );
}

function Identities({ realm, user }: Of) {
  const may = useMay();
  const mayWrite = may(realm, 'users:write');
  const links = useRead(listIdentityLinks, { params: { realm, userId: user.id } });
  const [removed, setRemoved] = useState<{ id: string; displayName: string }>();
  const rows = links.data?.body ?? [];
  type Link = (typeof rows)[number];
  return (
    <Panel title="Accounts at identity providers" plain>
      {links.error && <ProblemNote problem={links.error} retry={() => void links.refetch()} />}
      {!links.data && !links.error && <Loading lines={2} />}
      {links.data && (
        <Table
          label="Accounts at identity providers"
          rows={rows}
          idOf={({ id }) => id}
          columns={[
            { id: 'provider', head: 'provider', cell: ({ displayName }) => <bdi>{displayName}</bdi> },
            { id: 'name', head: 'account', cell: ({ name, subject }) => <bdi>{name ?? subject}</bdi> },
            { id: 'linked', head: 'connected', cell: ({ linkedAt }) => <Time ms={linkedAt} /> },
            { id: 'used', head: 'last used', cell: ({ lastUsedAt }) => <Time ms={lastUsedAt} /> },
            ...actionsColumn(mayWrite, (row: Link) => (
              <IconButton label={`Disconnect ${row.displayName}`} icon="delete" small onPress={() => setRemoved(row)} />
            )),
          ]}
          empty={<p className="hint pad">The user has not signed in by an identity provider.</p>}
        />
      )}
      {removed && (
        <ConfirmWrite
          title={`Disconnect ${user.username} from ${removed.displayName}?`}
          action="Disconnect"
          route={deleteIdentityLink}
          input={{ params: { realm, userId: user.id, id: removed.id } }}
          done="Disconnected the account and ended all sessions."
          onClose={() => setRemoved(undefined)}
        >
          <p>The user can’t sign in by this account any more, and can connect it again. All sessions and tokens end.</p>
        </ConfirmWrite>
      )}
    </Panel>
  );
}

function Actions({ realm, user }: Of) {
  const may = useMay();
  const mayWrite = may.partly(realm, 'users:write');
  const params = { realm, userId: user.id };
  const read = useRead(getRequiredActions, { params });
  const save = useWrite(putRequiredActions);
  const [edited, setEdited] = useState<RequiredAction[]>();
  const now = read.data?.body?.requiredActions ?? [];
  const value = edited ?? now;
  const isChanged = edited !== undefined && [...edited].sort().join() !== [...now].sort().join();
  return (
    <Panel
      title="Required actions"
      lead="The user does these before the next sign-in ends."
      actions={
        mayWrite && (
          <AsCommand
            quiet
            small
            commands={() => requestCommands(putRequiredActions, params, { requiredActions: value })}
          />
        )
      }
    >
      {read.error && <ProblemNote problem={read.error} retry={() => void read.refetch()} />}
      {!read.data && !read.error && <Loading lines={3} />}
      {read.data && (
        <div className="stack">
          <ActionChoice value={value} onChange={setEdited} isDisabled={!mayWrite} />
          {save.error && <ProblemNote problem={save.error} />}
          {mayWrite && (
            <div className="row end">
              {isChanged && <Button onPress={() => setEdited(undefined)}>Discard</Button>}
              <Button
                isDisabled={!isChanged || save.isPending}
                onPress={() =>
                  save.mutate(
                    {
                      params,
                      body: { requiredActions: value },
                      ...(read.data?.etag !== undefined && { headers: { 'if-match': read.data.etag } }),
                    },
                    {
                      onSuccess: () => {
                        setEdited(undefined);
                        say('Saved the required actions.');
                      },
                      onError: (problem) => {
                        if (problem.is('precondition-failed')) void read.refetch();
                      },
                    },
                  )
                }
              >
                {save.isPending ? 'Saving…' : 'Save'}
              </Button>
            </div>
          )}
        </div>
      )}
    </Panel>
  );
}

function Lock({ realm, user }: Of) {
  const may = useMay();
  const lock = useRead(getLockout, { params: { realm, userId: user.id } });
  const [asked, setAsked] = useState(false);
  const found = lock.data?.body;
  return (
    <Panel
      title="Failed sign-ins"
      plain
      actions={
        found &&
        may.partly(realm, 'users:write') &&
        (found.locked || found.failures > 0) && (
          <Button small onPress={() => setAsked(true)}>
            {found.locked ? 'Unlock' : 'Forget the failures'}
          </Button>
        )
      }
    >
      {lock.error && <ProblemNote problem={lock.error} retry={() => void lock.refetch()} />}
      {!found && !lock.error && <Loading lines={2} />}
      {found && (
        <Facts
          facts={[
            {
              name: 'Locked',
              value: found.locked ? (
                <span className="row">
                  <Badge tone="bad">locked</Badge>
                  {found.lockedUntil !== null && (
                    <span>
                      until <Time ms={found.lockedUntil} full />
                    </span>
                  )}
                </span>
              ) : (
                <Badge tone="good">no</Badge>
              ),
            },
            ...(found.rule === null
              ? []
              : [
                  {
                    name: 'By',
                    value:
                      found.rule === 'codes-of-a-day'
                        ? 'Thirty wrong codes within a day'
                        : 'Too many failed attempts, as the settings limit them',
                  },
                ]),
            { name: 'Failures since the last success', value: found.failures.toLocaleString('en') },
            { name: 'Last failure', value: <Time ms={found.lastFailureAt} /> },
          ]}
        />
      )}
      {asked && <Unlock realm={realm} user={user} onClose={() => setAsked(false)} />}
    </Panel>
  );
}
