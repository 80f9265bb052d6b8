// Whose account a request is about: by the session's cookie, or by a token that its owner let an application have for it.
// Specification 4.11, 5 rule 3; RFC 9068.
import type { FastifyRequest } from 'fastify';
import { Problem } from '../../contract/problem.ts';
import { sha256 } from '../../crypto/tokens.ts';
import type { Sql } from '../../db/sql.ts';
import type { AccountHolder } from '../../domain/principal.ts';
import { ACCOUNT_SCOPE } from '../../domain/scopes.ts';
import { isPersons, type Subjects } from '../../domain/subjects.ts';
import type { PresentedToken } from '../../http/presented-token.ts';
import type { Tokens } from '../issued-tokens/service.ts';
import type { Sessions, SsoSession } from '../sessions/service.ts';
import * as store from './store.ts';

/** One-way from the cookie: who can't read that can't make it. */
export const csrfOf = (session: SsoSession): string => sha256(`account:${session.tokenHash}`).toString('base64url');

export function createHolders({
  sql,
  tokens,
  subjects,
  sessions,
  settings,
}: {
  sql: Sql;
  tokens: Pick<Tokens, 'present'>;
  subjects: Pick<Subjects, 'find'>;
  sessions: Pick<Sessions, 'current'>;
  settings: { issuer(realm: string): Promise<string> };
}) {
  return {
    async bySession(request: FastifyRequest, realm: string): Promise<AccountHolder | undefined> {
      const session = await sessions.current(request, realm);
      if (!session) return undefined;
      const { userId, username, id: sessionId, impersonator } = session;
      const acting = impersonator !== null;
      return { userId, username, sessionId, clientId: undefined, csrf: csrfOf(session), acting };
    },

    async byToken(realm: string, presented: PresentedToken): Promise<AccountHolder | undefined> {
      const claims = await tokens.present(realm, presented, { audience: await settings.issuer(realm) });
      if (!claims || !isPersons(claims)) return undefined;
      if (!(claims.scope ?? '').split(' ').includes(ACCOUNT_SCOPE))
        throw new Problem('insufficient-scope', `This needs an access token with the scope ${ACCOUNT_SCOPE}`);
      const person = await store.enabledPerson(sql, realm, subjects.find(realm, claims) ?? null);
      if (!person) return undefined;
      const acting = claims.act !== undefined;
      return { ...person, sessionId: claims.sid, clientId: claims.client_id, csrf: undefined, acting };
    },
  };
}
