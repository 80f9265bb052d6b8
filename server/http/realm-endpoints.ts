// A realm's addresses, in one place, so that GET /endpoints and the discovery document agree. The issuer is not here: a
// realm may set its own (features/configuration/settings). Decisions "Protocol paths".

/** @param baseUrl without a trailing slash */
export function endpointsOf(baseUrl: string, realm: string) {
  const base = `${baseUrl}/realms/${realm}`;
  const oauth2 = `${base}/oauth2`;
  return {
    realm: base,
    discovery: `${base}/.well-known/openid-configuration`,
    protectedResource: `${base}/.well-known/oauth-protected-resource`,
    authorization: `${oauth2}/authorize`,
    pushedAuthorizationRequest: `${oauth2}/par`,
    deviceAuthorization: `${oauth2}/device_authorization`,
    backchannelAuthentication: `${oauth2}/backchannel_authentication`,
    token: `${oauth2}/token`,
    userinfo: `${oauth2}/userinfo`,
    jwks: `${oauth2}/jwks`,
    revocation: `${oauth2}/revoke`,
    globalTokenRevocation: `${oauth2}/global-token-revocation`,
    introspection: `${oauth2}/introspect`,
    endSession: `${oauth2}/logout`,
    registration: `${base}/connect/register`,
    workloadIdentityToken: `${base}/workload-identity/token`,
    account: `${base}/account`,
    resourceRegistration: `${base}/authz/protection/resource_set`,
    permission: `${base}/authz/protection/permission`,
    samlMetadata: `${base}/saml/idp/metadata`,
    samlSignOn: `${base}/saml/idp/sso`,
    samlLogout: `${base}/saml/idp/slo`,
    scim: `${base}/scim/v2`,
    access: `${base}/access/v1`,
    signals: `${base}/ssf`,
  };
}
