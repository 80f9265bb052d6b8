// Owns: the endpoint by which an agent acts for a user, with a token from the user's application, and the agent's authentication there.
// Does not own: agents and their states (features/people/agents), the token endpoint's phases (features/protocol/token).
// Implements: RFC 8693; decisions "Agent".
import { delegationBody } from '../../../contract/agents.ts';
import { ACCESS_TOKEN_TYPE, TOKEN_EXCHANGE } from '../../../contract/oauth.ts';
import type { Sql } from '../../../db/sql.ts';
import { detailsIn } from '../../../domain/authorization-details.ts';
import { isFor, readSubject, scopesOnBehalf, signedInOf } from '../../../domain/on-behalf.ts';
import { userParty } from '../../../domain/party.ts';
import { personOf } from '../../../domain/person.ts';
import { boundAs, isProven } from '../../../domain/sender.ts';
import { isPersons, type Subjects } from '../../../domain/subjects.ts';
import type { EventBatch } from '../../../events/batch.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { Mint } from '../../configuration/issued-tokens/mint.ts';
import type { Tokens } from '../../configuration/issued-tokens/service.ts';
import type { Grant } from '../token/grant.ts';

export interface DelegationDeps {
  sql: Sql;
  tokens: Pick<Tokens, 'verify'>;
  subjects: Pick<Subjects, 'find' | 'of'>;
  mint: Pick<Mint, 'forPerson'>;
  batch: Pick<EventBatch, 'record'>;
}

/** RFC 8693 §2.2.2: a faulty token is an invalid_request. */
const invalid = (reason: string) =>
  new OAuthError('invalid_request', 'The subject token is not valid here', { reason });

/** The new token allows only what the token, the agent and the user's consent all allow, and doesn't live longer. */
export function delegationGrant({ sql, tokens, subjects, mint, batch }: DelegationDeps): Grant<typeof delegationBody> {
  return {
    grantType: TOKEN_EXCHANGE,
    label: 'delegation',
    body: delegationBody,
    clientAuth: 'proof',
    allowedTo: ({ agent }) => agent !== null,
    scopePolicy: 'granted',
    resourcePolicy: 'client',
    ownBehalf: () => false,
    async authorize({ realm, client, body, resources, requestedScopes, sender, cnf, by }) {
      const claims = await tokens.verify(realm, body.subject_token, { typ: 'at+jwt' });
      if (!claims || !isPersons(claims)) throw invalid('no token of a person of this realm');
      if (!isProven(claims, sender)) throw invalid('bound to a key that was not proven');
      // Chains of acting parties are refused, because they would be hard to review.
      if (claims.act !== undefined) throw invalid('an acting party is named already');
      if (claims.gid === undefined) throw invalid('it belongs to no grant');
      if (!isFor(client, claims)) throw invalid('it is neither the agent’s nor for it');
      const userId = subjects.find(realm, claims);
      const row = userId === undefined ? undefined : await readSubject(sql, realm, userId, client.id);
      if (!row) throw invalid('the person is gone or disabled');
      const agreed = row.consented ?? { scopes: [], resources: [] };
      const scopes = scopesOnBehalf(client, { scope: claims.scope, agreed, requestedScopes, resources });
      const person = personOf(row);
      const minted = await mint.forPerson(realm, client, {
        person,
        about: (await subjects.of(realm, client, person))?.sub,
        scopes,
        openid: false,
        granted: detailsIn(claims),
        cnf: boundAs(claims, cnf),
        resources,
        signedIn: signedInOf(claims),
        gid: claims.gid,
        acting: { by: { realm, sub: client.clientId }, until: new Date(claims.exp * 1000) },
      });
      batch.record({
        type: 'TOKEN_ISSUED',
        realm,
        by,
        clientId: client.clientId,
        subject: userParty(row.user_id, row.username),
        data: { grant: 'delegation', scope: minted.scope, jti: minted.jti, resources, from: claims.client_id ?? null },
      });
      return { ...minted, issuedTokenType: ACCESS_TOKEN_TYPE };
    },
  };
}
