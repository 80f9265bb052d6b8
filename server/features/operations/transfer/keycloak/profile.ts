// A realm's user profile, which Keycloak stores as JSON in a component. docs/keycloak.md.
import { z } from 'zod';
import {
  freshAttribute,
  UserProfile as Profile,
  profileFields,
  type UserProfile,
} from '../../../../contract/user-profile.ts';
import { faultsOfProfile } from '../../../../domain/user-profile.ts';
import { config, isCatalogued, type Realm, text } from './export-shape.ts';
import type { Notes } from './notes.ts';

const Rules = z.record(z.string(), z.record(z.string(), z.unknown()).nullish());
const Attribute = z.object({
  name: z.string(),
  displayName: text,
  validations: Rules.nullish(),
  annotations: z.record(z.string(), z.unknown()).nullish(),
  required: z.object({ roles: z.array(z.string()).nullish() }).nullish(),
  permissions: z.object({ view: z.array(z.string()).nullish(), edit: z.array(z.string()).nullish() }).nullish(),
  multivalued: z.boolean().nullish(),
});
const Config = z.object({ attributes: z.array(Attribute).nullish(), unmanagedAttributePolicy: text });

const policies: Readonly<Record<string, UserProfile['unmanagedAttributes']>> = {
  ENABLED: 'enabled',
  ADMIN_EDIT: 'adminEdit',
  ADMIN_VIEW: 'adminEdit',
};
const types: Readonly<Record<string, UserProfile['attributes'][number]['type']>> = {
  integer: 'number',
  double: 'number',
  email: 'email',
  uri: 'url',
  'iso-date': 'date',
};
/** Validators that this server always applies. */
const silent = new Set([
  'username-prohibited-characters',
  'person-name-prohibited-characters',
  'up-username-not-idn-homograph',
  'multivalued',
  'email',
]);
const PROVIDER = 'org.keycloak.userprofile.UserProfileProvider';

const numberOf = (value: unknown): number | undefined =>
  value === undefined || value === null || value === '' || Number.isNaN(Number(value)) ? undefined : Number(value);
const known = (of: readonly string[] | null | undefined) =>
  (['admin', 'user'] as const).filter((party) => of?.includes(party));

export async function profileOf(
  { realm: key = '', components = {} }: Realm,
  notes: Notes,
): Promise<UserProfile | undefined> {
  const [said] = (components[PROVIDER] ?? []).flatMap(({ config: at }) => at?.['kc.user.profile.config'] ?? []);
  if (said === undefined) return undefined;
  const note = (field: string, why: string) => notes.add({ kind: 'realm', key, field: `userProfile.${field}` }, why);
  const read = Config.safeParse(jsonOf(said));
  if (!read.success) {
    note('attributes', 'can’t be read');
    return undefined;
  }
  const { attributes, unmanagedAttributePolicy: policy = '' } = read.data;
  if (!policies[policy] || policy === 'ADMIN_VIEW')
    note(
      'unmanagedAttributePolicy',
      'administrators may change undeclared attributes here, so that people keep those that they have',
    );
  let profile: UserProfile = {
    unmanagedAttributes: policies[policy] ?? 'adminEdit',
    attributes: (attributes ?? []).map((attribute) => attributeOf(attribute, note)),
  };
  for (const { path, message } of await faultsOfProfile(profile)) {
    const [, i = '', field = ''] = /^attributes\[(\d+)\]\.(?:validation\.)?(\w+)/.exec(path) ?? [];
    const { name = '' } = profile.attributes[Number(i)] ?? {};
    note(`${name}.${field}`, message);
    const without = (one: UserProfile['attributes'][number]) =>
      field === 'pattern'
        ? { ...one, validation: { ...one.validation, pattern: null } }
        : { ...one, multivalued: false, validation: {} };
    profile = {
      ...profile,
      attributes: profile.attributes.map((one, at) => (at === Number(i) ? without(one) : one)),
    };
  }
  const checked = Profile.safeParse(profile);
  if (!checked.success) note('attributes', 'can’t be read');
  return checked.data;
}

function attributeOf(given: z.output<typeof Attribute>, note: (field: string, why: string) => void) {
  const { name, displayName, permissions, required, multivalued } = given;
  const isField = profileFields.some((field) => field === name);
  const rules = given.validations ?? {};
  const type = Object.keys(rules).flatMap((rule) => types[rule] ?? [])[0] ?? 'string';
  const length = rules.length ?? {};
  const range = rules.integer ?? rules.double ?? {};
  const { options } = rules.options ?? {};
  const { pattern } = rules.pattern ?? {};
  const told = new Set(['length', 'options', 'pattern', ...Object.keys(types)]);
  for (const rule of Object.keys(rules))
    if (!silent.has(rule) && !told.has(rule)) note(`${name}.${rule}`, 'has no counterpart here');
  if (known(required?.roles).includes('admin'))
    note(`${name}.required`, 'administrators aren’t asked for it here, as some people may have none');
  const validation = {
    minLength: numberOf(length.min),
    maxLength: numberOf(length.max),
    min: type === 'number' ? numberOf(range.min) : undefined,
    max: type === 'number' ? numberOf(range.max) : undefined,
    pattern: typeof pattern === 'string' ? pattern.replace(/^\^/, '').replace(/(?<!\\)\$$/, '') : undefined,
    options: Array.isArray(options) ? options.map(String) : undefined,
  };
  return {
    ...freshAttribute,
    name,
    displayName: displayName && !isCatalogued(displayName) ? displayName : null,
    type: isField ? ('string' as const) : type,
    multivalued: multivalued ?? false,
    // Existing users may have names that new users may not choose.
    required: isField && name === 'username' ? [] : known(required?.roles).filter((party) => party === 'user'),
    view: permissions ? known(permissions.view) : [...freshAttribute.view],
    edit: permissions ? known(permissions.edit) : [...freshAttribute.edit],
    validation:
      name === 'username' || name === 'email'
        ? {}
        : Object.fromEntries(Object.entries(validation).filter(([, value]) => value !== undefined)),
    annotations:
      config.parse(
        Object.fromEntries(Object.entries(given.annotations ?? {}).filter(([, value]) => typeof value !== 'object')),
      ) ?? {},
  };
}

function jsonOf(said: string): unknown {
  try {
    return JSON.parse(said);
  } catch {
    return undefined;
  }
}
