// Inviting a person by e-mail address. The link goes by mail, or is shown once to be handed over.
import { type FormEvent, useState } from 'react';
import { DAY_SECONDS } from '../../../server/contract/durations.ts';
import type { OutputOf } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import { createInvitation } from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { faultsOf } from '../../kinds/plan.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Toggle } from '../../ui/choices.tsx';
import { Code } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { NumberField, TextField } from '../../ui/fields.tsx';
import { ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';

type Sent = OutputOf<typeof createInvitation>;
const [USUAL_DAYS, MOST_DAYS] = [7, 30];

export function Invite({
  realm,
  organization,
  onClose,
}: {
  realm: string;
  organization: string;
  onClose: (sent?: Sent) => void;
}) {
  const [email, setEmail] = useState('');
  const [byMail, setByMail] = useState(true);
  const [days, setDays] = useState<number | null>(USUAL_DAYS);
  const invite = useWrite(createInvitation);
  const faults = faultsOf(invite.error);
  const body = {
    email,
    organization,
    mail: byMail,
    ...(days !== null && { expiresInSeconds: days * DAY_SECONDS }),
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    invite.mutate(
      { params: { realm }, body },
      {
        onSuccess: ({ body: sent }) => {
          if (byMail) say(`Sent an invitation to ${email}.`);
          onClose(sent);
        },
      },
    );
  };
  return (
    <Dialog title={`Invite to ${organization}`} isOpen onClose={() => onClose()}>
      <form className="stack" onSubmit={submit} noValidate>
        {invite.error && <ProblemNote problem={invite.error} quietFields />}
        <TextField
          label="E-mail address"
          help="An earlier invitation of the same address is replaced."
          type="email"
          value={email}
          onChange={setEmail}
          autoFocus
          fault={faults.get('email')}
        />
        <Toggle
          label="Send the link by mail"
          help="Off: the link is shown to you once, and the address counts as unverified."
          isSelected={byMail}
          onChange={setByMail}
        />
        <NumberField
          label="The link works for"
          unit="days"
          least={1}
          most={MOST_DAYS}
          value={days}
          onChange={setDays}
          fault={faults.get('expiresInSeconds')}
        />
        <div className="row end">
          <AsCommand quiet commands={() => requestCommands(createInvitation, { realm }, body)} />
          <Button onPress={() => onClose()}>Cancel</Button>
          <Button type="submit" variant="primary" isDisabled={email === '' || invite.isPending}>
            {invite.isPending ? 'Inviting…' : 'Invite'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export function InvitationLink({ email, link, onClose }: { email: string; link: string; onClose: () => void }) {
  return (
    <Dialog title={`The link for ${email}`} isOpen onClose={onClose} footer={<Button onPress={onClose}>Done</Button>}>
      <p>It is shown this once, and works once. Hand it over in a way that only this person can read.</p>
      <Code text={link} label="the link" />
    </Dialog>
  );
}
