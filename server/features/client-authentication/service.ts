// Owns: who the client of an OAuth request is: client_secret_basic, client_secret_post, private_key_jwt, none.
// Does not own: what it may then do (features/token), the client's row (features/clients).
// Implements: RFC 6749 §2.3, RFC 7523 §3; specification 5; every refusal is the same invalid_client.
import { timingSafeEqual } from 'node:crypto';
import type { Passwords } from '../../crypto/passwords.ts';
import { sha256 } from '../../crypto/tokens.ts';
import type { Form } from '../../http/form.ts';
import { OAuthError } from '../../http/oauth-error.ts';
import type { ClientView, Overview } from '../clients/view.ts';
import type { Assertions } from './assertion.ts';
import { type Presented, presentedBy } from './presented.ts';

/** Compared with where a client has no secret, so that every comparison takes place. */
const NO_SECRET = Buffer.alloc(32);
/** The one of now, and for a while the one before. */
const MOST_SECRETS = 2;
/** Digests of slow secrets that held; bounded. */
const REMEMBERED = 1_000;
/** Slow checks under way: so few that a flood of wrong secrets leaves the threads to the people who sign in. */
const SLOW_AT_ONCE = 16;

export interface Authenticated {
  client: ClientView;
  /** It proved who it is; a public client only names itself. */
  confidential: boolean;
}

export function createClientAuthentication({
  clients,
  assertions,
  passwords,
  now,
}: {
  clients: {
    view(realm: string, clientId: string): Promise<ClientView | undefined>;
    overview(realm: string): Promise<Overview>;
  };
  assertions: Assertions;
  passwords: Pick<Passwords, 'verify' | 'phcForNobody'>;
  now: () => Date;
}) {
  /** PHC → digest of the secret that it took; the slow check is done once. */
  const remembered = new Map<string, Buffer>();
  /** By PHC and digest, so that a client's own first burst is one check. */
  const slowNow = new Map<string, Promise<boolean>>();

  function check(phc: string, secret: string): Promise<boolean> {
    const key = `${phc} ${sha256(secret).toString('hex')}`;
    const underWay = slowNow.get(key);
    if (underWay) return underWay;
    if (slowNow.size >= SLOW_AT_ONCE)
      throw new OAuthError('slow_down', 'Too many clients are being checked at this moment', { retryAfterSeconds: 2 });
    const checking = passwords
      .verify(phc, secret)
      .then(({ ok }) => ok)
      .finally(() => slowNow.delete(key));
    slowNow.set(key, checking);
    return checking;
  }

  async function slowly(phc: string, secret: string): Promise<boolean> {
    const digest = sha256(secret);
    const known = remembered.get(phc);
    if (known && timingSafeEqual(known, digest)) return true;
    if (!(await check(phc, secret))) return false;
    if (remembered.size >= REMEMBERED) remembered.clear();
    remembered.set(phc, digest);
    return true;
  }

  /** A refusal takes as long with and without such a client: where any secret is slow, each refusal is. */
  async function secretHolds(realm: string, client: ClientView | undefined, secrets: string[]): Promise<boolean> {
    const at = now().getTime();
    const mine = (client?.secrets ?? []).filter(({ until }) => until === null || until > at);
    // As many as a client can have: what it has doesn't show in the time.
    const stored = Array.from({ length: MOST_SECRETS }, (_, i) => mine[i]?.hash ?? null);
    const fast = secrets.flatMap((secret) => {
      const digest = sha256(secret);
      return stored.map((hash) => timingSafeEqual(digest, hash ?? NO_SECRET) && hash !== null);
    });
    if (fast.includes(true)) return true;
    const [secret = ''] = secrets;
    // A secret that is made anew is strong, so at most one is checked slowly.
    const slow = mine.find((one) => one.slow !== null)?.slow;
    if (slow) return slowly(slow, secret);
    if ((await clients.overview(realm)).slowSecrets) await check(passwords.phcForNobody, secret);
    return false;
  }

  async function proves(realm: string, client: ClientView | undefined, presented: Presented): Promise<boolean> {
    if (presented.method === 'secret') {
      const takesSecrets = client?.authMethod === 'client_secret_basic' || client?.authMethod === 'client_secret_post';
      return (await secretHolds(realm, client, presented.secrets)) && takesSecrets;
    }
    if (client === undefined) return false;
    if (presented.method === 'none') return client.authMethod === 'none';
    return client.authMethod === 'private_key_jwt' && (await assertions.holds(realm, client, presented.assertion));
  }

  return {
    /**
     * The client of a request to the token, revocation or introspection endpoint. A client with a secret may send it
     * either way, whichever of client_secret_basic and client_secret_post it is registered with.
     * @throws OAuthError `invalid_client`, whatever is wrong; `invalid_request` where two methods are used at once
     */
    async authenticate(realm: string, authorization: string | undefined, form: Form): Promise<Authenticated> {
      const presented = presentedBy(authorization, form);
      const client = await clients.view(realm, presented.clientId);
      const holds = await proves(realm, client, presented);
      if (!holds || !client?.enabled) {
        throw new OAuthError('invalid_client', 'The client could not be authenticated', {
          reason: client ? (client.enabled ? 'the proof did not hold' : 'the client is disabled') : 'no such client',
        });
      }
      return { client, confidential: presented.method !== 'none' };
    },
  };
}
export type ClientAuthentication = ReturnType<typeof createClientAuthentication>;
