// Written by `npm run generate` from the contract files that declare a kind.
import { adminRoles } from './admin-roles.ts';
import { agents } from './agents.ts';
import { applications } from './applications.ts';
import { authorizationDetailTypes } from './authorization-detail-types.ts';
import { captchas } from './captchas.ts';
import { claims } from './claims.ts';
import { clientScopes } from './client-scopes.ts';
import { clients } from './clients.ts';
import { crossDomainPolicies } from './cross-domain-policies.ts';
import { crossDomainTrusts } from './cross-domain-trusts.ts';
import { groups } from './groups.ts';
import { identityProviders } from './identity-providers.ts';
import { messageTemplates } from './message-templates.ts';
import { messageTexts } from './message-texts.ts';
import { messagingProviders } from './messaging.ts';
import { organizations } from './organizations.ts';
import { clientProtocolMappers } from './protocol-mappers.ts';
import { clientRoles, roles } from './roles.ts';
import { samlClients } from './saml-clients.ts';
import { scimTargets } from './scim-targets.ts';
import { signalReceivers } from './signal-receivers.ts';
import { signalTransmitters } from './signal-transmitters.ts';
import { transactionTokenPolicies } from './transaction-token-policies.ts';
import { userFederation } from './user-federation.ts';
import { webhooks } from './webhooks.ts';
import { workloadIdentity } from './workload-identity.ts';

export const declaredKinds = {
  adminRoles,
  agents,
  applications,
  authorizationDetailTypes,
  captchas,
  claims,
  clientScopes,
  clients,
  crossDomainPolicies,
  crossDomainTrusts,
  groups,
  identityProviders,
  messageTemplates,
  messageTexts,
  messagingProviders,
  organizations,
  clientProtocolMappers,
  roles,
  clientRoles,
  samlClients,
  scimTargets,
  signalReceivers,
  signalTransmitters,
  transactionTokenPolicies,
  userFederation,
  webhooks,
  workloadIdentity,
} as const;
