// Finds roles that would contain themselves, among stored and changed roles. Decisions "Role". The composites are
// joined in this process: right after many were created, PostgreSQL's planner assumes that there are none, and chooses
// a nested loop.
import type { FieldError } from '../../../contract/problem.ts';
import type { Sql } from '../../../db/sql.ts';
import { clientRoleKey, joinPaths } from '../../../resource/items.ts';
import type { Wanted } from '../../../resource/part.ts';
import { inCircles, refersTo } from './composite.ts';

type Kind = 'role' | 'clientRole';
const isRole = (kind: string): kind is Kind => kind === 'role' || kind === 'clientRole';
const nameOf = (kind: string, key: string): string => `${kind} ${key}`;

/** Locks, so that changes of a realm's composite roles run one after the other, and no two complete a cycle together. */
export async function lockComposites(sql: Sql, realm: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('role_composite ' || ${realm}, 0))`;
}

/** The roles that each role contains, by their new names. */
async function storedTies(sql: Sql, realm: string, changes: readonly Wanted[]): Promise<Map<string, string[]>> {
  const children = new Map<string, string[]>();
  const ties = await sql<{ role_id: string; child_id: string }>`
    select role_id, child_id from role_composite where realm_id = ${realm}`;
  if (ties.length === 0) return children;
  const clients = await sql<{
    id: string;
    client_id: string;
  }>`select id, client_id from client where realm_id = ${realm}`;
  const clientIds = new Map(clients.map(({ id, client_id }) => [id, client_id]));
  const roles = await sql<{ id: string; name: string; client: string | null }>`
    select id, name, client from role where realm_id = ${realm}`;
  const names = new Map(
    roles.map(({ id, name, client }) => [
      id,
      client === null ? nameOf('role', name) : nameOf('clientRole', clientRoleKey(clientIds.get(client) ?? '', name)),
    ]),
  );
  for (const { id, kind, key, renamedFrom } of changes)
    if (id !== undefined && renamedFrom !== undefined) names.set(id, nameOf(kind, key));
  for (const { role_id, child_id } of ties) {
    const [parent, child] = [names.get(role_id), names.get(child_id)];
    if (parent === undefined || child === undefined) continue;
    const inside = children.get(parent);
    if (inside) inside.push(child);
    else children.set(parent, [child]);
  }
  return children;
}

/** Changed roles of this kind that would contain themselves, directly or through other roles. */
export async function circularRoles(sql: Sql, realm: string, all: readonly Wanted[], of: Kind): Promise<FieldError[]> {
  const changes = all.filter(({ kind }) => isRole(kind));
  const asked = changes
    .filter(({ changed }) => changed.includes('composite'))
    .map((change) => ({ name: nameOf(change.kind, change.key), inside: refersTo(change), change }));
  if (!asked.some(({ inside, change }) => change.kind === of && inside.length > 0)) return [];
  const children = await storedTies(sql, realm, changes);
  for (const { name, inside } of asked)
    children.set(
      name,
      inside.map(({ kind, key }) => nameOf(kind, key)),
    );
  const round = inCircles(children);
  return asked.flatMap(({ name, inside, change }) => {
    const through = inside.find(({ kind, key }) => round.has(nameOf(kind, key)));
    if (change.kind !== of || !round.has(name) || !through) return [];
    const message = `the role would contain itself, through the ${through.kind} ${through.key}`;
    return [{ path: joinPaths(change.path, 'composite'), message }];
  });
}
