// The shape of a realm exported by Keycloak 26, with only the fields that this server reads. Lenient where Keycloak's
// versions differ (null for absent, one text for a list of one), strict where a value would be misread.
// docs/keycloak.md.
import { z } from 'zod';

const optional = <S extends z.ZodType>(schema: S) => schema.nullish().transform((value) => value ?? undefined);
export const text = optional(z.string());
/**
 * A number or a truth value that a handwritten file has as text: `"300"`, `"true"`. Keycloak reads these, so a file that
 * works there has them.
 */
export function unquoted(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (value === 'true' || value === 'false') return value === 'true';
  return /^-?\d{1,15}$/.test(value) ? Number(value) : value;
}
export const flag = optional(z.preprocess(unquoted, z.boolean()));
export const number = optional(z.preprocess(unquoted, z.number()));
const texts = optional(z.array(z.string()));
/** Keycloak exports these values as texts; handwritten files also have numbers and booleans. */
const said = z.union([z.string(), z.number(), z.boolean()]).transform(String);
export const config = optional(
  z.record(
    z.string(),
    said.nullable().transform((value) => value ?? ''),
  ),
);
/** null among the values is none; where nothing else is, the attribute is left out. */
export const attributes = optional(
  z
    .record(
      z.string(),
      z.union([z.array(said.nullable()), said.nullable()]).transform((value) => {
        const values = [value].flat();
        return {
          values: values.filter((one) => one !== null),
          isNone: values.length > 0 && values.every((one) => one === null),
        };
      }),
    )
    .transform((all) =>
      Object.fromEntries(
        Object.entries(all).flatMap(([name, { values, isNone }]) => (isNone ? [] : [[name, values] as const])),
      ),
    ),
);
const rolesOfClients = optional(z.record(z.string(), z.array(z.string())));
const list = <S extends z.ZodType>(schema: S) => optional(z.array(schema));

export const Mapper = z.object({ name: z.string(), protocolMapper: z.string(), config });
export type Mapper = z.infer<typeof Mapper>;

export const Role = z.object({
  name: z.string(),
  description: text,
  composites: optional(z.object({ realm: texts, client: rolesOfClients })),
  attributes,
});
export type Role = z.infer<typeof Role>;

export interface Group {
  name: string;
  description?: string | undefined;
  attributes?: Record<string, string[]> | undefined;
  realmRoles?: string[] | undefined;
  clientRoles?: Record<string, string[]> | undefined;
  subGroups?: Group[] | undefined;
}
export const Group: z.ZodType<Group> = z.object({
  name: z.string(),
  description: text,
  attributes,
  realmRoles: texts,
  clientRoles: rolesOfClients,
  get subGroups() {
    return list(Group);
  },
}) as z.ZodType<Group>; // the recursion's own type

const AuthorizationSettings = z.object({
  policyEnforcementMode: text,
  decisionStrategy: text,
  allowRemoteResourceManagement: flag,
  resources: list(
    z.object({
      name: z.string(),
      displayName: text,
      type: text,
      uris: texts,
      scopes: list(z.object({ name: z.string() })),
      owner: optional(z.object({ name: text })),
      ownerManagedAccess: flag,
      attributes,
    }),
  ),
  scopes: list(z.object({ name: z.string(), displayName: text })),
  policies: list(z.object({ name: z.string(), type: z.string(), logic: text, decisionStrategy: text, config })),
});
export type AuthorizationSettings = z.infer<typeof AuthorizationSettings>;

export const Client = z.object({
  clientId: z.string(),
  name: text,
  description: text,
  rootUrl: text,
  baseUrl: text,
  enabled: flag,
  clientAuthenticatorType: text,
  secret: text,
  redirectUris: texts,
  webOrigins: texts,
  adminUrl: text,
  alwaysDisplayInConsole: flag,
  bearerOnly: flag,
  consentRequired: flag,
  standardFlowEnabled: flag,
  implicitFlowEnabled: flag,
  directAccessGrantsEnabled: flag,
  serviceAccountsEnabled: flag,
  authorizationServicesEnabled: flag,
  authorizationSettings: optional(AuthorizationSettings),
  publicClient: flag,
  frontchannelLogout: flag,
  protocol: text,
  attributes: config,
  authenticationFlowBindingOverrides: config,
  fullScopeAllowed: flag,
  protocolMappers: list(Mapper),
  defaultClientScopes: texts,
  optionalClientScopes: texts,
});
export type Client = z.infer<typeof Client>;

export const ClientScope = z.object({
  name: z.string(),
  description: text,
  protocol: text,
  attributes: config,
  protocolMappers: list(Mapper),
});
export type ClientScope = z.infer<typeof ClientScope>;

const Execution = z.object({
  authenticator: text,
  authenticatorConfig: text,
  authenticatorFlow: flag,
  flowAlias: text,
  requirement: text,
  priority: number,
});
export type Execution = z.infer<typeof Execution>;
export const Flow = z.object({
  id: text,
  alias: z.string(),
  providerId: text,
  topLevel: flag,
  builtIn: flag,
  authenticationExecutions: list(Execution),
});
export type Flow = z.infer<typeof Flow>;

export const IdentityProvider = z.object({
  alias: z.string(),
  displayName: text,
  providerId: z.string(),
  enabled: flag,
  hideOnLogin: flag,
  linkOnly: flag,
  storeToken: flag,
  trustEmail: flag,
  firstBrokerLoginFlowAlias: text,
  postBrokerLoginFlowAlias: text,
  config,
});
export type IdentityProvider = z.infer<typeof IdentityProvider>;
export const IdentityProviderMapper = z.object({
  name: z.string(),
  identityProviderAlias: z.string(),
  identityProviderMapper: z.string(),
  config,
});
export type IdentityProviderMapper = z.infer<typeof IdentityProviderMapper>;

export const Organization = z.object({
  name: z.string(),
  alias: text,
  description: text,
  enabled: flag,
  redirectUrl: text,
  groups: optional(z.array(z.unknown())),
  attributes,
  domains: list(z.object({ name: z.string(), verified: flag })),
  identityProviders: list(z.object({ alias: text })),
  members: list(z.object({ username: text })),
});
export type Organization = z.infer<typeof Organization>;

const SubComponent = z.object({ name: text, providerId: text, config: attributes });
export type SubComponent = z.infer<typeof SubComponent>;
const Component = SubComponent.extend({ subComponents: optional(z.record(z.string(), z.array(SubComponent))) });
export type Component = z.infer<typeof Component>;

/** The parts of a realm that are objects of their own; settings.ts reads the settings one by one. */
export const Realm = z.object({
  realm: text,
  roles: optional(z.object({ realm: list(Role), client: optional(z.record(z.string(), z.array(Role))) })),
  defaultRole: optional(z.object({ name: z.string() })),
  defaultRoles: texts,
  groups: list(Group),
  defaultGroups: texts,
  clients: list(Client),
  clientScopes: list(ClientScope),
  browserFlow: text,
  authenticationFlows: list(Flow),
  authenticatorConfig: list(z.object({ alias: z.string(), config })),
  identityProviders: list(IdentityProvider),
  identityProviderMappers: list(IdentityProviderMapper),
  organizations: list(Organization),
  components: optional(z.record(z.string(), z.array(Component))),
  smtpServer: config,
  requiredActions: list(z.object({ alias: text, enabled: flag, defaultAction: flag })),
  clientProfiles: optional(z.object({ profiles: optional(z.array(z.unknown())) })),
  clientPolicies: optional(z.object({ policies: optional(z.array(z.unknown())) })),
  localizationTexts: optional(z.record(z.string(), z.unknown())),
  attributes: config,
});
export type Realm = z.infer<typeof Realm>;

export const Credential = z.object({
  type: text,
  userLabel: text,
  secretData: text,
  credentialData: text,
  value: text,
  temporary: flag,
});
export type Credential = z.infer<typeof Credential>;

export const User = z.object({
  id: text,
  username: z.string(),
  firstName: text,
  lastName: text,
  email: text,
  emailVerified: flag,
  enabled: flag,
  createdTimestamp: number,
  attributes,
  credentials: list(Credential),
  requiredActions: texts,
  realmRoles: texts,
  clientRoles: rolesOfClients,
  groups: texts,
  serviceAccountClientId: text,
  federationLink: text,
  federatedIdentities: list(z.object({ identityProvider: text, userId: text, userName: text })),
  clientConsents: optional(z.array(z.unknown())),
});
export type User = z.infer<typeof User>;

/** Whether the value is only asterisks, which an export of the admin console has in place of a secret. */
export const isMasked = (secret: string): boolean => /^\*+$/.test(secret);
/** Whether the text is a key of Keycloak's message catalogue, such as `${role_admin}`. */
export const isCatalogued = (words: string): boolean => /^\$\{[^}]*\}$/.test(words);
