// A user's rights and their origins: groups, roles with every way that the user has them, admin roles.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { callAll, type OutputOf, type ServerProblem } from '../../api/client.ts';
import { keyOf, readAnew, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { listUserRoles, putUser, removeUserRole } from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { ConfirmWrite } from '../../kinds/confirm-write.tsx';
import { ReferenceField } from '../../kinds/reference-field.tsx';
import { inRealm } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Panel } from '../../ui/page.tsx';
import { Loading, ProblemNote } from '../../ui/state.tsx';
import { actionsColumn, Table } from '../../ui/table.tsx';
import { say } from '../../ui/toast.tsx';
import { AdminRoles } from './admin-roles.tsx';
import { GiveRole } from './give-role.tsx';
import type { UserTab } from './user.tsx';

export default function Access(of: UserTab) {
  const may = useMay();
  return (
    <div className="stack">
      <Groups {...of} />
      <Roles {...of} />
      {may(of.realm, 'admin-roles:read') && <AdminRoles {...of} />}
    </div>
  );
}

function Groups({ realm, user, etag }: UserTab) {
  const may = useMay();
  const mayWrite = may.partly(realm, 'users:write');
  const [added, setAdded] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  const put = useWrite(putUser);
  const save = (groups: string[], done: string) =>
    put.mutate(
      {
        params: { realm, userId: user.id },
        body: { groups },
        ...(etag !== undefined && { headers: { 'if-match': etag } }),
      },
      {
        onSuccess: () => {
          setAdded(null);
          setRound(round + 1);
          say(done);
        },
        // the next try is of the groups as they are now
        onError: (problem) => {
          if (problem.is('precondition-failed')) void readAnew(realm);
        },
      },
    );
  const isThere = added !== null && user.groups.includes(added);
  return (
    <Panel title="Groups" lead="The user is a direct member of these, and has their roles.">
      <div className="stack">
        {user.groups.length === 0 ? (
          <span className="none">The user is in no group.</span>
        ) : (
          <ul className="chips">
            {user.groups.map((path) => (
              <li key={path} className="chip">
                <bdi>{path}</bdi>
                {mayWrite && (
                  <IconButton
                    label={`Take the user out of ${path}`}
                    icon="close"
                    small
                    isDisabled={put.isPending}
                    onPress={() =>
                      save(
                        user.groups.filter((one) => one !== path),
                        `Took the user out of ${path}.`,
                      )
                    }
                  />
                )}
              </li>
            ))}
          </ul>
        )}
        {mayWrite && (
          <div className="row add-line">
            <ReferenceField
              key={round}
              realm={realm}
              kind="group"
              label="Group to join"
              hideLabel
              value={added}
              onChange={setAdded}
              fault={isThere ? 'The user is in this group already.' : undefined}
              // the button that was pressed can't have the focus any more, or is gone
              autoFocus={round > 0}
            />
            <Button
              isDisabled={added === null || isThere || put.isPending}
              onPress={() => added !== null && save([...user.groups, added], `Put the user into ${added}.`)}
            >
              Add to the group
            </Button>
          </div>
        )}
        {put.error && <ProblemNote problem={put.error} />}
      </div>
    </Panel>
  );
}

type HeldRole = OutputOf<typeof listUserRoles>[number];
type Way = HeldRole['from'][number];

function Why({ from }: { from: readonly Way[] }) {
  return (
    <ul className="plain-list">
      {from.map(({ by, name, clientId }) => (
        <li key={`${by} ${clientId} ${name}`}>
          {by === 'direct' && 'held directly'}
          {by === 'group' && (
            <>
              by the group <bdi>{name}</bdi>
            </>
          )}
          {by === 'composite' && (
            <>
              contained in <bdi>{name}</bdi>
              {clientId !== null && (
                <>
                  {' of '}
                  <bdi>{clientId}</bdi>
                </>
              )}
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

function Roles({ realm, user }: UserTab) {
  const may = useMay();
  const mayWrite = may(realm, 'users:write');
  const input = { params: { realm, userId: user.id }, query: { effective: 'true' } };
  const roles = useQuery<HeldRole[], ServerProblem>({
    queryKey: keyOf(listUserRoles, input),
    queryFn: () => callAll(listUserRoles, input),
  });
  const [gives, setGives] = useState(false);
  const [removed, setRemoved] = useState<HeldRole>();
  const isDirect = ({ from }: HeldRole): boolean => from.some(({ by }) => by === 'direct');
  return (
    <Panel
      title="Roles"
      lead="Every role that the user has, and every way by which the user has it."
      plain
      actions={
        <>
          <AsCommand quiet small commands={() => requestCommands(listUserRoles, { realm, userId: user.id })} />
          {mayWrite && (
            <Button small icon="add" onPress={() => setGives(true)}>
              Give a role
            </Button>
          )}
        </>
      }
    >
      {roles.error && <ProblemNote problem={roles.error} retry={() => void roles.refetch()} />}
      {!roles.data && !roles.error && <Loading lines={4} />}
      {roles.data && (
        <Table
          label="Roles"
          rows={roles.data}
          idOf={({ id }) => id}
          {...(may(realm, 'roles:read') && {
            to: ({ id, clientId }: HeldRole) => (clientId === null ? inRealm(realm, 'roles', id) : undefined),
          })}
          columns={[
            { id: 'name', head: 'role', cell: ({ name }) => <bdi>{name}</bdi> },
            {
              id: 'of',
              head: 'of',
              cell: ({ clientId }) => (clientId === null ? <Badge>realm</Badge> : <bdi>{clientId}</bdi>),
            },
            { id: 'why', head: 'why', cell: ({ from }) => <Why from={from} /> },
            ...actionsColumn(mayWrite, (row: HeldRole) =>
              isDirect(row) ? (
                <IconButton label={`Take ${row.name} away`} icon="delete" small onPress={() => setRemoved(row)} />
              ) : null,
            ),
          ]}
          empty={<p className="hint pad">The user has no role.</p>}
        />
      )}
      {gives && <GiveRole realm={realm} user={user} onClose={() => setGives(false)} />}
      {removed && (
        <ConfirmWrite
          title={`Take the role ${removed.name} away?`}
          action="Take away"
          route={removeUserRole}
          input={{ params: { realm, userId: user.id, roleId: removed.id } }}
          done="Took the role away."
          onClose={() => setRemoved(undefined)}
        >
          {removed.from.length > 1 ? (
            <p>The user no longer holds it directly, and keeps it by the other ways that the table shows.</p>
          ) : (
            <p>Tokens that were issued before keep the role until they expire.</p>
          )}
        </ConfirmWrite>
      )}
    </Panel>
  );
}
