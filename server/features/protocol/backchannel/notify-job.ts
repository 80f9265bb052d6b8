// Tells a client with a notification endpoint that its request was decided. Mode ping: it then asks the token endpoint, and the
// message itself grants nothing. Mode push: the message brings the tokens, or the refusal; they are kept, sealed, until the client has
// them. CIBA Core §10.2, §10.3, §12. Safe to repeat: the client ignores a second message.
import { z } from 'zod';
import { bySystem } from '../../../contract/events.ts';
import { CIBA } from '../../../contract/oauth.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import {
  type DecidedRequest,
  grantOf,
  hasGrantEnded,
  keepNotification,
  readNotification,
} from '../../../domain/backchannel-requests.ts';
import { userParty } from '../../../domain/party.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { Outbound } from '../../../http/outbound.ts';
import { OutboundError } from '../../../http/outbound-connection.ts';
import { type Job, job } from '../../../jobs/job.ts';
import { createRetries, type Enqueue } from '../../../jobs/retries.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Families } from '../token/families.ts';
import type { PushTokens } from '../token/pushed.ts';
import { NOTIFY_JOB, notificationContext, notifyTerms } from './notify-terms.ts';

const LIMITS = { timeoutMs: 5_000, maxBytes: 1024, excess: 'cut' } as const;
/** A request lives ten minutes at most. */
const RETRY_DELAYS: readonly number[] = [2, 10, 30, 120];
const Notification = z.object({
  authReqId: z.string(),
  token: z.string(),
  /** Mode push: what the client gets besides the auth_req_id. */
  answer: z.record(z.string(), z.unknown()).optional(),
});
type Notification = z.infer<typeof Notification>;

export interface NotifyDeps {
  sql: Sql;
  transact: Transact;
  seal: Seal;
  outbound: Pick<Outbound, 'fetch'>;
  clients: { view(realm: string, clientId: string): Promise<ClientView | undefined> };
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  families: Pick<Families, 'end'>;
  pushTokens: PushTokens;
  enqueue: Enqueue;
  retryDelaysSeconds?: readonly number[];
  now: () => Date;
}

const failed = (error_description: string | undefined) => ({ error: 'transaction_failed', error_description });
const over = failed('The grant has ended');
const notAllowed = failed('The client may not use this grant type');

interface Decided {
  realm: string;
  id: string;
  row: DecidedRequest;
  settings: RealmSettingsDto;
  client: ClientView;
}

export function notifyJob(deps: NotifyDeps): Job {
  const { sql, transact, seal, outbound, clients, settings, families, pushTokens, enqueue, now } = deps;
  const { retryDelaysSeconds: delaysSeconds = RETRY_DELAYS } = deps;
  const retry = createRetries({ sql, enqueue, job: NOTIFY_JOB, delaysSeconds });

  async function isTold(uri: string, token: string, message: Record<string, unknown>): Promise<boolean> {
    try {
      const { status } = await outbound.fetch(uri, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: Buffer.from(JSON.stringify(message)),
        ...LIMITS,
      });
      // §10.2: a redirect is not followed, and a client that refuses isn't told again.
      return status < 500 && status !== 429;
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return false;
    }
  }

  /** What a pushed message says of the decision. */
  async function answerOf({ realm, row, settings, client }: Decided, authReqId: string) {
    if (row.denied) return { error: 'access_denied', error_description: 'The person did not agree' };
    if (!client.grantTypes.has(CIBA)) return notAllowed;
    try {
      return await pushTokens({ realm, settings, client, authReqId, hash: row.code_hash });
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      return failed(error.description);
    }
  }

  /** The pushed answer. Tokens are issued once; a later try sends the same ones, unless they have ended meanwhile. */
  async function pushed(decided: Decided, notification: Notification): Promise<Record<string, unknown>> {
    const { realm, id, row } = decided;
    if (notification.answer)
      return row.family_id !== null && (await hasGrantEnded(sql, realm, row.family_id)) ? over : notification.answer;
    const answer = await answerOf(decided, notification.authReqId);
    const kept = seal.seal(JSON.stringify({ ...notification, answer }), notificationContext(realm, id));
    await keepNotification(sql, realm, id, kept);
    return answer;
  }

  /** The client has its tokens, or never gets them: then they end. */
  const settle = ({ realm, id, row, settings: ofRealm, client }: Decided, isDelivered: boolean): Promise<void> =>
    transact(
      realm,
      async (tx) => {
        await keepNotification(tx.sql, realm, id, null);
        const begun = isDelivered ? undefined : await grantOf(tx.sql, realm, row.code_hash);
        if (!begun || !(await families.end(tx, { realm, settings: ofRealm, client }, begun.family_id))) return;
        tx.record({
          type: 'TOKEN_REVOKED',
          realm,
          by: bySystem,
          clientId: client.clientId,
          subject: userParty(begun.user_id, null),
          data: { what: 'pushed' },
        });
      },
      { bookkeeping: true },
    );

  return job({
    ...notifyTerms,
    async run(told) {
      const { realm, id } = told;
      const row = await readNotification(sql, realm, id, now());
      const [client, ofRealm] = await Promise.all([row && clients.view(realm, row.client_id), settings.of(realm)]);
      const uri = client?.enabled ? client.backchannelNotificationEndpoint : null;
      if (!row || !ofRealm || !client || uri === null) return;
      const opened = seal.open(row.notification, notificationContext(realm, id)).toString();
      const notification = Notification.parse(JSON.parse(opened));
      const { authReqId, token } = notification;
      if (!client.tokensArePushed) {
        if (row.family_id !== null || (await isTold(uri, token, { auth_req_id: authReqId }))) return;
        // The client can poll as well, so giving up loses nothing.
        return retry(told, async () => {});
      }
      const decided = { realm, id, row, settings: ofRealm, client };
      const answer = await pushed(decided, notification);
      if (await isTold(uri, token, { auth_req_id: authReqId, ...answer })) return settle(decided, true);
      await retry(told, async (status) => (status === 'dead' ? settle(decided, false) : undefined));
    },
  });
}
