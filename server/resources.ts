// The composition root's part for plain resources: each is declared by its feature, and mounted by one line here.
// Flows and users have shapes of their own. Design "A plain resource: one declaration".
import type { FastifyInstance } from 'fastify';
import { adminRoleRoutes } from './contract/admin-access.ts';
import { agentRoutes } from './contract/agents.ts';
import { applicationRoutes } from './contract/applications.ts';
import { claimRoutes } from './contract/claims.ts';
import { clientScopeRoutes } from './contract/client-scopes.ts';
import { clientRoutes } from './contract/clients.ts';
import { groupRoutes as plainGroupRoutes } from './contract/groups.ts';
import { identityProviderRoutes } from './contract/identity-providers.ts';
import { messageTemplateRoutes } from './contract/message-templates.ts';
import { messagingProviderRoutes } from './contract/messaging.ts';
import { organizationRoutes } from './contract/organizations.ts';
import { roleRoutes as plainRoleRoutes } from './contract/roles.ts';
import { samlClientRoutes } from './contract/saml-clients.ts';
import { scimTargetRoutes } from './contract/scim-targets.ts';
import { webhookRoutes } from './contract/webhooks.ts';
import { workloadIdentityRoutes } from './contract/workload-identity.ts';
import type { Passwords } from './crypto/passwords.ts';
import type { Seal } from './crypto/seal.ts';
import type { Sql } from './db/sql.ts';
import { createAdminRoleResource } from './features/admin-access/resource.ts';
import { createAgentResource } from './features/agents/resource.ts';
import { createApplicationResource } from './features/applications/resource.ts';
import { createAuthorizationServiceResource } from './features/authorization-services/resource.ts';
import { createClaimResource, createProtocolMapperResource } from './features/claims/resource.ts';
import { mapperRoutes } from './features/claims/routes.ts';
import { createClientScopeResource } from './features/client-scopes/resource.ts';
import { createClientResource } from './features/clients/resource.ts';
import { createGroupResource } from './features/groups/resource.ts';
import { groupRoutes } from './features/groups/routes.ts';
import { createIdentityProviderResource } from './features/identity-providers/resource.ts';
import { createMessagingProviderResource } from './features/messaging/providers.ts';
import { createMessageTemplateResource } from './features/messaging/templates.ts';
import { createOrganizationResource } from './features/organizations/resource.ts';
import { createClientRoleResource, createRoleResource } from './features/roles/resource.ts';
import { roleRoutes } from './features/roles/routes.ts';
import { createSamlClientResource } from './features/saml-clients/resource.ts';
import { createScimTargetResource } from './features/scim-targets/resource.ts';
import { createWebhookResource } from './features/webhooks/resource.ts';
import { createWorkloadIdentityResource } from './features/workload-identity/resource.ts';
import type { ResourceApi } from './resource/api.ts';
import { mountResource } from './resource/routes.ts';

/** By the section of the realm document. */
export const createResources = ({
  seal,
  passwords,
  baseUrl,
  now,
}: {
  seal: Seal;
  passwords: Pick<Passwords, 'hash' | 'verify'>;
  baseUrl: string;
  now: () => Date;
}) => ({
  adminRoles: createAdminRoleResource({ now }),
  claims: createClaimResource({ baseUrl, now }),
  authorizationServices: createAuthorizationServiceResource({ now }),
  clients: createClientResource({ passwords, baseUrl, now }),
  agents: createAgentResource({ now }),
  applications: createApplicationResource({ now }),
  clientScopes: createClientScopeResource({ now }),
  identityProviders: createIdentityProviderResource({ seal, now }),
  samlClients: createSamlClientResource({ now }),
  scimTargets: createScimTargetResource({ seal, now }),
  organizations: createOrganizationResource({ now }),
  roles: createRoleResource({ now }),
  clientRoles: createClientRoleResource({ now }),
  clientProtocolMappers: createProtocolMapperResource({ baseUrl, now }),
  groups: createGroupResource({ now }),
  messageTemplates: createMessageTemplateResource({ now }),
  messagingProviders: createMessagingProviderResource({ seal, now }),
  webhooks: createWebhookResource({ seal, now }),
  workloadIdentity: createWorkloadIdentityResource({ baseUrl, now }),
});
export type Resources = ReturnType<typeof createResources>;

export function mountResources(
  admin: FastifyInstance,
  resources: Resources,
  { api, sql }: { api: ResourceApi; sql: Sql },
): void {
  const mount = (of: Resources[keyof Resources], routes: Parameters<typeof mountResource>[1]['routes']) =>
    mountResource(admin, { api, sql, of, routes });
  mount(resources.adminRoles, adminRoleRoutes);
  mount(resources.claims, claimRoutes);
  mount(resources.clients, clientRoutes);
  mount(resources.agents, agentRoutes);
  mount(resources.applications, applicationRoutes);
  mount(resources.clientScopes, clientScopeRoutes);
  mount(resources.identityProviders, identityProviderRoutes);
  mount(resources.samlClients, samlClientRoutes);
  mount(resources.scimTargets, scimTargetRoutes);
  mount(resources.organizations, organizationRoutes);
  mount(resources.roles, plainRoleRoutes);
  roleRoutes(admin, { api, sql, roles: resources.roles, clientRoles: resources.clientRoles });
  mapperRoutes(admin, { api, sql, mappers: resources.clientProtocolMappers });
  mount(resources.groups, plainGroupRoutes);
  groupRoutes(admin, { resources: api, sql, groups: resources.groups });
  mount(resources.messageTemplates, messageTemplateRoutes);
  mount(resources.messagingProviders, messagingProviderRoutes);
  mount(resources.webhooks, webhookRoutes);
  mount(resources.workloadIdentity, workloadIdentityRoutes);
}
