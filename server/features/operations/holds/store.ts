// SQL of holds. domain/ownership.ts adds the new name of a renamed object to its holds.
import type { Party } from '../../../contract/events.ts';
import type { Sql } from '../../../db/sql.ts';

/** Of a hold: all objects of the kind. */
export const ALL = '';

export interface HoldRow {
  id: string;
  reason: string;
  actor: Party | null;
  placed_at: Date;
  until: Date;
  what: { kind: string; key: string }[];
}

export const listHolds = (
  sql: Sql,
  realm: string,
  { after, id = null, limit }: { after?: { at: Date; id: string } | undefined; id?: string | null; limit: number },
): Promise<HoldRow[]> => sql<HoldRow>`
  select h.id, h.reason, h.actor, h.placed_at, h.until,
    (select jsonb_agg(jsonb_build_object('kind', o.kind, 'key', o.key) order by o.kind, o.key)
     from held_object o where o.realm_id = h.realm_id and o.hold_id = h.id) as what
  from hold h
  where h.realm_id = ${realm} and (${id}::uuid is null or h.id = ${id})
    and (${after?.id ?? null}::uuid is null or (h.placed_at, h.id) > (${after?.at ?? null}::timestamptz, ${after?.id ?? null}::uuid))
  order by h.placed_at, h.id limit ${limit}`;

/** A held object with its hold. */
export interface HeldRow {
  kind: string;
  key: string;
  id: string;
  reason: string;
  actor: Party | null;
  until: Date;
}
/** The held objects of the realm. Of several holds on one object, the one with the latest end comes first. */
export const readHeld = (sql: Sql, realm: string): Promise<HeldRow[]> => sql<HeldRow>`
  select o.kind, o.key, h.id, h.reason, h.actor, h.until
  from held_object o join hold h on h.realm_id = o.realm_id and h.id = o.hold_id
  where o.realm_id = ${realm} order by h.until desc, h.id`;

/** The number of holds; undefined: there is no such realm. */
export async function countHolds(sql: Sql, realm: string): Promise<number | undefined> {
  const [row] = await sql<{ count: number }>`
    select (select count(*)::int from hold h where h.realm_id = r.realm_id) as count
    from realm r where r.realm_id = ${realm}`;
  return row?.count;
}

/** Which of these, by their numbers, no manager owns. */
export async function unmanagedOf(
  sql: Sql,
  realm: string,
  what: readonly { kind: string; key: string }[],
): Promise<number[]> {
  const rows = await sql<{ n: number }>`
    select (w.n - 1)::int as n
    from unnest(${what.map(({ kind }) => kind)}::text[], ${what.map(({ key }) => key)}::text[]) with ordinality as w (kind, key, n)
    where not exists (select from managed_object m
      where m.realm_id = ${realm} and m.kind = w.kind and (w.key = ${ALL} or m.key = w.key))
    order by w.n`;
  return rows.map(({ n }) => n);
}

export async function insertHold(sql: Sql, realm: string, { what, ...hold }: HoldRow): Promise<void> {
  await sql`
    insert into hold (realm_id, id, reason, actor, placed_at, until)
    values (${realm}, ${hold.id}, ${hold.reason}, ${hold.actor && JSON.stringify(hold.actor)}::jsonb, ${hold.placed_at},
      ${hold.until})`;
  await sql`
    insert into held_object (realm_id, hold_id, kind, key)
    select ${realm}, ${hold.id}, w.kind, w.key
    from unnest(${what.map(({ kind }) => kind)}::text[], ${what.map(({ key }) => key)}::text[]) as w (kind, key)
    on conflict do nothing`;
}

/** Deletes the hold and returns it; undefined: it has ended already. */
export async function deleteHold(sql: Sql, realm: string, id: string): Promise<HoldRow | undefined> {
  const [row] = await listHolds(sql, realm, { id, limit: 1 });
  const gone = await sql`delete from hold where realm_id = ${realm} and id = ${id} returning id`;
  return gone.length > 0 ? row : undefined;
}
