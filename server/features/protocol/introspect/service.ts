// Owns: introspection: whether a token is valid now, and its claims.
// Does not own: verification (features/configuration/issued-tokens), refresh families (features/protocol/token).
// Implements: RFC 7662. A token that isn't active, or isn't meant for the asking client, gets the same `{"active":false}`.
import { PERSON_CLAIM, USERINFO_CLAIM } from '../../../contract/claims.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { parseRefreshToken } from '../../../crypto/refresh-token.ts';
import type { Sql } from '../../../db/sql.ts';
import { type AuthorizationDetail, detailsIn } from '../../../domain/authorization-details.ts';
import { claimsOf, saidFor, sessionOf, speaksIn } from '../../../domain/claims.ts';
import { presentScopes } from '../../../domain/scopes.ts';
import { confirmationOf, tokenTypeOf } from '../../../domain/sender.ts';
import { cutoffsOf } from '../../../domain/session.ts';
import { isPersons, type Subjects } from '../../../domain/subjects.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Claims, Tokens } from '../../configuration/issued-tokens/service.ts';
import type { About, KeptAnswers } from './kept-answers.ts';
import { liveFamily, liveUser, readPerson } from './store.ts';

const INACTIVE = { active: false };

/** Whether a mapper's claim `permissions` has UMA's form, in which only this server grants permissions. */
const looksGranted = (permissions: unknown): boolean =>
  [permissions].flat(Number.POSITIVE_INFINITY).some((one) => typeof one === 'object' && one !== null);

/**
 * Whether a client may introspect a token (RFC 7662 §2.2): the token was issued to it, or has it as an audience, by its
 * id or by one of its resources. The audience of tokens for no particular resource is the realm's issuer.
 */
const concerns = ({ clientId, allowedResources }: ClientView, token: Claims): boolean =>
  token.client_id === clientId || [token.aud].flat().some((aud) => aud === clientId || allowedResources.has(aud));

/** RFC 9396 §9: the token's own client sees all details, a resource server those for its locations. */
function detailsShown(
  { clientId, allowedResources }: ClientView,
  token: Claims,
): readonly AuthorizationDetail[] | undefined {
  const all = detailsIn(token);
  const isFor = (one: string) => one === clientId || allowedResources.has(one);
  const shown =
    token.client_id === clientId
      ? all
      : all.filter(({ locations }) => locations === undefined || locations.some(isFor));
  return shown.length === 0 ? undefined : shown;
}

export function createIntrospection({
  sql,
  tokens,
  subjects,
  settings,
  clients,
  permissions,
  keptAnswers: kept,
  now,
}: {
  sql: Sql;
  tokens: Pick<Tokens, 'verify'>;
  subjects: Pick<Subjects, 'of' | 'find'>;
  settings: {
    issuer(realm: string): Promise<string>;
    of(realm: string): Promise<RealmSettingsDto | undefined>;
  };
  clients: { view(realm: string, clientId: string): Promise<ClientView | undefined> };
  /** The permissions of a token of the UMA grant. */
  permissions(realm: string, claims: Claims): Promise<readonly object[] | undefined>;
  keptAnswers: Pick<KeptAnswers, 'of'>;
  now: () => Date;
}) {
  async function accessToken(realm: string, asking: ClientView, token: string): Promise<About> {
    const inactive = { answer: INACTIVE, userId: undefined };
    const claims = await tokens.verify(realm, token, { typ: 'at+jwt' });
    if (!claims || !concerns(asking, claims)) return inactive;
    const client = await clients.view(realm, claims.client_id ?? '');
    if (!client) return inactive;
    const persons = isPersons(claims);
    const userId = persons ? subjects.find(realm, claims) : undefined;
    const person = userId === undefined ? undefined : await liveUser(sql, realm, userId);
    if (persons && !person) return inactive;
    const permitted = await permissions(realm, claims);
    if (permitted?.length === 0) return inactive;
    const { gid: _, [PERSON_CLAIM]: __, [USERINFO_CLAIM]: ___, ...shown } = claims;
    const said: Record<string, unknown> = { ...(await shownHere(realm, client, claims, userId)), ...shown };
    const answer = {
      ...said,
      authorization_details: detailsShown(asking, claims),
      active: true,
      token_type: tokenTypeOf(claims.cnf),
      // A service account has no username, whatever its mappers say.
      username: person?.username,
      authorization: permitted ? undefined : said.authorization,
      permissions: permitted ?? (looksGranted(said.permissions) ? undefined : said.permissions),
    };
    return { answer, userId };
  }

  /** Claims of the client's scopes that only introspection shows, in addition to the token's own claims. */
  async function shownHere(
    realm: string,
    client: ClientView,
    token: Claims,
    userId: string | undefined,
  ): Promise<object> {
    const hidden = client.defaultScopes.filter((s) => !s.inTokenScope).map((s) => s.name);
    const scopes = saidFor(client, presentScopes(client, [...(token.scope ?? '').split(' '), ...hidden]));
    if (!speaksIn(scopes, 'introspection')) return {};
    const subject = userId === undefined ? { roles: client.roles } : await readPerson(sql, realm, userId);
    return subject ? claimsOf(scopes, subject, 'introspection', sessionOf(token)) : {};
  }

  /** Only the client of a refresh token may introspect it. */
  async function refreshToken(realm: string, client: ClientView, token: string): Promise<object> {
    const presented = parseRefreshToken(token);
    const ofRealm = await settings.of(realm);
    if (!presented || !ofRealm) return INACTIVE;
    const family = await liveFamily(sql, realm, {
      ...presented,
      client: client.id,
      cutoffs: cutoffsOf(ofRealm, now()),
    });
    const about = family && (await subjects.of(realm, client, { id: family.user_id, subject: family.subject }));
    if (!family || !about) return INACTIVE;
    const { scopes, openid, authorizationDetails } = family.grant_data;
    const cnf = confirmationOf(family.grant_data);
    return {
      active: true,
      token_type: 'refresh_token',
      iss: await settings.issuer(realm),
      sub: about.sub,
      username: family.username,
      client_id: client.clientId,
      ...(cnf && { cnf }),
      scope: (openid ? ['openid', ...scopes] : scopes).join(' ') || undefined,
      ...(authorizationDetails && { authorization_details: authorizationDetails }),
      exp: Math.floor(family.expires_at.getTime() / 1000),
      iat: Math.floor(family.created_at.getTime() / 1000),
    };
  }

  return {
    of: (realm: string, client: ClientView, token: string): Promise<object> =>
      token.startsWith('svc_rt_')
        ? refreshToken(realm, client, token)
        : kept.of(realm, client, token, () => accessToken(realm, client, token)),
  };
}
export type Introspection = ReturnType<typeof createIntrospection>;
