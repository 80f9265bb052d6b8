// Writes the values that an identity provider has of a user, as far as the realm's user profile and taken names allow.
// Other values stay unchanged.

import { asciiEmail, isEmail } from '../../../contract/email.ts';
import type { By } from '../../../contract/events.ts';
import { withoutOldConfirmation } from '../../../contract/phone.ts';
import { Username } from '../../../contract/users.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import { profileFaults, readProfile } from '../../../domain/user-profile.ts';
import { changedFields } from '../../../http/changed-fields.ts';
import * as store from './store.ts';

export interface Provided {
  /** `username`, `email`, `firstName`, `lastName`. */
  properties: Readonly<Record<string, string>>;
  /** An attribute with an empty list is removed. */
  attributes: Readonly<Record<string, readonly string[]>>;
  roles: readonly Tie[];
  groups: readonly Tie[];
}
interface Tie {
  name: string;
  holds: boolean;
}
const LONGEST_NAME = 255;

/** @param from the provider, for the audit log; @param emailVerified whether a changed address counts as verified */
export async function applyProvided(
  tx: Tx,
  by: By,
  realm: string,
  userId: string,
  provided: Provided,
  { from, emailVerified }: { from: string; emailVerified: boolean },
): Promise<void> {
  const { sql, record } = tx;
  await store.lock(sql, realm, userId);
  const row = await store.find(sql, realm, userId);
  if (!row) return;
  const after = await fitting(sql, realm, row, provided, emailVerified);
  const fields = changedFields(row, after);
  if (fields.length > 0) await store.update(sql, realm, after);
  const roles = await tie(sql, realm, userId, 'roles', provided.roles);
  const groups = await tie(sql, realm, userId, 'groups', provided.groups);
  const changed = [...fields.map(camel), ...(roles ? ['roles'] : []), ...(groups ? ['groups'] : [])];
  if (changed.length === 0) return;
  const subject = userParty(userId, after.username);
  record({ type: 'USER_UPDATED', realm, by, subject, data: { fields: changed, identityProvider: from } });
}

const camel = (column: string): string => column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

async function fitting(
  sql: Sql,
  realm: string,
  row: store.UserWithLinks,
  { properties, attributes }: Provided,
  emailVerified: boolean,
): Promise<store.UserWithLinks> {
  const { username = row.username, firstName, lastName } = properties;
  const email = properties.email === undefined ? row.email : asciiEmail(properties.email);
  const { id } = row;
  const mayName =
    Username.safeParse(username).success && !(await store.takenName(sql, realm, { id, username, email: null }));
  const mayMail =
    email !== null && isEmail(email) && !(await store.takenName(sql, realm, { id, username: row.username, email }));
  const isNewAddress = mayMail && email?.toLowerCase() !== row.email?.toLowerCase();
  const wanted = {
    ...row,
    username: mayName ? username : row.username,
    email: isNewAddress ? email : row.email,
    email_verified: isNewAddress ? emailVerified : row.email_verified,
    first_name: firstName?.slice(0, LONGEST_NAME) ?? row.first_name,
    last_name: lastName?.slice(0, LONGEST_NAME) ?? row.last_name,
    attributes: withoutEmpty({ ...row.attributes, ...mutable(attributes) }),
  };
  const profile = await readProfile(sql, realm);
  const asData = (of: store.UserWithLinks) => ({ ...of, firstName: of.first_name, lastName: of.last_name });
  const faults = profileFaults(profile, { by: 'document', before: asData(row), after: asData(wanted) });
  for (const { path } of faults) undo(wanted, row, path);
  if ((await store.subjectTaken(sql, realm, wanted)) !== undefined) wanted.attributes = row.attributes;
  wanted.attributes = withoutOldConfirmation(row.attributes, wanted.attributes, attributes);
  return wanted;
}

/** Restores the former value. */
function undo(wanted: store.UserWithLinks, row: store.UserWithLinks, path: string): void {
  if (path === 'username') wanted.username = row.username;
  if (path === 'firstName') wanted.first_name = row.first_name;
  if (path === 'lastName') wanted.last_name = row.last_name;
  if (path === 'email') Object.assign(wanted, { email: row.email, email_verified: row.email_verified });
  const name = path.startsWith('attributes.') ? path.slice('attributes.'.length) : undefined;
  if (name === undefined) return;
  const { [name]: _, ...others } = wanted.attributes;
  wanted.attributes = Object.hasOwn(row.attributes, name) ? { ...others, [name]: row.attributes[name] ?? [] } : others;
}

const mutable = (attributes: Provided['attributes']): Record<string, string[]> =>
  Object.fromEntries(Object.entries(attributes).map(([name, values]) => [name, [...values]]));
const withoutEmpty = (attributes: Record<string, string[]>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(attributes).filter(([, values]) => values.length > 0));

/** @returns whether anything changed. Unknown names are skipped. */
async function tie(
  sql: Sql,
  realm: string,
  userId: string,
  what: 'roles' | 'groups',
  ties: readonly Tie[],
): Promise<boolean> {
  if (ties.length === 0) return false;
  const names = (holds: boolean) => ties.filter((one) => one.holds === holds).map(({ name }) => name);
  const [has, lacks] = [names(true), names(false)];
  const rows =
    what === 'roles'
      ? await sql`
          with gone as (
            delete from user_role ur using role r where ur.realm_id = ${realm} and ur.user_id = ${userId}
              and r.realm_id = ur.realm_id and r.id = ur.role_id and r.client is null and r.name = any(${lacks}::text[])
            returning ur.role_id
          ), added as (
            insert into user_role (realm_id, user_id, role_id)
            select ${realm}, ${userId}, id from role where realm_id = ${realm} and client is null and name = any(${has}::text[])
            on conflict do nothing returning role_id
          ) select role_id from gone union all select role_id from added`
      : await sql`
          with gone as (
            delete from group_member m using user_group g where m.realm_id = ${realm} and m.user_id = ${userId}
              and g.realm_id = m.realm_id and g.id = m.group_id and g.path = any(${lacks}::text[])
            returning m.group_id
          ), added as (
            insert into group_member (realm_id, group_id, user_id)
            select ${realm}, id, ${userId} from user_group where realm_id = ${realm} and path = any(${has}::text[])
            on conflict do nothing returning group_id
          ) select group_id from gone union all select group_id from added`;
  return rows.length > 0;
}
