// Owns: the userinfo endpoint: claims about the user of an access token, by its scopes.
// Does not own: verifying the token (features/configuration/issued-tokens), which claims a scope has (domain/claims.ts).
// Implements: OIDC Core §5.3, RFC 6750 §3.1.

import { USERINFO_CLAIM } from '../../../contract/claims.ts';
import type { Sql } from '../../../db/sql.ts';
import { claimsOf, namedClaims, offeredTo, saidFor, sessionOf } from '../../../domain/claims.ts';
import { personOf, readPersonRow } from '../../../domain/person.ts';
import { OPENID, presentScopes } from '../../../domain/scopes.ts';
import { isPersons, type Subjects } from '../../../domain/subjects.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { PresentedToken } from '../../../http/presented-token.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import { type Encrypted, isEncrypted } from '../../configuration/issued-tokens/encryption.ts';
import type { Tokens } from '../../configuration/issued-tokens/service.ts';

export function createUserinfo({
  sql,
  tokens,
  encrypted,
  subjects,
  settings,
  clients,
}: {
  sql: Sql;
  tokens: Pick<Tokens, 'present' | 'sign'>;
  encrypted: Encrypted;
  subjects: Pick<Subjects, 'find'>;
  settings: { issuer(realm: string): Promise<string> };
  clients: { view(realm: string, clientId: string): Promise<ClientView | undefined> };
}) {
  return {
    async of(
      realm: string,
      accessToken: PresentedToken,
    ): Promise<{ answer: { type: string; body: string }; client: ClientView }> {
      const issuer = await settings.issuer(realm);
      const claims = await tokens.present(realm, accessToken, { audience: issuer });
      const invalid = (reason: string) =>
        new OAuthError('invalid_token', 'The access token is not valid here', { reason });
      if (!claims) throw invalid('it does not verify');
      const scopes = (claims.scope ?? '').split(' ');
      if (!scopes.includes(OPENID)) throw new OAuthError('insufficient_scope', 'This needs the scope openid');
      if (!isPersons(claims)) throw invalid('it is a service account’s');
      const client = await clients.view(realm, claims.client_id ?? '');
      if (!client) throw invalid('its client is gone');
      const userId = subjects.find(realm, claims);
      const row = userId === undefined ? undefined : await readPersonRow(sql, realm, userId);
      if (!row?.enabled) throw invalid('its user is gone or disabled');
      // Scopes that don't show in the token's `scope` are the client's defaults.
      const hidden = client.defaultScopes.filter((s) => !s.inTokenScope).map((s) => s.name);
      const granted = presentScopes(client, [...scopes, ...hidden]);
      const [person, session] = [personOf(row), sessionOf(claims)];
      const named = namedClaims(offeredTo(client), person, claims[USERINFO_CLAIM] ?? [], session);
      const said = { ...named, ...claimsOf(saidFor(client, granted), person, 'userinfo', session), sub: claims.sub };
      const { userinfoSignedResponseAlg: algorithm } = client;
      // OIDC Core §5.3.2: it may be encrypted without a signature.
      if (algorithm === null) {
        const body = JSON.stringify(said);
        return isEncrypted(client, 'userinfo')
          ? { answer: { type: 'application/jwt', body: await encrypted(client, 'userinfo', body) }, client }
          : { answer: { type: 'application/json; charset=utf-8', body }, client };
      }
      const claimed = { ...said, iss: issuer, aud: client.clientId };
      const signed = await tokens.sign(realm, { typ: 'JWT', algorithm }, claimed);
      const body = await encrypted(client, 'userinfo', signed, 'JWT');
      return { answer: { type: 'application/jwt', body }, client };
    },
  };
}
export type Userinfo = ReturnType<typeof createUserinfo>;
