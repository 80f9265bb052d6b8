// A link by which the user sets up a passkey or an authenticator app that was lost. The administrator hands it over.
import { useState } from 'react';
import { useWrite } from '../../api/queries.ts';
import { createEnrolmentLink, deleteEnrolmentLink } from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/choices.tsx';
import { Code } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/fields.tsx';
import { Note, ProblemNote } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';
import type { User } from './words.ts';

const actions = [
  { id: 'CONFIGURE_PASSKEY', label: 'A passkey' },
  { id: 'CONFIGURE_OTP', label: 'An authenticator app' },
] as const;
const lifetimes = [
  { id: '900', label: '15 minutes' },
  { id: '3600', label: '1 hour' },
  { id: '14400', label: '4 hours' },
  { id: '86400', label: '1 day' },
] as const;

export function LinkDialog({ realm, user, onClose }: { realm: string; user: User; onClose: () => void }) {
  const [action, setAction] = useState<(typeof actions)[number]['id']>('CONFIGURE_PASSKEY');
  const [seconds, setSeconds] = useState('3600');
  const [replaces, setReplaces] = useState(true);
  const make = useWrite(createEnrolmentLink);
  const takeBack = useWrite(deleteEnrolmentLink);
  const made = make.data?.body;
  const params = { realm, userId: user.id };
  const body = { action, replaces, expiresInSeconds: Number(seconds) };
  return (
    <Dialog
      title={`Make a set-up link for ${user.username}`}
      isOpen
      onClose={onClose}
      footer={
        made ? (
          <Button variant="primary" onPress={onClose}>
            Done
          </Button>
        ) : (
          <>
            <AsCommand quiet commands={() => requestCommands(createEnrolmentLink, params, body)} />
            <Button
              isDisabled={takeBack.isPending}
              onPress={() =>
                takeBack.mutate(
                  { params },
                  {
                    onSuccess: () => {
                      say('An earlier link works no longer.');
                      onClose();
                    },
                  },
                )
              }
            >
              Take back an earlier link
            </Button>
            <Button variant="primary" isDisabled={make.isPending} onPress={() => make.mutate({ params, body })}>
              {make.isPending ? 'Making…' : 'Make the link'}
            </Button>
          </>
        )
      }
    >
      {made ? (
        <>
          <Note tone="warn">
            The link is shown this once. It works once, in any browser, until <Time ms={made.expiresAt} full />. Give it
            to the user alone, by a way that you trust.
          </Note>
          <Code text={made.link} label="the link" />
        </>
      ) : (
        <>
          <Note tone="warn">
            The browser that opens the link sets up a way to sign in as the user. Make sure first that the user asks for
            it.
          </Note>
          <Select
            label="The user sets up"
            options={actions}
            value={action}
            onChange={(id) => setAction(id === 'CONFIGURE_OTP' ? id : 'CONFIGURE_PASSKEY')}
          />
          <Select
            label="The link works for"
            options={lifetimes}
            value={seconds}
            onChange={(id) => setSeconds(id ?? '3600')}
          />
          <Checkbox
            label="Remove what the user had of this kind"
            help="When the new one is there, the old ones are removed and the sessions that used them end."
            isSelected={replaces}
            onChange={setReplaces}
          />
          {(make.error ?? takeBack.error) && <ProblemNote problem={make.error ?? takeBack.error} />}
        </>
      )}
    </Dialog>
  );
}
