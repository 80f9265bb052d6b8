// SQL of a realm's history of applied plans.
import { z } from 'zod';
import type { Party } from '../../../contract/events.ts';
import type { Sql } from '../../../db/sql.ts';
import type { OwnedRow } from '../../../domain/ownership.ts';
import { RecordedChange, RecordedMove } from './applied-plan.ts';

export interface Counts {
  create: number;
  update: number;
  delete: number;
}
interface Row {
  revision: number;
  applied_at: Date;
  manager: string;
  actor: Party | null;
  undoes: number | null;
  counts: Counts;
}
export interface Listed extends Omit<Row, 'applied_at'> {
  appliedAt: Date;
}
export interface Recorded {
  changes: RecordedChange[];
  moves: RecordedMove[];
}

/** Owners of these objects, before the plan changes them. */
export const readOwnersOf = (
  sql: Sql,
  realm: string,
  objects: readonly { kind: string; key: string }[],
): Promise<OwnedRow[]> => sql<OwnedRow>`
  select m.kind, m.key, m.manager, m.fields, m.kept from managed_object m
  join unnest(${objects.map((o) => o.kind)}::text[], ${objects.map((o) => o.key)}::text[]) as o (kind, key)
    on m.kind = o.kind and m.key = o.key
  where m.realm_id = ${realm}`;

/**
 * Adds a plan, and deletes the oldest plans beyond the realm's limit.
 * @param fresh the limit for a realm that sets none
 */
export async function keepPlan(
  sql: Sql,
  realm: string,
  plan: {
    revision: number;
    at: Date;
    manager: string;
    eventId: string;
    undoes?: number | undefined;
    counts: Counts;
    recorded: Recorded | undefined;
  },
  fresh: number,
): Promise<void> {
  const { revision, at, manager, eventId, undoes, counts, recorded } = plan;
  const json = (value: unknown) => (value === undefined ? null : JSON.stringify(value));
  await sql`
    insert into applied_plan (realm_id, revision, applied_at, manager, event_id, undoes, counts, changes, ownership)
    values (${realm}, ${revision}, ${at}, ${manager}, ${eventId}, ${undoes ?? null}, ${json(counts)}::jsonb,
      ${json(recorded?.changes)}::jsonb, ${json(recorded?.moves)}::jsonb)`;
  await sql`
    delete from applied_plan where realm_id = ${realm} and revision <= (
      select revision from applied_plan where realm_id = ${realm} order by revision desc limit 1
      offset (select coalesce((settings ->> 'mostAppliedPlans')::int, ${fresh}::int) from realm where realm_id = ${realm}))`;
}

/** Restores managers of restored objects: a manager that owns nothing was deleted. */
export async function recallManagers(sql: Sql, realm: string, names: readonly string[], at: Date): Promise<void> {
  await sql`
    insert into manager (realm_id, name, last_applied_at) select ${realm}, name, ${at} from unnest(${names}::text[]) name
    on conflict do nothing`;
}

const listed = ({ applied_at: appliedAt, ...row }: Row): Listed => ({ ...row, appliedAt });

export async function listPlans(
  sql: Sql,
  realm: string,
  { before, manager, limit }: { before: number | undefined; manager: string | undefined; limit: number },
): Promise<Listed[]> {
  const rows = await sql<Row>`
    select p.revision, p.applied_at, p.manager, e.actor, p.undoes, p.counts from applied_plan p
    left join event e on e.realm_id = p.realm_id and e.id = p.event_id
    where p.realm_id = ${realm} and (${before ?? null}::bigint is null or p.revision < ${before ?? null})
      and (${manager ?? null}::text is null or p.manager = ${manager ?? null})
    order by p.revision desc limit ${limit}`;
  return rows.map(listed);
}

const Stored = z.object({ changes: z.array(RecordedChange), moves: z.array(RecordedMove) });

/** A plan; `recorded` is undefined if the plan was too large. */
export async function readPlan(
  sql: Sql,
  realm: string,
  revision: number,
): Promise<(Listed & { recorded: Recorded | undefined }) | undefined> {
  const [row] = await sql<Row & { changes: unknown; ownership: unknown }>`
    select p.revision, p.applied_at, p.manager, e.actor, p.undoes, p.counts, p.changes, p.ownership from applied_plan p
    left join event e on e.realm_id = p.realm_id and e.id = p.event_id
    where p.realm_id = ${realm} and p.revision = ${revision}`;
  if (!row) return undefined;
  const { changes, ownership: moves, ...rest } = row;
  return { ...listed(rest), recorded: changes === null ? undefined : Stored.parse({ changes, moves }) };
}
