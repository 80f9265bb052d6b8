// Notifies applications, from server to server, that a session has ended: OpenID Connect Back-Channel Logout 1.0. The
// event's transaction stores which applications to notify; the requests are durable jobs, repeated for some hours.
import { z } from 'zod';
import { bySystem } from '../../../contract/events.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { namedUser } from '../../../domain/party.ts';
import type { Subjects } from '../../../domain/subjects.ts';
import type { EventConsumer } from '../../../events/consumer.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { Outbound } from '../../../http/outbound.ts';
import { OutboundError } from '../../../http/outbound-connection.ts';
import { type Job, job } from '../../../jobs/job.ts';
import { createRetries, type Enqueue } from '../../../jobs/retries.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Encrypted } from '../../configuration/issued-tokens/encryption.ts';
import type { Tokens } from '../../configuration/issued-tokens/service.ts';

export const LOGOUT_JOB = 'backchannel-logout';

const EndedSession = z.object({
  realm: z.string(),
  clientId: z.string(),
  /** The event that names the session's user. The job doesn't, so that an erasure has to change only the event. */
  eventId: z.string().optional(),
  /** Only jobs of earlier versions have it. */
  userId: z.string().optional(),
  sessionId: z.string(),
  attempt: z.int().default(1),
});

/** Enqueues jobs for a session that ends before it expires: one for each of its clients with a back-channel address. */
export const backChannelConsumer: EventConsumer = {
  job: LOGOUT_JOB,
  wanted: (realm) =>
    fragment`exists (select from client where realm_id = ${realm} and backchannel_logout_uri is not null)`,
  take: () => fragment`
    select jsonb_build_object('realm', h.realm_id, 'clientId', c.client_id, 'eventId', h.id,
      'sessionId', h.data ->> 'sessionId') as payload
    from happened h join client c on c.realm_id = h.realm_id and c.backchannel_logout_uri is not null and c.enabled
      and h.data -> 'clients' @> to_jsonb(c.client_id)
    where h.type = 'SESSION_ENDED'`,
};

/** 5 s, 30 s, 2 min, 10 min, 30 min, 2 h; each up to a fifth shorter or longer. */
const RETRY_DELAYS: readonly number[] = [5, 30, 120, 600, 1_800, 7_200];
const TOKEN_SECONDS = 120;
const LIMITS = { timeoutMs: 10_000, maxBytes: 16 * 1024, excess: 'cut' } as const;
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

export interface BackChannelDeps {
  sql: Sql;
  transact: Transact;
  clients: { view(realm: string, clientId: string): Promise<ClientView | undefined> };
  tokens: Pick<Tokens, 'sign'>;
  encrypted: Encrypted;
  subjects: Pick<Subjects, 'ofUser'>;
  settings: { issuer(realm: string): Promise<string> };
  outbound: Pick<Outbound, 'fetch'>;
  enqueue: Enqueue;
  retryDelaysSeconds?: readonly number[];
  now: () => Date;
  newId: () => string;
}

export function backChannelJob(deps: BackChannelDeps): Job {
  const { sql, transact, clients, tokens, encrypted, subjects, settings, outbound, enqueue, now, newId } = deps;
  const delaysSeconds = deps.retryDelaysSeconds ?? RETRY_DELAYS;
  const retry = createRetries({ sql, enqueue, job: LOGOUT_JOB, delaysSeconds });

  /** §2.4: the token contains neither a nonce nor other claims of an ID token. */
  async function logoutToken(realm: string, client: ClientView, userId: string | null, sid: string): Promise<string> {
    const iat = Math.floor(now().getTime() / 1000);
    const sub = userId === null ? undefined : (await subjects.ofUser(realm, client, userId))?.sub;
    const token = await tokens.sign(
      realm,
      { typ: 'logout+jwt', algorithm: client.idTokenSignedResponseAlg },
      {
        iss: await settings.issuer(realm),
        sub,
        aud: client.clientId,
        iat,
        exp: iat + TOKEN_SECONDS,
        jti: newId(),
        events: { [EVENT]: {} },
        sid,
      },
    );
    // §2.6: as its ID tokens are
    return encrypted(client, 'idToken', token, 'JWT');
  }

  /** A deleted user has no subject any more; the logout token then names only the session. */
  async function personOf({ realm, eventId, userId }: z.infer<typeof EndedSession>): Promise<string | null> {
    const [row] = await sql<{ id: string }>`
      select u.id from realm_user u where u.realm_id = ${realm} and u.id = coalesce(${userId ?? null}::uuid, (
        select (subject ->> 'id')::uuid from event where realm_id = ${realm} and id = ${eventId ?? null}::uuid))`;
    return row?.id ?? null;
  }

  /** @returns the error; undefined: the application accepted the token */
  async function send(uri: string, tokenOf: () => Promise<string>): Promise<string | undefined> {
    try {
      const token = await tokenOf();
      const { status } = await outbound.fetch(uri, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'cache-control': 'no-store' },
        body: Buffer.from(new URLSearchParams({ logout_token: token }).toString()),
        ...LIMITS,
      });
      return status >= 200 && status < 300 ? undefined : `answered ${status}`;
    } catch (error) {
      // A key that the token could be encrypted for may be there later.
      if (!(error instanceof OutboundError || error instanceof OAuthError)) throw error;
      return error.message.slice(0, 500);
    }
  }

  return job({
    name: LOGOUT_JOB,
    schema: EndedSession,
    // An exception here is a fault of this server, for example a lost database connection.
    maxAttempts: 100,
    expireSeconds: 30,
    concurrency: 8,
    group: { of: ({ realm, clientId }) => `${realm}/${clientId}`, concurrency: 2 },
    async run(ended) {
      const { realm, clientId, sessionId } = ended;
      const client = await clients.view(realm, clientId);
      if (!client?.enabled || client.backchannelLogoutUri === null) return;
      const userId = await personOf(ended);
      const fault = await send(client.backchannelLogoutUri, () => logoutToken(realm, client, userId, sessionId));
      if (fault === undefined) return;
      const giveUp = () =>
        transact(realm, async ({ sql: on, record }) =>
          record({
            type: 'BACKCHANNEL_LOGOUT_FAILED',
            realm,
            by: bySystem,
            clientId,
            subject: await namedUser(on, realm, userId),
            outcome: 'failure',
            data: { sessionId, reason: fault },
          }),
        );
      await retry(ended, async (status) => {
        if (status === 'dead') await giveUp();
      });
    },
  });
}
