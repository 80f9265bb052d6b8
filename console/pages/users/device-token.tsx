// An address by which the user's phone becomes a device that approves sign-ins.
import { useWrite } from '../../api/queries.ts';
import { createEnrolmentToken } from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Note, ProblemNote } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import type { User } from './words.ts';

export function DeviceToken({ realm, user, onClose }: { realm: string; user: User; onClose: () => void }) {
  const make = useWrite(createEnrolmentToken);
  const made = make.data?.body;
  const params = { realm, userId: user.id };
  return (
    <Dialog
      title={`Add a device of ${user.username}`}
      isOpen
      onClose={onClose}
      footer={
        made ? (
          <Button variant="primary" onPress={onClose}>
            Done
          </Button>
        ) : (
          <>
            <AsCommand quiet commands={() => requestCommands(createEnrolmentToken, params)} />
            <Button onPress={onClose}>Cancel</Button>
            <Button variant="primary" isDisabled={make.isPending} onPress={() => make.mutate({ params })}>
              {make.isPending ? 'Making…' : 'Make the address'}
            </Button>
          </>
        )
      }
    >
      {made ? (
        <>
          <Note tone="warn">
            It is shown this once and works once, until <Time ms={made.expiresAt} full />.
          </Note>
          <p>Open this address on the phone that has the app:</p>
          <Code text={made.url} label="the address" />
          <p>An app that asks for a token takes this:</p>
          <Code text={made.token} label="the token" />
        </>
      ) : (
        <>
          <p>The phone that opens the address can approve sign-ins of the user from then on.</p>
          <Note tone="warn">Give it to the user alone, and make sure first that the user asks for it.</Note>
          {make.error && <ProblemNote problem={make.error} />}
        </>
      )}
    </Dialog>
  );
}
