// Checks that a user's proof (a password, a link) still holds when a row is written because of it: one rule for sessions, admin
// sessions, new passwords and codes. Between the proof and the write lies the time of a hash, or half an hour at a form.
// features/people/credentials checks the proof itself.
import { codeOf } from '../db/error-code.ts';
import { type Fragment, fragment, type Sql } from '../db/sql.ts';

/** The proof by which a user has identified themselves. */
export interface Proven {
  userId: string;
  /** Ids of credentials. A new password is a new credential; a new hash of the same password is not. */
  credentials: readonly string[];
  /** The link to an identity provider, by id. */
  identity?: string | undefined;
  /** The earlier session whose factors the proof relies on. */
  sessionId?: string | undefined;
}

/**
 * The user's id; null if the user is disabled or deleted, or a part of the proof was removed. A transaction that removes a part at
 * the same moment waits for this one and then sees its writes, or this one waits. The user's row is locked first, as everywhere.
 */
export const provenUser = (realm: string, { userId, credentials, identity, sessionId }: Proven): Fragment => fragment`(
  select u.id from (
    select realm_id, id from realm_user where realm_id = ${realm} and id = ${userId} and enabled for key share
  ) u
  where ${credentials.length}::int = (
    select count(*) from (
      select from credential c
      where c.realm_id = u.realm_id and c.user_id = u.id and c.id = any(${credentials}::uuid[]) for key share
    ) held
  )${identity === undefined ? NOTHING : identityOf(identity)}${sessionId === undefined ? NOTHING : sessionOf(sessionId)})`;

const NOTHING = fragment``;
const identityOf = (id: string) => fragment` and exists (
    select from identity_link l where l.realm_id = u.realm_id and l.user_id = u.id and l.id = ${id} for key share
  )`;
const sessionOf = (id: string) => fragment` and exists (
    select from session s where s.realm_id = u.realm_id and s.user_id = u.id and s.id = ${id} for key share
  )`;

/** A part of the proof was removed. */
export class Withdrawn extends Error {}

/** For a transaction that does not insert {@link provenUser} itself. @throws Withdrawn, see {@link isWithdrawn} */
export async function mustHold(sql: Sql, realm: string, proven: Proven): Promise<void> {
  const [row] = await sql<{ holds: boolean }>`select ${provenUser(realm, proven)} is not null as holds`;
  if (!row?.holds) throw new Withdrawn();
}

const NOT_NULL_VIOLATION = '23502';

/** Whether a write failed because {@link provenUser} was null. */
export const isWithdrawn = (error: unknown): boolean =>
  error instanceof Withdrawn ||
  (codeOf(error) === NOT_NULL_VIOLATION && error instanceof Error && 'column' in error && error.column === 'user_id');
