// Users as the admin API shows them: with the attributes that administrators may see. Entity tags are of this form.
import type { User } from '../../../contract/users.ts';
import type { Sql } from '../../../db/sql.ts';
import { readProfile, visibleTo } from '../../../domain/user-profile.ts';
import { find } from './store.ts';
import { toWire } from './wire.ts';

export async function usersShown(on: Sql, realm: string, users: readonly User[]): Promise<User[]> {
  const profile = await readProfile(on, realm);
  return users.map((user) => ({ ...user, attributes: visibleTo(profile, 'admin', user.attributes) }));
}

export async function userShown(on: Sql, realm: string, user: User): Promise<User> {
  const [one = user] = await usersShown(on, realm, [user]);
  return one;
}

/** @returns undefined: there is no such user */
export async function shownUserById(on: Sql, realm: string, id: string): Promise<User | undefined> {
  const row = await find(on, realm, id);
  return row && userShown(on, realm, toWire(row));
}
