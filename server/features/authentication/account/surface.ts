// The account surface, /realms/{realm}/account/**: a user's own actions, authenticated by the session cookie or a bearer
// token. Each feature owns its data. Specification 4.11, 5 rule 3; decisions "Errors".
import type {} from '@fastify/cookie';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../../../contract/problem.ts';
import { sameSecret } from '../../../crypto/tokens.ts';
import { userParty } from '../../../domain/party.ts';
import { type AccountHolder, holderOf } from '../../../domain/principal.ts';
import { ACCOUNT_SCOPE } from '../../../domain/scopes.ts';
import { problemChallenge } from '../../../http/challenge.ts';
import { realmOf } from '../../../http/oauth.ts';
import { type PresentedToken, presentedBy } from '../../../http/presented-token.ts';
import { sendProblem } from '../../../http/problems.ts';
import { mountSurface } from '../../../http/surface.ts';
import { FRESH_SECONDS } from './freshness.ts';

const CSRF_HEADER = 'x-xsrf-token';

export interface AccountSurface {
  baseUrl: string;
  realmExists(realm: string): Promise<boolean>;
  /**
   * The user of a token; undefined: the token is not of this realm, or no longer valid. @throws Problem
   * `insufficient-scope`
   */
  byToken(realm: string, token: PresentedToken): Promise<AccountHolder | undefined>;
  bySession(request: FastifyRequest, realm: string): Promise<AccountHolder | undefined>;
}

/** RFC 9470 §3. */
const STALE = 'reauthentication-required';

/** The rules for a user's own actions, shared by all surfaces that allow them. */
export const createPersonGuard = ({ baseUrl }: { baseUrl: string }) => ({
  challenge(error: unknown, request: FastifyRequest): string | undefined {
    const stale = error instanceof Problem && error.code === STALE;
    const more = stale ? { acr_values: String(holderOf(request).level), max_age: String(FRESH_SECONDS) } : {};
    return problemChallenge(error, request, { baseUrl, scope: ACCOUNT_SCOPE, more });
  },
  arrived(request: FastifyRequest, holder: AccountHolder | undefined): AccountHolder {
    if (!holder) throw new Problem('unauthenticated', 'Sign in, or send an access token with the scope account');
    const writes = request.method !== 'GET' && request.method !== 'HEAD';
    if (holder.acting && writes)
      throw new Problem('forbidden', 'An impersonated session changes nothing in the account');
    if (holder.onlyReads && writes)
      throw new Problem(
        'forbidden',
        `An application changes nothing in an administrator's account: sign in at ${baseUrl}/realms/${realmOf(request)}/account`,
      );
    request.holder = holder;
    request.party = userParty(holder.userId, holder.username);
    return holder;
  },
  permit(request: FastifyRequest, { fresh }: { fresh?: true | undefined }): void {
    if (!fresh || holderOf(request).fresh) return;
    const detail = `This needs a sign-in of the last ${FRESH_SECONDS / 60} minutes: ask for one with max_age=${FRESH_SECONDS}`;
    throw new Problem(STALE, detail);
  },
});
export type PersonGuard = ReturnType<typeof createPersonGuard>;

/** Adds the hooks to every account route of `app` (an encapsulated plugin). */
export function guardAccount(app: FastifyInstance, { baseUrl, realmExists, byToken, bySession }: AccountSurface): void {
  const guard = createPersonGuard({ baseUrl });
  mountSurface(app, {
    name: 'account',
    failed(error, request, reply) {
      const challenge = guard.challenge(error, request);
      if (challenge !== undefined) void reply.header('www-authenticate', challenge);
      return sendProblem(error, request, reply);
    },
    async arrive(request) {
      if (!(await realmExists(realmOf(request)))) throw new Problem('not-found', 'There is no such realm');
    },
    async identify(request, reply) {
      const realm = realmOf(request);
      const token = presentedBy(request);
      const found = await (token === undefined ? bySession(request, realm) : byToken(realm, token));
      const holder = guard.arrived(request, found);
      if (holder.csrf === undefined) return;
      if (request.method === 'GET' || request.method === 'HEAD') void reply.header(CSRF_HEADER, holder.csrf);
      else if (!sameSecret(String(request.headers[CSRF_HEADER] ?? ''), holder.csrf))
        throw new Problem('csrf-mismatch', 'Send the header X-XSRF-TOKEN with its value from the last GET response');
    },
    async permit(request, contract) {
      guard.permit(request, contract);
    },
  });
}
