// Gives a user a role of the realm, or of a client.
import { useState } from 'react';
import { useWrite } from '../../api/queries.ts';
import { addUserRole } from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { RoleChoice, type RoleIds } from '../../kinds/role-choice.tsx';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';
import type { User } from './words.ts';

export function GiveRole({ realm, user, onClose }: { realm: string; user: User; onClose: () => void }) {
  const [role, setRole] = useState<RoleIds | null>(null);
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
            commands={() => requestCommands(addUserRole, params, { roleId: role?.id ?? '<id of the role>' })}
          />
          <Button onPress={onClose}>Cancel</Button>
          <Button
            variant="primary"
            isDisabled={role === null || give.isPending}
            onPress={() =>
              role !== null &&
              give.mutate(
                { params, body: { roleId: role.id } },
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
      <RoleChoice realm={realm} value={role} onChange={setRole} />
      {give.error && <ProblemNote problem={give.error} />}
    </Dialog>
  );
}
