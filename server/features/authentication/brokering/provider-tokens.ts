// Access tokens of identity providers, stored sealed if the provider's settings say so. Only the clients named there can
// read them, each only the token of the user whose access token they hold.

import type { FastifyInstance } from 'fastify';
import { DAY_MS } from '../../../contract/durations.ts';
import { readProviderToken } from '../../../contract/identity-links.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import { holderOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import { contextAtRest } from '../../../resource/at-rest.ts';
import type { Providers } from './providers.ts';

const KIND = 'provider-token';
/** A token without a known lifetime is kept for a day. */

export interface ProviderToken {
  value: string;
  scope?: string | undefined;
  /** Milliseconds; undefined: the provider doesn't tell. */
  expiresAt?: number | undefined;
}

export const createProviderTokens = ({ seal, newId, now }: { seal: Seal; newId: () => string; now: () => Date }) => ({
  /** Replaces the former token. */
  note(atLast: Tx['atLast'], realm: string, linkId: string, { value, scope, expiresAt }: ProviderToken): void {
    const id = newId();
    const until = new Date(expiresAt ?? now().getTime() + DAY_MS);
    const sealed = seal.seal(value, contextAtRest(KIND, { realm, id }));
    atLast`
      insert into provider_token (realm_id, id, link_id, access_token, scope, expires_at)
      values (${realm}, ${id}, ${linkId}, ${sealed}, ${scope ?? null}, ${until})
      on conflict (realm_id, link_id) do update
      set id = excluded.id, access_token = excluded.access_token, scope = excluded.scope, expires_at = excluded.expires_at`;
  },
});
export type ProviderTokens = ReturnType<typeof createProviderTokens>;

export interface ProviderTokenRoutesDeps {
  providers: Pick<Providers, 'named'>;
  transact: Transact;
  seal: Seal;
  now: () => Date;
}

export function providerTokenRoutes(
  app: FastifyInstance,
  { providers, transact, seal, now }: ProviderTokenRoutesDeps,
): void {
  bind(app, readProviderToken, async ({ params: { realm, alias }, by, request, reply }) => {
    const { userId, username, clientId, acting } = holderOf(request);
    const provider = await providers.named(realm, alias);
    const { storeToken = false, tokenReaders = [] } = provider?.config ?? {};
    // A missing provider gets the same answer.
    if (!provider || !storeToken || clientId === undefined || acting || !tokenReaders.includes(clientId))
      throw new Problem('forbidden', 'The application may not read tokens of this identity provider');
    void reply.header('cache-control', 'no-store');
    return transact(realm, async (tx) => {
      const [row] = await tx.sql<{ id: string; access_token: Buffer; scope: string | null; expires_at: Date }>`
        select t.id, t.access_token, t.scope, t.expires_at from provider_token t
        join identity_link l on l.realm_id = t.realm_id and l.id = t.link_id
        where t.realm_id = ${realm} and l.user_id = ${userId} and l.provider_id = ${provider.id}
          and t.expires_at > ${now()}
        order by l.last_used_at desc nulls last limit 1`;
      if (!row) throw new Problem('not-found', 'There is no token of this identity provider for the user');
      const subject = userParty(userId, username);
      tx.record({ type: 'IDENTITY_TOKEN_READ', realm, by, subject, clientId, data: { identityProvider: alias } });
      return {
        accessToken: seal.open(row.access_token, contextAtRest(KIND, { realm, id: row.id })).toString(),
        tokenType: 'Bearer' as const,
        scope: row.scope,
        expiresAt: row.expires_at.getTime(),
      };
    });
  });
}
