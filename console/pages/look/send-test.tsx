// Sends the stored message to an address of the reader's choice, with the server's own samples.
import { useState } from 'react';
import { messages, type TemplateKey } from '../../../server/contract/message-keys.ts';
import { useWrite } from '../../api/queries.ts';
import * as api from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { faultsOf } from '../../kinds/plan.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Note, ProblemNote } from '../../ui/state.tsx';
import { GatewayAnswer } from './gateway-answer.tsx';

const fields = {
  EMAIL: { label: 'E-mail address', placeholder: 'you@example.com' },
  SMS: { label: 'Phone number', placeholder: '+491701234567' },
  PUSH: { label: 'Device', placeholder: 'The id of a registered device, or its token' },
} as const;

export function SendTest({
  realm,
  templateKey,
  locale,
  isChanged,
}: {
  realm: string;
  templateKey: TemplateKey;
  locale: string;
  /** What is typed isn't saved. */
  isChanged: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  const [to, setTo] = useState('');
  const test = useWrite(api.testMessageTemplate);
  const { label, placeholder } = fields[messages[templateKey].channel];
  const body = { templateKey, locale, to: to.trim() };
  const answer = test.data?.body;
  const send = () => test.mutate({ params: { realm }, body });
  const close = () => {
    setOpen(false);
    test.reset();
  };
  return (
    <div className="row">
      <Button onPress={() => setOpen(true)}>Send a test message…</Button>
      <Dialog
        title="Send a test message"
        isOpen={isOpen}
        onClose={close}
        footer={
          <>
            <AsCommand commands={() => ({ curl: curlOf(api.testMessageTemplate, { realm }, body) })} quiet />
            <Button onPress={close}>Close</Button>
            <Button variant="primary" isDisabled={test.isPending || body.to === ''} onPress={send}>
              {test.isPending ? 'Sending…' : 'Send the test'}
            </Button>
          </>
        }
      >
        <p>
          The message goes out at once, with samples: its code opens nothing, and its link leads to the account page.
        </p>
        {isChanged && <Note tone="warn">What is typed is not saved yet. The stored message is sent.</Note>}
        <TextField
          label={label}
          placeholder={placeholder}
          value={to}
          onChange={setTo}
          fault={faultsOf(test.error).get('to')}
          mono
          autoComplete="off"
        />
        {test.error && <ProblemNote problem={test.error} quietFields />}
        {answer && <GatewayAnswer of={answer} />}
      </Dialog>
    </div>
  );
}
