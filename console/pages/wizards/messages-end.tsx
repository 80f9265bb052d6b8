// The last step of setting up messages: a test message, and the gateway's own words about it. The gateway's page has the test too.
import { type FormEvent, useState } from 'react';
import { useRead, useWrite } from '../../api/queries.ts';
import * as api from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { objectAddress } from '../../kinds/pages.tsx';
import { faultsOf } from '../../kinds/plan.ts';
import { inRealm } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Select, TextField } from '../../ui/fields.tsx';
import { Panel } from '../../ui/page.tsx';
import { Note, ProblemNote } from '../../ui/state.tsx';
import { GatewayAnswer } from '../look/gateway-answer.tsx';
import type { EndProps } from './create-wizard.tsx';

const fields = {
  EMAIL: { label: 'E-mail address', placeholder: 'you@example.com' },
  SMS: { label: 'Phone number', placeholder: '+491701234567' },
  PUSH: { label: 'Device', placeholder: 'A device’s token at the platform' },
} as const;

export default function MessagesEnd({ realm, entry, row }: EndProps) {
  return (
    <>
      <Note tone="good">
        <strong>The gateway is set up.</strong>
      </Note>
      <MessageTest realm={realm} row={row} />
      <div className="row end">
        <ButtonLink to={objectAddress(realm, entry, row)}>Open the gateway</ButtonLink>
        <ButtonLink to={inRealm(realm, 'look', 'messages')} variant="primary">
          See the messages
        </ButtonLink>
      </div>
    </>
  );
}

export function MessageTest({ realm, row }: Pick<EndProps, 'realm' | 'row'>) {
  const channel = row.channel === 'SMS' || row.channel === 'PUSH' ? row.channel : 'EMAIL';
  const driver = row.driver as 'smtp';
  const [to, setTo] = useState('');
  const test = useWrite(api.testMessagingProvider);
  const devices = useRead(
    api.listPushTokens,
    { params: { realm }, query: { limit: 50 } },
    { enabled: channel === 'PUSH' },
  );
  const known = devices.data?.body ?? [];
  const answer = test.data?.body;
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (to.trim() !== '') test.mutate({ params: { realm, channel }, body: { to: to.trim(), driver } });
  };
  const { label, placeholder } = fields[channel];
  return (
    <Panel
      title="Send a test message"
      lead="It goes out at once. Only an event is stored of it, without the recipient."
    >
      <form className="stack" onSubmit={send} noValidate>
        {known.length > 0 && (
          <Select
            label="Registered device"
            value={known.some(({ id }) => id === to) ? to : null}
            onChange={(id) => setTo(id ?? '')}
            none="Another"
            options={known.map(({ id, deviceName, platform }) => ({
              id,
              label: deviceName ?? platform,
              help: platform,
            }))}
          />
        )}
        <TextField
          label={label}
          placeholder={placeholder}
          value={to}
          onChange={setTo}
          fault={faultsOf(test.error).get('to')}
          mono
          autoComplete={channel === 'EMAIL' ? 'email' : 'off'}
        />
        <div className="row">
          <Button type="submit" variant="primary" isDisabled={test.isPending || to.trim() === ''}>
            {test.isPending ? 'Sending…' : 'Send the test'}
          </Button>
          <AsCommand
            commands={() => requestCommands(api.testMessagingProvider, { realm, channel }, { to, driver })}
            quiet
          />
        </div>
        {test.error && <ProblemNote problem={test.error} quietFields />}
        {answer && (
          <GatewayAnswer of={answer}>
            <span>Change the settings of the gateway, then send it again.</span>
          </GatewayAnswer>
        )}
      </form>
    </Panel>
  );
}
