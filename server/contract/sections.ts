// The one table of the realm document's sections. Document, Realm resource and CRD, manifests, ownership and permissions follow
// from it; a new section is an entry here, its contract file and its part (server/resources.ts, server/realm-document.ts).
// What `realmctl get` shows of a kind is cli/kind-table.ts's, a custom resource of its own operator/kinds'.
// In dependency order: what an element names comes before it. Specification 2.10.
import { AdminRoleDocument } from './admin-access.ts';
import { AgentDocument } from './agents.ts';
import { ApplicationDocument } from './applications.ts';
import { AuthorizationServiceDocument } from './authorization-services.ts';
import { ClaimDocument } from './claims.ts';
import { ClientScopeDocument } from './client-scopes.ts';
import { ClientDocument, ServiceAccountRolesDocument } from './clients.ts';
import { FlowDocument } from './flows.ts';
import { GroupDocument } from './groups.ts';
import { endpointFields, IdentityProviderDocument } from './identity-providers.ts';
import { MessageTemplateDocument } from './message-templates.ts';
import { MessagingProviderDocument } from './messaging.ts';
import { RealmName } from './names.ts';
import { OrganizationDocument } from './organizations.ts';
import { ProtocolMapperDocument } from './protocol-mappers.ts';
import { RoleDocument } from './roles.ts';
import { SamlClientDocument } from './saml-clients.ts';
import { ScimTargetDocument } from './scim-targets.ts';
import { elementsOf, type Section, type Table } from './section.ts';
import { ResourceIndicator, SettingsDocument } from './settings.ts';
import { UserProfileDocument } from './user-profile.ts';
import { UserDocument } from './users.ts';
import { WebhookDocument } from './webhooks.ts';
import { WorkloadIdentityDocument } from './workload-identity.ts';

export const sections = {
  realm: {
    shape: 'object',
    kind: 'settings',
    label: 'setting',
    area: 'settings',
    element: SettingsDocument,
    // `realmId` of an older export is read and ignored
    document: SettingsDocument.extend({ realmId: RealmName.optional() }),
    resource: {
      kind: 'Realm',
      field: 'settings',
      description: 'The realm’s settings; a field that is left out stays as people set it',
    },
  },
  resourceIndicators: {
    kind: 'resourceIndicator',
    label: 'resource indicator',
    area: 'settings',
    element: ResourceIndicator,
    most: 1000,
    resource: { kind: 'Realm', description: 'RFC 8707: resources that tokens may be asked for' },
  },
  userProfile: {
    shape: 'object',
    kind: 'userProfile',
    label: 'user profile',
    area: 'settings',
    element: UserProfileDocument,
    namedLists: { attributes: 'name' },
    resource: { kind: 'Realm', description: 'Which attributes people have, and who may see and change them' },
  },
  claims: {
    kind: 'claim',
    label: 'claim',
    area: 'client-scopes',
    key: 'name',
    element: ClaimDocument,
    most: 5000,
    resource: { kind: 'Realm', description: 'Claims, which client scopes name: where their values come from' },
  },
  clientScopes: {
    kind: 'clientScope',
    label: 'client scope',
    area: 'client-scopes',
    key: 'name',
    element: ClientScopeDocument,
    most: 5000,
    resource: { kind: 'Realm', description: 'Client scopes and the names of the claims they give' },
  },
  roles: {
    kind: 'role',
    label: 'role',
    area: 'roles',
    key: 'name',
    element: RoleDocument,
    most: 50_000,
    resource: { kind: 'Realm', description: 'Realm roles' },
  },
  flows: {
    kind: 'flow',
    label: 'flow',
    area: 'flows',
    key: 'alias',
    element: FlowDocument,
    most: 1000,
    resource: { kind: 'Flow' },
  },
  clients: {
    kind: 'client',
    label: 'client',
    area: 'clients',
    key: 'clientId',
    element: ClientDocument,
    secrets: ['secret'],
    most: 50_000,
    resource: { kind: 'Realm', most: 1000, description: 'Clients, by clientId' },
  },
  clientRoles: {
    shape: 'map',
    kind: 'clientRole',
    label: 'client role',
    area: 'roles',
    key: 'name',
    element: RoleDocument,
    most: 50_000,
    mostOfEach: 5000,
    resource: { kind: 'Realm', description: 'Roles of clients: a map of clientId to roles' },
  },
  clientProtocolMappers: {
    groups: { by: 'clientId', list: 'mappers', described: ['The client', 'Its mappers, by name'] },
    kind: 'protocolMapper',
    label: 'protocol mapper',
    area: 'clients',
    key: 'name',
    element: ProtocolMapperDocument,
    most: 50_000,
    mostOfEach: 200,
    resource: { kind: 'Realm', most: 1000, description: 'Claims of single clients, by clientId' },
  },
  adminRoles: {
    kind: 'adminRole',
    label: 'admin role',
    area: 'admin-roles',
    key: 'name',
    element: AdminRoleDocument,
    most: 1000,
    resource: { kind: 'Realm', description: 'Admin roles; only from the operator’s own namespace' },
    givesAdminRoles: () => true,
  },
  serviceAccountRoles: {
    kind: 'serviceAccountRoles',
    label: 'service account',
    area: 'clients',
    key: 'clientId',
    element: ServiceAccountRolesDocument,
    most: 50_000,
    resource: { kind: 'Realm', description: 'What service accounts may do' },
    givesAdminRoles: ({ adminRoles = [] }: ServiceAccountRolesDocument) => adminRoles.length > 0,
  },
  groups: {
    kind: 'group',
    label: 'group',
    area: 'groups',
    key: 'path',
    element: GroupDocument,
    most: 50_000,
    resource: { kind: 'Realm', description: 'Groups, by path' },
  },
  identityProviders: {
    kind: 'identityProvider',
    label: 'identity provider',
    area: 'identity-providers',
    key: 'alias',
    element: IdentityProviderDocument,
    secrets: ['secret'],
    placeholders: endpointFields.map((field) => `config.${field}`),
    namedLists: { mappers: 'name' },
    most: 1000,
    resource: { kind: 'Realm', most: 200, description: 'By whom else people sign in, by alias' },
  },
  organizations: {
    kind: 'organization',
    label: 'organization',
    area: 'organizations',
    key: 'name',
    element: OrganizationDocument,
    namedLists: { domains: 'name' },
    people: ['members'],
    most: 50_000,
    resource: { kind: 'Realm', most: 1000, description: 'Organizations; who belongs to them is run-time data' },
  },
  samlClients: {
    kind: 'samlClient',
    label: 'SAML client',
    area: 'saml-clients',
    key: 'entityId',
    element: SamlClientDocument,
    namedLists: { mappers: 'name' },
    most: 10_000,
    resource: { kind: 'Realm', most: 200, description: 'Service providers by SAML 2.0, by entity id' },
  },
  applications: {
    kind: 'application',
    label: 'application',
    area: 'applications',
    key: 'name',
    element: ApplicationDocument,
    most: 10_000,
    resource: { kind: 'Realm', most: 1000, description: 'Applications: what people see as one app' },
  },
  scimTargets: {
    kind: 'scimTarget',
    label: 'SCIM target',
    area: 'scim-targets',
    key: 'name',
    element: ScimTargetDocument,
    secrets: ['secret'],
    most: 1000,
    resource: { kind: 'Realm', most: 200, description: 'Where people and groups are provisioned to' },
  },
  authorizationServices: {
    kind: 'authorizationService',
    label: 'authorization service',
    area: 'clients',
    key: 'clientId',
    element: AuthorizationServiceDocument,
    namedLists: { resources: 'name', scopes: 'name', policies: 'name', permissions: 'name' },
    most: 5000,
    resource: {
      kind: 'Realm',
      most: 1000,
      description: 'What clients protect and who may do what with it, by clientId',
    },
  },
  webhooks: {
    kind: 'webhook',
    label: 'webhook',
    area: 'webhooks',
    key: 'name',
    element: WebhookDocument,
    secrets: ['secret'],
    most: 5000,
    resource: { kind: 'Webhook' },
  },
  workloadIdentity: {
    kind: 'workloadIdentity',
    label: 'workload identity',
    area: 'workload-identity',
    key: 'name',
    element: WorkloadIdentityDocument,
    most: 5000,
    resource: { kind: 'WorkloadIdentity' },
  },
  agents: {
    kind: 'agent',
    label: 'agent',
    area: 'agents',
    key: 'name',
    element: AgentDocument,
    people: ['owner'],
    most: 5000,
    resource: {
      kind: 'Realm',
      most: 1000,
      description: 'Agents, by name; who owns one and whether it is active is run-time data',
    },
  },
  messageTemplates: {
    kind: 'messageTemplate',
    label: 'message template',
    area: 'messaging',
    key: ['templateKey', 'channel', 'locale'],
    element: MessageTemplateDocument,
    most: 1000,
    resource: { kind: 'Realm', most: 200, description: 'What messages say, by template, channel and locale' },
  },
  messagingProviders: {
    kind: 'messagingProvider',
    label: 'messaging provider',
    area: 'messaging',
    key: ['channel', 'driver'],
    element: MessagingProviderDocument,
    secrets: ['secret'],
    most: 20,
    resource: { kind: 'Realm', description: 'Who sends the realm’s messages, by channel and driver' },
  },
  // run-time data: in no custom resource, and the one section that is read as a stream
  users: { kind: 'user', label: 'user', area: 'users', key: 'username', element: UserDocument, resource: null },
} as const satisfies Table;

export type Sections = typeof sections;
export type SectionKey = keyof Sections;
/** Those that this release has. */
export type PresentKey = { [K in SectionKey]: Sections[K] extends 'later' ? never : K }[SectionKey];
/** As plans and managers' lists name what they speak of. */
export type ObjectKind = Sections[PresentKey]['kind'];

/** The sections of this release, by key, in the table's order. */
export const presentSections: ReadonlyMap<string, Section> = new Map(
  Object.entries<Table[string]>(sections).flatMap(([name, section]) => (section === 'later' ? [] : [[name, section]])),
);

/** Kinds of which a realm has one object: a plan names it by the realm, and its fields by their names. */
export const wholeKinds: ReadonlySet<string> = new Set(
  [...presentSections.values()].filter(({ shape }) => shape === 'object').map(({ kind }) => kind),
);

/** Whether a document, or the sections of a Realm resource, give admin rights. */
export const givesAdminRoles = (document: object): boolean =>
  Object.entries(document).some(([name, value]) => {
    const section = presentSections.get(name);
    return (
      section?.givesAdminRoles !== undefined &&
      elementsOf(section, value).some(({ element }) => section.givesAdminRoles?.(element))
    );
  });
