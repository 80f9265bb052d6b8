// The SCIM data of a user beyond fields and attributes: further addresses, ims, photos, entitlements and certificates.
// `marks` holds SCIM details of values that are stored elsewhere: which is primary, what is displayed. Each user has one
// document. The other stores decide which values exist; a mark without its value is ignored. RFC 7643 §2.4, §4.1.2. Pure.
import { asciiEmail, isEmail } from '../../../contract/email.ts';
import { canonicalJson } from '../../../contract/json.ts';
import type { Values } from './body.ts';
import { scimProblem } from './fault.ts';

/** Kept here alone. */
export const documentAttributes = ['ims', 'photos', 'entitlements', 'x509Certificates'] as const;
/** For attributes whose values are stored elsewhere: the SCIM details that the document keeps of each value. */
export const markedParts = {
  emails: ['display'],
  phoneNumbers: ['display', 'primary'],
  addresses: ['primary'],
  roles: ['display', 'type', 'primary'],
} as const;
export type Marked = keyof typeof markedParts;
const markedAttributes = Object.keys(markedParts) as Marked[];

export interface ScimDocument {
  emails?: Values[];
  addresses?: Values[];
  ims?: Values[];
  photos?: Values[];
  entitlements?: Values[];
  x509Certificates?: Values[];
  marks?: { [of in Marked]?: Values[] };
}

const MOST_VALUES = 100;
const MOST_BYTES = 64 * 1024;

export const listAt = (value: unknown): Values[] => (Array.isArray(value) ? value : []);
const folded = (text: unknown): string => String(text ?? '').toLowerCase();

/** The key by which a value is recognized again. */
const keyOf: Record<Marked, (value: Values) => string> = {
  emails: ({ value }) => folded(value),
  phoneNumbers: ({ value, type }) => `${folded(type ?? 'other')} ${value}`,
  addresses: ({ type }) => folded(type ?? 'other'),
  roles: ({ value }) => String(value),
};

function withMarks(of: Marked, values: Values[], { marks }: ScimDocument): Values[] {
  const said = new Map((marks?.[of] ?? []).map((mark) => [keyOf[of](mark), mark]));
  return values.map((value) => {
    const mark = said.get(keyOf[of](value));
    const more = markedParts[of].flatMap((part) => (mark?.[part] === undefined ? [] : [[part, mark[part]]]));
    return { ...value, ...Object.fromEntries(more) };
  });
}

/** Adds the document's data to a SCIM user. */
export function showDocument(into: Values, document: ScimDocument): void {
  for (const of of markedAttributes) if (into[of] !== undefined) into[of] = withMarks(of, listAt(into[of]), document);
  const [main] = listAt(into.emails);
  const further = listAt(document.emails).filter(({ value }) => !main || folded(value) !== folded(main.value));
  for (const [of, values] of Object.entries({ emails: further, addresses: listAt(document.addresses) }))
    if (values.length > 0) into[of] = [...listAt(into[of]), ...values];
  for (const of of documentAttributes) {
    const values = listAt(document[of]);
    if (values.length > 0) into[of] = values;
  }
}

/** At most one value is primary: the first that claims to be (RFC 7643 §2.4). */
function onePrimary(values: readonly Values[]): Values[] {
  const first = values.find(({ primary }) => primary === true);
  return values.map((value) => (value.primary === true && value !== first ? { ...value, primary: false } : value));
}

/** Leaves at most one primary value in every multi-valued attribute. */
export const withOnePrimary = (user: Values): Values =>
  Object.fromEntries(
    Object.entries(user).map(([name, value]) => [name, Array.isArray(value) ? onePrimary(value) : value]),
  );

/** The e-mail address that the server stores: the primary one, else the first. */
export const addressOf = (user: Values): Values | undefined => {
  const emails = listAt(user.emails).filter(({ value }) => value !== undefined);
  return emails.find(({ primary }) => primary === true) ?? emails[0];
};

/** Postal addresses that the user's attributes can't hold: the second of a type, and so on. */
export function furtherAddresses(addresses: readonly Values[]): Values[] {
  const seen = new Set<string>();
  return addresses.filter((address) => {
    const key = keyOf.addresses(address);
    return seen.has(key) || !seen.add(key);
  });
}

/** As the user's own address is stored. */
const withAsciiAddress = (email: Values): Values =>
  typeof email.value === 'string' ? { ...email, value: asciiEmail(email.value) } : email;

function checked(of: string, values: readonly Values[]): Values[] {
  if (values.length > MOST_VALUES) throw scimProblem('invalidValue', `${of} may have at most ${MOST_VALUES} values`);
  return [...values];
}

/**
 * The part of a SCIM user that is stored in the document.
 * @param user with at most one primary value per attribute
 * @throws Problem `invalidValue`
 */
export function documentOf(given: Values): ScimDocument {
  const user: Values = { ...given, emails: listAt(given.emails).map(withAsciiAddress) };
  const main = addressOf(user);
  const emails = listAt(user.emails).filter((one) => one !== main && one.value !== undefined);
  const strange = emails.find(({ value }) => typeof value !== 'string' || !isEmail(value));
  if (strange) throw scimProblem('invalidValue', 'emails.value: is no e-mail address');
  const further = furtherAddresses(listAt(user.addresses));
  const all: [string, Values[]][] = [
    ...documentAttributes.map((of): [string, Values[]] => [of, listAt(user[of])]),
    ['emails', emails],
    ['addresses', further],
  ];
  const lists = all.filter(([, values]) => values.length > 0);
  const marks = markedAttributes.flatMap((of): [Marked, Values[]][] => {
    const kept = { emails: main ? [main] : [], addresses: listAt(user.addresses).filter((a) => !further.includes(a)) };
    const values = of === 'emails' || of === 'addresses' ? kept[of] : listAt(user[of]);
    const said = values.map((value) => markOf(of, value)).filter((mark) => mark !== undefined);
    return said.length > 0 ? [[of, said]] : [];
  });
  const document = {
    ...Object.fromEntries(lists.map(([of, values]) => [of, checked(of, values)])),
    ...(marks.length > 0 && { marks: Object.fromEntries(marks.map(([of, said]) => [of, checked(of, said)])) }),
  };
  if (Buffer.byteLength(JSON.stringify(document)) > MOST_BYTES)
    throw scimProblem(
      'invalidValue',
      `${lists.map(([of]) => of).join(', ')}: may have ${MOST_BYTES / 1024} KiB in all`,
    );
  return document;
}

/** A value's further SCIM details; undefined: it has none. */
function markOf(of: Marked, value: Values): Values | undefined {
  const said = markedParts[of].filter((part) => value[part] !== undefined);
  if (said.length === 0) return undefined;
  const key = of === 'addresses' ? ['type'] : of === 'phoneNumbers' ? ['value', 'type'] : ['value'];
  return Object.fromEntries(
    [...key, ...said].flatMap((part) => (value[part] === undefined ? [] : [[part, value[part]]])),
  );
}

/** The names of the attributes that differ between two documents. */
export function changedIn(before: ScimDocument, after: ScimDocument): string[] {
  const of = ({ marks, ...rest }: ScimDocument, name: string) =>
    canonicalJson([Object(rest)[name] ?? [], Object(marks)[name] ?? []]);
  const names = [...new Set([...documentAttributes, ...markedAttributes])];
  return names.filter((name) => of(before, name) !== of(after, name));
}

/** A document's further addresses, in the form for look-ups. */
export const furtherEmails = ({ emails = [] }: ScimDocument): string[] => emails.map(({ value }) => String(value));
