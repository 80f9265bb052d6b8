// Owns: redeeming another domain's grant: whether the realm trusts its issuer for the client, which user it names, what the client gets.
// Does not own: the trusts (features/protocol/cross-domain-trusts), reading and verifying a grant (assertion.ts).
// Implements: RFC 7523 §2.1, §3; draft-ietf-oauth-identity-assertion-authz-grant §4.4; draft-ietf-oauth-identity-chaining §2.4;
// decisions "Cross-domain trust".
import type { z } from 'zod';
import type { jwtBearerBody } from '../../../contract/oauth.ts';
import { grantIdOf, newRefreshToken } from '../../../crypto/refresh-token.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { useFault } from '../../../domain/application-use.ts';
import { beginAssertedGrant } from '../../../domain/asserted-grants.ts';
import { badDetails, detailsCovered, typesOf } from '../../../domain/authorization-details.ts';
import { userParty } from '../../../domain/party.ts';
import { personOf } from '../../../domain/person.ts';
import { ACCOUNT_SCOPE, OFFLINE, OPENID, PROTECTION_SCOPE, presentScopes } from '../../../domain/scopes.ts';
import { boundAs, isProven } from '../../../domain/sender.ts';
import { singleUseProof, spendProof } from '../../../domain/spent-proofs.ts';
import type { Subjects } from '../../../domain/subjects.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { adminAudience } from '../../../http/own-addresses.ts';
import type { Mint } from '../../configuration/issued-tokens/mint.ts';
import type { AuthorizationDetails } from '../authorization-details/service.ts';
import type { GrantCall, Granted } from '../token/grant.ts';
import { type AssertionClaims, type AssertionKeys, checkTimes, readAssertion, SKEW_SECONDS } from './assertion.ts';
import * as store from './store.ts';

type Call = GrantCall<z.output<typeof jwtBearerBody>>;

export interface RedeemDeps {
  sql: Sql;
  transact: Transact;
  assertionKeys: AssertionKeys;
  subjects: Pick<Subjects, 'of'>;
  settings: { issuer(realm: string): Promise<string> };
  details: Pick<AuthorizationDetails, 'asked'>;
  mint: Pick<Mint, 'forPerson'>;
  baseUrl: string;
  now: () => Date;
  newId: () => string;
}

/** A user signs in for these: no other domain's word is enough. */
const NEVER: ReadonlySet<string> = new Set([OPENID, OFFLINE, ACCOUNT_SCOPE, PROTECTION_SCOPE]);

const invalid = (reason: string) => new OAuthError('invalid_grant', 'The assertion is not valid here', { reason });

const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1).toLowerCase();

export function createRedeeming(deps: RedeemDeps) {
  const { sql, transact, assertionKeys, subjects, settings, details, mint, baseUrl, now, newId } = deps;
  const adminApi = adminAudience(baseUrl);

  /** The user whom the grant names: by a link, else by an address in a domain of which the issuer may speak. */
  async function userOf(realm: string, trust: store.TrustRow, claims: AssertionClaims): Promise<store.UserRow> {
    const { iss: issuer, sub: subject, email, email_verified: confirmed } = claims;
    const { identity_provider: alias } = trust;
    const linked = alias === null ? undefined : await store.userByLink(sql, realm, { alias, issuer, subject });
    const isNamed = email !== undefined && trust.email_domains.includes(domainOf(email));
    const user =
      linked ?? (isNamed && (confirmed ?? trust.trust_email) ? await store.userByEmail(sql, realm, email) : undefined);
    if (!user) throw invalid('it names no user of the realm');
    if (!user.enabled) throw invalid('the user is disabled');
    if (user.actions.length > 0) throw invalid(`the user has required actions: ${user.actions.join(' ')}`);
    return user;
  }

  /** @throws OAuthError `invalid_target` */
  function resourcesOf({ resources: asked, presentResources }: Call, trust: store.TrustRow, claims: AssertionClaims) {
    const may = presentResources().filter(
      (resource) => resource !== adminApi && (trust.resources.length === 0 || trust.resources.includes(resource)),
    );
    const granted = claims.resource?.filter((resource) => may.includes(resource));
    const refused = () => new OAuthError('invalid_target', 'The assertion gives no access to a requested resource');
    if (granted?.length === 0 || !asked.every((resource) => (granted ?? may).includes(resource))) throw refused();
    const resources = asked.length > 0 ? asked : (granted ?? trust.resources.filter((one) => may.includes(one)));
    // Without one the token would be for the realm's own APIs, which the trust's list leaves out.
    if (trust.resources.length > 0 && resources.length === 0) throw refused();
    return [...new Set(resources)];
  }

  /** @throws OAuthError `invalid_scope` */
  function scopesOf({ client, requestedScopes }: Call, trust: store.TrustRow, claims: AssertionClaims) {
    const said = (claims.scope ?? '').split(' ').filter((name) => trust.scopes.includes(name) && !NEVER.has(name));
    const allowed = presentScopes(client, said);
    if (requestedScopes && !requestedScopes.every((name) => allowed.some((scope) => scope.name === name)))
      throw new OAuthError('invalid_scope', 'The assertion, the trust or the client has no such scope');
    return allowed.filter(({ name }) => requestedScopes?.includes(name) ?? true);
  }

  /** @throws OAuthError `invalid_authorization_details` */
  async function detailsOf(call: Call, trust: store.TrustRow, { authorization_details: said = [] }: AssertionClaims) {
    const permitted = said.filter((one) => trust.authorization_details_types.includes(String(Object(one).type)));
    const granted =
      permitted.length === 0
        ? []
        : (await details.asked(call.realm, call.client, JSON.stringify(permitted))).map(({ detail }) => detail);
    if (!detailsCovered(call.details ?? [], granted)) throw badDetails('The assertion has no such details');
    return { granted, wanted: call.details ?? granted };
  }

  return async (call: Call): Promise<Granted> => {
    const { realm, client, by, sender } = call;
    const { jwt, kind, claims } = readAssertion(call.body.assertion);
    const issuer = await settings.issuer(realm);
    if (claims.aud !== issuer) throw invalid('it is for another audience');
    // ID-JAG §9.4: the realm gives no access by its own grant.
    if (claims.iss === issuer) throw invalid('the realm issued it itself');
    if (
      kind === 'id-jag'
        ? claims.client_id !== client.clientId
        : (claims.client_id ?? client.clientId) !== client.clientId
    )
      throw invalid('it is for another client');
    const trust = await store.trustFor(sql, realm, { clientId: client.clientId, issuer: claims.iss });
    if (!trust) throw invalid('the client’s trusts do not name its issuer');
    if (!trust.token_types.includes(kind)) throw invalid(`the trust ${trust.name} takes no grant of this type`);
    checkTimes(claims, now());
    await assertionKeys.demandSignature(jwt, { issuer: trust.issuer, jwksUri: trust.jwks_uri });
    if (!isProven(claims, sender)) throw invalid('it is bound to a key that was not proven');
    const user = await userOf(realm, trust, claims);
    const resources = resourcesOf(call, trust, claims);
    const scopes = scopesOf(call, trust, claims);
    const { granted, wanted } = await detailsOf(call, trust, claims);

    const person = personOf(user);
    const outside = useFault(client.application, person);
    if (outside !== undefined) throw invalid(outside);
    const familyId = newId();
    const at = now();
    const signedIn = {
      authTime: Math.min(claims.auth_time ?? claims.iat, Math.floor(at.getTime() / 1000)),
      acr: (trust.trust_authentication ? claims.acr : undefined) ?? '0',
      amr: (trust.trust_authentication ? claims.amr : undefined) ?? [],
    };
    const about = (await subjects.of(realm, client, person))?.sub;
    const minted = await mint.forPerson(realm, client, {
      person,
      about,
      scopes,
      openid: false,
      details: wanted,
      granted,
      cnf: boundAs(claims, call.cnf),
      resources,
      signedIn: { sid: undefined, ...signedIn },
      gid: grantIdOf(familyId),
    });
    const spent = singleUseProof(
      'cross-domain',
      JSON.stringify([claims.iss, claims.jti]),
      new Date((claims.exp + 2 * SKEW_SECONDS) * 1000),
    );
    const fault = await transact(
      realm,
      async (tx) => {
        if (!(await spendProof(tx.sql, realm, spent))) return 'it was presented before';
        const began = await beginAssertedGrant(tx.sql, {
          realm,
          familyId,
          client: client.id,
          userId: user.user_id,
          data: {
            redirectUri: '',
            scopes: scopes.map(({ name }) => name),
            openid: false,
            resources,
            codeChallenge: null,
            nonce: null,
            ...signedIn,
            amr: [...signedIn.amr],
            ...(about !== undefined && about !== person.id && { sub: about }),
          },
          now: at,
          expiresAt: new Date(at.getTime() + minted.expiresIn * 1000),
          tokenHash: newRefreshToken(familyId).hash,
        });
        if (!began) return 'the user was disabled meanwhile';
        tx.record({
          type: 'TOKEN_ISSUED',
          realm,
          by,
          clientId: client.clientId,
          subject: userParty(user.user_id, user.username),
          data: {
            grant: kind === 'id-jag' ? 'id_jag' : 'jwt_bearer',
            trust: trust.name,
            issuer: claims.iss,
            scope: minted.scope,
            jti: minted.jti,
            assertion: claims.jti.slice(0, 255),
            resources,
            ...typesOf(wanted),
          },
        });
        return undefined;
      },
      { bookkeeping: true },
    );
    if (fault !== undefined) throw invalid(fault);
    return minted;
  };
}
