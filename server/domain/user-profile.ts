// The rules of a realm's user profile: whether a change of a user is allowed, and which attributes a party may see. All code that
// writes users asks here. Pure, except for reading the profile. Decisions "User profile".
import { z } from 'zod';
import { isEmail } from '../contract/email.ts';
import { type Phrase, phrase, type Words } from '../contract/phrases.ts';
import type { FieldError } from '../contract/problem.ts';
import {
  UserProfile as Profile,
  type ProfileAttribute,
  type ProfileParty,
  profileFields,
  type UserProfile,
} from '../contract/user-profile.ts';
import { type Fragment, fragment, type Sql } from '../db/sql.ts';
import { createPatternMatcher, loadPatterns, patternFault, patternSize } from './pattern.ts';
import { createTellOnce } from './told-once.ts';

/** The data of a user to which a profile applies. */
export interface ProfileData {
  username: string;
  email: string | null;
  firstName: string | null;
  lastName: string | null;
  attributes: Readonly<Record<string, readonly string[]>>;
}
type Attributes = ProfileData['attributes'];

export const freshProfile: UserProfile = { unmanagedAttributes: 'enabled', attributes: [] };

/** The realm's user profile, ready to judge values: its patterns are compiled. */
export async function readProfile(sql: Sql, realm: string): Promise<UserProfile> {
  const [row] = await sql<{ profile: Partial<UserProfile> | null }>`
    select user_profile as profile from realm where realm_id = ${realm}`;
  const profile = { ...freshProfile, ...row?.profile };
  await readyToJudge(profile);
  warnOfUnusable(realm, profile);
  return profile;
}

/** A profile with these fields in place of its own. */
export async function profileWith(
  profile: UserProfile,
  changed: Readonly<Record<string, unknown>>,
): Promise<UserProfile> {
  const made = Profile.parse({ ...profile, ...changed });
  await readyToJudge(made);
  return made;
}

const patternOf = ({ validation: { pattern } }: ProfileAttribute): string | undefined => pattern ?? undefined;

/** Loads the pattern engine. Call it for each profile before `profileFaults`. */
async function readyToJudge({ attributes }: UserProfile): Promise<void> {
  if (attributes.some((attribute) => patternOf(attribute) !== undefined)) await loadPatterns();
}

const tellOnce = createTellOnce();
/** A pattern from before there were limits is not applied, so the log tells the administrator. */
function warnOfUnusable(realm: string, { attributes }: UserProfile): void {
  for (const attribute of attributes) {
    const pattern = patternOf(attribute);
    const fault = pattern === undefined ? undefined : patternFault(pattern);
    if (fault === undefined) continue;
    tellOnce(
      `The pattern of attribute ${attribute.name} in realm ${realm}’s user profile is not applied: it ${fault}`,
      (words) => process.emitWarning(words, 'UserProfileWarning'),
    );
  }
}

/** The fields of the profile that these objects of a realm document set. */
export const profileIn = (
  objects: readonly { kind: string; key: string; fields: Readonly<Record<string, unknown>> }[],
): Record<string, unknown> =>
  Object.fromEntries(
    objects.filter(({ kind }) => kind === 'userProfile').map(({ key, fields }) => [key, fields.value]),
  );

/** Whether the profile accepts every change. */
export const hasNoRules = ({ unmanagedAttributes, attributes }: UserProfile): boolean =>
  unmanagedAttributes === 'enabled' && attributes.length === 0;

const fields: ReadonlySet<string> = new Set(profileFields);
const valuesOf = (data: ProfileData | undefined, name: string): readonly string[] => {
  if (!data) return [];
  if (!fields.has(name)) return Object.hasOwn(data.attributes, name) ? (data.attributes[name] ?? []) : [];
  const value = data[name as (typeof profileFields)[number]];
  return value === null || value === '' ? [] : [value];
};
const pathOf = (name: string): string => (fields.has(name) ? name : `attributes.${name}`);
const same = (a: readonly string[], b: readonly string[]) => a.length === b.length && a.every((one, i) => one === b[i]);

/** `fault` follows the field's name: `is required`. contract/problem.ts's `fieldErrorOf` makes a field error of it. */
export interface ProfileFault {
  path: string;
  fault: Words;
}

/**
 * All faults of a change, by path. A value that does not change has no fault: it may be older than the profile.
 * @param by a document carries users as they are, so it may set attributes that no party may edit
 */
export function profileFaults(
  { unmanagedAttributes, attributes }: UserProfile,
  { by, before, after }: { by: ProfileParty | 'document'; before: ProfileData | undefined; after: ProfileData },
): ProfileFault[] {
  const declared = new Set(attributes.map(({ name }) => name));
  const compare = createPatternMatcher();
  const changes = (name: string) => !same(valuesOf(before, name), valuesOf(after, name));
  const ofDeclared = attributes.flatMap((attribute): ProfileFault[] => {
    const { name, edit, required } = attribute;
    const path = pathOf(name);
    const values = valuesOf(after, name);
    const changed = changes(name);
    if (changed && by !== 'document' && !edit.includes(by)) return [{ path, fault: phrase('fixed') }];
    if (values.length === 0 && (changed || !before) && required.includes(by === 'user' ? 'user' : 'admin'))
      return [{ path, fault: phrase('required') }];
    return changed ? valueFaults(attribute, values, compare).map((fault) => ({ path, fault })) : [];
  });
  const open = unmanagedAttributes === 'enabled' || (unmanagedAttributes === 'adminEdit' && by !== 'user');
  const undeclared = open ? [] : Object.keys(after.attributes).filter((name) => !declared.has(name) && changes(name));
  return [
    ...ofDeclared,
    ...undeclared.map((name) => ({ path: pathOf(name), fault: 'is no attribute of the realm’s user profile' })),
  ];
}

type Compare = ReturnType<typeof createPatternMatcher>;
function valueFaults(
  { type, multivalued, validation }: ProfileAttribute,
  values: readonly string[],
  compare: Compare,
): Phrase[] {
  if (!multivalued && values.length > 1) return [phrase('one')];
  const faults = values.map((value) => againstType(type, value) ?? againstRules(validation, { type, value, compare }));
  return faults.filter((fault) => fault !== undefined).slice(0, 1);
}

const forms: Record<ProfileAttribute['type'], { reads(value: string): boolean; fault?: Phrase }> = {
  string: { reads: () => true },
  number: { reads: (value) => value.trim() !== '' && Number.isFinite(Number(value)), fault: phrase('number') },
  boolean: { reads: (value) => value === 'true' || value === 'false', fault: phrase('boolean') },
  date: { reads: (value) => z.iso.date().safeParse(value).success, fault: phrase('date') },
  email: { reads: isEmail, fault: phrase('email') },
  url: {
    reads: (value) => /^https?:/i.test(value) && URL.canParse(value),
    fault: phrase('url'),
  },
};
const againstType = (type: ProfileAttribute['type'], value: string): Phrase | undefined =>
  forms[type].reads(value) ? undefined : forms[type].fault;

function againstRules(
  { minLength, maxLength, pattern, min, max, options }: ProfileAttribute['validation'],
  { type, value, compare }: { type: ProfileAttribute['type']; value: string; compare: Compare },
): Phrase | undefined {
  const length = [...value].length;
  if (typeof minLength === 'number' && length < minLength) return phrase('leastLong', { least: minLength });
  if (typeof maxLength === 'number' && length > maxLength) return phrase('mostLong', { most: maxLength });
  if (options && !options.includes(value)) return phrase('oneOf', { options: options.slice(0, 20).join(', ') });
  if (type === 'number' && typeof min === 'number' && Number(value) < min) return phrase('least', { least: min });
  if (type === 'number' && typeof max === 'number' && Number(value) > max) return phrase('most', { most: max });
  if (typeof pattern === 'string' && compare(pattern, value) === false) return phrase('form');
  return undefined;
}

/** The largest size of all patterns of a profile together: each new user is compared with all of them. */
const LARGEST_TOGETHER = 4000;

/**
 * The faults of a profile itself.
 * @param before the stored profile: a pattern that stays is not judged again
 */
export async function faultsOfProfile(profile: UserProfile, before: UserProfile = freshProfile): Promise<FieldError[]> {
  await readyToJudge(profile);
  const { attributes } = profile;
  const kept = new Map(before.attributes.map((attribute) => [attribute.name, patternOf(attribute)]));
  let together = 0;
  const againstPattern = (attribute: ProfileAttribute): string | undefined => {
    const pattern = patternOf(attribute);
    if (pattern === undefined) return undefined;
    const isOver = together > LARGEST_TOGETHER;
    const fault = isOver ? undefined : patternFault(pattern);
    together += isOver ? 0 : patternSize(pattern);
    if (kept.get(attribute.name) === pattern) return undefined;
    if (fault !== undefined || together <= LARGEST_TOGETHER) return fault;
    return 'is one too many: the profile’s patterns are too large together';
  };
  const names = attributes.map(({ name }) => name);
  return attributes.flatMap((attribute, i) => {
    const { name, multivalued, type, validation } = attribute;
    const fault = (field: string, message: string): FieldError => ({ path: `attributes[${i}].${field}`, message });
    const { minLength, maxLength, min, max } = validation;
    const pattern = againstPattern(attribute);
    const over = (least: number | null | undefined, most: number | null | undefined) =>
      typeof least === 'number' && typeof most === 'number' && least > most;
    return [
      ...(names.indexOf(name) < i ? [fault('name', 'is declared twice')] : []),
      ...(multivalued && fields.has(name) ? [fault('multivalued', `must be false: ${name} is one value`)] : []),
      ...(over(minLength, maxLength) ? [fault('validation.minLength', 'must not exceed maxLength')] : []),
      ...(over(min, max) ? [fault('validation.min', 'must not exceed max')] : []),
      ...(type !== 'number' && (typeof min === 'number' || typeof max === 'number')
        ? [fault('validation.min', 'is for numbers alone, as max is')]
        : []),
      ...(pattern === undefined ? [] : [fault('validation.pattern', pattern)]),
    ];
  });
}

/** The user's attributes that the party may see. */
export function visibleTo(profile: UserProfile, who: ProfileParty, attributes: Attributes): Record<string, string[]> {
  const declared = new Map(profile.attributes.map((attribute) => [attribute.name, attribute]));
  const { unmanagedAttributes: policy } = profile;
  const unmanaged = policy === 'enabled' || (who === 'admin' && policy !== 'disabled');
  const seen = (name: string) => declared.get(name)?.view.includes(who) ?? unmanaged;
  return Object.fromEntries(
    Object.entries(attributes)
      .filter(([name]) => seen(name))
      .map(([name, values]) => [name, [...values]]),
  );
}

/** Condition in SQL: administrators may see the attribute of this name. undefined: they see all attributes. */
export function seenByAdministrators(
  { unmanagedAttributes, attributes }: UserProfile,
  name: Fragment,
): Fragment | undefined {
  const names = (seen: boolean) =>
    attributes.filter(({ view }) => view.includes('admin') === seen).map((one) => one.name);
  if (unmanagedAttributes === 'disabled') return fragment`${name} = any(${names(true)}::text[])`;
  const hidden = names(false);
  return hidden.length === 0 ? undefined : fragment`${name} <> all(${hidden}::text[])`;
}
