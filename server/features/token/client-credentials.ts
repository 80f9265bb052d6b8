// The client_credentials grant: no query and no write of its own on the request path; its audit row is batched, since
// such a token changes no state. RFC 6749 §4.4.

import { grantScopes, OFFLINE, OPENID } from '../../domain/scopes.ts';
import type { EventBatch } from '../../events/batch.ts';
import { OAuthError } from '../../http/oauth-error.ts';
import type { Mint } from '../issued-tokens/mint.ts';
import type { Grant } from './grant.ts';

export const clientCredentialsGrant = ({
  mint,
  batch,
}: {
  mint: Pick<Mint, 'forClient'>;
  batch: Pick<EventBatch, 'record'>;
}): Grant => ({
  grantType: 'client_credentials',
  publicClients: false,
  async authorize({ realm, client, resources, scopes, by }) {
    if (scopes?.includes(OPENID) || scopes?.includes(OFFLINE)) {
      throw new OAuthError('invalid_scope', 'Without a person there is no openid or offline_access');
    }
    const granted = grantScopes(client, scopes).filter((s) => s.name !== OFFLINE);
    const minted = await mint.forClient(realm, client, { scopes: granted, resources });
    batch.record({
      type: 'TOKEN_ISSUED',
      realm,
      by,
      clientId: client.clientId,
      subject: by.actor,
      data: { grant: 'client_credentials', scope: minted.scope, jti: minted.jti, resources },
    });
    return minted;
  },
});
