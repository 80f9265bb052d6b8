// Written by `npm run generate` from the contract files that declare a kind.
import { applicationsResource } from '../features/configuration/applications/resource.ts';
import { authorizationDetailTypesResource } from '../features/configuration/authorization-detail-types/resource.ts';
import { captchasResource } from '../features/configuration/captchas/resource.ts';
import { claimsResource, clientProtocolMappersResource } from '../features/configuration/claims/resource.ts';
import { clientScopesResource } from '../features/configuration/client-scopes/resource.ts';
import { clientsResource } from '../features/configuration/clients/resource.ts';
import { identityProvidersResource } from '../features/configuration/identity-providers/resource.ts';
import { messageTextsResource } from '../features/configuration/message-texts/resource.ts';
import { messagingProvidersResource } from '../features/configuration/messaging/providers.ts';
import { messageTemplatesResource } from '../features/configuration/messaging/templates.ts';
import { organizationsResource } from '../features/configuration/organizations/resource.ts';
import { clientRolesResource, rolesResource } from '../features/configuration/roles/resource.ts';
import { samlClientsResource } from '../features/configuration/saml-clients/resource.ts';
import { scimTargetsResource } from '../features/configuration/scim-targets/resource.ts';
import { webhooksResource } from '../features/configuration/webhooks/resource.ts';
import { adminRolesResource } from '../features/operations/admin-access/resource.ts';
import { agentsResource } from '../features/people/agents/resource.ts';
import { groupsResource } from '../features/people/groups/resource.ts';
import { userFederationResource } from '../features/people/user-federation/resource.ts';
import { crossDomainPoliciesResource } from '../features/protocol/cross-domain-policies/resource.ts';
import { crossDomainTrustsResource } from '../features/protocol/cross-domain-trusts/resource.ts';
import { signalReceiversResource } from '../features/protocol/signal-receivers/resource.ts';
import { signalTransmittersResource } from '../features/protocol/signal-transmitters/resource.ts';
import { transactionTokenPoliciesResource } from '../features/protocol/transaction-token-policies/resource.ts';
import { workloadIdentityResource } from '../features/protocol/workload-identity/resource.ts';
import type { ResourceDeps } from '../resource/declared.ts';

export const declaredResources = (deps: ResourceDeps) => ({
  adminRoles: adminRolesResource(deps),
  agents: agentsResource(deps),
  applications: applicationsResource(deps),
  authorizationDetailTypes: authorizationDetailTypesResource(deps),
  captchas: captchasResource(deps),
  claims: claimsResource(deps),
  clientScopes: clientScopesResource(deps),
  clients: clientsResource(deps),
  crossDomainPolicies: crossDomainPoliciesResource(deps),
  crossDomainTrusts: crossDomainTrustsResource(deps),
  groups: groupsResource(deps),
  identityProviders: identityProvidersResource(deps),
  messageTemplates: messageTemplatesResource(deps),
  messageTexts: messageTextsResource(deps),
  messagingProviders: messagingProvidersResource(deps),
  organizations: organizationsResource(deps),
  clientProtocolMappers: clientProtocolMappersResource(deps),
  roles: rolesResource(deps),
  clientRoles: clientRolesResource(deps),
  samlClients: samlClientsResource(deps),
  scimTargets: scimTargetsResource(deps),
  signalReceivers: signalReceiversResource(deps),
  signalTransmitters: signalTransmittersResource(deps),
  transactionTokenPolicies: transactionTokenPoliciesResource(deps),
  userFederation: userFederationResource(deps),
  webhooks: webhooksResource(deps),
  workloadIdentity: workloadIdentityResource(deps),
});
