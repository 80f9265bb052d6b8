// Push to Android by Firebase Cloud Messaging: HTTP v1, with a token for the service account (RFC 7523).
import { hash } from 'node:crypto';
import { SignJWT } from 'jose/jwt/sign';
import { importPKCS8 } from 'jose/key/import';
import { z } from 'zod';
import { FcmConfig, FcmServiceAccount } from '../../../../contract/message-drivers.ts';
import type { Outbound } from '../../../../http/outbound.ts';
import { MAX_ANSWER_BYTES, type MessageDriver, messageDriver, sentBy, TIMEOUT_MS, tokenCache } from '../driver.ts';

const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging';
/** Shorter than the hour for which Google's tokens are valid. */
const TOKEN_SECONDS = 3_300;
const Token = z.object({ access_token: z.string().min(1) });
const Failure = z.object({
  error: z.object({
    message: z.string().catch(''),
    status: z.string().catch(''),
    details: z.array(z.object({ errorCode: z.string().optional() })).catch([]),
  }),
});
/** The code for a device that no longer exists; a 404 alone may concern the project. */
const GONE = 'UNREGISTERED';

/** There is no token: the gateway's response has the cause. */
class NoToken extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export function fcmDriver({ outbound, now }: { outbound: Pick<Outbound, 'fetch'>; now: () => Date }): MessageDriver {
  const tokens = tokenCache(now);
  const bounds = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES, excess: 'cut' } as const;

  async function tokenOf(secret: string): Promise<string> {
    const account = FcmServiceAccount.parse(JSON.parse(secret));
    const at = Math.floor(now().getTime() / 1000);
    const assertion = await new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(account.private_key_id && { kid: account.private_key_id }) })
      .setIssuer(account.client_email)
      .setAudience(account.token_uri)
      .setIssuedAt(at)
      .setExpirationTime(at + 3600)
      .sign(await importPKCS8(account.private_key, 'RS256'));
    const answer = await outbound.fetch(account.token_uri, {
      ...bounds,
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }).toString(),
    });
    const text = answer.body.toString();
    if (answer.status !== 200) throw new NoToken(answer.status, text);
    const token = Token.safeParse(parsedJson(text)).data;
    if (!token) throw new NoToken(answer.status, `holds no access_token: ${text}`);
    return token.access_token;
  }

  return messageDriver({
    driver: 'fcm',
    config: FcmConfig,
    async send({ to, subject, body, data, expiresAt }, { realm, id, config, secret }) {
      if (secret === undefined) return { ok: false, words: 'the provider has no secret', again: true };
      const { projectId, apiUrl = 'https://fcm.googleapis.com' } = config;
      const key = hash('sha256', `${realm}/${id}/${secret}`, 'base64');
      try {
        const token = await tokens.of(key, TOKEN_SECONDS, () => tokenOf(secret));
        const ttl = Math.max(0, Math.round((expiresAt.getTime() - now().getTime()) / 1000));
        const answer = await outbound.fetch(`${apiUrl}/v1/projects/${projectId}/messages:send`, {
          ...bounds,
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
          body: JSON.stringify({
            message: {
              token: to,
              notification: { title: subject ?? '', body },
              ...(data && { data }),
              android: { priority: 'HIGH', ttl: `${ttl}s` },
            },
          }),
        });
        if (answer.status === 401) tokens.forget(key);
        const text = answer.body.toString();
        const sent = sentBy(answer.status, text, answer.headers.get('retry-after'));
        if (sent.ok) return sent;
        const { message, status, details } = failureOf(text);
        const gone = status === GONE || details.some(({ errorCode }) => errorCode === GONE);
        // an expired access token is renewed for the next try
        const again = sent.again || answer.status === 401;
        return { ...sent, words: `${answer.status} ${status} ${message}`.trim(), again, gone };
      } catch (error) {
        if (!(error instanceof NoToken)) throw error;
        return { ok: false, words: `${error.status} ${error.message}`.trim(), again: true };
      }
    },
  });
}

const failureOf = (text: string): z.infer<typeof Failure>['error'] =>
  Failure.safeParse(parsedJson(text)).data?.error ?? { message: text, status: '', details: [] };
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
