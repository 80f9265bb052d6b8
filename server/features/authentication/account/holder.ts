// The user whose account a request concerns: the user of the session cookie, or the user of an access token that may act in
// the account. Specification 4.11, 5 rule 3; RFC 9068.
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Problem } from '../../../contract/problem.ts';
import { sha256 } from '../../../crypto/tokens.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Factors } from '../../../domain/factors.ts';
import type { AccountHolder } from '../../../domain/principal.ts';
import { ACCOUNT_SCOPE } from '../../../domain/scopes.ts';
import { isPersons, type Subjects } from '../../../domain/subjects.ts';
import type { PresentedToken } from '../../../http/presented-token.ts';
import type { Tokens } from '../../configuration/issued-tokens/service.ts';
import type { Sessions, SsoSession } from '../../people/sessions/service.ts';
import { FRESH_SECONDS, freshLevel, levelFor } from './freshness.ts';
import * as store from './store.ts';

/** Derived one-way from the cookie's digest: only a page that can read the account can know it. */
export const csrfOf = (session: SsoSession): string => sha256(`account:${session.tokenHash}`).toString('base64url');

/** When and how strongly the token's user signed in. */
const SignedIn = z.object({ auth_time: z.number(), acr: z.coerce.number() });

export function createHolders({
  sql,
  tokens,
  subjects,
  sessions,
  settings,
  factors,
  now,
}: {
  sql: Sql;
  tokens: Pick<Tokens, 'present'>;
  subjects: Pick<Subjects, 'find'>;
  sessions: Pick<Sessions, 'current'>;
  settings: { issuer(realm: string): Promise<string> };
  factors: Pick<Factors, 'haveSecond' | 'identify' | 'levelOf'>;
  now: () => Date;
}) {
  return {
    async bySession(request: FastifyRequest, realm: string): Promise<AccountHolder | undefined> {
      const session = await sessions.current(request, realm);
      if (!session) return undefined;
      const { userId, username, id: sessionId, impersonator } = session;
      const acting = impersonator !== null;
      const level = levelFor(factors, session.standing.types);
      const fresh = freshLevel(factors, session.factors, now()) >= level;
      const own = { clientId: undefined, csrf: csrfOf(session), onlyReads: false };
      return { userId, username, sessionId, ...own, acting, level, fresh };
    },

    async byToken(realm: string, presented: PresentedToken): Promise<AccountHolder | undefined> {
      const claims = await tokens.present(realm, presented, { audience: await settings.issuer(realm) });
      if (!claims || !isPersons(claims)) return undefined;
      if (!(claims.scope ?? '').split(' ').includes(ACCOUNT_SCOPE))
        throw new Problem('insufficient-scope', `This needs an access token with the scope ${ACCOUNT_SCOPE}`);
      const { client_id: clientId } = claims;
      const person = await store.tokenHolder(sql, realm, { userId: subjects.find(realm, claims) ?? null, clientId });
      if (!person) return undefined;
      const acting = claims.act !== undefined;
      const { types, agreed, administers: onlyReads, ...them } = person;
      // The consent is checked for every token, however the client got it: by an old refresh token, a token exchange, or at
      // a time when the client needed no consent.
      if (!agreed)
        throw new Problem(
          'insufficient-scope',
          `The user has not agreed that ${clientId} acts in their account: ask for the scope ${ACCOUNT_SCOPE} again`,
        );
      const level = levelFor(factors, types);
      const said = SignedIn.safeParse(claims).data;
      const isRecent = said !== undefined && said.auth_time >= now().getTime() / 1000 - FRESH_SECONDS;
      const fresh = isRecent && said.acr >= level;
      return { ...them, sessionId: claims.sid, clientId, csrf: undefined, acting, onlyReads, level, fresh };
    },
  };
}
export type Holders = ReturnType<typeof createHolders>;
