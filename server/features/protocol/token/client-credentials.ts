// The client_credentials grant: no query and no write of its own on the request path; its audit row is batched, since
// such a token changes no state. RFC 6749 §4.4.
import { grantBodies } from '../../../contract/oauth.ts';
import { typesOf } from '../../../domain/authorization-details.ts';
import type { EventBatch } from '../../../events/batch.ts';
import type { Mint } from '../../configuration/issued-tokens/mint.ts';
import { workloadOf } from '../client-authentication/service.ts';
import type { Grant } from './grant.ts';

export const clientCredentialsGrant = ({
  mint,
  batch,
}: {
  mint: Pick<Mint, 'forClient'>;
  batch: Pick<EventBatch, 'record'>;
}): Grant<typeof grantBodies.client_credentials> => ({
  grantType: 'client_credentials',
  body: grantBodies.client_credentials,
  clientAuth: 'proof',
  scopePolicy: 'client',
  resourcePolicy: 'client',
  takesDetails: true,
  ownBehalf: () => true,
  async authorize({ realm, client, who, resources, scopes, details, cnf, by }) {
    const minted = await mint.forClient(realm, client, { scopes, resources, details, cnf });
    batch.record({
      type: 'TOKEN_ISSUED',
      realm,
      by,
      clientId: client.clientId,
      subject: by.actor,
      data: {
        grant: 'client_credentials',
        scope: minted.scope,
        jti: minted.jti,
        resources,
        ...typesOf(details),
        ...workloadOf(who),
      },
    });
    return minted;
  },
});
