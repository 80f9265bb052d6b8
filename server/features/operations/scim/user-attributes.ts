// Where the attributes of a SCIM user are stored: in the user's own fields, else in the user's attributes, so that the
// realm's user profile rules them, claims show them, and documents contain them. docs/scim.md documents this.
import { ENTERPRISE } from '../../../contract/scim.ts';
import type { ProfileParty, UserProfile } from '../../../contract/user-profile.ts';
import { visibleTo } from '../../../domain/user-profile.ts';
import type { Values } from './body.ts';
import { scimProblem } from './fault.ts';
import { furtherAddresses, listAt } from './user-document.ts';

type Attributes = Readonly<Record<string, readonly string[]>>;

/** SCIM path → user attribute, for single-valued texts. If OpenID Connect has such a claim, its name is used. */
export const singleAttributes: Readonly<Record<string, string>> = {
  'name.formatted': 'name.formatted',
  'name.middleName': 'middle_name',
  'name.honorificPrefix': 'name.honorificPrefix',
  'name.honorificSuffix': 'name.honorificSuffix',
  displayName: 'displayName',
  nickName: 'nickname',
  profileUrl: 'profile',
  title: 'title',
  userType: 'userType',
  preferredLanguage: 'preferredLanguage',
  locale: 'locale',
  timezone: 'zoneinfo',
  [`${ENTERPRISE}:employeeNumber`]: 'employeeNumber',
  [`${ENTERPRISE}:costCenter`]: 'costCenter',
  [`${ENTERPRISE}:organization`]: 'organization',
  [`${ENTERPRISE}:division`]: 'division',
  [`${ENTERPRISE}:department`]: 'department',
  [`${ENTERPRISE}:manager.value`]: 'manager',
};
const pathOf = new Map(Object.entries(singleAttributes).map(([path, name]) => [name, path]));

export const PHONES = 'phoneNumbers.';
export const ADDRESSES = 'addresses.';
export const addressParts = ['formatted', 'streetAddress', 'locality', 'region', 'postalCode', 'country'] as const;
const OTHER = 'other';

const isKept = (name: string): boolean =>
  pathOf.has(name) || name.startsWith(PHONES) || (name.startsWith(ADDRESSES) && name.split('.').length === 3);

/** The path of a user's field in errors → its SCIM name. */
const fieldPaths = new Map([
  ['username', 'userName'],
  ['firstName', 'name.givenName'],
  ['lastName', 'name.familyName'],
  ['email', 'emails.value'],
  ['enabled', 'active'],
]);
export const scimPathOf = (path: string): string => {
  const name = path.replace(/^attributes?\./, '').replace(/\[\d+\]$/, '');
  return fieldPaths.get(path) ?? (path.startsWith('attribute') ? (pathOf.get(name) ?? name) : path);
};

/** Whether SCIM can't express the field, though the realm's user profile requires it. */
export const isUnsaid = (path: string): boolean => {
  const name = /^attributes\.(.*)$/.exec(path)?.[1];
  return name !== undefined && !isKept(name);
};

/** Whether administrators, or users themselves, see a user's attribute. */
export const seenBy =
  (profile: UserProfile, who: ProfileParty) =>
  (name: string): boolean =>
    Object.hasOwn(visibleTo(profile, who, { [name]: [] }), name);

/** `urn:…:User:manager.value` → the keys that lead to the value. */
export const keysOf = (path: string): string[] =>
  path.startsWith(ENTERPRISE) ? [ENTERPRISE, ...path.slice(ENTERPRISE.length + 1).split('.')] : path.split('.');

function put(into: Values, [key = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) into[key] = value;
  else {
    const inner: Values = { ...Object(into[key]) };
    put(inner, rest, value);
    into[key] = inner;
  }
}
const at = (from: unknown, keys: readonly string[]): unknown =>
  keys.reduce<unknown>((value, key) => Object(value)[key], from);

/** Adds the user's attributes to a SCIM user. */
export function showAttributes(into: Values, attributes: Attributes): void {
  for (const [path, name] of Object.entries(singleAttributes)) {
    const [value = ''] = (Object.hasOwn(attributes, name) && attributes[name]) || [];
    if (value !== '') put(into, keysOf(path), value);
  }
  const entries = Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1));
  const phones = entries.flatMap(([name, values]) =>
    name.startsWith(PHONES) ? values.map((value) => ({ value, type: name.slice(PHONES.length) })) : [],
  );
  if (phones.length > 0) into.phoneNumbers = phones.filter(({ value }) => value !== '');
  const addresses = new Map<string, Values>();
  for (const [name, [value = '']] of entries) {
    const [, type = '', part = '', more] = name.split('.');
    if (!name.startsWith(ADDRESSES) || value === '' || more !== undefined) continue;
    if (!(addressParts as readonly string[]).includes(part)) continue;
    addresses.set(type, { ...addresses.get(type), type, [part]: value });
  }
  if (addresses.size > 0) into.addresses = [...addresses.values()];
}

const typeOf = (value: Values, path: string): string => {
  const type = String(value.type ?? OTHER).toLowerCase();
  if (!/^[a-z0-9_-]{1,50}$/.test(type)) throw scimProblem('invalidValue', `${path}.type must be a word`);
  return type;
};

/** The user's attributes after a SCIM write. Attributes that SCIM can't express keep their values. */
export function attributesWith(user: Values, before: Attributes): Record<string, string[]> {
  const after: Record<string, string[]> = Object.fromEntries(
    Object.entries(before).flatMap(([name, values]) => (isKept(name) ? [] : [[name, [...values]]])),
  );
  for (const [path, name] of Object.entries(singleAttributes)) {
    const value = at(user, keysOf(path));
    if (typeof value !== 'string') continue;
    const had = Object.hasOwn(before, name) ? (before[name] ?? []) : [];
    // The attribute may have several values; SCIM shows only the first. If that is unchanged, all values stay.
    after[name] = had[0] === value ? [...had] : [value];
  }
  for (const phone of listAt(user.phoneNumbers)) {
    if (typeof phone.value !== 'string') continue;
    const name = `${PHONES}${typeOf(phone, 'phoneNumbers')}`;
    const others = Object.hasOwn(after, name) ? (after[name] ?? []) : [];
    after[name] = [...new Set([...others, phone.value])];
  }
  const further = furtherAddresses(listAt(user.addresses));
  for (const address of listAt(user.addresses)) {
    const type = typeOf(address, 'addresses');
    if (further.includes(address)) continue;
    for (const part of addressParts)
      if (typeof address[part] === 'string') after[`${ADDRESSES}${type}.${part}`] = [address[part]];
  }
  return after;
}
