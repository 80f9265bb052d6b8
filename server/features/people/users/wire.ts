// Converts users between rows and the API, pure.
import type { Changes } from '../../../contract/names.ts';
import type { User, UserInput } from '../../../contract/users.ts';
import type { UserRow, UserWithLinks } from './store.ts';

export const toWire = (row: UserWithLinks): User => ({
  id: row.id,
  username: row.username,
  email: row.email,
  emailVerified: row.email_verified,
  firstName: row.first_name,
  lastName: row.last_name,
  enabled: row.enabled,
  attributes: row.attributes,
  requiredActions: row.required_actions,
  roles: row.roles,
  groups: row.groups,
  createdAt: row.created_at.getTime(),
});

export const toRow = (user: User): UserRow => ({
  id: user.id,
  username: user.username,
  email: user.email,
  email_verified: user.emailVerified,
  first_name: user.firstName,
  last_name: user.lastName,
  enabled: user.enabled,
  attributes: user.attributes,
  required_actions: user.requiredActions,
  created_at: new Date(user.createdAt),
});

const set = <T extends string>(names: readonly T[]): T[] => [...new Set(names)].sort();

export const sameAddress = (one: string | null, other: string | null): boolean =>
  one?.toLowerCase() === other?.toLowerCase();

/** The user with the input's changes. A missing field keeps its value. */
export function mergedUser(current: User, input: Changes<UserInput>): User {
  const { password: _, passwordTemporary: __, ...fields } = input;
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const next: User = { ...current, ...given, id: current.id, createdAt: current.createdAt };
  return {
    ...next,
    requiredActions: set(next.requiredActions),
    roles: set(next.roles),
    groups: set(next.groups),
    // A changed address must be verified again, unless the caller sets `emailVerified`.
    emailVerified: input.emailVerified ?? (sameAddress(next.email, current.email) && current.emailVerified),
  };
}

/** A new user with a username and no other data. */
export const emptyUser = (id: string, username: string, at: Date): User => ({
  id,
  username,
  email: null,
  emailVerified: false,
  firstName: null,
  lastName: null,
  enabled: true,
  attributes: {},
  requiredActions: [],
  roles: [],
  groups: [],
  createdAt: at.getTime(),
});
