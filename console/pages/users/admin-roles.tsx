// The admin roles that a user holds, and over which realm.
import { useState } from 'react';
import type { OutputOf } from '../../api/client.ts';
import { useRead, useWrite } from '../../api/queries.ts';
import { MASTER, useMay } from '../../api/session.ts';
import { getUserAdminRoles, putUserAdminRoles } from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { ReferenceField } from '../../kinds/reference-field.tsx';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Panel } from '../../ui/page.tsx';
import { Loading, ProblemNote } from '../../ui/state.tsx';
import { actionsColumn, Table } from '../../ui/table.tsx';
import { say } from '../../ui/toast.tsx';
import type { UserTab } from './user.tsx';

type Grant = OutputOf<typeof getUserAdminRoles>['grants'][number];
/** As contract/admin-access.ts has it. */
const EVERY_REALM = '*';

export function AdminRoles({ realm, user }: Pick<UserTab, 'realm' | 'user'>) {
  const may = useMay();
  const mayWrite = may(realm, 'admin-roles:write');
  const params = { realm, userId: user.id };
  const read = useRead(getUserAdminRoles, { params });
  const put = useWrite(putUserAdminRoles);
  const [role, setRole] = useState<string | null>(null);
  const [over, setOver] = useState(realm);
  const [round, setRound] = useState(0);
  const [removed, setRemoved] = useState<Grant>();
  const grants = read.data?.body?.grants ?? [];
  const isSame = (one: Grant, other: Grant) => one.role === other.role && one.realm === other.realm;
  const save = (next: Grant[], done: string) =>
    put.mutate(
      {
        params,
        body: { grants: next },
        ...(read.data?.etag !== undefined && { headers: { 'if-match': read.data.etag } }),
      },
      {
        onSuccess: () => {
          setRole(null);
          setRound(round + 1);
          setRemoved(undefined);
          say(done);
        },
        onError: (problem) => {
          if (problem.is('precondition-failed')) void read.refetch();
        },
      },
    );
  const without = (removed: Grant) => grants.filter((one) => !isSame(one, removed));
  const added = role === null ? undefined : { role, realm: over };
  const isThere = added !== undefined && grants.some((one) => isSame(one, added));
  return (
    <Panel
      title="Admin roles"
      lead="What the user may administer."
      plain
      actions={<AsCommand quiet small commands={() => requestCommands(getUserAdminRoles, params)} />}
    >
      {read.error && <ProblemNote problem={read.error} retry={() => void read.refetch()} />}
      {!read.data && !read.error && <Loading lines={2} />}
      {read.data && (
        <Table
          label="Admin roles"
          rows={grants}
          idOf={(grant) => `${grant.role} ${grant.realm}`}
          columns={[
            { id: 'role', head: 'admin role', cell: (grant) => <bdi>{grant.role}</bdi> },
            {
              id: 'realm',
              head: 'over',
              cell: (grant) =>
                grant.realm === EVERY_REALM ? <Badge tone="warn">every realm</Badge> : <bdi>{grant.realm}</bdi>,
            },
            ...actionsColumn(mayWrite, (grant: Grant) => (
              <IconButton label={`Take ${grant.role} away`} icon="delete" small onPress={() => setRemoved(grant)} />
            )),
          ]}
          empty={<p className="hint pad">The user administers nothing.</p>}
        />
      )}
      {mayWrite && read.data && (
        <div className="content row add-line">
          <ReferenceField
            key={round}
            realm={realm}
            kind="adminRole"
            label="Admin role to give"
            value={role}
            onChange={setRole}
            fault={isThere ? 'The user has this admin role already.' : undefined}
          />
          {realm === MASTER && (
            <TextField
              label="Over the realm"
              help="The name of a realm; * is every realm."
              value={over}
              onChange={setOver}
              mono
            />
          )}
          <Button
            isDisabled={added === undefined || over === '' || isThere || put.isPending}
            onPress={() => added && save([...grants, added], 'Gave the admin role.')}
          >
            Give
          </Button>
        </div>
      )}
      {put.error && !removed && <ProblemNote problem={put.error} />}
      {removed && (
        <Confirm
          title={`Take the admin role ${removed.role} away?`}
          action="Take away"
          busy={put.isPending}
          problem={put.error}
          commands={() => requestCommands(putUserAdminRoles, params, { grants: without(removed) })}
          onClose={() => {
            put.reset();
            setRemoved(undefined);
          }}
          onConfirm={() => save(without(removed), 'Took the admin role away.')}
        >
          <p>
            <bdi>{user.username}</bdi> can no longer do what the role permits
            {removed.realm === EVERY_REALM ? ' in any realm' : ` in ${removed.realm}`}.
          </p>
        </Confirm>
      )}
    </Panel>
  );
}
