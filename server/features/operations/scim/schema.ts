// The supported attributes: /Schemas prints this table, and bodies, filters, PATCH and projections are read by it. RFC
// 7643 §4, §7, §8.7. Pure.
import { ENTERPRISE, GROUP, USER } from '../../../contract/scim.ts';

/** RFC 7643 §7, as /Schemas shows it. */
export interface Attribute {
  name: string;
  type: 'string' | 'boolean' | 'dateTime' | 'reference' | 'binary' | 'complex';
  multiValued: boolean;
  description: string;
  required: boolean;
  caseExact: boolean;
  mutability: 'readOnly' | 'readWrite' | 'immutable' | 'writeOnly';
  returned: 'always' | 'never' | 'default' | 'request';
  uniqueness: 'none' | 'server';
  canonicalValues?: readonly string[];
  referenceTypes?: readonly string[];
  subAttributes?: readonly Attribute[];
}

const attribute = (name: string, description: string, more: Partial<Attribute> = {}): Attribute => ({
  name,
  type: more.subAttributes ? 'complex' : 'string',
  multiValued: false,
  description,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
  ...more,
});
const readOnly = { mutability: 'readOnly' } as const;
const reference = (name: string, description: string, ...referenceTypes: string[]) =>
  attribute(name, description, { ...readOnly, type: 'reference', caseExact: true, referenceTypes });

const display = attribute('display', 'The words by which people are shown the value');
const primary = (description = 'Whether it is the preferred one; one value at most is') =>
  attribute('primary', description, { type: 'boolean' });
/** A multi-valued attribute, with the sub-attributes that RFC 7643 §2.4 defines. */
const listOf = (name: string, description: string, types: readonly string[], value: Partial<Attribute> = {}) =>
  attribute(name, description, {
    multiValued: true,
    subAttributes: [
      attribute('value', 'The value itself', value),
      attribute('type', 'What it is for', types.length > 0 ? { canonicalValues: types } : {}),
      primary(),
      display,
    ],
  });

export interface Schema {
  id: string;
  name: string;
  description: string;
  attributes: readonly Attribute[];
}

const user: Schema = {
  id: USER,
  name: 'User',
  description: 'A person of the realm',
  attributes: [
    attribute('userName', 'What the person signs in with', { required: true, uniqueness: 'server' }),
    attribute('name', 'The parts of the person’s name', {
      subAttributes: [
        attribute('formatted', 'The whole name'),
        attribute('familyName', 'The last name'),
        attribute('givenName', 'The first name'),
        attribute('middleName', 'The middle name'),
        attribute('honorificPrefix', 'A title before the name'),
        attribute('honorificSuffix', 'What follows the name'),
      ],
    }),
    attribute('displayName', 'The name to be shown'),
    attribute('nickName', 'The casual name'),
    attribute('profileUrl', 'The address of a page about the person', {
      type: 'reference',
      referenceTypes: ['external'],
    }),
    attribute('title', 'The title in the organization'),
    attribute('userType', 'How the person belongs to the organization'),
    attribute('preferredLanguage', 'As in Accept-Language'),
    attribute('locale', 'Where things are written as the person reads them'),
    attribute('timezone', 'Of the IANA database'),
    attribute('active', 'Whether the person may sign in', { type: 'boolean' }),
    attribute('password', 'Never answered; judged by the realm’s rules', {
      mutability: 'writeOnly',
      returned: 'never',
      caseExact: true,
    }),
    attribute('emails', 'E-mail addresses; the primary one, else the first, is the user’s', {
      multiValued: true,
      subAttributes: [
        attribute('value', 'The address'),
        attribute('type', 'What it is for', { canonicalValues: ['work', 'home', 'other'] }),
        primary('Whether it is the one that counts; of the user’s it is true where nothing was said'),
        display,
      ],
    }),
    attribute('phoneNumbers', 'Phone numbers', {
      multiValued: true,
      subAttributes: [
        attribute('value', 'The number'),
        attribute('type', 'What it is for; several may have the same', {
          canonicalValues: ['work', 'home', 'mobile', 'fax', 'pager', 'other'],
        }),
        primary(),
        display,
      ],
    }),
    attribute('addresses', 'Postal addresses; the first of a type stands in the user’s attributes', {
      multiValued: true,
      subAttributes: [
        attribute('formatted', 'The whole address'),
        attribute('streetAddress', 'Street and house'),
        attribute('locality', 'City'),
        attribute('region', 'State or region'),
        attribute('postalCode', 'Postal code'),
        attribute('country', 'Country'),
        attribute('type', 'What it is for', { canonicalValues: ['work', 'home', 'other'] }),
        primary(),
      ],
    }),
    listOf('ims', 'Addresses for messages', ['aim', 'gtalk', 'icq', 'xmpp', 'msn', 'skype', 'qq', 'yahoo']),
    listOf('photos', 'Addresses of pictures', ['photo', 'thumbnail'], {
      type: 'reference',
      referenceTypes: ['external'],
      caseExact: true,
    }),
    listOf('entitlements', 'What the person may do elsewhere; nothing here', []),
    listOf('x509Certificates', 'Certificates of the person', [], { type: 'binary', caseExact: true }),
    attribute('groups', 'The groups that the person is in directly; changed by the groups’ members', {
      ...readOnly,
      multiValued: true,
      subAttributes: [
        attribute('value', 'The group’s id', { ...readOnly, caseExact: true }),
        reference('$ref', 'The group’s address', 'Group'),
        attribute('display', 'The group’s displayName', readOnly),
        attribute('type', 'direct', { ...readOnly, canonicalValues: ['direct'] }),
      ],
    }),
    attribute('roles', 'Realm roles that the person holds directly', {
      multiValued: true,
      subAttributes: [
        attribute('value', 'The role’s name', { caseExact: true }),
        attribute('type', 'What it is for'),
        primary(),
        display,
      ],
    }),
  ],
};

const enterprise: Schema = {
  id: ENTERPRISE,
  name: 'EnterpriseUser',
  description: 'A person in their organization',
  attributes: [
    attribute('employeeNumber', 'What the organization knows the person by'),
    attribute('costCenter', 'Cost center'),
    attribute('organization', 'Organization'),
    attribute('division', 'Division'),
    attribute('department', 'Department'),
    attribute('manager', 'The person’s manager', {
      subAttributes: [attribute('value', 'The id of the manager’s user', { caseExact: true })],
    }),
  ],
};

const group: Schema = {
  id: GROUP,
  name: 'Group',
  description: 'A group of the realm; its members are people',
  attributes: [
    attribute('displayName', 'The group’s path without the slash at its beginning; a slash leads into a group', {
      required: true,
      uniqueness: 'server',
    }),
    attribute('members', 'The people who are in the group itself', {
      multiValued: true,
      subAttributes: [
        attribute('value', 'The user’s id', { mutability: 'immutable', caseExact: true }),
        { ...reference('$ref', 'The user’s address', 'User'), mutability: 'immutable' },
        attribute('type', 'User', { mutability: 'immutable', canonicalValues: ['User'] }),
      ],
    }),
  ],
};

/** RFC 7643 §3.1: attributes of every resource that belong to no schema. */
const common: readonly Attribute[] = [
  attribute('schemas', 'Which schemas the resource is of', {
    ...readOnly,
    type: 'reference',
    multiValued: true,
    returned: 'always',
    caseExact: true,
  }),
  attribute('id', 'Given by the server', { ...readOnly, returned: 'always', caseExact: true }),
  attribute('externalId', 'Given by the client', { caseExact: true }),
  attribute('meta', 'About the resource', {
    ...readOnly,
    subAttributes: [
      attribute('resourceType', 'User or Group', { ...readOnly, caseExact: true }),
      attribute('created', 'When it was made', { ...readOnly, type: 'dateTime' }),
      attribute('lastModified', 'When it was last changed', { ...readOnly, type: 'dateTime' }),
      reference('location', 'Its address', 'uri'),
      attribute('version', 'Its ETag', { ...readOnly, caseExact: true }),
    ],
  }),
];

export interface ResourceType {
  name: 'User' | 'Group';
  endpoint: '/Users' | '/Groups';
  description: string;
  schema: Schema;
  extensions: readonly Schema[];
}
export const userType: ResourceType = {
  name: 'User',
  endpoint: '/Users',
  description: 'People',
  schema: user,
  extensions: [enterprise],
};
export const groupType: ResourceType = {
  name: 'Group',
  endpoint: '/Groups',
  description: 'Groups',
  schema: group,
  extensions: [],
};
export const resourceTypes: readonly ResourceType[] = [userType, groupType];
export const schemas: readonly Schema[] = [user, enterprise, group];

/** An attribute of a resource, as a path names it. */
export interface AttributePlace {
  attribute: Attribute;
  sub?: Attribute;
  /** The extension that the attribute belongs to. */
  extension?: string;
}

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
export const attributeNamed = (attributes: readonly Attribute[] | undefined, name: string): Attribute | undefined =>
  attributes?.find((one) => same(one.name, name));

export const attributesOf = ({ schema }: ResourceType): readonly Attribute[] => [...common, ...schema.attributes];

/** The extension with this URN. */
export const extensionNamed = ({ extensions }: ResourceType, urn: string): Schema | undefined =>
  extensions.find(({ id }) => same(id, urn));

/**
 * `name.givenName`, `urn:…:User:name`, `urn:…:enterprise:2.0:User:manager.value`; case doesn't matter (RFC 7643 §2.1). Entra also
 * names an extension's attribute without its URN: `manager eq "…"`.
 */
export function placeOf(type: ResourceType, path: string): AttributePlace | undefined {
  const of = [type.schema, ...type.extensions].find(({ id }) => same(path.slice(0, id.length + 1), `${id}:`));
  const [name = '', subName, ...rest] = (of ? path.slice(of.id.length + 1) : path).split('.');
  if (rest.length > 0) return undefined;
  const found = of ? placeIn(type, of, name) : (placeIn(type, type.schema, name) ?? extended(type, name));
  if (!found || subName === undefined) return found;
  const sub = attributeNamed(found.attribute.subAttributes, subName);
  return sub && { ...found, sub };
}

function placeIn(type: ResourceType, { id, attributes }: Schema, name: string): AttributePlace | undefined {
  const isExtension = id !== type.schema.id;
  const attribute = attributeNamed(isExtension ? attributes : attributesOf(type), name);
  return attribute && { attribute, ...(isExtension && { extension: id }) };
}

/** The attribute of this name if only one extension has it. */
function extended(type: ResourceType, name: string): AttributePlace | undefined {
  const [found, another] = type.extensions.flatMap((schema) => placeIn(type, schema, name) ?? []);
  return another ? undefined : found;
}
