// SMS by Twilio's Messages resource (API version 2010-04-01).
import { z } from 'zod';
import { TwilioConfig } from '../../../../contract/message-drivers.ts';
import type { Outbound } from '../../../../http/outbound.ts';
import { MAX_ANSWER_BYTES, type MessageDriver, messageDriver, sentBy, TIMEOUT_MS } from '../driver.ts';

const Answer = z.object({ code: z.number().optional(), message: z.string().optional(), sid: z.string().optional() });

export const twilioDriver = ({ outbound }: { outbound: Pick<Outbound, 'fetch'> }): MessageDriver =>
  messageDriver({
    driver: 'twilio',
    config: TwilioConfig,
    async send({ to, body }, { config, secret = '', fromAddress }) {
      const { accountSid, apiKeySid, messagingServiceSid, apiUrl = 'https://api.twilio.com' } = config;
      const sender: [string, string] =
        messagingServiceSid === undefined ? ['From', fromAddress ?? ''] : ['MessagingServiceSid', messagingServiceSid];
      if (sender[1] === '')
        return { ok: false, words: 'the provider has no sender: fromAddress, or messagingServiceSid', again: true };
      const credentials = Buffer.from(`${apiKeySid ?? accountSid}:${secret}`).toString('base64');
      const answer = await outbound.fetch(`${apiUrl}/2010-04-01/Accounts/${accountSid}/Messages.json`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: `Basic ${credentials}` },
        body: new URLSearchParams([['To', to], sender, ['Body', body]]).toString(),
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_ANSWER_BYTES,
        excess: 'cut',
      });
      const text = answer.body.toString();
      const { code, message, sid } = Answer.catch({}).parse(parsed(text));
      return sentBy(
        answer.status,
        message === undefined || message === null ? (sid ?? text) : `${code ?? ''} ${message}`,
        answer.headers.get('retry-after'),
      );
    },
  });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
