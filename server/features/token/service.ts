// Owns: the phases of the token endpoint, so that no grant can skip one: client → grant → resources → scopes → answer.
// Does not own: a grant's own rules (code.ts, refresh.ts, client-credentials.ts), the tokens' content (features/issued-tokens).
// Implements: RFC 6749 §5, RFC 8707; specification 4.11, 7 (invalid_target); decisions "Protocol paths".
import type { By } from '../../contract/events.ts';
import type { RealmSettingsDto } from '../../contract/settings.ts';
import { allowedResources, presentResources } from '../../domain/resource-indicators.ts';
import { scopeNames } from '../../domain/scopes.ts';
import type { Refusals } from '../../events/refusals.ts';
import type { Form } from '../../http/form.ts';
import { oauthErrorOf } from '../../http/oauth.ts';
import { OAuthError } from '../../http/oauth-error.ts';
import { adminAudience } from '../../http/own-addresses.ts';
import type { Authenticated, ClientAuthentication } from '../client-authentication/service.ts';
import { type Grant, type Granted, refusedEvent } from './grant.ts';

export interface TokenRequest {
  realm: string;
  authorization: string | undefined;
  form: Form;
  ipAddress: string;
}
export interface TokenAnswer {
  json: string;
  client: Authenticated['client'];
}

export function createTokenEndpoint({
  authentication,
  settings,
  grants,
  refusals,
  metrics,
  baseUrl,
}: {
  authentication: ClientAuthentication;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  grants: readonly Grant[];
  refusals: Pick<Refusals, 'record'>;
  metrics: { tokenIssued(realm: string, grant: string): void };
  baseUrl: string;
}) {
  const byType = new Map(grants.map((grant) => [grant.grantType, grant]));
  const adminResource = adminAudience(baseUrl);

  function grantFor(form: Form, { client, confidential }: Authenticated): Grant {
    const grantType = form.get('grant_type');
    if (grantType === undefined) throw new OAuthError('invalid_request', 'grant_type is missing');
    const grant = byType.get(grantType);
    if (!grant) throw new OAuthError('unsupported_grant_type', 'This grant type is not supported');
    if (!client.grantTypes.has(grantType) || !(confidential || grant.publicClients)) {
      throw new OAuthError('unauthorized_client', 'This client may not use this grant type');
    }
    return grant;
  }

  async function granted(request: TokenRequest, by: By, authenticated: Authenticated): Promise<Granted> {
    const { realm, form } = request;
    const { client } = authenticated;
    const grant = grantFor(form, authenticated);
    const ofRealm = await settings.of(realm);
    if (!ofRealm) throw new OAuthError('not_found', 'There is no such realm');
    const rules = {
      realmList: ofRealm.resourceIndicators,
      client,
      adminAudience: adminResource,
      ownBehalf: grant.grantType === 'client_credentials',
    };
    const answer = await grant.authorize({
      realm,
      settings: ofRealm,
      client,
      form,
      resources: allowedResources(form.all('resource'), rules),
      presentResources: () => presentResources(rules),
      scopes: scopeNames(form.get('scope')),
      by,
    });
    metrics.tokenIssued(realm, grant.grantType);
    return answer;
  }

  return {
    grantTypes: grants.map((grant) => grant.grantType),

    /** Answers a token request; every refusal is audited, in its transaction or beside the request. */
    async answer(request: TokenRequest): Promise<TokenAnswer> {
      const { realm, form } = request;
      const nobody: By = { actor: null, ipAddress: request.ipAddress };
      let who: Authenticated | undefined;
      try {
        who = await authentication.authenticate({ ...request, address: request.ipAddress });
        const { client } = who;
        const by: By = {
          actor: { type: 'client', id: client.id, name: client.clientId },
          ipAddress: request.ipAddress,
        };
        return { json: bodyOf(await granted(request, by, who)), client };
      } catch (thrown) {
        const error = oauthErrorOf(thrown);
        const named = who?.client.clientId ?? error.clientId ?? null;
        const grant = form.get('grant_type')?.slice(0, 100) ?? null;
        if (error.status < 500 && !error.audited)
          refusals.record(refusedEvent({ realm, by: nobody }, named, grant, error));
        throw error;
      }
    },
  };
}
export type TokenEndpoint = ReturnType<typeof createTokenEndpoint>;

/** RFC 6749 §5.1, OIDC Core §3.1.3.3. */
const bodyOf = ({ accessToken, expiresIn, scope, refreshToken, idToken }: Granted): string =>
  JSON.stringify({
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: expiresIn,
    refresh_token: refreshToken,
    id_token: idToken,
    scope,
  });
