// The last step of adding a webhook: the secret to copy, and a test delivery with the receiver's answer. The webhook's page has
// the test too.
import { useState } from 'react';
import { useRead, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import * as api from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { objectAddress } from '../../kinds/pages.tsx';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { OutboundAdvice } from '../../ui/outbound-advice.tsx';
import { Facts, Panel } from '../../ui/page.tsx';
import { Note, ProblemNote } from '../../ui/state.tsx';
import type { EndProps } from './create-wizard.tsx';

const POLL_SECONDS = 2;
const CHECK = `import { createHmac, timingSafeEqual } from 'node:crypto';

/** @param rawBody the bytes before they are parsed @param signature the header x-svc-signature */
export function holds(secret, rawBody, signature) {
  const expected = createHmac('sha256', secret).update(rawBody).digest();
  const given = Buffer.from(signature ?? '', 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}`;

export default function WebhookEnd({ realm, entry, id, row, secret }: EndProps) {
  return (
    <>
      <Note tone="good">
        <strong>
          The webhook <bdi>{String(row.name)}</bdi> is there.
        </strong>
      </Note>
      <Panel title="Secret" lead="Each request is signed with it. It is shown once.">
        {secret === undefined ? (
          <p>The secret is not shown again. Set another one on the webhook’s page, if it is lost.</p>
        ) : (
          <Code text={secret} label="Secret to copy" />
        )}
      </Panel>
      <Panel title="Check the signature">
        <Code text={CHECK} label="Code for Node.js" />
      </Panel>
      <TestDelivery realm={realm} id={id} />
      <div className="row end">
        <ButtonLink to={objectAddress(realm, entry, row)} variant="primary">
          Open the webhook
        </ButtonLink>
      </div>
    </>
  );
}

export function TestDelivery({ realm, id }: { realm: string; id: string }) {
  const may = useMay();
  const test = useWrite(api.testWebhook);
  const [sent, setSent] = useState<string>();
  const deliveries = useRead(
    api.listDeliveries,
    { params: { realm, id }, query: { limit: 20 } },
    { enabled: sent !== undefined && may(realm, 'webhooks:read'), everySeconds: POLL_SECONDS, keep: true },
  );
  const delivery =
    deliveries.data?.body?.find(({ id: of }) => of === sent) ?? (sent === undefined ? undefined : test.data?.body);
  const send = () => test.mutate({ params: { realm, id } }, { onSuccess: ({ body }) => setSent(body?.id) });
  return (
    <Panel
      title="Send a test"
      lead="An event WEBHOOK_TEST to this address alone."
      actions={<AsCommand commands={() => requestCommands(api.testWebhook, { realm, id })} quiet />}
    >
      <div className="stack">
        <div className="row">
          <Button variant="primary" isDisabled={test.isPending} onPress={send}>
            {delivery ? 'Send another' : 'Send a test'}
          </Button>
        </div>
        {(test.error ?? deliveries.error) && <ProblemNote problem={test.error ?? deliveries.error} />}
        {delivery && (
          <div role="status">
            <Facts
              facts={[
                { name: 'State', value: <Badge tone={toneOf(delivery.status)}>{words[delivery.status]}</Badge> },
                { name: 'Answer', value: delivery.responseStatus ?? <span className="none">none yet</span> },
                { name: 'Attempts', value: delivery.attempts },
                ...(delivery.error === null
                  ? []
                  : [{ name: 'Fault', value: <span dir="auto">{delivery.error}</span> }]),
              ]}
            />
          </div>
        )}
        {delivery?.error?.includes('SVC_OUTBOUND_ALLOW') && (
          <Note tone="warn">
            <OutboundAdvice answer={delivery.error} />
          </Note>
        )}
        {delivery?.status === 'retrying' && <Note>The server tries again by itself, ten times over about a day.</Note>}
      </div>
    </Panel>
  );
}

const words = {
  pending: 'on its way',
  succeeded: 'received',
  retrying: 'will be tried again',
  dead: 'given up',
} as const;
const toneOf = (status: keyof typeof words) =>
  (({ pending: 'info', succeeded: 'good', retrying: 'warn', dead: 'bad' }) as const)[status];
