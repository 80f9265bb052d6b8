// SQL of introspection, which only reads.

import type { Sql } from '../../../db/sql.ts';
import type { GrantData } from '../../../domain/grant-data.ts';
import { type Person, personOf, readPersonRow } from '../../../domain/person.ts';
import { type Cutoffs, sessionLives } from '../../../domain/session.ts';

export async function liveUser(sql: Sql, realm: string, id: string): Promise<{ username: string } | undefined> {
  const [row] = await sql<{ username: string }>`
    select username from realm_user where realm_id = ${realm} and id = ${id} and enabled`;
  return row;
}

export async function liveFamily(
  sql: Sql,
  realm: string,
  { familyId, hash, client, cutoffs }: { familyId: string; hash: Buffer; client: string; cutoffs: Cutoffs },
) {
  const [row] = await sql<{
    user_id: string;
    username: string;
    subject: string | null;
    grant_data: GrantData;
    created_at: Date;
    expires_at: Date;
  }>`
    select f.user_id, u.username, u.subject, f.grant_data, f.created_at, f.expires_at
    from refresh_family f join realm_user u on u.realm_id = f.realm_id and u.id = f.user_id
      left join session s on s.realm_id = f.realm_id and s.id = f.session_id
    where f.realm_id = ${realm} and f.id = ${familyId} and f.client = ${client} and f.token_hash = ${hash}
      and f.revoked_at is null and f.expires_at > ${cutoffs.now} and u.enabled
      and (f.session_id is null or (${sessionLives(cutoffs)}))`;
  return row;
}

/** The enabled user for the claims. */
export async function readPerson(sql: Sql, realm: string, userId: string): Promise<Person | undefined> {
  const row = await readPersonRow(sql, realm, userId);
  return row?.enabled ? personOf(row) : undefined;
}
