// Push to iOS by Apple: HTTP/2 with a provider token (ES256), one connection for many messages.
import { hash } from 'node:crypto';
import http2 from 'node:http2';
import { isIP } from 'node:net';
import tls from 'node:tls';
import { SignJWT } from 'jose/jwt/sign';
import { importPKCS8 } from 'jose/key/import';
import { z } from 'zod';
import { ApnsConfig } from '../../../../contract/message-drivers.ts';
import type { Outbound } from '../../../../http/outbound.ts';
import { OutboundError } from '../../../../http/outbound-connection.ts';
import { MAX_ANSWER_BYTES, type MessageDriver, messageDriver, sentBy, TIMEOUT_MS, tokenCache } from '../driver.ts';

/** Apple accepts a token for an hour, and refuses clients that create one more often than every twenty minutes. */
const TOKEN_SECONDS = 2_400;
const IDLE_MS = 60_000;
const Failure = z.object({ reason: z.string() });
/** Other rejections (`BadDeviceToken`, `DeviceTokenNotForTopic`) can also come from a wrong setting, for every device. */
const GONE = new Set(['Unregistered', 'ExpiredToken']);

export function apnsDriver({
  outbound,
  now,
}: {
  outbound: Pick<Outbound, 'connect' | 'secureContext'>;
  now: () => Date;
}): MessageDriver {
  const tokens = tokenCache(now);
  interface Connection {
    session: http2.ClientHttp2Session;
    /** Stops using the connection for new messages; those already on it fail and are retried. */
    drop(): void;
  }
  const connections = new Map<string, Promise<Connection>>();

  const open = async ({ origin, hostname, port }: URL): Promise<http2.ClientHttp2Session> => {
    const socket = await outbound.connect({ host: hostname, port: Number(port) || 443, timeoutMs: TIMEOUT_MS });
    const secured = tls.connect({
      socket,
      ALPNProtocols: ['h2'],
      secureContext: outbound.secureContext(),
      ...(isIP(hostname) === 0 && { servername: hostname }),
      host: hostname,
    });
    const session = http2.connect(origin, { createConnection: () => secured });
    // each message in progress has a listener
    session.setMaxListeners(0);
    session.setTimeout(IDLE_MS, () => session.close());
    return session;
  };
  /** One connection per team: Apple accepts no other team's tokens on it. */
  const connectionOf = (url: URL, teamId: string): Promise<Connection> => {
    const key = `${url.origin} ${teamId}`;
    const found = connections.get(key);
    if (found) return found;
    const forget = () => void (connections.get(key) === opened && connections.delete(key));
    const opened: Promise<Connection> = open(url).then((session) => {
      session.on('close', forget).on('goaway', forget).on('error', forget);
      return {
        session,
        drop() {
          forget();
          session.destroy();
        },
      };
    });
    connections.set(key, opened);
    opened.catch(forget);
    return opened;
  };

  async function post(url: URL, teamId: string, headers: Record<string, string>, body: string) {
    const { session, drop } = await connectionOf(url, teamId);
    return new Promise<{ status: number; text: string; retryAfter: string | null }>((resolve, reject) => {
      const stream = session.request({ ':method': 'POST', ':path': url.pathname, ...headers });
      const failed = (error: unknown) =>
        reject(new OutboundError('failed', `${url.host}: ${wordsOf(error)}`, { cause: error }));
      let status = 0;
      let retryAfter: string | null = null;
      let text = '';
      stream.setTimeout(TIMEOUT_MS, () => {
        reject(new OutboundError('timed-out', `${url.host} did not answer within ${TIMEOUT_MS} ms`));
        // The other end may be dead, which TCP would notice only after a quarter of an hour.
        drop();
      });
      stream.setEncoding('utf8');
      stream.on('response', (answer) => {
        status = Number(answer[':status']);
        retryAfter = answer['retry-after'] ?? null;
      });
      stream.on('data', (chunk: string) => {
        if (text.length < MAX_ANSWER_BYTES) text += chunk;
      });
      stream.on('end', () => resolve({ status, text, retryAfter }));
      stream.on('error', failed);
      session.once('error', failed);
      stream.on('close', () => {
        session.off('error', failed);
        if (status === 0) failed(new Error('the connection ended'));
      });
      stream.end(body);
    });
  }

  return messageDriver({
    driver: 'apns',
    config: ApnsConfig,
    async send({ id, to, subject, body, data, expiresAt }, { realm, id: providerId, config, secret }) {
      if (secret === undefined) return { ok: false, words: 'the provider has no secret', again: true };
      const { teamId, keyId, bundleId, sandbox, apiUrl } = config;
      const base = apiUrl ?? `https://api.${sandbox ? 'sandbox.' : ''}push.apple.com`;
      const key = hash('sha256', `${realm}/${providerId}/${teamId}/${keyId}/${secret}`, 'base64');
      const token = await tokens.of(key, TOKEN_SECONDS, async () =>
        new SignJWT()
          .setProtectedHeader({ alg: 'ES256', kid: keyId })
          .setIssuer(teamId)
          .setIssuedAt(Math.floor(now().getTime() / 1000))
          .sign(await importPKCS8(secret.trim(), 'ES256')),
      );
      const { status, text, retryAfter } = await post(
        new URL(`/3/device/${encodeURIComponent(to)}`, base),
        teamId,
        {
          authorization: `bearer ${token}`,
          'apns-id': id,
          'apns-topic': bundleId,
          'apns-push-type': 'alert',
          'apns-priority': '10',
          'apns-expiration': String(Math.floor(expiresAt.getTime() / 1000)),
        },
        JSON.stringify({ ...data, aps: { alert: { title: subject ?? '', body }, sound: 'default' } }),
      );
      const reason = reasonOf(text);
      const sent = sentBy(status, reason, retryAfter);
      if (sent.ok) return sent;
      if (reason === 'ExpiredProviderToken') {
        tokens.forget(key);
        return { ...sent, again: true };
      }
      return { ...sent, gone: GONE.has(reason) };
    },
    close() {
      for (const opened of connections.values())
        void opened.then(
          ({ session }) => session.destroy(),
          () => {},
        );
    },
  });
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : 'the request failed');
function reasonOf(text: string): string {
  try {
    return Failure.parse(JSON.parse(text)).reason;
  } catch {
    return text;
  }
}
