// The services of one client as the pages know them: four lists of items, the routes of each, and the form of an item.

import type { z } from 'zod';
import {
  AuthorizationPermissionInput,
  AuthorizationPolicyInput,
  AuthorizationResourceInput,
  AuthorizationScopeInput,
  PolicyConfig,
  policyConfigFields,
  policyTypes,
} from '../../../server/contract/authorization-services.ts';
import type { OutputOf } from '../../api/client.ts';
import type { LightRoute } from '../../api/light.ts';
import * as api from '../../generated/routes.ts';
import type { Row } from '../../kinds/entry.ts';
import { type Field, formFields } from '../../kinds/fields.ts';

export type Service = OutputOf<typeof api.getAuthorizationService>;
export type ListName = 'resources' | 'scopes' | 'policies' | 'permissions';

export interface ItemKind {
  list: ListName;
  one: string;
  label: string;
  /** The purpose of the list. */
  lead: string;
  schema: z.ZodType;
  /** A new item. */
  fresh: Row;
  get: LightRoute;
  create: LightRoute;
  put: LightRoute;
  remove: LightRoute;
}

/** The routes of a list have one shape, whichever it is. */
const kindOfItem = (
  of: Pick<ItemKind, 'list' | 'label' | 'lead' | 'schema' | 'fresh'>,
  [get, create, put, remove]: readonly [get: object, create: object, put: object, remove: object],
): ItemKind => ({
  ...of,
  one: `a ${of.label}`,
  get: get as LightRoute,
  create: create as LightRoute,
  put: put as LightRoute,
  remove: remove as LightRoute,
});

export const itemKinds: Readonly<Record<ListName, ItemKind>> = {
  resources: kindOfItem(
    {
      list: 'resources',
      label: 'resource',
      lead: 'What the client protects: documents, orders, addresses.',
      schema: AuthorizationResourceInput,
      fresh: {
        displayName: null,
        type: null,
        uris: [],
        scopes: [],
        owner: null,
        ownerManaged: false,
        attributes: {},
      },
    },
    [
      api.getAuthorizationResource,
      api.createAuthorizationResource,
      api.putAuthorizationResource,
      api.deleteAuthorizationResource,
    ],
  ),
  scopes: kindOfItem(
    {
      list: 'scopes',
      label: 'scope',
      lead: 'What can be done with resources: view, edit, delete.',
      schema: AuthorizationScopeInput,
      fresh: { displayName: null },
    },
    [api.getAuthorizationScope, api.createAuthorizationScope, api.putAuthorizationScope, api.deleteAuthorizationScope],
  ),
  policies: kindOfItem(
    {
      list: 'policies',
      label: 'policy',
      lead: 'Conditions that permit or deny: roles, users, groups, clients, hours, attributes.',
      schema: AuthorizationPolicyInput,
      fresh: { type: 'role', logic: 'positive', config: {} },
    },
    [
      api.getAuthorizationPolicy,
      api.createAuthorizationPolicy,
      api.putAuthorizationPolicy,
      api.deleteAuthorizationPolicy,
    ],
  ),
  permissions: kindOfItem(
    {
      list: 'permissions',
      label: 'permission',
      lead: 'Which policies decide about which resources and scopes.',
      schema: AuthorizationPermissionInput,
      fresh: { resources: [], resourceType: null, scopes: [], policies: [], decisionStrategy: null },
    },
    [
      api.getAuthorizationPermission,
      api.createAuthorizationPermission,
      api.putAuthorizationPermission,
      api.deleteAuthorizationPermission,
    ],
  ),
};

/** From this many names on, they are typed instead of ticked. */
const MOST_TICKED = 60;

function amongNames(field: Field, names: readonly string[], held: unknown): Field {
  const own = Array.isArray(held) ? held.map(String) : [];
  const options = [...new Set([...names, ...own])];
  return options.length === 0 || options.length > MOST_TICKED ? field : { ...field, type: { is: 'choices', options } };
}

const namesOf = (service: Service, list: ListName): string[] => service[list].map(({ name }) => name);

/** The fields of an item; those of a policy's configuration have `config.` before their names. */
export function itemFields(list: ListName, service: Service, item: Row): Field[] {
  const all = formFields(itemKinds[list].schema, {}).filter(({ name }) => name !== 'config');
  const fields = all.map((field) => {
    if (list === 'resources' && field.name === 'scopes')
      return amongNames(field, namesOf(service, 'scopes'), item.scopes);
    if (list === 'permissions' && (field.name === 'resources' || field.name === 'scopes' || field.name === 'policies'))
      return amongNames(field, namesOf(service, field.name), item[field.name]);
    return field;
  });
  if (list !== 'policies') return fields;
  const type = policyTypes.find((one) => one === item.type);
  const own = type ? policyConfigFields(type) : [];
  const config = formFields(PolicyConfig, {
    names: { roles: 'role', groups: 'group', clients: 'client' },
  }).filter(({ name }) => own.includes(name));
  const others = namesOf(service, 'policies').filter((name) => name !== item.name);
  return [
    ...fields,
    ...config.map((field) => ({
      ...(field.name === 'policies' ? amongNames(field, others, Object(item.config).policies) : field),
      // each description begins with the types that have the field
      help: field.help?.replace(/^[a-z, ]+: /, ''),
      name: `config.${field.name}`,
    })),
  ];
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && Object.keys(Object(value)).length === 0);

/** The item with a field changed. Another type of policy begins with an empty configuration. */
export function withField(item: Row, name: string, value: unknown): Row {
  if (name === 'type')
    return value === item.type ? item : { ...item, type: value ?? item.type, ...('config' in item && { config: {} }) };
  if (!name.startsWith('config.')) return { ...item, [name]: value };
  const { [name.slice('config.'.length)]: _, ...others } = Object(item.config);
  return { ...item, config: isEmpty(value) ? others : { ...others, [name.slice('config.'.length)]: value } };
}

export const valueAt = (item: Row, name: string): unknown =>
  name.startsWith('config.') ? Object(item.config)[name.slice('config.'.length)] : item[name];

/** The list as a document has it after the change. @param item undefined: the named one is deleted */
export function documentAfter(service: Service, list: ListName, name: string, item: Row | undefined): Row {
  const rows: readonly Row[] = service[list];
  const at = rows.findIndex((row) => row.name === name);
  const after =
    item === undefined
      ? rows.filter((row) => row.name !== name)
      : at === -1
        ? [...rows, item]
        : rows.map((row) => (row.name === name ? item : row));
  return { authorizationServices: [{ clientId: service.clientId, [list]: after }] };
}

/** An item that names another one. */
export interface Use {
  list: ListName;
  name: string;
}

/** The items of the client that name an item: the server deletes none that is named. */
export function usesOf(service: Service, list: ListName, wanted: string): Use[] {
  const names = (value: unknown) => Array.isArray(value) && value.includes(wanted);
  const uses: Use[] = [];
  for (const { name, scopes } of service.resources)
    if (list === 'scopes' && names(scopes)) uses.push({ list: 'resources', name });
  for (const { name, config } of service.policies)
    if (list === 'policies' && name !== wanted && names(Object(config).policies)) uses.push({ list: 'policies', name });
  for (const permission of service.permissions)
    if (list !== 'permissions' && names(permission[list])) uses.push({ list: 'permissions', name: permission.name });
  return uses;
}
