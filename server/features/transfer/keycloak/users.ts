// People of Keycloak, one by one, as a realm document has them; what doesn't fit is told, and the rest of them comes along.
// docs/keycloak.md.

import type { UserProfile } from '../../../contract/user-profile.ts';
import { UserDocument } from '../../../contract/users.ts';
import { profileFaults } from '../../../domain/user-profile.ts';
import { issuesAt } from '../../../resource/items.ts';
import { credentialOf } from './credentials.ts';
import { type Credential, User } from './export-shape.ts';
import { without } from './fit.ts';
import type { Notes } from './notes.ts';
import { clientRolesOf, type KnownClient } from './roles.ts';
import { actionOf } from './settings.ts';

/** What the realm's own file says that people refer to; without it all that they name is taken to be there. */
export interface Surroundings {
  known: KnownClient;
  /** What the document has of what people hold; undefined: it isn't in these files. */
  there: There | undefined;
  /** Whose the subjects of each identity provider that is carried over are, by its alias; undefined: nothing says it. */
  issuers: ReadonlyMap<string, string | undefined>;
  profile: UserProfile | undefined;
  notes: Notes;
}
export interface There {
  roles: ReadonlySet<string>;
  groups: ReadonlySet<string>;
  clientRoles: ReadonlyMap<string, ReadonlySet<string>>;
}

export type TranslatedUser =
  | { user: UserDocument; account?: never }
  /** Whom a client's service account was there, with what it holds. */
  | { account: { clientId: string; roles: string[]; clientRoles: Record<string, string[]> }; user?: never }
  | undefined;

export function userOf(value: unknown, around: Surroundings, path: string): TranslatedUser {
  const { notes, known } = around;
  const read = User.safeParse(value);
  if (!read.success) {
    const [fault] = issuesAt('', read.error);
    const { username = path } = Object(value);
    notes.add({ kind: 'user', key: String(username), field: fault?.path }, `can’t be read: ${fault?.message}`);
    return undefined;
  }
  const given = read.data;
  const { username: key } = given;
  const note: Note = (field, why) => notes.add({ kind: 'user', key, field }, why);
  const { roles, groups, clientRoles } = heldBy(given, around, note);
  if (given.serviceAccountClientId !== undefined) {
    if (groups.length > 0) note('groups', 'a service account is in no group here: give its client their roles');
    return known(given.serviceAccountClientId)
      ? { account: { clientId: given.serviceAccountClientId, roles, clientRoles } }
      : undefined;
  }
  noteTies(given, note);
  const requiredActions = (given.requiredActions ?? []).flatMap((alias) => {
    const action = actionOf(alias);
    if (!action) note('requiredActions', `${alias}: nobody is asked for that here`);
    return action ?? [];
  });
  const user = {
    ...(given.id !== undefined && UUID.test(given.id) && { id: given.id.toLowerCase() }),
    username: key,
    email: given.email || null,
    emailVerified: given.emailVerified ?? false,
    firstName: given.firstName ?? null,
    lastName: given.lastName ?? null,
    enabled: given.enabled ?? true,
    attributes: given.attributes ?? {},
    requiredActions: [...new Set(requiredActions)],
    roles,
    groups,
    clientRoles,
    identities: identitiesOf(given, around, note),
    credentials: credentialsOf(given.credentials ?? [], note),
    ...(given.createdTimestamp !== undefined && { createdAt: Math.trunc(given.createdTimestamp) }),
  };
  const fit = fitted(user, around, note);
  return fit && { user: fit };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Note = (field: string | undefined, why: string) => void;

/** What somebody holds of what is carried over; the rest is told. */
function heldBy(given: User, { known, there }: Surroundings, note: Note) {
  const kept = (names: readonly string[], are: ReadonlySet<string> | undefined, field: string) => {
    if (!there) return [...names];
    for (const name of names) if (!are?.has(name)) note(field, `${name} isn’t carried over`);
    return names.filter((name) => are?.has(name));
  };
  const atClients = Object.entries(clientRolesOf(given.clientRoles, known, note)).map(
    ([clientId, names]) =>
      [clientId, kept(names, there?.clientRoles.get(clientId), `clientRoles.${clientId}`)] as const,
  );
  return {
    roles: kept(given.realmRoles ?? [], there?.roles, 'realmRoles'),
    groups: kept(given.groups ?? [], there?.groups, 'groups'),
    clientRoles: Object.fromEntries(atClients.filter(([, names]) => names.length > 0)),
  };
}

function identitiesOf({ federatedIdentities = [] }: User, { issuers }: Surroundings, note: Note) {
  return federatedIdentities.flatMap(({ identityProvider = '', userId = '', userName }) => {
    const issuer = issuers.get(identityProvider);
    const refused = (why: string) => {
      note('federatedIdentities', `${identityProvider}: ${why}`);
      return [];
    };
    if (!issuers.has(identityProvider)) return refused('the provider isn’t carried over');
    if (issuer === undefined) return refused('the provider has no issuer or entity id that says whose ids these are');
    if (userId === '') return refused('the link doesn’t say who they are there');
    return { identityProvider, issuer, subject: userId, ...(userName && { name: userName }) };
  });
}

function noteTies(given: User, note: (field: string, why: string) => void): void {
  if (given.federationLink)
    note('federationLink', 'their password is asked of the directory, once it is set up here and finds them');
  if ((given.clientConsents ?? []).length > 0) note('clientConsents', 'applications ask again');
}

function credentialsOf(given: readonly Credential[], note: (field: string, why: string) => void) {
  const credentials = given.flatMap((one) => {
    const translated = credentialOf(one);
    if ('credential' in translated) return translated.credential;
    note(`credentials.${one.type}`, translated.why);
    return [];
  });
  // Of passwords there is one.
  const first = credentials.findIndex(({ type }) => type === 'password');
  return credentials.filter(({ type }, i) => type !== 'password' || i === first);
}

const MOST_CUTS = 50;

/** By the schema and by the realm's profile; what they refuse is cut out. */
function fitted(user: unknown, { profile }: Surroundings, note: Note): UserDocument | undefined {
  let value: unknown = user;
  for (let cuts = 0; cuts < MOST_CUTS; cuts += 1) {
    const { data, error } = UserDocument.safeParse(value);
    const faults = error ? issuesAt('', error) : profile ? againstProfile(profile, data) : [];
    const [fault] = faults;
    if (!fault) return data;
    note(fault.path, fault.message);
    // Without a name there is nobody.
    value = fault.path === 'username' ? undefined : without(value, fault.path);
    if (value === undefined) return undefined;
  }
  note(undefined, 'too much of it doesn’t fit');
  return undefined;
}

function againstProfile(profile: UserProfile, user: UserDocument) {
  const { username, email = null, firstName = null, lastName = null, attributes = {} } = user;
  const after = { username, email, firstName, lastName, attributes };
  return profileFaults(profile, { by: 'document', before: undefined, after }).filter(({ path }) => path !== 'username');
}
