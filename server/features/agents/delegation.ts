// A grant of a token endpoint of its own: an agent acts for a person by a token that the person's application gave it. Never more
// than the token, the agent and what the person agreed to together allow, and no longer than the token. RFC 8693; decisions "Agent".
import { delegationBody } from '../../contract/agents.ts';
import type { Sql } from '../../db/sql.ts';
import type { Agreement } from '../../domain/agreement.ts';
import { userParty } from '../../domain/party.ts';
import { type PersonRow, personColumns, personOf } from '../../domain/person.ts';
import { OFFLINE, OPENID, presentScopes } from '../../domain/scopes.ts';
import { isPersons, type Subjects } from '../../domain/subjects.ts';
import type { EventBatch } from '../../events/batch.ts';
import { OAuthError } from '../../http/oauth-error.ts';
import type { ClientView } from '../clients/view.ts';
import type { Mint } from '../issued-tokens/mint.ts';
import type { Claims, Tokens } from '../issued-tokens/service.ts';
import type { Grant } from '../token/grant.ts';

export interface DelegationDeps {
  sql: Sql;
  tokens: Pick<Tokens, 'verify'>;
  subjects: Pick<Subjects, 'find' | 'of'>;
  mint: Pick<Mint, 'forPerson'>;
  batch: Pick<EventBatch, 'record'>;
}

const invalid = (reason: string) => new OAuthError('invalid_grant', 'The subject token is not valid here', { reason });

/** The token was given to this agent, or is for it: whoever else got hold of it can't act by it. */
const isFor = ({ clientId, allowedResources }: ClientView, { client_id: issuedTo, aud }: Claims): boolean =>
  issuedTo === clientId || [aud].flat().some((one) => one === clientId || allowedResources.has(one));

/** The person, and what they agreed that this client may have. */
async function readSubject(sql: Sql, realm: string, userId: string, client: ClientView) {
  const [row] = await sql<PersonRow & { consented: Agreement | null }>`
    select ${personColumns}, (
      select jsonb_build_object('scopes', c.scopes, 'resources', c.resources, 'claims', c.claims) from consent c
      where c.realm_id = u.realm_id and c.user_id = u.id and c.client = ${client.id}
    ) as consented
    from realm_user u where u.realm_id = ${realm} and u.id = ${userId} and u.enabled`;
  return row;
}

export function delegationGrant({ sql, tokens, subjects, mint, batch }: DelegationDeps): Grant<typeof delegationBody> {
  return {
    grantType: 'urn:ietf:params:oauth:grant-type:token-exchange',
    label: 'delegation',
    body: delegationBody,
    clientAuth: 'proof',
    allowedTo: ({ agent }) => agent !== null,
    scopePolicy: 'granted',
    resourcePolicy: 'client',
    ownBehalf: () => false,
    async authorize({ realm, client, body, resources, requestedScopes, by }) {
      const claims = await tokens.verify(realm, body.subject_token, { typ: 'at+jwt' });
      if (!claims || !isPersons(claims)) throw invalid('no token of a person of this realm');
      // A chain of those who act for each other is nobody's to look through.
      if (claims.act !== undefined) throw invalid('somebody acts for the person already');
      if (claims.gid === undefined) throw invalid('it belongs to no grant');
      if (!isFor(client, claims)) throw invalid('it is neither the agent’s nor for it');
      const userId = subjects.find(realm, claims);
      const row = userId === undefined ? undefined : await readSubject(sql, realm, userId, client);
      if (!row) throw invalid('the person is gone or disabled');
      const said = new Set((claims.scope ?? '').split(' '));
      const consented = row.consented ?? { scopes: [], resources: [], claims: [] };
      const allowed = presentScopes(client, consented.scopes).filter(({ name }) => said.has(name) && name !== OFFLINE);
      const names = new Set(allowed.map(({ name }) => name));
      if (requestedScopes?.some((name) => !names.has(name)))
        throw new OAuthError('invalid_scope', 'The person, the token or the agent has no such scope');
      if (names.size === 0)
        throw new OAuthError('invalid_scope', 'The person has agreed to nothing that this token gives');
      if (!resources.every((resource) => consented.resources.includes(resource)))
        throw new OAuthError('invalid_target', 'The person has not agreed to a requested resource');
      const scopes = allowed.filter(({ name }) => requestedScopes?.includes(name) ?? true);
      const person = personOf(row);
      const minted = await mint.forPerson(realm, client, {
        person,
        about: (await subjects.of(realm, client, person))?.sub,
        scopes: scopes.filter(({ name }) => name !== OPENID),
        openid: false,
        resources,
        signedIn: {
          sid: claims.sid,
          authTime: typeof claims.auth_time === 'number' ? claims.auth_time : 0,
          acr: typeof claims.acr === 'string' ? claims.acr : '0',
          amr: Array.isArray(claims.amr) ? claims.amr.map(String) : [],
        },
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
      return { ...minted, issuedTokenType: ACCESS_TOKEN };
    },
  };
}
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
