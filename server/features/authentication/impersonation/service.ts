// Owns: impersonation: an administrator acts for a user for a limited time; starting it, and the address that opens it.
// Does not own: the permissions of such a session (features/protocol/authorize, account), its lifetime (features/people/sessions), its tokens (issued-tokens).
// Implements: specification 4.10 (`impersonate`); decisions "Impersonation".
import type { FastifyRequest } from 'fastify';
import type { By } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import type { AdminRights } from '../../../domain/admin-rights.ts';
import { userParty } from '../../../domain/party.ts';
import type { Principal } from '../../../domain/principal.ts';
import type { Sessions } from '../../people/sessions/service.ts';
import * as store from './store.ts';

export const arrivalPath = (realm: string): string => `/realms/${realm}/impersonation`;

export interface ImpersonationDeps {
  sql: Sql;
  transact: Transact;
  access: Pick<AdminRights, 'covers'>;
  sessions: Pick<Sessions, 'planFor' | 'begin' | 'endOfActing'>;
  baseUrl: string;
}

export function createImpersonation({ transact, access, sessions, baseUrl }: ImpersonationDeps) {
  return {
    /** @throws Problem `privilege-escalation`: the user holds more permissions; `wrong-state`: the user is disabled */
    begin: ({ principal, by }: { principal: Principal; by: By }, realm: string, userId: string) =>
      transact(realm, async (tx) => {
        const user = await store.person(tx.sql, realm, userId);
        if (!user) throw new Problem('not-found', 'There is no such user');
        if (principal.type !== 'user' || !principal.session)
          throw new Problem('forbidden', 'Only an administrator who is signed in can act for a user');
        if (!user.enabled) throw new Problem('wrong-state', 'The user is disabled');
        if (principal.realm === realm && principal.id === userId) throw new Problem('wrong-state', 'You are this user');
        if (!(await access.covers(principal, realm, { userId }, tx.sql)))
          throw new Problem('privilege-escalation', 'The user holds admin permissions that you do not hold');
        const { id, name, realm: home } = principal;
        const session = await store.sessionOf(tx.sql, home, principal.session);
        if (session === undefined) throw new Problem('unauthenticated');
        const planned = await sessions.planFor(realm, user, { id, name, realm: home, session });
        sessions.begin(tx, realm, planned);
        const expiresAt = sessions.endOfActing(planned.session.startedAt).getTime();
        const subject = userParty(user.id, user.username);
        const data = { sessionId: planned.session.id, expiresAt, impersonatorRealm: home };
        tx.record({ type: 'IMPERSONATION_STARTED', realm, by, subject, data });
        // If the administrator belongs to another realm, that realm's audit log records the start, too. It doesn't name the
        // user, because erasing the user would not reach that log.
        if (home !== realm) {
          const where = { type: 'realm', id: realm, name: realm } as const;
          tx.record({ type: 'IMPERSONATION_STARTED', realm: home, by, subject: where, data });
        }
        const url = `${baseUrl}${arrivalPath(realm)}?${new URLSearchParams({ token: planned.token })}`;
        return { url, sessionId: planned.session.id, expiresAt };
      }),
  };
}
export type Impersonation = ReturnType<typeof createImpersonation>;

export interface ArrivalDeps {
  transact: Transact;
  sessions: Pick<Sessions, 'arrive'>;
}
/** @returns undefined: the address was used before, or has expired */
export const redeemImpersonationToken = (
  { transact, sessions }: ArrivalDeps,
  request: FastifyRequest,
  realm: string,
  token: string,
) => transact(realm, (tx) => sessions.arrive(tx, request, realm, token), { bookkeeping: true });
