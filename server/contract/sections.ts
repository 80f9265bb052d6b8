// The one table of the realm document's sections. Document, Realm resource and CRD, manifests, ownership and
// permissions follow from it. A plain kind is declared in its contract file and listed here automatically. A kind that
// others name, or with another shape, has an entry here, its names (section-names.ts) and its part
// (server/compose/resources.ts, server/compose/realm-document.ts). In dependency order: elements come after those that
// they name. Specification 2.10.
import { AdminRoleDocument } from './admin-roles.ts';
import { AuthorizationServiceDocument } from './authorization-services.ts';
import { ServiceAccountRolesDocument } from './clients.ts';
import { declaredKinds } from './declared-kinds.ts';
import { FlowDocument } from './flows.ts';
import type { KindOf } from './kind.ts';
import { DEFAULT_LANGUAGE } from './message-templates.ts';
import { RealmName } from './names.ts';
import { elementsOf, type Section, type Table } from './section.ts';
import { sectionNames } from './section-names.ts';
import { ResourceIndicator, SettingsDocument } from './settings.ts';
import { UserProfileDocument } from './user-profile.ts';
import { UserDocument } from './users.ts';

/** Kinds in their order, but each after those that its fields name. */
function namedFirst(kinds: readonly KindOf[]): KindOf[] {
  const ordered = new Set<KindOf>();
  const place = (kind: KindOf, waiting: readonly KindOf[]) => {
    const named = new Set(Object.values(kind.names));
    for (const one of kinds) if (named.has(one.kind) && !waiting.includes(one)) place(one, [...waiting, one]);
    ordered.add(kind);
  };
  for (const kind of kinds) place(kind, [kind]);
  return [...ordered];
}

type Declared = typeof declaredKinds;
/** Kinds that are declared as a whole (kind.ts). Those without a place in the table come after it. */
const {
  claims,
  clientScopes,
  roles,
  clients,
  clientRoles,
  clientProtocolMappers,
  groups,
  identityProviders,
  organizations,
  samlClients,
  applications,
  webhooks,
  workloadIdentity,
  agents,
  messageTemplates,
  messagingProviders,
  adminRoles,
  ...others
} = Object.fromEntries(
  namedFirst(Object.values<KindOf>(declaredKinds)).map(({ section, entry }) => [
    section,
    { ...Reflect.get(sectionNames, section), ...entry },
  ]),
) as { readonly [Key in keyof Declared]: (typeof sectionNames)[Key] & Declared[Key]['entry'] };

export const sections = {
  realm: {
    shape: 'object',
    ...sectionNames.realm,
    label: 'setting',
    element: SettingsDocument,
    // `realmId` of an older export is read and ignored
    document: SettingsDocument.extend({ realmId: RealmName.optional() }),
    sourced: { welcomeText: 'text', customCss: 'text' },
    resource: {
      kind: 'Realm',
      field: 'settings',
      description: 'The realm’s settings; a field that is left out stays as people set it',
    },
  },
  resourceIndicators: {
    ...sectionNames.resourceIndicators,
    label: 'resource indicator',
    element: ResourceIndicator,
    most: 1000,
    resource: { kind: 'Realm', description: 'RFC 8707: resources that tokens may be asked for' },
  },
  userProfile: {
    shape: 'object',
    ...sectionNames.userProfile,
    label: 'user profile',
    element: UserProfileDocument,
    namedLists: { attributes: 'name' },
    resource: { kind: 'Realm', description: 'Which attributes people have, and who may see and change them' },
  },
  claims,
  clientScopes,
  roles,
  flows: {
    ...sectionNames.flows,
    label: 'flow',
    key: 'alias',
    element: FlowDocument,
    most: 1000,
    resource: { kind: 'Flow' },
  },
  clients: { ...clients, secrets: ['secret'], sourced: { jwks: 'json' }, output: true, serviceAccounts: true },
  clientRoles,
  clientProtocolMappers,
  adminRoles: { ...adminRoles, element: AdminRoleDocument, givesAdminRoles: () => true },
  serviceAccountRoles: {
    ...sectionNames.serviceAccountRoles,
    label: 'service account',
    key: 'clientId',
    element: ServiceAccountRolesDocument,
    most: 50_000,
    resource: { kind: 'Realm', description: 'What service accounts may do' },
    givesAdminRoles: ({ adminRoles = [] }: ServiceAccountRolesDocument) => adminRoles.length > 0,
  },
  groups,
  identityProviders,
  organizations,
  samlClients,
  applications,
  authorizationServices: {
    ...sectionNames.authorizationServices,
    label: 'authorization service',
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
  webhooks,
  workloadIdentity,
  agents,
  messageTemplates: {
    ...messageTemplates,
    keyDefaults: {
      locale: { value: DEFAULT_LANGUAGE, words: `left out: ${DEFAULT_LANGUAGE}, the realm’s default language` },
    },
    sourced: { subject: 'text', body: 'text' },
  },
  messagingProviders,
  ...others,
  // run-time data: absent from custom resources, and the only section that is read as a stream
  users: { ...sectionNames.users, label: 'user', key: 'username', element: UserDocument, resource: null },
} as const satisfies Table;

export type Sections = typeof sections;
export type SectionKey = keyof Sections;
/** The sections of this release. */
export type PresentKey = { [K in SectionKey]: Sections[K] extends 'later' ? never : K }[SectionKey];
/** The kinds of objects in plans and managers' lists. */
export type ObjectKind = Sections[PresentKey]['kind'];

/** The sections of this release, by key, in the table's order. */
export const presentSections: ReadonlyMap<string, Section> = new Map(
  Object.entries<Table[string]>(sections).flatMap(([name, section]) => (section === 'later' ? [] : [[name, section]])),
);

/** Kinds of which a realm has one object: a plan names it by the realm, and its fields by their names. */
export const wholeKinds: ReadonlySet<string> = new Set(
  [...presentSections.values()].filter(({ shape }) => shape === 'object').map(({ kind }) => kind),
);

/** Whether a document, or the sections of a Realm resource, grant admin rights. */
export const givesAdminRoles = (document: object): boolean =>
  Object.entries(document).some(([name, value]) => {
    const section = presentSections.get(name);
    return (
      section?.givesAdminRoles !== undefined &&
      elementsOf(section, value).some(({ element }) => section.givesAdminRoles?.(element))
    );
  });
