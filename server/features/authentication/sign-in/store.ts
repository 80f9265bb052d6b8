// SQL of sign-ins in which something has happened; before that a cookie holds them (cookie.ts). And of what required
// actions write.

import { codeOf } from '../../../db/error-code.ts';
import { jsonText } from '../../../db/json.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import { REGISTER, SignInState } from './state.ts';

const UNIQUE_VIOLATION = '23505';

/** The session with which the sign-in ends; one that is done stays when the session before it ends. */
const sessionOf = (state: SignInState): string | null => (state.is === 'done' ? null : (state.before?.id ?? null));

/** @param from where it is made only if something else was written */
const row = (realm: string, id: Buffer, state: SignInState, at: Date, expiresAt: Date, from = fragment``) => fragment`
  insert into sign_in (realm_id, id, state, created_at, expires_at, session_id)
  select ${realm}, ${id}::bytea, ${jsonText(state)}::jsonb, ${at}::timestamptz, ${expiresAt}::timestamptz,
    (select id from session where realm_id = ${realm} and id = ${sessionOf(state)}) ${from}`;

/** Written where nobody saved it meanwhile. */
const raised = (realm: string, id: Buffer, state: SignInState) => fragment`
  update sign_in set state = ${jsonText({ ...state, version: state.version + 1 })}::jsonb${state.is === 'done' ? fragment`, session_id = null` : fragment``}
  where realm_id = ${realm} and id = ${id} and (state ->> 'version')::int = ${state.version} returning id`;

/** @returns whether it is the first that is kept of this sign-in */
export const insert = async (sql: Sql, realm: string, id: Buffer, state: SignInState, at: Date, expiresAt: Date) =>
  (await sql`${row(realm, id, state, at, expiresAt)} on conflict do nothing returning id`).length > 0;

/** The same with the end of its transaction, which fails where something was kept before: {@link isKept}. */
export const insertLast = (
  run: Tx['atLast'],
  realm: string,
  id: Buffer,
  state: SignInState,
  at: Date,
  expiresAt: Date,
) => run`${row(realm, id, state, at, expiresAt)}`;

export const isKept = (error: unknown): boolean =>
  codeOf(error) === UNIQUE_VIOLATION &&
  error instanceof Error &&
  'constraint' in error &&
  error.constraint === 'sign_in_pkey';

export async function read(
  sql: Sql,
  realm: string,
  id: Buffer,
  now: Date,
): Promise<{ state: SignInState; expiresAt: Date } | undefined> {
  const [row] = await sql<{ state: unknown; expires_at: Date }>`
    select state, expires_at from sign_in where realm_id = ${realm} and id = ${id} and expires_at > ${now}`;
  // A replica of another version may have written it: what can't be read has expired.
  const state = row && SignInState.safeParse(row.state).data;
  return row && state && { state, expiresAt: row.expires_at };
}

/** Those of them that are to lead to `continueAt`, by no new account, and have not come to their end. */
export const inProgress = async (sql: Sql, realm: string, ids: readonly Buffer[], continueAt: string, now: Date) =>
  (
    await sql<{ id: Buffer }>`select id from sign_in where realm_id = ${realm} and id = any(${ids}::bytea[])
      and state #>> '{purpose,continueAt}' = ${continueAt} and state ->> 'is' <> 'done' and state ->> 'chosen' is distinct from ${REGISTER}
      and expires_at > ${now}`
  ).map(({ id }) => id);

export const atAddress = async (sql: Sql, realm: string, address: string, now: Date): Promise<Buffer | undefined> =>
  (
    await sql<{ id: Buffer }>`
      select id from sign_in
      where realm_id = ${realm} and state ? 'address' and state ->> 'address' = ${address} and expires_at > ${now}`
  )[0]?.id;

/** @returns whether nobody saved it meanwhile */
export const save = async (sql: Sql, realm: string, id: Buffer, state: SignInState) =>
  (await sql`${raised(realm, id, state)}`).length > 0;

/**
 * It goes on as `next` under another id; what stays under the old one is what was there before.
 * @returns whether nobody saved it meanwhile
 */
export const rotate = async (
  sql: Sql,
  realm: string,
  left: { id: Buffer; state: SignInState },
  next: { id: Buffer; state: SignInState },
  at: Date,
  expiresAt: Date,
) =>
  (
    await sql`with left_behind as (${raised(realm, left.id, left.state)})
      ${row(realm, next.id, next.state, at, expiresAt, fragment`from left_behind`)} returning id`
  ).length > 0;

/** From now on the session that it began with may end without it. */
export const detach = (sql: Sql, realm: string, id: Buffer) =>
  sql`update sign_in set session_id = null where realm_id = ${realm} and id = ${id}`;

export const remove = (sql: Sql, realm: string, ids: readonly Buffer[]) =>
  sql`delete from sign_in where realm_id = ${realm} and id = any(${ids}::bytea[])`;

/** Reads a sign-in that is done and leads to `continueAt`, and forgets it: it leads there once. */
export async function take(
  sql: Sql,
  realm: string,
  id: Buffer,
  continueAt: string,
  now: Date,
): Promise<SignInState | undefined> {
  const [row] = await sql<{ state: unknown }>`
    delete from sign_in where realm_id = ${realm} and id = ${id} and expires_at > ${now}
      and state @> '{"is": "done", "spent": false}' and state #>> '{purpose,continueAt}' = ${continueAt}
    returning state`;
  return row && SignInState.safeParse(row.state).data;
}
