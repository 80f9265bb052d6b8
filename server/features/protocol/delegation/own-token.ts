// Authenticates an agent by its own access token, if it has no client credential: for example a workload, which got
// that token for its platform's token. RFC 6750; decisions "Agent".
import { isPersons } from '../../../domain/subjects.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Tokens } from '../../configuration/issued-tokens/service.ts';
import type { Authenticated, ClientAuthentication, ClientRequest } from '../client-authentication/service.ts';

const OTHER_WAYS = ['client_secret', 'client_assertion'];

export const authenticationByOwnToken = ({
  authentication,
  tokens,
  settings,
  clients,
}: {
  /** Authenticates requests without a bearer token. */
  authentication: Pick<ClientAuthentication, 'authenticate'>;
  tokens: Pick<Tokens, 'present'>;
  settings: { issuer(realm: string): Promise<string> };
  clients: { view(realm: string, clientId: string): Promise<ClientView | undefined> };
}): Pick<ClientAuthentication, 'authenticate'> => ({
  async authenticate(asked: ClientRequest): Promise<Authenticated> {
    const { realm, authorization = '', form } = asked;
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    if (token === undefined) return authentication.authenticate(asked);
    if (OTHER_WAYS.some((name) => form.get(name) !== undefined))
      throw new OAuthError('invalid_request', 'Use one method of client authentication');
    const invalid = (reason: string) =>
      new OAuthError('invalid_token', 'The access token is not valid here', { reason });
    const claims = await tokens.present(
      realm,
      { token, x5t: asked.certificate?.thumbprint },
      { audience: await settings.issuer(realm) },
    );
    if (!claims || isPersons(claims)) throw invalid('it is no client’s own token');
    const { client_id: clientId = '' } = claims;
    if ((form.get('client_id') ?? clientId) !== clientId) throw invalid('it is another client’s');
    const client = await clients.view(realm, clientId);
    if (!client) throw invalid('its client is gone');
    return { client, confidential: true };
  },
});
