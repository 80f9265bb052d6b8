// Owns: the grant for another domain's authorization server: whether the realm's policy permits it, and its claims.
// Does not own: the policies (features/protocol/cross-domain-policies), the exchanged token's user (subject.ts).
// Implements: draft-ietf-oauth-identity-assertion-authz-grant §3, §4.3; draft-ietf-oauth-identity-chaining §2.3; decisions
// "Cross-domain policy".

import type { z } from 'zod';
import { ID_JAG_TYP, ID_JAG_TYPE, JWT_GRANT_TYP } from '../../../contract/token-types.ts';
import type { Sql } from '../../../db/sql.ts';
import { useFault } from '../../../domain/application-use.ts';
import { badDetails, typesOf } from '../../../domain/authorization-details.ts';
import { userParty } from '../../../domain/party.ts';
import { type Person, personOf } from '../../../domain/person.ts';
import type { Subjects } from '../../../domain/subjects.ts';
import type { EventBatch } from '../../../events/batch.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Tokens } from '../../configuration/issued-tokens/service.ts';
import type { GrantCall, Granted } from '../token/grant.ts';
import * as store from './store.ts';
import { createSubjectReader, type GrantSubject } from './subject.ts';
import type { issueBody } from './terms.ts';

type Call = GrantCall<z.output<typeof issueBody>>;

export interface IssueDeps {
  sql: Sql;
  tokens: Pick<Tokens, 'verify' | 'sign'>;
  subjects: Pick<Subjects, 'find' | 'of'>;
  settings: { issuer(realm: string): Promise<string> };
  clients: { view(realm: string, clientId: string): Promise<ClientView | undefined> };
  batch: Pick<EventBatch, 'record'>;
  now: () => Date;
  newId: () => string;
}

/** Of the permitted values those that are asked for; all, if none is. @returns undefined if one is not permitted */
const among = (permitted: readonly string[], asked: readonly string[] | undefined): readonly string[] | undefined =>
  asked === undefined || asked.length === 0
    ? permitted
    : asked.every((one) => permitted.includes(one))
      ? [...new Set(asked)]
      : undefined;

/** The authorization server that the grant is for, and the resources there. In identity chaining a lone `resource` names the server. */
function targetOf({ requested_token_type: type, audience, resource }: Call['body']) {
  const [aud, ...others] = audience.length > 0 || type === ID_JAG_TYPE ? audience : resource;
  if (aud === undefined || others.length > 0)
    throw new OAuthError('invalid_request', 'audience names one authorization server, by its issuer');
  return { audience: aud, resources: audience.length > 0 ? resource : [] };
}

const isMember = (person: Person, { groups, roles }: store.PolicyRow): boolean =>
  (groups.length === 0 && roles.length === 0) ||
  roles.some((role) => person.roles.realm.includes(role)) ||
  groups.some((group) => person.groups.some((path) => path === group || path.startsWith(`${group}/`)));

/** @throws OAuthError `insufficient_user_authentication` (RFC 9470 §3) */
function demandSignIn({ authTime, acr }: GrantSubject, { least_level, max_age }: store.PolicyRow, now: Date): void {
  const isLow = least_level !== null && !(Number(acr) >= least_level);
  const isOld = max_age !== null && now.getTime() / 1000 - authTime > max_age;
  if (!isLow && !isOld) return;
  throw new OAuthError('insufficient_user_authentication', 'The person has to sign in anew, or more strongly', {
    more: {
      ...(least_level !== null && { acr_values: String(least_level) }),
      ...(max_age !== null && { max_age }),
    },
  });
}

/** A list of one value as the value itself; undefined for none. */
const compact = (values: readonly string[]) => (values.length > 1 ? values : values[0]);

export function createIssuing({ sql, tokens, subjects, settings, clients, batch, now, newId }: IssueDeps) {
  const subjectReader = createSubjectReader({ sql, tokens, subjects, now });

  /** The `sub` that the other domain knows the user by. @throws OAuthError `invalid_grant` */
  async function subOf(realm: string, person: Person, relyingParty: string | null, audience: string): Promise<string> {
    const known = relyingParty === null ? undefined : await clients.view(realm, relyingParty);
    if (relyingParty !== null && !known)
      throw new OAuthError('invalid_target', 'This client may get no grant for this audience', {
        reason: `the policy’s relyingParty ${relyingParty} is gone`,
      });
    const about = await subjects.of(realm, known ?? { subjectType: null, sector: new URL(audience).hostname }, person);
    if (!about) throw new OAuthError('invalid_grant', 'Nothing names this person there');
    return about.sub;
  }

  return async (call: Call): Promise<Granted> => {
    const { realm, client, body, requestedScopes, details = [], cnf, by } = call;
    if (body.actor_token !== undefined || body.actor_token_type !== undefined)
      throw new OAuthError('invalid_request', 'A grant for another domain takes no actor_token');
    const isIdJag = body.requested_token_type === ID_JAG_TYPE;
    const target = targetOf(body);
    const policy = await store.policyFor(sql, realm, { clientId: client.clientId, audience: target.audience });
    const closed = (reason: string) =>
      new OAuthError('invalid_target', 'This client may get no grant for this audience', { reason });
    if (!policy) throw closed('no policy is for this client and audience');
    if (!policy.token_types.includes(isIdJag ? 'id-jag' : 'jwt')) throw closed('the policy has other token types');
    const issuer = await settings.issuer(realm);
    if (target.audience === issuer) throw closed('the audience is the realm itself');
    const about = await subjectReader.read(call);
    const row = await store.userById(sql, realm, about.userId);
    const unusable = (reason: string) =>
      new OAuthError('invalid_grant', 'There is no grant for this person', { reason });
    if (!row?.enabled) throw unusable('the user is gone or disabled');
    if (row.actions.length > 0) throw unusable(`the user has required actions: ${row.actions.join(' ')}`);
    const person = personOf(row);
    const outside = useFault(client.application, person);
    if (outside !== undefined) throw unusable(outside);
    if (client.consentRequired && !(await store.hasAgreed(sql, realm, { userId: person.id, client: client.id })))
      throw unusable('the user has not agreed to the client, or agrees no more');
    if (!isMember(person, policy)) throw unusable('the user has none of the policy’s groups and roles');
    demandSignIn(about, policy, now());
    const resources = among(policy.resources, target.resources);
    if (!resources) throw new OAuthError('invalid_target', 'A requested resource is not permitted there');
    const scopes = among(policy.scopes, requestedScopes);
    if (!scopes) throw new OAuthError('invalid_scope', 'A requested scope is not permitted there');
    if (about.tokenScopes && !policy.token_scopes.every((scope) => about.tokenScopes?.includes(scope)))
      throw new OAuthError('invalid_scope', 'The access token lacks a scope that this audience demands');
    if (!details.every(({ type }) => policy.authorization_details_types.includes(type)))
      throw badDetails('A requested type is not permitted there');

    const iat = Math.floor(now().getTime() / 1000);
    const jti = newId();
    const scope = scopes.join(' ');
    const expiresIn = policy.ttl_seconds;
    const grant = await tokens.sign(
      realm,
      { typ: isIdJag ? ID_JAG_TYP : JWT_GRANT_TYP, algorithm: null },
      {
        iss: issuer,
        sub: await subOf(realm, person, policy.relying_party, target.audience),
        aud: target.audience,
        client_id: policy.target_client_id,
        jti,
        iat,
        exp: iat + expiresIn,
        resource: compact(resources),
        scope: scope || undefined,
        authorization_details: details.length > 0 ? details : undefined,
        auth_time: about.authTime,
        acr: about.acr,
        amr: about.amr,
        ...(policy.email && person.email !== null && person.emailVerified
          ? { email: person.email, email_verified: true }
          : {}),
        // A certificate of the client here is not its certificate there.
        ...(cnf?.jkt !== undefined && { cnf: { jkt: cnf.jkt } }),
      },
    );
    batch.record({
      type: 'TOKEN_ISSUED',
      realm,
      by,
      clientId: client.clientId,
      subject: userParty(row.user_id, row.username),
      data: {
        grant: isIdJag ? 'id_jag' : 'identity_chaining',
        policy: policy.name,
        audience: target.audience,
        scope,
        jti,
        resources,
        ...typesOf(details),
      },
    });
    return {
      accessToken: grant,
      tokenType: 'N_A',
      issuedTokenType: body.requested_token_type,
      expiresIn,
      scope,
      jti,
      authorizationDetails: details.length > 0 ? details : undefined,
    };
  };
}
