// E-mail by SMTP: encrypted before any data is sent, to an address that the outbound guard permits.
import { hash } from 'node:crypto';
import type { SentMessageInfo, Transporter } from 'nodemailer';
import type SMTPPool from 'nodemailer/lib/smtp-pool/index.js';
import { z } from 'zod';
import { asciiEmail, isEmail } from '../../../../contract/email.ts';
import { SmtpConfig } from '../../../../contract/message-drivers.ts';
import type { Outbound } from '../../../../http/outbound.ts';
import { OutboundError } from '../../../../http/outbound-connection.ts';
import { type MessageDriver, messageDriver, type Provider, type Sent, TIMEOUT_MS } from '../driver.ts';
import { textOfHtml } from '../text-of-html.ts';

const PORTS = { none: 25, starttls: 587, tls: 465 };

/** The most connections of a provider: as many as a realm sends messages at once. */
const CONNECTIONS = 6;
const IDLE_MS = 30_000;
/** The most gateways whose connections stay open between messages. */
const MOST_POOLS = 200;

type Config = z.output<typeof SmtpConfig>;
type Pool = Transporter<SentMessageInfo, SMTPPool.Options>;

/** @param host this server's name, for its greeting and for message ids */
export function smtpDriver({
  outbound,
  host: ownHost,
}: {
  outbound: Pick<Outbound, 'connect' | 'secureContext'>;
  host: string;
}): MessageDriver {
  const pools = new Map<string, Pool>();

  async function open({ config, secret }: Provider<Config>, key: string): Promise<Pool> {
    const { createTransport } = (await import('nodemailer')).default;
    const { host, username, tls = 'starttls' } = config;
    const port = config.port ?? PORTS[tls];
    const options: SMTPPool.Options = {
      pool: true,
      maxConnections: CONNECTIONS,
      maxMessages: 100,
      // Servers may close an idle connection at any moment: one repetition covers that. Beyond that the queue decides.
      maxRequeues: 1,
      idleTimeout: IDLE_MS,
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
    };
    const pool = createTransport(options);
    // Each message reports its own failure, so the pool's event is ignored.
    pool.on('error', () => {});
    // A new pool may have replaced this one.
    pool.on('clear', () => pools.get(key) === pool && pools.delete(key));
    return pool;
  }
  /**
   * A pool belongs to one provider with its present settings: other providers' mail doesn't use it, nor does mail after
   * a change of the password.
   */
  async function poolOf(provider: Provider<Config>): Promise<Pool> {
    const { realm, id, config, secret } = provider;
    const key = hash('sha256', JSON.stringify([realm, id, config, secret]), 'base64');
    const found = pools.get(key);
    if (found) return found;
    const pool = await open(provider, key);
    const meanwhile = pools.get(key);
    if (meanwhile) return meanwhile;
    pools.set(key, pool);
    const [[oldest, idle] = []] = pools;
    if (pools.size > MOST_POOLS && oldest !== undefined) {
      pools.delete(oldest);
      idle?.close();
    }
    return pool;
  }

  return messageDriver({
    driver: 'smtp',
    config: SmtpConfig,
    async send({ id, to, subject, body, html, alternative }, provider) {
      if (!isEmail(to)) return { ok: false, words: 'the recipient is no e-mail address', again: false };
      const { config, fromAddress, fromName } = provider;
      const { username, replyTo } = config;
      if (username !== undefined && provider.secret === undefined)
        return { ok: false, words: 'the provider signs in with a username, and has no secret', again: true };
      const from = fromAddress ?? (username !== undefined && isEmail(username) ? username : `no-reply@${ownHost}`);
      const pool = await poolOf(provider);
      try {
        const sent: SentMessageInfo = await pool.sendMail({
          // as objects: no text becomes a list of addresses
          from: { name: fromName ?? '', address: asciiEmail(from) },
          to: { name: '', address: asciiEmail(to) },
          ...(replyTo !== undefined && { replyTo: { name: '', address: replyTo } }),
          subject: subject ?? '',
          text: html ? textOfHtml(body) : body,
          ...(html && { html: body }),
          ...(!html && alternative !== undefined && { html: alternative }),
          messageId: `<${id}@${ownHost}>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
          // Ends a connection whose server answers slowly, byte by byte.
          signal: AbortSignal.timeout(4 * TIMEOUT_MS),
        });
        return { ok: true, words: String(sent.response) };
      } catch (error) {
        return failed(error);
      }
    },
    close() {
      for (const pool of pools.values()) pool.close({ force: true });
    },
  });
}

const Refusal = z.object({
  code: z.string().optional(),
  response: z.string().optional(),
  responseCode: z.number().optional(),
});
function failed(error: unknown): Sent {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof OutboundError) throw cause;
  const { code, response, responseCode = 0 } = Refusal.catch({}).parse(error);
  const words = response ?? (error instanceof Error ? error.message : 'the mail server did not take it');
  // A refused login is a fault of the configuration, which an administrator may repair, so it isn't final.
  const forGood = responseCode >= 500 && (code === 'EENVELOPE' || code === 'EMESSAGE');
  return { ok: false, words, again: !forGood };
}
