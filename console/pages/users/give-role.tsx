// Gives a user a role of the realm, or of a client.
import { useState } from 'react';
import { useRead, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { addUserRole, listClientRoles } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { ReferenceField } from '../../kinds/reference-field.tsx';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/fields.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';
import type { User } from './words.ts';

const MOST = 1000;
const owners = [
  { id: 'realm', label: 'The realm' },
  { id: 'client', label: 'A client' },
] as const;

export function GiveRole({ realm, user, onClose }: { realm: string; user: User; onClose: () => void }) {
  const may = useMay();
  const [owner, setOwner] = useState('realm');
  const [client, setClient] = useState<string | null>(null);
  const [role, setRole] = useState<string | null>(null);
  const give = useWrite(addUserRole);
  const params = { realm, userId: user.id };
  return (
    <Dialog
      title={`Give ${user.username} a role`}
      isOpen
      onClose={onClose}
      footer={
        <>
          <AsCommand
            quiet
            commands={() => ({ curl: curlOf(addUserRole, params, { roleId: role ?? '<id of the role>' }) })}
          />
          <Button onPress={onClose}>Cancel</Button>
          <Button
            variant="primary"
            isDisabled={role === null || give.isPending}
            onPress={() =>
              role !== null &&
              give.mutate(
                { params, body: { roleId: role } },
                {
                  onSuccess: () => {
                    say('Gave the role.');
                    onClose();
                  },
                },
              )
            }
          >
            {give.isPending ? 'Giving…' : 'Give the role'}
          </Button>
        </>
      }
    >
      {!may(realm, 'roles:read') ? (
        <Note>Choosing a role needs the permission roles:read.</Note>
      ) : (
        <>
          {may(realm, 'clients:read') && (
            <Select
              label="The role is of"
              options={owners}
              value={owner}
              onChange={(id) => {
                setOwner(id ?? 'realm');
                setRole(null);
              }}
            />
          )}
          {owner === 'realm' ? (
            <ReferenceField realm={realm} kind="role" label="Role" byId value={role} onChange={setRole} />
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
                  setRole(null);
                }}
              />
              {client !== null && <ClientRole realm={realm} clientId={client} value={role} onChange={setRole} />}
            </>
          )}
        </>
      )}
      {give.error && <ProblemNote problem={give.error} />}
    </Dialog>
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
