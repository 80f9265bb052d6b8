// The roles that a group gives its members. A change shows the server's plan first.
import { useState } from 'react';
import type { OutputOf } from '../../api/client.ts';
import { useRead, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import {
  addGroupRole,
  getClient,
  listClientRoles,
  listGroupRoles,
  listRoles,
  removeGroupRole,
} from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { useLock } from '../../kinds/declared-only.tsx';
import type { Row } from '../../kinds/entry.ts';
import { ReferenceField } from '../../kinds/reference-field.tsx';
import { Review } from '../../kinds/review.tsx';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/fields.tsx';
import { Empty, Loading, ProblemNote } from '../../ui/state.tsx';
import { Table, type TableColumn } from '../../ui/table.tsx';
import { say } from '../../ui/toast.tsx';
import type { Group } from './group-tree.ts';

type GivenRole = OutputOf<typeof listGroupRoles>[number];
const MOST = 1000;
interface Change {
  role: { id: string; name: string; clientId: string | null };
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
    ...(isWriter
      ? [
          {
            id: 'actions',
            head: 'actions',
            cell: (role: GivenRole) => (
              <Button
                small
                variant="danger"
                aria-label={`Take away: ${role.name}`}
                onPress={() => setChange({ role, adds: false })}
              >
                Take away
              </Button>
            ),
          },
        ]
      : []),
  ];
  const write = change && (change.adds ? add : remove);
  const params = { realm, id: group.id, roleId: change?.role.id ?? '' };
  return (
    <div className="stack">
      <div className="row end">
        <AsCommand quiet commands={() => ({ curl: curlOf(listGroupRoles, { realm, id: group.id }) })} />
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
          commands={() => ({ curl: curlOf(change.adds ? addGroupRole : removeGroupRole, params) })}
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
  onChosen: (role: Change['role']) => void;
  onClose: () => void;
}) {
  const may = useMay();
  const [of, setOf] = useState<string | null>('realm');
  const [client, setClient] = useState<string | null>(null);
  const [name, setName] = useState<string | null>(null);
  const isOfClient = of === 'client';
  const ofRealm = useRead(
    listRoles,
    { params: { realm }, query: { q: name ?? '', limit: MOST } },
    { enabled: !isOfClient && (name ?? '') !== '', keep: true },
  );
  const ofClient = useRead(
    listClientRoles,
    { params: { realm, clientId: client ?? '' }, query: { limit: MOST } },
    { enabled: isOfClient && client !== null },
  );
  const owner = useRead(getClient, { params: { realm, id: client ?? '' } }, { enabled: isOfClient && client !== null });
  const roles = (isOfClient ? ofClient.data?.body : ofRealm.data?.body) ?? [];
  const found = roles.find((role) => role.name === name);
  const clientId = isOfClient ? owner.data?.body?.clientId : null;
  const problem = isOfClient ? (ofClient.error ?? owner.error) : ofRealm.error;
  return (
    <Dialog
      title="Give a role"
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            variant="primary"
            isDisabled={!found || clientId === undefined}
            onPress={() => found && clientId !== undefined && onChosen({ id: found.id, name: found.name, clientId })}
          >
            Review
          </Button>
        </>
      }
    >
      {problem && <ProblemNote problem={problem} />}
      {may(realm, 'clients:read') && (
        <Select
          label="A role of"
          value={of}
          onChange={(value) => {
            setOf(value);
            setName(null);
          }}
          options={[
            { id: 'realm', label: 'The realm' },
            { id: 'client', label: 'A client' },
          ]}
        />
      )}
      {isOfClient ? (
        <>
          <ReferenceField
            realm={realm}
            kind="client"
            label="Client"
            byId
            value={client}
            onChange={(id) => {
              setClient(id);
              setName(null);
            }}
          />
          <Select
            label="Role"
            isDisabled={client === null || !ofClient.data}
            value={name}
            onChange={setName}
            options={(ofClient.data?.body ?? []).map((role) => ({ id: role.name, label: role.name }))}
          />
        </>
      ) : (
        <ReferenceField realm={realm} kind="role" label="Role" value={name} onChange={setName} />
      )}
    </Dialog>
  );
}
