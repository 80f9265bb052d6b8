// The claims that scopes put into tokens about a user or a service account. Pure. Decisions "Claim", "Client scope"; OIDC Core §5.
import { type Claim, type ClaimPlace, forgesRoles, reservedClaims } from '../contract/claims.ts';
import { PHONE_CONFIRMED, PHONE_NUMBER } from '../contract/phone.ts';
import type { Person, Roles } from './person.ts';

/** A claim as the token path needs it; `name` is the claim's in the token. */
export type ClaimView = Pick<
  Claim,
  'name' | 'source' | 'attribute' | 'value' | 'multivalued' | 'aggregate' | 'jsonType' | 'in'
>;

/** A client scope as the token path needs it. */
export interface ScopeView {
  name: string;
  description: string | null;
  inTokenScope: boolean;
  claims: readonly ClaimView[];
}

export type Subject = Person | { roles: Roles };
/** How the user signed in. */
export interface SessionFacts {
  sid?: unknown;
  authTime?: unknown;
  acr?: unknown;
  amr?: unknown;
}
/** The facts that an access token holds about its sign-in. */
export const sessionOf = (token: {
  sid?: unknown;
  auth_time?: unknown;
  acr?: unknown;
  amr?: unknown;
}): SessionFacts => ({
  sid: token.sid,
  authTime: token.auth_time,
  acr: token.acr,
  amr: token.amr,
});
export type Carrier = Pick<ScopeView, 'claims'>;

/** The sources of claims in a client's tokens: its own mappers first, then the granted scopes. */
export const saidFor = (
  { mappers }: { mappers: readonly ClaimView[] },
  scopes: readonly ScopeView[],
): readonly Carrier[] => (mappers.length > 0 ? [{ claims: mappers }, ...scopes] : scopes);

/** All possible sources of claims for a client: its mappers, and every scope that it may have. */
export const offeredTo = (client: ScopesOf & { mappers: readonly ClaimView[] }): readonly Carrier[] =>
  saidFor(client, [...client.defaultScopes, ...client.optionalScopes]);
interface ScopesOf {
  defaultScopes: readonly ScopeView[];
  optionalScopes: readonly ScopeView[];
}

/** The claims that `carriers` give in one place; the first that names a claim wins. */
export const claimsOf = (
  carriers: readonly Carrier[],
  subject: Subject,
  place: ClaimPlace,
  session?: SessionFacts,
): Record<string, unknown> => collected(carriers, soundClaims[place], subject, session);

/** The claims of `carriers` that the application requested by name (OIDC Core §5.5). */
export const namedClaims = (
  carriers: readonly Carrier[],
  subject: Subject,
  names: readonly string[],
  session?: SessionFacts,
): Record<string, unknown> =>
  names.length === 0
    ? {}
    : collected(
        carriers,
        (claims) => claims.filter((claim) => isAskedFor(claim, names) && isSound(claim)),
        subject,
        session,
      );

/** Whether the application requested the claim, by its name or by that of the object that holds it, and may get it at all. */
export const isAskedFor = ({ name, in: places }: ClaimView, names: readonly string[]): boolean =>
  (places.includes('userinfo') || places.includes('idToken')) &&
  (names.includes(name) || names.includes(NESTED.exec(name)?.[1] ?? name));

/** Whether a token may hold the claim: only the server sets some names, and a claim older than the contract's check may forge roles. */
const isSound = ({ name, source, value }: ClaimView): boolean =>
  !reservedClaims.has(name) && !forgesRoles(name, source, value);

/** Computed once for each list of claims and kept as long as the list: a changed realm has new lists. */
function oncePerList<T>(compute: (claims: readonly ClaimView[]) => T): (claims: readonly ClaimView[]) => T {
  const computed = new WeakMap<readonly ClaimView[], T>();
  return (claims) => {
    let value = computed.get(claims);
    if (value === undefined) {
      value = compute(claims);
      computed.set(claims, value);
    }
    return value;
  };
}
const soundIn = (place: ClaimPlace) =>
  oncePerList((claims) => claims.filter((claim) => claim.in.includes(place) && isSound(claim)));
const soundClaims: Record<ClaimPlace, (claims: readonly ClaimView[]) => readonly ClaimView[]> = {
  accessToken: soundIn('accessToken'),
  idToken: soundIn('idToken'),
  userinfo: soundIn('userinfo'),
  introspection: soundIn('introspection'),
};

function collected(
  carriers: readonly Carrier[],
  wanted: (claims: readonly ClaimView[]) => readonly ClaimView[],
  subject: Subject,
  session: SessionFacts = {},
): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const { claims } of carriers) {
    for (const claim of wanted(claims)) {
      if (claim.name in out) continue;
      const value = sourceOf(claim, subject, session);
      if (value !== undefined && value !== null) put(out, claim.name, value);
    }
  }
  return out;
}

/** The values of a claim's source as texts, for SAML's attributes, which have no other type. */
export function textsOf(
  claim: Pick<ClaimView, 'name' | 'source' | 'attribute' | 'value'>,
  subject: Subject,
  session: SessionFacts,
): string[] {
  if (claim.source === 'clientRoles' && !claim.value)
    return Object.entries(subject.roles.clients).flatMap(([client, roles]) => roles.map((role) => `${client}:${role}`));
  const view: ClaimView = { ...claim, multivalued: true, aggregate: false, jsonType: 'string', in: [] };
  const said = sourceOf(view, subject, session);
  return (Array.isArray(said) ? said : [said]).flatMap((value) =>
    value === undefined || value === null ? [] : [String(value)],
  );
}

/** The audiences of an access token besides its resources. */
export const audiencesOf = (scopes: readonly Carrier[]): string[] =>
  scopes.flatMap(({ claims }) => audiencesIn(claims));
const audiencesIn = oncePerList((claims) =>
  claims.flatMap(({ source, value, in: places }) =>
    source === 'audience' && value !== null && places.includes('accessToken') ? [value] : [],
  ),
);

const IMPERSONAL: readonly string[] = ['constant', 'audience', 'session'];
/** Whether the claim holds data about the user. */
export const isPersonal = ({ source }: Pick<ClaimView, 'source'>): boolean => !IMPERSONAL.includes(source);
/** The names of the claims that hold data about the user. */
export const personalClaims = (claims: readonly ClaimView[]): string[] => [
  ...new Set(claims.flatMap((claim) => (isPersonal(claim) && claim.in.length > 0 ? [claim.name] : []))),
];

/** Whether any of the scopes has a claim for this place. */
export const speaksIn = (scopes: readonly Carrier[], place: ClaimPlace): boolean =>
  scopes.some(({ claims }) => claims.some((claim) => claim.in.includes(place)));

const NESTED = /^([\w-]+)\.([\w-]+)$/;
/** A dot in the name nests the claim (`address.locality`), except in URLs. */
function put(out: Record<string, unknown>, name: string, value: unknown): void {
  if (!name.includes('.')) {
    out[name] = value;
    return;
  }
  const [outer = name, inner] = NESTED.exec(name)?.slice(1) ?? [];
  if (inner === undefined || reservedClaims.has(outer)) {
    if (inner === undefined) out[name] = value;
    return;
  }
  const nested = out[outer];
  if (nested === undefined) out[outer] = { [inner]: value };
  else if (typeof nested === 'object' && nested !== null) out[outer] = { [inner]: value, ...nested };
}

function sourceOf(claim: ClaimView, subject: Subject, session: SessionFacts): unknown {
  switch (claim.source) {
    case 'constant':
      return listed(claim, [claim.value ?? '']);
    case 'roles':
      return claim.name === 'realm_access' ? { roles: subject.roles.realm } : subject.roles.realm;
    case 'clientRoles':
      return clientRoles(claim, subject.roles);
    case 'session':
      return { ...session }[claim.attribute ?? ''];
    case 'groups':
      return 'id' in subject ? subject.groups : undefined;
    case 'property':
      return 'id' in subject ? property(subject, claim.attribute) : undefined;
    case 'attribute':
      return 'id' in subject ? attribute(claim, subject) : undefined;
    case 'organization':
      return 'id' in subject ? organizations(claim, subject) : undefined;
    // no claim of its own
    case 'audience':
      return undefined;
  }
}

function property(person: Person, name: string | null): unknown {
  switch (name) {
    case 'fullName':
      return [person.firstName, person.lastName].filter(Boolean).join(' ') || undefined;
    case 'emailVerified':
      return person.email === null ? undefined : person.emailVerified;
    // OIDC Core §5.1: seconds
    case 'updatedAt':
      return Math.floor(person.updatedAt.getTime() / 1000);
    case 'username':
    case 'email':
    case 'firstName':
    case 'lastName':
      return person[name];
    default:
      return undefined;
  }
}

const OWN: ReadonlySet<string> = new Set([PHONE_NUMBER, PHONE_CONFIRMED]);

/** The user's own attribute, else that of their groups; or all of these together if the claim aggregates. */
function attribute(claim: ClaimView, { attributes, inherited }: Person): unknown {
  const name = claim.attribute ?? claim.name;
  // a group's attribute can't confirm a user's own phone number
  const from = OWN.has(name) ? [] : inherited;
  const all = [attributes, ...from].map((of) => (Object.hasOwn(of, name) ? (of[name] ?? []) : []));
  return listed(claim, claim.aggregate ? [...new Set(all.flat())] : (all.find((values) => values.length > 0) ?? []));
}

function organizations(claim: ClaimView, { organizations: all }: Person): unknown {
  if (all.length === 0) return undefined;
  if (claim.jsonType === 'json') return Object.fromEntries(all.map(({ id, name }) => [name, { id }]));
  return listed(
    claim,
    all.map(({ name }) => name),
  );
}

/** One value stays a single value unless the claim is a list; several become a list. */
function listed({ jsonType, multivalued }: ClaimView, texts: readonly string[]): unknown {
  const values = texts.map((text) => typed(jsonType, text)).filter((value) => value !== undefined);
  if (values.length === 0) return undefined;
  return multivalued || values.length > 1 ? values : values[0];
}

/** The text as the claim's type; undefined if it can't be parsed as one. */
function typed(jsonType: Claim['jsonType'], text: string): unknown {
  if (jsonType === 'string') return text;
  if (jsonType === 'boolean') return text === 'true';
  if (jsonType === 'number') return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `resource_access` has the shape that Keycloak's clients know. */
function clientRoles({ value }: ClaimView, { clients }: Roles): unknown {
  if (value !== null && value !== '') return Object.hasOwn(clients, value) ? clients[value] : undefined;
  const entries = Object.entries(clients).map(([clientId, roles]) => [clientId, { roles }]);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}
