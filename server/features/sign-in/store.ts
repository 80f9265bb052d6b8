// SQL of sign-ins under way.
import { jsonText } from '../../db/json.ts';
import type { Sql } from '../../db/sql.ts';
import { SignInState } from './state.ts';

export const insert = (sql: Sql, realm: string, id: Buffer, state: SignInState, at: Date, expiresAt: Date) => sql`
  insert into sign_in (realm_id, id, state, created_at, expires_at)
  values (${realm}, ${id}, ${jsonText(state)}::jsonb, ${at}, ${expiresAt})`;

export async function read(sql: Sql, realm: string, id: Buffer, now: Date): Promise<SignInState | undefined> {
  const [row] = await sql<{ state: unknown }>`
    select state from sign_in where realm_id = ${realm} and id = ${id} and expires_at > ${now}`;
  // A replica of another version may have written it: what can't be read has expired.
  return row && SignInState.safeParse(row.state).data;
}

/** @returns whether nobody saved it meanwhile */
export const save = async (sql: Sql, realm: string, id: Buffer, state: SignInState) =>
  (
    await sql`update sign_in set state = ${jsonText({ ...state, version: state.version + 1 })}::jsonb
      where realm_id = ${realm} and id = ${id} and (state ->> 'version')::int = ${state.version} returning id`
  ).length > 0;

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
      and state ? 'done' and state ->> 'continueAt' = ${continueAt}
    returning state`;
  return row && SignInState.safeParse(row.state).data;
}
