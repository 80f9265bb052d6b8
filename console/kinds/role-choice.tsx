// The choice of a role to give: one of the realm, or one of a client.
import { useState } from 'react';
import { useRead } from '../api/queries.ts';
import { useMay } from '../api/session.ts';
import { getClient, getRole, listClientRoles } from '../generated/routes.ts';
import { Select } from '../ui/fields.tsx';
import { Loading, Note, ProblemNote } from '../ui/state.tsx';
import { ReferenceField } from './reference-field.tsx';

const MOST = 1000;
const owners = [
  { id: 'realm', label: 'The realm' },
  { id: 'client', label: 'A client' },
] as const;

/** The ids of a role and of the client that it belongs to. */
export interface RoleIds {
  id: string;
  client: string | null;
}

export function RoleChoice({
  realm,
  value,
  onChange,
}: {
  realm: string;
  value: RoleIds | null;
  onChange: (role: RoleIds | null) => void;
}) {
  const may = useMay();
  const [owner, setOwner] = useState('realm');
  const [client, setClient] = useState<string | null>(null);
  if (!may(realm, 'roles:read')) return <Note>Choosing a role needs the permission roles:read.</Note>;
  const choose = (id: string | null) =>
    onChange(id === null ? null : { id, client: owner === 'realm' ? null : client });
  return (
    <>
      {may(realm, 'clients:read') && (
        <Select
          label="The role is of"
          options={owners}
          value={owner}
          onChange={(id) => {
            setOwner(id ?? 'realm');
            onChange(null);
          }}
        />
      )}
      {owner === 'realm' ? (
        <ReferenceField realm={realm} kind="role" label="Role" byId value={value?.id ?? null} onChange={choose} />
      ) : (
        <>
          <ReferenceField
            realm={realm}
            kind="client"
            label="Client"
            byId
            value={client}
            onChange={(id) => {
              setClient(id);
              onChange(null);
            }}
          />
          {client !== null && (
            <ClientRole realm={realm} clientId={client} value={value?.id ?? null} onChange={choose} />
          )}
        </>
      )}
    </>
  );
}

function ClientRole({
  realm,
  clientId,
  value,
  onChange,
}: {
  realm: string;
  clientId: string;
  value: string | null;
  onChange: (id: string | null) => void;
}) {
  const roles = useRead(listClientRoles, { params: { realm, clientId }, query: { limit: MOST } });
  const found = roles.data?.body;
  if (roles.error) return <ProblemNote problem={roles.error} retry={() => void roles.refetch()} />;
  if (!found) return <Loading lines={1} />;
  if (found.length === 0) return <Note>The client has no roles.</Note>;
  return (
    <Select
      label="Role"
      options={found.map(({ id, name, description }) => ({
        id: String(id),
        label: String(name),
        ...(description && { help: String(description) }),
      }))}
      value={value}
      onChange={onChange}
    />
  );
}

/** A role as documents name it. */
export interface NamedRole {
  id: string;
  name: string;
  /** null: a role of the realm. */
  clientId: string | null;
}

/** The names of a chosen role; undefined until they are read. */
export function useRoleNames(realm: string, role: RoleIds | null): { named: NamedRole | undefined; problem: unknown } {
  const client = role?.client ?? '';
  const isOfClient = client !== '';
  const ofRealm = useRead(
    getRole,
    { params: { realm, id: role?.id ?? '' } },
    { enabled: role !== null && role.client === null },
  );
  const ofClient = useRead(
    listClientRoles,
    { params: { realm, clientId: client }, query: { limit: MOST } },
    { enabled: isOfClient },
  );
  const owner = useRead(getClient, { params: { realm, id: client } }, { enabled: isOfClient });
  const problem = isOfClient ? (ofClient.error ?? owner.error) : ofRealm.error;
  const found = isOfClient ? ofClient.data?.body?.find(({ id }) => id === role?.id) : ofRealm.data?.body;
  const clientId = isOfClient ? owner.data?.body?.clientId : null;
  const isKnown = role !== null && found !== undefined && clientId !== undefined;
  return { named: isKnown ? { id: role.id, name: found.name, clientId } : undefined, problem };
}
