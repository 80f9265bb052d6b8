// The groups and labels of a client's form.
import type { Form } from './kind-shown.ts';

export const clientForm: Form = {
  lead: 'Applications that sign people in, and services that get tokens for themselves',
  groups: [
    { title: 'General', fields: ['clientId', 'name', 'description', 'enabled'] },
    {
      title: 'Authentication',
      help: 'How the client proves itself, and which tokens it gets',
      fields: ['tokenEndpointAuthMethod', 'secret', 'jwks', 'jwksUri', 'grantTypes', 'serviceAccountRoles'],
    },
    { title: 'Addresses', fields: ['redirectUris', 'postLogoutRedirectUris', 'webOrigins'] },
    {
      title: 'Scopes and consent',
      fields: [
        'defaultClientScopes',
        'optionalClientScopes',
        'consentRequired',
        'idTokenUserinfoClaims',
        'allowedResources',
      ],
    },
    {
      title: 'What people see',
      help: 'As they sign in and as they are asked for consent',
      fields: ['logoUri', 'clientUri', 'policyUri', 'tosUri'],
    },
    {
      title: 'Signing in and out',
      fields: ['flowOverride', 'backchannelLogoutUri', 'frontchannelLogoutUri'],
    },
    {
      title: 'Tokens',
      fields: [
        'accessTokenTtlSeconds',
        'refreshTokenTtlSeconds',
        'subjectType',
        'sectorIdentifierUri',
        'idTokenSignedResponseAlg',
        'accessTokenSignedResponseAlg',
        'userinfoSignedResponseAlg',
      ],
    },
    {
      title: 'Security',
      fields: [
        'requirePkce',
        'requirePushedAuthorizationRequests',
        'requireSignedRequestObject',
        'requestObjectSigningAlg',
        'requestUris',
        'dpopBoundAccessTokens',
        'tokenExchangeImpersonation',
        'mayActClient',
      ],
    },
  ],
  fields: {
    tokenEndpointAuthMethod: { label: 'Proves itself by' },
    clientUri: { label: 'Home page' },
    policyUri: { label: 'Privacy policy' },
    tosUri: { label: 'Terms of service' },
    logoUri: { label: 'Logo' },
    flowOverride: { label: 'Flow instead of the realm’s' },
    requirePkce: { label: 'PKCE is needed' },
    requirePushedAuthorizationRequests: { label: 'Pushed authorization requests are needed' },
    requireSignedRequestObject: { label: 'Signed request objects are needed' },
    dpopBoundAccessTokens: { label: 'Tokens are bound to a key (DPoP)' },
    consentRequired: { label: 'People are asked for consent' },
    idTokenUserinfoClaims: { label: 'ID tokens hold what userinfo says' },
  },
};
