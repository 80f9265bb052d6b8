// E-mail by SMTP: encrypted before anything is said, to an address that the outbound guard permits.
import type { SentMessageInfo } from 'nodemailer';
import { z } from 'zod';
import { SmtpConfig } from '../../../contract/message-drivers.ts';
import type { Outbound } from '../../../http/outbound.ts';
import { OutboundError } from '../../../http/outbound-connection.ts';
import { type MessageDriver, messageDriver, type Sent, TIMEOUT_MS } from '../driver.ts';
import { textOf } from '../render.ts';

const Address = z.email().max(320);
const PORTS = { none: 25, starttls: 587, tls: 465 };

/** @param host the server's own, for its greeting and for ids of messages */
export const smtpDriver = ({
  outbound,
  host: ownHost,
}: {
  outbound: Pick<Outbound, 'connect' | 'secureContext'>;
  host: string;
}): MessageDriver =>
  messageDriver({
    driver: 'smtp',
    config: SmtpConfig,
    async send({ id, to, subject, body, html }, { config, secret, fromAddress, fromName }) {
      if (!Address.safeParse(to).success)
        return { ok: false, words: 'the recipient is no e-mail address', again: false };
      const { host, username, replyTo, tls = 'starttls' } = config;
      const port = config.port ?? PORTS[tls];
      const from = fromAddress ?? (Address.safeParse(username).success ? String(username) : `no-reply@${ownHost}`);
      const { createTransport } = (await import('nodemailer')).default;
      const transport = createTransport({
        host,
        port,
        name: ownHost,
        secure: tls === 'tls',
        requireTLS: tls === 'starttls',
        ignoreTLS: tls === 'none',
        ...(username !== undefined && { auth: { user: username, pass: secret ?? '' } }),
        tls: { secureContext: outbound.secureContext(), minVersion: 'TLSv1.2' },
        getSocket: (_, opened) => {
          outbound.connect({ host, port, timeoutMs: TIMEOUT_MS }).then(
            (connection) => opened(null, { connection }),
            (error: Error) => opened(error, undefined),
          );
        },
        connectionTimeout: TIMEOUT_MS,
        greetingTimeout: TIMEOUT_MS,
        socketTimeout: TIMEOUT_MS,
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      const late = setTimeout(() => transport.close(), 4 * TIMEOUT_MS);
      try {
        const sent: SentMessageInfo = await transport.sendMail({
          // as objects: no text becomes a list of addresses
          from: { name: fromName ?? '', address: from },
          to: { name: '', address: to },
          ...(replyTo !== undefined && { replyTo: { name: '', address: replyTo } }),
          subject: subject ?? '',
          text: html ? textOf(body) : body,
          ...(html && { html: body }),
          messageId: `<${id}@${ownHost}>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
        return { ok: true, words: String(sent.response) };
      } catch (error) {
        return failed(error);
      } finally {
        clearTimeout(late);
        transport.close();
      }
    },
  });

const Refusal = z.object({
  code: z.string().optional(),
  response: z.string().optional(),
  responseCode: z.number().optional(),
});
function failed(error: unknown): Sent {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof OutboundError) throw cause;
  const { code, response, responseCode = 0 } = Refusal.catch({}).parse(error);
  const words = response ?? (error instanceof Error ? error.message : 'the mail server did not take it');
  // A sign-in that is refused is a fault of the configuration, which somebody may be mending.
  const forGood = responseCode >= 500 && (code === 'EENVELOPE' || code === 'EMESSAGE');
  return { ok: false, words, again: !forGood };
}
