// Client authentication for endpoints that don't audit refusals themselves, so that every guess at a secret is audited.
// The token endpoint audits its own refusals, with the grant.
import type { Refusals } from '../../../events/refusals.ts';
import { oauthErrorOf } from '../../../http/oauth.ts';
import type { Authenticated, ClientAuthentication, ClientRequest } from './service.ts';

export const auditedAuthentication = (
  authentication: ClientAuthentication,
  refusals: Pick<Refusals, 'record'>,
): ClientAuthentication => ({
  async authenticate(asked: ClientRequest): Promise<Authenticated> {
    try {
      return await authentication.authenticate(asked);
    } catch (thrown) {
      const error = oauthErrorOf(thrown);
      if (error.status < 500)
        refusals.record({
          type: 'TOKEN_REFUSED',
          realm: asked.realm,
          by: { actor: null, ipAddress: asked.address },
          clientId: error.clientId ?? null,
          outcome: 'failure',
          data: { grant: null, error: error.error, reason: error.reason ?? error.description ?? null },
        });
      throw error;
    }
  },
});
