// The canonical form of a client's authorization services: items by name, sets sorted, defaults explicit. Pure.
import {
  type AuthorizationPermission,
  type AuthorizationPolicy,
  type AuthorizationResource,
  type AuthorizationScope,
  AuthorizationServiceDocument,
  type AuthorizationServiceDocument as Document,
  days,
  freshAuthorizationSettings,
  type PolicyConfig,
} from '../../../contract/authorization-services.ts';
import { asSet, withoutUndefined } from '../../../resource/items.ts';
import type { Fields } from '../../../resource/part.ts';

type One<List extends 'resources' | 'scopes' | 'policies' | 'permissions'> = NonNullable<Document[List]>[number];

export const byName = <T extends { name: string }>(items: readonly T[]): T[] =>
  items.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
const numbers = (list: readonly number[]): number[] => [...new Set(list)].sort((a, b) => a - b);
const sets = (lists: Readonly<Record<string, readonly string[]>>): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(lists).flatMap(([key, list]) => (list.length > 0 ? [[key, asSet(list) ?? []]] : [])),
  );

const resource = (one: One<'resources'>): AuthorizationResource => ({
  name: one.name,
  displayName: one.displayName ?? null,
  type: one.type ?? null,
  owner: one.owner ?? null,
  ownerManaged: one.ownerManaged ?? false,
  attributes: one.attributes ?? {},
  uris: asSet(one.uris) ?? [],
  scopes: asSet(one.scopes) ?? [],
});

const scope = (one: One<'scopes'>): AuthorizationScope => ({ name: one.name, displayName: one.displayName ?? null });

/** Each policy type's configuration with all defaults. */
const defaults: Record<AuthorizationPolicy['type'], PolicyConfig> = {
  role: { roles: [], clientRoles: {}, match: 'any' },
  user: {},
  group: { includeSubgroups: false },
  client: {},
  time: { timeZone: 'UTC' },
  attribute: { source: 'user', match: 'any' },
  aggregate: { decisionStrategy: 'unanimous' },
};

function config(type: AuthorizationPolicy['type'], said: PolicyConfig): PolicyConfig {
  const all = { ...defaults[type], ...said };
  const { roles, users, groups, clients, values, policies, clientRoles, daysOfWeek, daysOfMonth, months } = all;
  return withoutUndefined({
    ...all,
    ...withoutUndefined({
      roles: asSet(roles),
      users: asSet(users),
      groups: asSet(groups),
      clients: asSet(clients),
      values: asSet(values),
      policies: asSet(policies),
      clientRoles: clientRoles && sets(clientRoles),
      daysOfWeek: daysOfWeek && days.filter((day) => daysOfWeek.includes(day)),
      daysOfMonth: daysOfMonth && numbers(daysOfMonth),
      months: months && numbers(months),
    }),
  });
}

const policy = (one: One<'policies'>): AuthorizationPolicy => ({
  name: one.name,
  type: one.type,
  logic: one.logic ?? 'positive',
  config: config(one.type, one.config),
});

const permission = (one: One<'permissions'>): AuthorizationPermission => ({
  name: one.name,
  resourceType: one.resourceType ?? null,
  decisionStrategy: one.decisionStrategy ?? null,
  resources: asSet(one.resources) ?? [],
  scopes: asSet(one.scopes) ?? [],
  policies: asSet(one.policies) ?? [],
});

const Said = AuthorizationServiceDocument.omit({ clientId: true });

export function canonicalDocument(fields: Fields): Fields {
  const { settings, resources, scopes, policies, permissions } = Said.parse(fields);
  return withoutUndefined({
    settings: settings && { ...freshAuthorizationSettings, ...settings },
    resources: resources && byName(resources.map(resource)),
    scopes: scopes && byName(scopes.map(scope)),
    policies: policies && byName(policies.map(policy)),
    permissions: permissions && byName(permissions.map(permission)),
  });
}
