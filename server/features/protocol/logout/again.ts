// Tells an application again of a logout that the server gave up, at an administrator's request. OpenID Connect Back-Channel
// Logout 1.0 §2.8: applications take repeated logout tokens.
import type { FastifyInstance } from 'fastify';
import type { By } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import { type RetriedLogout, retryLogout } from '../../../contract/sessions.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { namedUser } from '../../../domain/party.ts';
import { bind } from '../../../http/bind.ts';
import type { Enqueue } from '../../../jobs/retries.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import { LOGOUT_JOB } from './back-channel.ts';

export interface LogoutAgainDeps {
  sql: Sql;
  transact: Transact;
  clients: { view(realm: string, clientId: string): Promise<ClientView | undefined> };
  enqueue: Enqueue;
}

interface FailedLogout {
  client_id: string;
  user_id: string | null;
  session_id: string;
}

export function logoutAgainRoutes(app: FastifyInstance, { sql, transact, clients, enqueue }: LogoutAgainDeps): void {
  async function retry(by: By, realm: string, eventId: string): Promise<RetriedLogout> {
    const [failed] = await sql<FailedLogout>`
      select client_id, subject ->> 'id' as user_id, data ->> 'sessionId' as session_id from event
      where realm_id = ${realm} and id = ${eventId} and type = 'BACKCHANNEL_LOGOUT_FAILED'`;
    if (!failed) throw new Problem('not-found', 'There is no such logout, or age has deleted its event');
    const { client_id: clientId, session_id: sessionId, user_id: userId } = failed;
    const client = await clients.view(realm, clientId);
    if (!client?.enabled || client.backchannelLogoutUri === null)
      throw new Problem(
        'wrong-state',
        `The application ${clientId} is gone or disabled, or has no back-channel address`,
      );
    await transact(realm, async (tx) => {
      // The job reads the user from the event, so that an erasure has to change only the event.
      await enqueue(tx.sql, LOGOUT_JOB, [{ realm, clientId, eventId, sessionId }]);
      const subject = await namedUser(tx.sql, realm, userId);
      tx.record({ type: 'BACKCHANNEL_LOGOUT_RETRIED', realm, by, clientId, subject, data: { sessionId, eventId } });
    });
    return { eventId, clientId, sessionId };
  }
  bind(app, retryLogout, ({ by, params }) => retry(by, params.realm, params.id));
}
