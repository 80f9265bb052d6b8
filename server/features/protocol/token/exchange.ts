// The token exchange grant: a service calls another one for the user who called it. The new token allows no more than
// the user's token, the client and, where the client needs consent, the user allow. It doesn't live longer. It names
// the acting party, unless the client's setting leaves that out. The client's resources limit its use (RFC 8693, RFC
// 8707).
import type { z } from 'zod';
import { ACCESS_TOKEN_TYPE, grantBodies, TOKEN_EXCHANGE } from '../../../contract/oauth.ts';
import type { Sql } from '../../../db/sql.ts';
import { badDetails, detailsCovered, detailsIn, typesOf } from '../../../domain/authorization-details.ts';
import { clientNamedBy, mayExchange, readSubject, scopesOnBehalf, signedInOf } from '../../../domain/on-behalf.ts';
import { userParty } from '../../../domain/party.ts';
import { personOf } from '../../../domain/person.ts';
import { ACCOUNT_SCOPE } from '../../../domain/scopes.ts';
import { boundAs, isProven } from '../../../domain/sender.ts';
import { isPersons, type Subjects } from '../../../domain/subjects.ts';
import type { EventBatch } from '../../../events/batch.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { Mint } from '../../configuration/issued-tokens/mint.ts';
import type { Claims, Tokens } from '../../configuration/issued-tokens/service.ts';
import type { AuthorizationDetails } from '../authorization-details/service.ts';
import { workloadOf } from '../client-authentication/service.ts';
import type { Grant, GrantCall } from './grant.ts';

type Body = (typeof grantBodies)[typeof TOKEN_EXCHANGE];
type Call = GrantCall<z.output<Body>>;

/** RFC 8693 §2.2.2: a faulty token is an invalid_request. */
const invalid = (reason: string) => new OAuthError('invalid_request', 'A token is not valid here', { reason });

export function exchangeGrant({
  sql,
  tokens,
  subjects,
  settings,
  mint,
  details,
  batch,
}: {
  sql: Sql;
  tokens: Pick<Tokens, 'verify'>;
  subjects: Pick<Subjects, 'find' | 'of'>;
  settings: { issuer(realm: string): Promise<string> };
  mint: Pick<Mint, 'forPerson'>;
  details: Pick<AuthorizationDetails, 'present'>;
  batch: Pick<EventBatch, 'record'>;
}): Grant<Body> {
  /** The acting party: the client, or the user of the client's actor token. */
  async function actorOf({ realm, client, body, sender }: Call, subject: Claims) {
    const { actor_token: token, actor_token_type: type } = body;
    if (token === undefined) {
      if (type !== undefined) throw new OAuthError('invalid_request', 'actor_token_type comes with an actor_token');
      return { sub: client.clientId, exp: subject.exp };
    }
    if (type !== ACCESS_TOKEN_TYPE)
      throw new OAuthError('invalid_request', `actor_token_type must be ${ACCESS_TOKEN_TYPE}`);
    const actor = await tokens.verify(realm, token, { typ: 'at+jwt' });
    if (actor?.client_id !== client.clientId || actor.act !== undefined)
      throw invalid('the actor token is not this client’s');
    if (!isProven(actor, sender)) throw invalid('the actor token is bound to a key that was not proven');
    if (isPersons(actor) && clientNamedBy(subject) !== client.clientId)
      throw invalid('the subject token’s may_act does not name this client');
    return { sub: actor.sub, exp: Math.min(subject.exp, actor.exp) };
  }

  return {
    grantType: TOKEN_EXCHANGE,
    body: grantBodies[TOKEN_EXCHANGE],
    clientAuth: 'proof',
    // An agent acts for users only by delegation/grant.ts, within their consent, and no client acts in an agent's name.
    allowedTo: ({ agent, grantTypes }) => agent === null && grantTypes.has(TOKEN_EXCHANGE),
    scopePolicy: 'granted',
    resourcePolicy: 'client',
    takesAudience: true,
    takesDetails: true,
    ownBehalf: () => false,
    async authorize(call) {
      const { realm, client, body, resources, requestedScopes, sender, cnf, by } = call;
      if ((body.requested_token_type ?? ACCESS_TOKEN_TYPE) !== ACCESS_TOKEN_TYPE)
        throw new OAuthError('invalid_request', `requested_token_type must be ${ACCESS_TOKEN_TYPE}`);
      const claims = await tokens.verify(realm, body.subject_token, { typ: 'at+jwt' });
      if (!claims || !isPersons(claims) || claims.gid === undefined)
        throw invalid('the subject token is no token of a person of this realm');
      if (!mayExchange(client, claims)) throw invalid('the subject token is neither the client’s nor for it');
      // Without this proof, a thief of the token could exchange it for one without a key.
      if (!isProven(claims, sender)) throw invalid('the subject token is bound to a key that was not proven');
      const actor = await actorOf(call, claims);
      // A service that was called for one purpose must not get access to the realm's own APIs.
      if (resources.length === 0 && ![claims.aud].flat().includes(await settings.issuer(realm)))
        throw new OAuthError('invalid_target', 'Say by resource or audience where the token will be used');
      const userId = subjects.find(realm, claims);
      const row = userId === undefined ? undefined : await readSubject(sql, realm, userId, client.id);
      if (!row) throw invalid('the person is gone or disabled');
      const agreed = client.consentRequired ? (row.consented ?? { scopes: [], resources: [] }) : undefined;
      // A user who has to agree to this client has agreed to scopes alone: details are never remembered.
      const granted = agreed ? [] : await details.present(realm, client, detailsIn(claims));
      if (!detailsCovered(call.details ?? [], granted))
        throw badDetails('The token has no such details for this client');
      const narrowed = call.details ?? granted;
      const person = personOf(row);
      const impersonates = client.tokenExchangeImpersonation && body.actor_token === undefined;
      const before = typeof claims.act === 'object' && claims.act !== null ? claims.act : undefined;
      const minted = await mint.forPerson(realm, client, {
        person,
        about: (await subjects.of(realm, client, person))?.sub,
        scopes: scopesOnBehalf(client, {
          scope: claims.scope,
          agreed,
          account: row.consented?.scopes.includes(ACCOUNT_SCOPE) ?? false,
          requestedScopes,
          resources,
        }),
        openid: false,
        details: narrowed,
        granted: detailsIn(claims),
        cnf: boundAs(claims, cnf),
        resources,
        signedIn: signedInOf(claims),
        gid: claims.gid,
        acting: {
          by: impersonates ? undefined : { realm, sub: actor.sub },
          before,
          until: new Date(actor.exp * 1000),
        },
      });
      batch.record({
        type: 'TOKEN_ISSUED',
        realm,
        by,
        clientId: client.clientId,
        subject: userParty(row.user_id, row.username),
        data: {
          grant: 'token_exchange',
          scope: minted.scope,
          jti: minted.jti,
          resources,
          ...typesOf(narrowed),
          from: claims.client_id ?? null,
          actor: impersonates ? null : actor.sub,
          ...workloadOf(call.who),
        },
      });
      return { ...minted, issuedTokenType: ACCESS_TOKEN_TYPE };
    },
  };
}
