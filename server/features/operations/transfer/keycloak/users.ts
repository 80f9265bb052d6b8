// Translates Keycloak's users one by one for a realm document. Values that don't fit are reported, and the rest is
// carried over. docs/keycloak.md.

import { fieldErrorOf } from '../../../../contract/problem.ts';
import type { UserProfile } from '../../../../contract/user-profile.ts';
import type { UserDocument } from '../../../../contract/users.ts';
import { isUuid } from '../../../../crypto/ids.ts';
import { shownGroupPath } from '../../../../domain/group-names.ts';
import { profileFaults } from '../../../../domain/user-profile.ts';
import { readUser } from '../../../people/users/document-user.ts';
import { credentialOf } from './credentials.ts';
import { type Credential, User } from './export-shape.ts';
import { cutAt, withoutPath } from './fit.ts';
import { type Indices, readLeniently } from './lenient.ts';
import type { Notes } from './notes.ts';
import { placeBelow, theirField } from './places.ts';
import { clientRolesOf, type KnownClient } from './roles.ts';
import { actionOf } from './settings.ts';

/**
 * The realm's objects that users refer to. Without the realm's own file, every object that a user names is assumed to
 * exist.
 */
export interface Surroundings {
  known: KnownClient;
  /** The document's objects that users can hold; undefined: the files don't contain the realm. */
  there: There | undefined;
  /** Each carried-over identity provider's issuer by alias, for the subjects of its links; undefined: unknown. */
  issuers: ReadonlyMap<string, string | undefined>;
  profile: UserProfile | undefined;
  notes: Notes;
}
export interface There {
  clients: ReadonlySet<string>;
  roles: ReadonlySet<string>;
  groups: ReadonlySet<string>;
  clientRoles: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface TranslatedUser {
  user?: UserDocument;
  /** The client whose service account the user was in Keycloak, with the account's roles. */
  account?: { clientId: string; roles: string[]; clientRoles: Record<string, string[]> };
  note: Note;
}

export function userOf(
  value: unknown,
  around: Surroundings,
  { path, file }: { path: string; file: number },
): TranslatedUser {
  const { notes, known, there } = around;
  const indices: Indices = new WeakMap();
  const told = { kind: 'user', key: nameIn(value) ?? path, file };
  const note: Note = (field, why, below = field) => {
    const place = below === undefined ? '' : placeBelow(value, below, indices);
    notes.add({ ...told, field, path: place === '' ? path : `${path}.${place}` }, why);
  };
  const given = readLeniently(User, value, {
    indices,
    tell: (at, why) => notes.add({ ...told, field: at, path: at === '' ? path : `${path}.${at}` }, why),
  });
  if (!given) return { note };
  const { username: key } = given;
  const { roles, groups, clientRoles } = heldBy(given, around, note);
  if (given.serviceAccountClientId !== undefined) {
    if (groups.length > 0) note('groups', 'a service account is in no group here: give its client their roles');
    const clientId = given.serviceAccountClientId;
    const isThere = there ? there.clients.has(clientId) : known(clientId);
    return isThere ? { account: { clientId, roles, clientRoles }, note } : { note };
  }
  noteTies(given, note);
  if (given.id !== undefined && !isUuid(given.id)) note('id', 'is no UUID: the user gets a new id');
  const requiredActions = (given.requiredActions ?? []).flatMap((alias) => {
    const action = actionOf(alias);
    if (!action)
      note('requiredActions', `${alias}: this server has no such required action`, `requiredActions.${alias}`);
    return action ?? [];
  });
  const user = {
    ...(given.id !== undefined && isUuid(given.id) && { id: given.id.toLowerCase() }),
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
  return { ...(fit && { user: fit }), note };
}

const nameIn = (value: unknown): string | undefined => {
  const { username } = Object(value);
  return username === undefined || typeof username === 'object' ? undefined : String(username);
};

type Note = (field: string | undefined, why: string, below?: string) => void;

/**
 * The paths of the user's groups as they are here, where a slash within a name is escaped. Keycloak doesn't tell it from
 * others, or writes `~/` if `escape-slashes-in-group-path` is on.
 */
function groupsOf({ groups = [] }: User, there: ReadonlySet<string> | undefined): string[] {
  if (!there) return [...groups];
  const byShown = escapedPaths.get(there) ?? pathsByShown(there);
  escapedPaths.set(there, byShown);
  return groups.map((path) => (there.has(path) ? path : (byShown.get(path.replaceAll('~/', '/')) ?? path)));
}
/** Once for all users of a document. */
const escapedPaths = new WeakMap<ReadonlySet<string>, Map<string, string>>();
const pathsByShown = (paths: ReadonlySet<string>): Map<string, string> =>
  new Map([...paths].filter((path) => shownGroupPath(path) !== path).map((path) => [shownGroupPath(path), path]));

/** The user's carried-over roles, groups and clients; the others are reported. */
function heldBy(given: User, { known, there }: Surroundings, note: Note) {
  const kept = (names: readonly string[], are: ReadonlySet<string> | undefined, field: string) => {
    if (!there) return [...names];
    for (const name of names) if (!are?.has(name)) note(field, `${name} isn’t carried over`, `${field}.${name}`);
    return names.filter((name) => are?.has(name));
  };
  const atClients = Object.entries(clientRolesOf(given.clientRoles, known, note)).map(
    ([clientId, names]) =>
      [clientId, kept(names, there?.clientRoles.get(clientId), `clientRoles.${clientId}`)] as const,
  );
  return {
    roles: kept(given.realmRoles ?? [], there?.roles, 'realmRoles'),
    groups: kept(groupsOf(given, there?.groups), there?.groups, 'groups'),
    clientRoles: Object.fromEntries(atClients.filter(([, names]) => names.length > 0)),
  };
}

function identitiesOf({ federatedIdentities = [] }: User, { issuers }: Surroundings, note: Note) {
  return federatedIdentities.flatMap(({ identityProvider = '', userId = '', userName }) => {
    const issuer = issuers.get(identityProvider);
    const refused = (why: string) => {
      note('federatedIdentities', `${identityProvider}: ${why}`, `federatedIdentities.${identityProvider}`);
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
    note('federationLink', 'the directory checks their password, once it is set up here and finds them');
  if ((given.clientConsents ?? []).length > 0) note('clientConsents', 'applications ask again');
}

function credentialsOf(given: readonly Credential[], note: (field: string, why: string) => void) {
  const credentials = given.flatMap((one) => {
    const translated = credentialOf(one);
    if ('credential' in translated) return translated.credential;
    note(`credentials.${one.type}`, translated.why);
    return [];
  });
  // A user has one password: the first counts.
  const first = credentials.findIndex(({ type }) => type === 'password');
  return credentials.filter(({ type }, i) => type !== 'password' || i === first);
}

const MOST_CUTS = 50;

/** Checks the user against the schema and the realm's profile, and removes refused values. */
function fitted(given: unknown, { profile }: Surroundings, note: Note): UserDocument | undefined {
  let value: unknown = given;
  for (let cuts = 0; cuts < MOST_CUTS; cuts += 1) {
    const { user, errors = [] } = readUser(value, 'user');
    const faults = user
      ? profile
        ? againstProfile(profile, user)
        : []
      : errors.map(({ path, message }) => ({ path: path.replace(/^user\.?/, ''), message }));
    const [fault] = faults;
    if (!fault) return user;
    note(theirField('user', fault.path), fault.message, theirField('user', cutAt(value, fault.path).named));
    // A user without a username can't be imported.
    value = fault.path === 'username' ? undefined : withoutPath(value, fault.path);
    if (value === undefined) return undefined;
  }
  note(undefined, 'too much of it doesn’t fit');
  return undefined;
}

function againstProfile(profile: UserProfile, user: UserDocument) {
  const { username, email = null, firstName = null, lastName = null, attributes = {} } = user;
  const after = { username, email, firstName, lastName, attributes };
  return profileFaults(profile, { by: 'document', before: undefined, after })
    .filter(({ path }) => path !== 'username')
    .map(fieldErrorOf);
}
