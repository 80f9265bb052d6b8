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
  gone: ReadonlyMap<string, ReadonlySet<string>>;
  profile: UserProfile | undefined;
  notes: Notes;
}

export type TranslatedUser =
  | { user: UserDocument; account?: never }
  /** Whom a client's service account was there, with what it holds. */
  | { account: { clientId: string; roles: string[]; clientRoles: Record<string, string[]> }; user?: never }
  | undefined;

export function userOf(value: unknown, around: Surroundings, path: string): TranslatedUser {
  const { notes, known, gone } = around;
  const read = User.safeParse(value);
  if (!read.success) {
    const [fault] = issuesAt('', read.error);
    const { username = path } = Object(value);
    notes.add({ kind: 'user', key: String(username), field: fault?.path }, `can’t be read: ${fault?.message}`);
    return undefined;
  }
  const given = read.data;
  const { username: key } = given;
  const note = (field: string | undefined, why: string) => notes.add({ kind: 'user', key, field }, why);
  const clientRoles = clientRolesOf(given.clientRoles, known, note);
  const roles = (given.realmRoles ?? []).filter((name) => !gone.get('role')?.has(name));
  if (given.serviceAccountClientId !== undefined)
    return known(given.serviceAccountClientId)
      ? { account: { clientId: given.serviceAccountClientId, roles, clientRoles } }
      : undefined;
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
    groups: (given.groups ?? []).filter((path) => !gone.get('group')?.has(path)),
    clientRoles,
    credentials: credentialsOf(given.credentials ?? [], note),
    ...(given.createdTimestamp !== undefined && { createdAt: Math.trunc(given.createdTimestamp) }),
  };
  const fit = fitted(user, around, note);
  return fit && { user: fit };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function noteTies(given: User, note: (field: string, why: string) => void): void {
  for (const { identityProvider = '' } of given.federatedIdentities ?? [])
    note('federatedIdentities', `${identityProvider}: the link to it is made anew at the next sign-in by it`);
  if (given.federationLink) note('federationLink', 'the directory isn’t asked here yet: set a password');
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
function fitted(
  user: unknown,
  { profile }: Surroundings,
  note: (field: string | undefined, why: string) => void,
): UserDocument | undefined {
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
