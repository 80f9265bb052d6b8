// E-mail or SMS by any gateway with an HTTP API: the body is a template of the realm's, with values escaped for its
// format.
import { HttpConfig, PLACEHOLDER } from '../../../../contract/message-drivers.ts';
import type { Outbound } from '../../../../http/outbound.ts';
import { MAX_ANSWER_BYTES, type MessageDriver, messageDriver, sentBy, TIMEOUT_MS } from '../driver.ts';
import { textOfHtml } from '../text-of-html.ts';

const formats = {
  json: { type: 'application/json', escape: (text: string) => JSON.stringify(text).slice(1, -1) },
  form: { type: 'application/x-www-form-urlencoded', escape: encodeURIComponent },
  text: { type: 'text/plain; charset=utf-8', escape: (text: string) => text },
} as const;
const usual = {
  json: {
    EMAIL: '{"to":"{{to}}","subject":"{{subject}}","text":"{{text}}","html":"{{html}}"}',
    SMS: '{"to":"{{to}}","text":"{{text}}"}',
  },
  form: { EMAIL: 'to={{to}}&subject={{subject}}&text={{text}}&html={{html}}', SMS: 'to={{to}}&text={{text}}' },
  text: { EMAIL: '{{text}}', SMS: '{{text}}' },
} as const;

export const httpDriver = ({ outbound }: { outbound: Pick<Outbound, 'fetch'> }): MessageDriver =>
  messageDriver({
    driver: 'http',
    config: HttpConfig,
    async send({ to, subject, body, html, alternative = '' }, { channel, config, secret, fromAddress, fromName }) {
      const { url, method = 'POST', headers = {}, format = 'json', success } = config;
      const values = new Map([
        ['to', to],
        ['from', fromAddress ?? ''],
        ['fromName', fromName ?? ''],
        ['subject', subject ?? ''],
        ['text', html ? textOfHtml(body) : body],
        ['html', html ? body : alternative],
        ['secret', secret ?? ''],
      ]);
      const filled = (template: string, safe: (text: string) => string) =>
        template.replaceAll(PLACEHOLDER, (_, name: string) => safe(values.get(name) ?? ''));
      const { type, escape: safe } = formats[format];
      const oneLine = (text: string) => text.replaceAll(/[^\x20-\x7e]+/g, ' ');
      const answer = await outbound.fetch(filled(url, encodeURIComponent), {
        method,
        headers: {
          'content-type': type,
          ...Object.fromEntries(
            Object.entries(headers).map(([name, value]) => [name.toLowerCase(), filled(value, oneLine)]),
          ),
        },
        body: filled(config.body ?? usual[format][channel === 'SMS' ? 'SMS' : 'EMAIL'], safe),
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_ANSWER_BYTES,
        excess: 'cut',
      });
      const words = answer.body.toString();
      const sent = sentBy(answer.status, words, answer.headers.get('retry-after'));
      // The gateway may have sent the message all the same: a retry could send, and charge, it twice.
      return sent.ok && success !== undefined && !words.includes(success) ? { ...sent, ok: false, again: false } : sent;
    },
  });
