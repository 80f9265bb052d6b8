// Owns: listing and ending grants that outlive their session (`offline_access`), for users and administrators.
// Does not own: issuing and refreshing them (features/protocol/token), browser sessions (service.ts).
// Implements: specification 4.10, 4.11; OIDC Core §11.
import type { By } from '../../../contract/events.ts';
import type { OfflineSession } from '../../../contract/offline-sessions.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { refuseTokensOf } from '../../../domain/end-access.ts';
import { endOffline } from '../../../domain/grants.ts';
import { userParty } from '../../../domain/party.ts';
import * as store from './store.ts';

export function createOfflineSessions({ sql, transact, now }: { sql: Sql; transact: Transact; now: () => Date }) {
  return {
    /** @throws Problem `not-found`: there is no such user */
    async mustBeSomebody(realm: string, userId: string): Promise<void> {
      const [person] = await sql`select from realm_user where realm_id = ${realm} and id = ${userId}`;
      if (!person) throw new Problem('not-found', 'There is no such user');
    },

    /** Newest first; one row more than `limit` if there are more. */
    async list(
      realm: string,
      userId: string,
      { limit, after }: Pick<store.SessionPage, 'limit' | 'after'>,
    ): Promise<OfflineSession[]> {
      const rows = await store.offline(sql, realm, { userId, now: now(), after, limit: limit + 1 });
      return rows.map(({ refreshed_at, started_at, expires_at, ...row }) => ({
        ...row,
        startedAt: started_at.getTime(),
        lastRefreshedAt: refreshed_at?.getTime() ?? null,
        expiresAt: expires_at.getTime(),
      }));
    },

    /**
     * @param may throws if the caller may not end grants of this user
     * @throws Problem `not-found`: the user has no such grant, or it has ended
     */
    end: (
      realm: string,
      by: By,
      { userId, id }: { userId: string; id: string },
      { because, may }: { because: 'self' | 'administrator'; may?: (tx: Tx) => Promise<void> },
    ): Promise<void> =>
      transact(realm, async (tx) => {
        const at = now();
        const ended = await endOffline(tx.sql, realm, { userId, id, now: at });
        if (!ended) throw new Problem('not-found', 'There is no such offline session');
        await may?.(tx);
        const { client_id: clientId, username, seconds } = ended;
        await refuseTokensOf(tx.sql, realm, [{ id, seconds }], at);
        const data = { what: 'refresh_token', reason: because };
        tx.record({ type: 'TOKEN_REVOKED', realm, by, subject: userParty(userId, username), clientId, data });
      }),
  };
}
export type OfflineSessions = ReturnType<typeof createOfflineSessions>;
