// Owns: the details of a rich authorization request: reading them within bounds, and comparing requested with granted ones. Pure.
// Does not own: their types and schemas (features/protocol/authorization-details), a type's JSON Schema (detail-schema.ts).
// Implements: RFC 9396 §2, §6, §7; decisions "Authorization detail type".
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../contract/json.ts';
import { HIDES, isAllSeen, isComposed, isOneLine, NOT_COMPOSED, ONE_LINE } from '../contract/names.ts';
import { OAuthError } from '../http/oauth-error.ts';

export interface AuthorizationDetail {
  readonly type: string;
  readonly locations?: readonly string[];
  readonly [field: string]: unknown;
}
/** A requested detail with the words of its type, by language. */
export interface AskedDetail {
  detail: AuthorizationDetail;
  words: Readonly<Record<string, string>>;
}

/** The parameter, as forms and metadata spell it. */
export const AUTHORIZATION_DETAILS = 'authorization_details';

const MOST_CHARACTERS = 10_000;
const MOST_DETAILS = 20;
const MOST_VALUES = 1_000;
const DEEPEST = 8;

/** A description may have no other characters (RFC 6749 §5.2), and fields' names are the client's. */
const plain = (words: string): string => words.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?').slice(0, 300);

export const badDetails = (words: string): OAuthError => new OAuthError('invalid_authorization_details', plain(words));

/** What a user couldn't see on the consent page as it is. */
function textFault(value: string): string | undefined {
  if (!isAllSeen(value)) return HIDES;
  if (!isOneLine(value)) return ONE_LINE;
  return isComposed(value) ? undefined : NOT_COMPOSED;
}

function faultOf(all: readonly unknown[]): string | undefined {
  const open: [value: unknown, depth: number][] = all.map((value) => [value, 0]);
  let count = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, depth] = next;
    count += 1;
    if (count > MOST_VALUES) return `have more than ${MOST_VALUES} values`;
    if (depth > DEEPEST) return `are nested more than ${DEEPEST} levels deep`;
    const fault = typeof value === 'string' ? textFault(value) : undefined;
    if (fault !== undefined) return `hold a text that ${fault}`;
    if (typeof value === 'number' && (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER))
      return 'hold a number that is too large';
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, item] of Object.entries(value)) {
      if (key === '__proto__') return 'hold a field __proto__';
      const name = Array.isArray(value) ? undefined : textFault(key);
      if (name !== undefined) return `hold a field whose name ${name}`;
      open.push([item, depth + 1]);
    }
  }
  return undefined;
}

const isDetail = (value: unknown): value is AuthorizationDetail =>
  isObject(value) &&
  typeof value.type === 'string' &&
  (value.locations === undefined ||
    (Array.isArray(value.locations) &&
      value.locations.length > 0 &&
      value.locations.every((one) => typeof one === 'string')));

/** Reads the parameter. @throws OAuthError `invalid_authorization_details` */
export function parseDetails(text: string): AuthorizationDetail[] {
  if (text.length > MOST_CHARACTERS)
    throw badDetails(`authorization_details is longer than ${MOST_CHARACTERS} characters`);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw badDetails('authorization_details is not JSON');
  }
  if (!Array.isArray(json)) throw badDetails('authorization_details is not a list');
  if (json.length === 0 || json.length > MOST_DETAILS)
    throw badDetails(`authorization_details has 1 to ${MOST_DETAILS} elements`);
  if (!json.every(isDetail)) throw badDetails('Each element needs a type; locations is a list of texts');
  const fault = faultOf(json);
  if (fault !== undefined) throw badDetails(`authorization_details ${fault}`);
  return json;
}

/** The details in a token of this server. */
export const detailsIn = ({ authorization_details: said }: Readonly<Record<string, unknown>>): AuthorizationDetail[] =>
  Array.isArray(said) ? said.filter(isDetail) : [];

/** RFC 9396 §2.2: each is a list of things that the detail permits, so a shorter list permits less. */
const NARROWABLE: ReadonlySet<string> = new Set(['locations', 'actions', 'datatypes', 'privileges']);

/** Whether `asked` permits no more than `granted`. Another field must stay as it is: only its type knows what would be less. */
function isWithin(asked: AuthorizationDetail, granted: AuthorizationDetail): boolean {
  const names = Object.keys(granted);
  if (Object.keys(asked).length !== names.length) return false;
  return names.every((name) => {
    const [wanted, had] = [asked[name], granted[name]];
    if (!NARROWABLE.has(name) || !Array.isArray(wanted) || !Array.isArray(had)) return isDeepStrictEqual(wanted, had);
    // Without an element, the list might stand for no limit.
    return wanted.length > 0 && wanted.every((one) => had.some((other) => isDeepStrictEqual(one, other)));
  });
}

/** Whether each requested detail is one that was granted, or narrower than one; RFC 9396 §6. */
export const detailsCovered = (
  asked: readonly AuthorizationDetail[],
  granted: readonly AuthorizationDetail[],
): boolean => asked.every((one) => granted.some((other) => isWithin(one, other)));

/** The details for a token of these resources: one that names locations is only for these. RFC 9396 §3. */
export const detailsFor = (
  details: readonly AuthorizationDetail[],
  resources: readonly string[],
): AuthorizationDetail[] =>
  details.filter(
    ({ locations }) =>
      resources.length === 0 || locations === undefined || locations.some((one) => resources.includes(one)),
  );

/** The scope by which applications create transactions, and the type of details that limits it to single ones. */
export const TRANSACTIONS_SCOPE = 'transactions';
export const TRANSACTION_TYPE = 'transaction';
const isTransaction = ({ type }: AuthorizationDetail): boolean => type === TRANSACTION_TYPE;

/** The scopes for a token with these of the granted details. Without the details that limit a scope, it would permit more than the user granted. */
export const scopesWithin = <Scope extends { name: string }>(
  scopes: readonly Scope[],
  {
    granted,
    details = [],
  }: { granted: readonly AuthorizationDetail[]; details?: readonly AuthorizationDetail[] | undefined },
): readonly Scope[] =>
  granted.some(isTransaction) && !details.some(isTransaction)
    ? scopes.filter(({ name }) => name !== TRANSACTIONS_SCOPE)
    : scopes;

/** For audit events: the types alone, since the values may be about people. */
export const typesOf = (
  details: readonly AuthorizationDetail[] | undefined,
): { authorizationDetailsTypes?: string[] } =>
  details === undefined || details.length === 0
    ? {}
    : { authorizationDetailsTypes: [...new Set(details.map(({ type }) => type))].toSorted() };
