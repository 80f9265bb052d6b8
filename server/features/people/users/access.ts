// Owns: a user's lock and sessions, as administrators see and change them.
// Does not own: counting failures (credentials), how one session begins and ends (sessions).
// Implements: specification 2.3 (lockout), 4.10; decisions "Session".
import type { By } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Session } from '../../../contract/sessions.ts';
import type { Lockout } from '../../../contract/user-access.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { endAccess } from '../../../domain/end-access.ts';
import type { Principal } from '../../../domain/principal.ts';
import type { Credentials } from '../credentials/service.ts';
import type { SessionPage, Sessions } from '../sessions/service.ts';
import type { MustCover } from './service.ts';
import * as store from './store.ts';

export interface UserAccessDeps {
  sql: Sql;
  transact: Transact;
  mustCover: MustCover;
  credentials: Pick<Credentials, 'lockout' | 'unlock'>;
  sessions: Pick<Sessions, 'list'>;
  now: () => Date;
}

export function createUserAccess({ sql, transact, mustCover, credentials, sessions, now }: UserAccessDeps) {
  async function load(on: Sql, realm: string, id: string): Promise<store.UserRow> {
    const row = await store.find(on, realm, id);
    if (!row) throw new Problem('not-found', 'There is no such user');
    return row;
  }

  return {
    async lockout(realm: string, id: string): Promise<Lockout> {
      await load(sql, realm, id);
      return credentials.lockout(realm, id);
    },

    unlock: ({ principal, by }: { principal: Principal; by: By }, realm: string, id: string): Promise<void> =>
      transact(realm, async (tx) => {
        const user = await load(tx.sql, realm, id);
        await mustCover(principal, realm, id, tx.sql);
        await credentials.unlock(tx, by, realm, user);
      }),

    async sessions(realm: string, id: string, page: Omit<SessionPage, 'userId'>): Promise<Session[]> {
      await load(sql, realm, id);
      return sessions.list(realm, { ...page, userId: id });
    },

    endSessions: ({ principal, by }: { principal: Principal; by: By }, realm: string, id: string): Promise<void> =>
      transact(
        realm,
        async (tx) => {
          await load(tx.sql, realm, id);
          await mustCover(principal, realm, id, tx.sql);
          await endAccess(tx, realm, { people: [id], cause: 'administrator', by, at: now() });
        },
        // Ending expired sessions and unfinished sign-ins writes rows without an event.
        { bookkeeping: true },
      ),
  };
}
export type UserAccess = ReturnType<typeof createUserAccess>;
