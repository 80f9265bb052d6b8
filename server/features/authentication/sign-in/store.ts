// SQL of sign-ins with a row; before the first change a cookie holds them (cookie.ts).

import { codeOf } from '../../../db/error-code.ts';
import { jsonText } from '../../../db/json.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import { REGISTER, SignInState } from './state.ts';

const UNIQUE_VIOLATION = '23505';

/** The session whose end also deletes the sign-in. A finished sign-in has none. */
const sessionOf = (state: SignInState): string | null => (state.is === 'done' ? null : (state.before?.id ?? null));

/** @param from inserts the row only if this query has a result */
const row = (realm: string, id: Buffer, state: SignInState, at: Date, expiresAt: Date, from = fragment``) => fragment`
  insert into sign_in (realm_id, id, state, created_at, expires_at, session_id)
  select ${realm}, ${id}::bytea, ${jsonText(state)}::jsonb, ${at}::timestamptz, ${expiresAt}::timestamptz,
    (select id from session where realm_id = ${realm} and id = ${sessionOf(state)}) ${from}`;

/** Updates the state if no other request has. */
const raised = (realm: string, id: Buffer, state: SignInState) => fragment`
  update sign_in set state = ${jsonText({ ...state, version: state.version + 1 })}::jsonb${state.is === 'done' ? fragment`, session_id = null` : fragment``}
  where realm_id = ${realm} and id = ${id} and (state ->> 'version')::int = ${state.version} returning id`;

/** @returns whether it is the first row of this sign-in */
export const insert = async (sql: Sql, realm: string, id: Buffer, state: SignInState, at: Date, expiresAt: Date) =>
  (await sql`${row(realm, id, state, at, expiresAt)} on conflict do nothing returning id`).length > 0;

/** Inserts the row at the end of the transaction, which fails if there is a row already: {@link isKept}. */
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
  // Another version of the server may have written it: a state that can't be parsed counts as expired.
  const state = row && SignInState.safeParse(row.state).data;
  return row && state && { state, expiresAt: row.expires_at };
}

/** The unfinished ones among them that continue at `continueAt`, apart from registrations. */
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

/** @returns false: another request has saved the sign-in in the meantime */
export const save = async (sql: Sql, realm: string, id: Buffer, state: SignInState) =>
  (await sql`${raised(realm, id, state)}`).length > 0;

/**
 * Continues the sign-in as `next` under another id; the former id keeps `left`.
 * @returns false: another request has saved the sign-in in the meantime
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

/** From now on the session with which the sign-in began can end without deleting it. */
export const detach = (sql: Sql, realm: string, id: Buffer) =>
  sql`update sign_in set session_id = null where realm_id = ${realm} and id = ${id}`;

export const remove = (sql: Sql, realm: string, ids: readonly Buffer[]) =>
  sql`delete from sign_in where realm_id = ${realm} and id = any(${ids}::bytea[])`;

/** Reads and deletes a finished sign-in that continues at `continueAt`. */
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
