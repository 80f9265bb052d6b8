// Whether what somebody proved still holds when something is written on the strength of it, as one rule for whoever does so:
// sessions, administrators' sessions, new passwords and codes. Between the two lies a hash, or half an hour at a form.
// It proves nothing itself (features/people/credentials).
import { codeOf } from '../db/error-code.ts';
import { type Fragment, fragment, type Sql } from '../db/sql.ts';

/** What somebody proved to be themselves. */
export interface Proven {
  userId: string;
  /** By id: a new password is a new credential, the same one under another hash is not. */
  credentials: readonly string[];
  /** The link to an identity provider, by id. */
  identity?: string | undefined;
  /** The session that proved more before, where they rely on it. */
  sessionId?: string | undefined;
}

/**
 * The person's id; null where the person is disabled or gone, or something of the proof is. Whoever takes it away at the same
 * moment waits for the transaction and then sees what it wrote, or is waited for. The person is locked first, as elsewhere.
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

/** What a sign-in rests on is there no more. */
export class Withdrawn extends Error {}

/** Within a transaction that writes something else than a row of theirs. @throws what {@link isWithdrawn} knows */
export async function mustHold(sql: Sql, realm: string, proven: Proven): Promise<void> {
  const [row] = await sql<{ holds: boolean }>`select ${provenUser(realm, proven)} is not null as holds`;
  if (!row?.holds) throw new Withdrawn();
}

const NOT_NULL_VIOLATION = '23502';

/** Whether something was refused because {@link provenUser} was nobody. */
export const isWithdrawn = (error: unknown): boolean =>
  error instanceof Withdrawn ||
  (codeOf(error) === NOT_NULL_VIOLATION && error instanceof Error && 'column' in error && error.column === 'user_id');
