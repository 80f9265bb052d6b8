// The roles that a group gives its members. A change shows the server's plan first.
import { useState } from 'react';
import type { OutputOf } from '../../api/client.ts';
import { useRead, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { addGroupRole, listGroupRoles, removeGroupRole } from '../../generated/routes.ts';
import { curlOf, documentCommand, realmManifest, requestCommands } from '../../kinds/commands.ts';
import { useLock } from '../../kinds/declared-only.tsx';
import type { Row } from '../../kinds/entry.ts';
import { Review } from '../../kinds/review.tsx';
import { type NamedRole, RoleChoice, type RoleIds, useRoleNames } from '../../kinds/role-choice.tsx';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { actionsColumn, Table, type TableColumn } from '../../ui/table.tsx';
import { say } from '../../ui/toast.tsx';
import type { Group } from './group-tree.ts';

type GivenRole = OutputOf<typeof listGroupRoles>[number];
const MOST = 1000;
interface Change {
  role: NamedRole;
  adds: boolean;
}

/** The group as a document has it after the change. */
function documentAfter({ path, roles, clientRoles }: Group, { role, adds }: Change): { groups: Row[] } {
  const after = (names: readonly string[]) =>
    adds ? [...names.filter((name) => name !== role.name), role.name] : names.filter((name) => name !== role.name);
  if (role.clientId === null) return { groups: [{ path, roles: after(roles) }] };
  return {
    groups: [{ path, clientRoles: { ...clientRoles, [role.clientId]: after(clientRoles[role.clientId] ?? []) } }],
  };
}

export function GroupRoles({ realm, group }: { realm: string; group: Group }) {
  const may = useMay();
  const lock = useLock(realm, 'groups', { kind: 'group', key: group.path });
  const isWriter = may(realm, 'groups:write') && !lock.isLocked;
  const roles = useRead(listGroupRoles, { params: { realm, id: group.id }, query: { limit: MOST } });
  const add = useWrite(addGroupRole);
  const remove = useWrite(removeGroupRole);
  const [adds, setAdds] = useState(false);
  const [change, setChange] = useState<Change>();
  const rows = roles.data?.body ?? [];
  const columns: TableColumn<GivenRole>[] = [
    { id: 'name', head: 'role', cell: ({ name }) => <bdi>{name}</bdi> },
    { id: 'of', head: 'of', cell: ({ clientId }) => (clientId === null ? 'the realm' : <bdi>{clientId}</bdi>) },
    ...actionsColumn(isWriter, (role: GivenRole) => (
      <Button
        small
        variant="danger"
        aria-label={`Take away: ${role.name}`}
        onPress={() => setChange({ role, adds: false })}
      >
        Take away
      </Button>
    )),
  ];
  const write = change && (change.adds ? add : remove);
  const params = { realm, id: group.id, roleId: change?.role.id ?? '' };
  return (
    <div className="stack">
      <div className="row end">
        <AsCommand quiet commands={() => requestCommands(listGroupRoles, { realm, id: group.id })} />
        {isWriter && (
          <Button icon="add" onPress={() => setAdds(true)}>
            Give a role
          </Button>
        )}
      </div>
      {roles.error && <ProblemNote problem={roles.error} retry={() => void roles.refetch()} />}
      {!roles.data ? (
        !roles.error && <Loading lines={4} />
      ) : rows.length === 0 ? (
        <div className="panel">
          <Empty icon="role" title="It gives its members no roles">
            <p>Members of the groups below have the roles of this group too.</p>
          </Empty>
        </div>
      ) : (
        <Table label={`Roles of ${group.path}`} columns={columns} rows={rows} idOf={({ id }) => id} />
      )}
      {adds && (
        <GiveRole
          realm={realm}
          onClose={() => setAdds(false)}
          onChosen={(role) => {
            setAdds(false);
            setChange({ role, adds: true });
          }}
        />
      )}
      {change && write && (
        <Review
          title={change.adds ? `Give the role ${change.role.name}` : `Take the role ${change.role.name} away`}
          realm={realm}
          document={documentAfter(group, change)}
          changes={{ roles: change.role.name }}
          before={{}}
          save={change.adds ? 'Give the role' : 'Take it away'}
          danger={!change.adds}
          onSave={() =>
            write.mutate(
              { params },
              {
                onSuccess: () => {
                  setChange(undefined);
                  say(change.adds ? 'Gave the role.' : 'Took the role away.');
                },
              },
            )
          }
          onClose={() => {
            write.reset();
            setChange(undefined);
          }}
          isSaving={write.isPending}
          problem={write.error}
          commands={async () => ({
            realmctl: documentCommand(realm, documentAfter(group, change)),
            curl: curlOf(change.adds ? addGroupRole : removeGroupRole, params),
            manifest: await realmManifest(realm, documentAfter(group, change)),
          })}
        />
      )}
    </div>
  );
}

function GiveRole({
  realm,
  onChosen,
  onClose,
}: {
  realm: string;
  onChosen: (role: NamedRole) => void;
  onClose: () => void;
}) {
  const [role, setRole] = useState<RoleIds | null>(null);
  const { named, problem } = useRoleNames(realm, role);
  return (
    <Dialog
      title="Give a role"
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button variant="primary" isDisabled={!named} onPress={() => named && onChosen(named)}>
            Review
          </Button>
        </>
      }
    >
      <RoleChoice realm={realm} value={role} onChange={setRole} />
      {problem ? <ProblemNote problem={problem} /> : null}
    </Dialog>
  );
}
