// Written by `npm run generate` from the contract files that declare a kind.
// Apart from their fields, which are made of permissions and event types, which are made of these names.
export const declaredNames = {
  adminRoles: { kind: 'adminRole' },
  agents: { kind: 'agent' },
  applications: { kind: 'application' },
  captchas: { kind: 'captcha' },
  claims: { kind: 'claim', area: 'client-scopes' },
  clientScopes: { kind: 'clientScope' },
  clients: { kind: 'client' },
  groups: { kind: 'group' },
  identityProviders: { kind: 'identityProvider' },
  messageTexts: { kind: 'messageText' },
  organizations: { kind: 'organization' },
  clientProtocolMappers: { kind: 'protocolMapper', area: 'clients' },
  roles: { kind: 'role' },
  clientRoles: { kind: 'clientRole', area: 'roles' },
  samlClients: { kind: 'samlClient' },
  scimTargets: { kind: 'scimTarget' },
  userFederation: { kind: 'directory' },
  webhooks: { kind: 'webhook' },
  workloadIdentity: { kind: 'workloadIdentity' },
} as const;
