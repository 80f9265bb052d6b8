// A user between its row and the wire, pure.
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

/** The user as the input wants it: what is left out keeps its value. */
export function mergedUser(current: User, input: Changes<UserInput>): User {
  const { password: _, passwordTemporary: __, ...fields } = input;
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const next: User = { ...current, ...given, id: current.id, createdAt: current.createdAt };
  return {
    ...next,
    requiredActions: set(next.requiredActions),
    roles: set(next.roles),
    groups: set(next.groups),
    // another address has to be verified anew, unless the caller says that it is
    emailVerified: input.emailVerified ?? (sameAddress(next.email, current.email) && current.emailVerified),
  };
}

/** A user of whom nothing was said but the username. */
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
