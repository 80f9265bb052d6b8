// Owns: Global Token Revocation: a client ends all access of a user in the realm.
// Does not own: ending access (domain/end-access.ts), the caller's rights (features/operations/admin-access).
// Implements: draft-parecki-oauth-global-token-revocation; RFC 9493. The caller is checked before anything is looked up, so
// that a stranger learns nothing of users.
import type { FastifyInstance } from 'fastify';
import {
  GlobalRevocation,
  globalRevocationRoute,
  type RevokedSubject,
} from '../../../contract/global-token-revocation.ts';
import type { Permission } from '../../../contract/permissions.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { isUuid } from '../../../crypto/ids.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import type { AdminRights } from '../../../domain/admin-rights.ts';
import { endAccess } from '../../../domain/end-access.ts';
import { identityDigest } from '../../../domain/identity-links.ts';
import { userParty } from '../../../domain/party.ts';
import { byPrincipal, hasPermission, type Principal } from '../../../domain/principal.ts';
import type { Refusals } from '../../../events/refusals.ts';
import { acceptEmptyJson, jsonBodyOf } from '../../../http/json-body.ts';
import { realmOf } from '../../../http/oauth.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { issuerOf } from '../../../http/own-addresses.ts';
import { type PresentedToken, presentedBy } from '../../../http/presented-token.ts';

/** The permission by which administrators end sessions. */
const NEEDED: Permission = 'sessions:write';

export interface GlobalRevocationDeps {
  transact: Transact;
  access: Pick<AdminRights, 'covers'> & {
    authenticate(credential: { token: PresentedToken }): Promise<{ principal: Principal } | undefined>;
  };
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  refusals: Pick<Refusals, 'record'>;
  baseUrl: string;
  now: () => Date;
}

interface Named {
  id: string;
  username: string;
}

export function globalRevocationRoutes(app: FastifyInstance, deps: GlobalRevocationDeps): void {
  const { transact, access, settings, refusals, baseUrl, now } = deps;
  acceptEmptyJson(app);

  async function byIssuer(sql: Sql, realm: string, iss: string, sub: string): Promise<Named | undefined> {
    const policy = await settings.of(realm);
    if (policy && iss === issuerOf(baseUrl, policy)) {
      if (policy.subjectStrategy === 'attribute')
        return (
          await sql<Named>`select id, username from realm_user where realm_id = ${realm} and subject = ${sub}`
        )[0];
      return byId(sql, realm, sub);
    }
    const [row] = await sql<Named>`
      select u.id, u.username from identity_link l join realm_user u on u.realm_id = l.realm_id and u.id = l.user_id
      where l.realm_id = ${realm} and l.subject_digest = ${identityDigest({ issuer: iss, subject: sub })}`;
    return row;
  }
  async function byId(sql: Sql, realm: string, id: string): Promise<Named | undefined> {
    if (!isUuid(id)) return undefined;
    return (await sql<Named>`select id, username from realm_user where realm_id = ${realm} and id = ${id}`)[0];
  }
  async function named(sql: Sql, realm: string, subject: RevokedSubject): Promise<Named | undefined> {
    if (subject.format === 'iss_sub') return byIssuer(sql, realm, subject.iss, subject.sub);
    if (subject.format === 'opaque') return byId(sql, realm, subject.id);
    const [row] = await sql<Named>`
      select id, username from realm_user
      where realm_id = ${realm} and lower(email) = lower(${subject.email}::text) and email_verified`;
    return row;
  }

  app.route({
    ...globalRevocationRoute,
    handler: async (request, reply) => {
      const realm = realmOf(request);
      const presented = presentedBy(request);
      const caller = presented && (await access.authenticate({ token: presented }));
      if (!caller) throw new OAuthError('invalid_token', 'A token of a client for the admin API is needed');
      const { principal } = caller;
      const by = byPrincipal(principal, request.ip);
      const refuse = (reason: string): OAuthError => {
        const data = { permission: reason, method: request.method, path: globalRevocationRoute.url };
        refusals.record({ type: 'ACCESS_DENIED', realm, by, outcome: 'denied', data }, reason);
        return new OAuthError('access_denied', 'The client may not end the access of this realm’s users');
      };
      if (principal.type === 'user' || !hasPermission(principal, realm, NEEDED)) throw refuse(NEEDED);
      const { sub_id: subject } = jsonBodyOf(request, GlobalRevocation);
      await transact(
        realm,
        async (tx) => {
          const user = await named(tx.sql, realm, subject);
          if (!user) throw new OAuthError('not_found', 'There is no such user');
          // A client can't sign out an administrator with more rights than its own.
          if (!(await access.covers(principal, realm, { userId: user.id }, tx.sql)))
            throw refuse('privilege-escalation');
          await endAccess(tx, realm, { people: [user.id], cause: 'administrator', by, at: now() });
          const party = userParty(user.id, user.username);
          const clientId = principal.realm === realm ? principal.name : null;
          tx.record({
            type: 'GLOBAL_TOKEN_REVOCATION',
            realm,
            by,
            subject: party,
            clientId,
            data: { format: subject.format },
          });
        },
        { bookkeeping: true },
      );
      return reply.code(204).send();
    },
  });
}
