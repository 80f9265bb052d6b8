// SQL of the claims of client scopes; each statement takes many scopes.
import { jsonText } from '../../../db/json.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Saved } from '../../../resource/part.ts';

/** Replaces the claims of these scopes. */
export async function setClaims(sql: Sql, realm: string, scopes: readonly Saved[]): Promise<void> {
  const rows = jsonText(scopes.map(({ key: name, fields: { claims } }) => ({ name, claims })));
  await sql`
    with scope as (
      select s.id, x.claims from client_scope s
      join jsonb_to_recordset(${rows}::jsonb) as x (name text, claims text[]) on x.name = s.name
      where s.realm_id = ${realm}
    ), wanted as (
      select s.id as scope_id, k.id as claim_id from scope s
      join claim k on k.realm_id = ${realm} and k.name = any(s.claims)
    ), dropped as (
      delete from client_scope_claim l using scope s where l.realm_id = ${realm} and l.scope_id = s.id
        and not exists (select from wanted w where w.scope_id = l.scope_id and w.claim_id = l.claim_id)
    )
    insert into client_scope_claim (realm_id, scope_id, claim_id) select ${realm}, scope_id, claim_id from wanted
    on conflict do nothing`;
}
