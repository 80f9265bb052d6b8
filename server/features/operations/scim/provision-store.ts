// SQL of provisioning: a target's objects, those that are due, and the results.
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';

export interface Target {
  id: string;
  name: string;
  url: string;
  enabled: boolean;
  users: boolean;
  groups: boolean;
  filter: string | null;
  mappings: Record<string, string>;
  secret: Buffer | null;
  paused_until: Date | null;
  failures: number;
}
export async function findTarget(sql: Sql, realm: string, id: string): Promise<Target | undefined> {
  const [row] = await sql<Target>`
    select t.id, t.name, t.url, t.enabled, t.users, t.groups, t.filter, t.mappings, t.secret,
      s.paused_until, coalesce(s.failures, 0) as failures
    from scim_target t left join scim_target_state s on s.realm_id = t.realm_id and s.target_id = t.id
    where t.realm_id = ${realm} and t.id = ${id}`;
  return row;
}

/** The target's address changed, so the records of the old one are dropped. */
export async function forgetLinks(sql: Sql, realm: string, target: string): Promise<void> {
  await sql`delete from scim_link where realm_id = ${realm} and target_id = ${target}`;
  await sql`delete from scim_link_member where realm_id = ${realm} and target_id = ${target}`;
}

const mark = (sql: Sql, realm: string, target: string, at: Date, objects: Fragment, forget = false) => sql`
  insert into scim_link (realm_id, target_id, kind, object_id, due_at)
  select ${realm}::text, ${target}::uuid, kind, id, ${at}::timestamptz from (${objects}) objects
  on conflict (realm_id, target_id, kind, object_id) do update set due_at = excluded.due_at, changes = scim_link.changes + 1,
    attempts = 0, digest = case when ${forget}::boolean then null else scim_link.digest end`;

/**
 * Marks these users and groups as due, with the groups that the users are in, or were in when last sent, and the groups
 * below. A deleted user is due if the target holds them. The locks keep a user erased meanwhile from returning
 * under the
 * old id.
 */
export const markDue = (
  sql: Sql,
  realm: string,
  target: string,
  at: Date,
  { users, groups }: { users: readonly string[]; groups: readonly string[] },
) =>
  mark(
    sql,
    realm,
    target,
    at,
    fragment`
      select 'user' as kind, id from (
        select id from realm_user where realm_id = ${realm} and id = any(${users}::uuid[]) for key share) present
      union select 'user', object_id from (
        select object_id from scim_link where realm_id = ${realm} and target_id = ${target} and kind = 'user'
          and object_id = any(${users}::uuid[]) for update) known
      union select 'group', id from unnest(${groups}::uuid[]) id
      union select 'group', b.id from user_group g join user_group b on b.realm_id = g.realm_id and starts_with(b.path, g.path || '/')
        where g.realm_id = ${realm} and g.id = any(${groups}::uuid[])
      union select 'group', group_id from group_member where realm_id = ${realm} and user_id = any(${users}::uuid[])
      union select 'group', group_id from scim_link_member
        where realm_id = ${realm} and target_id = ${target} and user_id = any(${users}::uuid[])`,
  );

/**
 * Marks all objects, present and deleted ones; locks like {@link markDue}.
 * @param forget send them even if they are unchanged
 */
export async function markAll(sql: Sql, realm: string, target: string, at: Date, { forget }: { forget: boolean }) {
  await mark(
    sql,
    realm,
    target,
    at,
    fragment`
      select 'user' as kind, id from (select id from realm_user where realm_id = ${realm} for key share) present
      union select 'group', id from user_group where realm_id = ${realm}
      union select kind, object_id from (
        select kind, object_id from scim_link where realm_id = ${realm} and target_id = ${target} for update) known`,
    forget,
  );
  await sql`
    insert into scim_target_state (realm_id, target_id, compared_at) values (${realm}, ${target}, ${at})
    on conflict (realm_id, target_id) do update set compared_at = ${at}, paused_until = null, failures = 0`;
}

/** Enabled targets with due objects, or whose last full comparison is too old. */
export const dueTargets = (sql: Sql, at: Date, comparedBefore: Date) => sql<{
  realm_id: string;
  id: string;
  stale: boolean;
}>`
  select t.realm_id, t.id, coalesce(s.compared_at < ${comparedBefore}, true) as stale
  from scim_target t left join scim_target_state s on s.realm_id = t.realm_id and s.target_id = t.id
  where t.enabled and coalesce(s.paused_until <= ${at}, true) and (coalesce(s.compared_at < ${comparedBefore}, true) or exists (
    select from scim_link l where l.realm_id = t.realm_id and l.target_id = t.id and l.due_at <= ${at}
      and coalesce(l.claimed_until < ${at}, true)))`;

export interface Link {
  kind: 'user' | 'group';
  object_id: string;
  remote_id: string | null;
  /** Hex. */
  digest: string | null;
  attempts: number;
  changes: number;
}
/** Claims some due links, users first; other processes skip them until `until`. */
export const claim = (
  sql: Sql,
  realm: string,
  target: string,
  { at, until, limit }: { at: Date; until: Date; limit: number },
) => sql<Link>`
  update scim_link l set claimed_until = ${until} from (
    select kind, object_id from scim_link
    where realm_id = ${realm} and target_id = ${target} and due_at <= ${at} and coalesce(claimed_until < ${at}, true)
    order by kind desc, due_at limit ${limit} for update skip locked
  ) due
  where l.realm_id = ${realm} and l.target_id = ${target} and l.kind = due.kind and l.object_id = due.object_id
  returning l.kind, l.object_id, l.remote_id, encode(l.digest, 'hex') as digest, l.attempts, l.changes`;

/** The result of one transfer to the target. */
export interface Result extends Link {
  error: string | null;
  /** When to try again, in epoch milliseconds; null: the object is in step. */
  again: number | null;
  /** Neither this server nor the target has the object any more. */
  gone: boolean;
  /** The target has just created the object, with another id than before. */
  made: boolean;
}
export async function finish(
  sql: Sql,
  realm: string,
  { id: target, url }: Pick<Target, 'id' | 'url'>,
  at: Date,
  results: readonly Result[],
) {
  const noted = await sql<Pick<Link, 'kind' | 'object_id'>>`
    with r as (
      select * from jsonb_to_recordset(${JSON.stringify(results)}::jsonb) as r (kind text, object_id uuid, remote_id text, digest text,
        attempts int, changes bigint, error text, again bigint, gone boolean)
    ), gone as (
      delete from scim_link l using r where l.realm_id = ${realm} and l.target_id = ${target} and l.kind = r.kind
        and l.object_id = r.object_id and r.gone and l.changes = r.changes
    ) update scim_link l set remote_id = r.remote_id, digest = decode(r.digest, 'hex'), attempts = r.attempts, error = r.error,
        claimed_until = null,
        due_at = case when l.changes <> r.changes then l.due_at when r.again is null then null else to_timestamp(r.again / 1000.0) end
      from r where l.realm_id = ${realm} and l.target_id = ${target} and l.kind = r.kind and l.object_id = r.object_id
        and not (r.gone and l.changes = r.changes)
      returning l.kind, l.object_id`;
  const known = new Set(noted.map(({ kind, object_id }) => `${kind} ${object_id}`));
  const unknown = results.filter(
    ({ kind, object_id, remote_id }) => kind === 'user' && remote_id !== null && !known.has(`user ${object_id}`),
  );
  if (unknown.length > 0) await removeErased(sql, realm, { id: target, url }, at, unknown);
  const made = results.filter((one) => one.kind === 'user' && one.made).map((one) => one.object_id);
  if (made.length === 0) return;
  await mark(
    sql,
    realm,
    target,
    at,
    fragment`select distinct 'group' as kind, m.group_id as id from group_member m
      join scim_target t on t.realm_id = m.realm_id and t.id = ${target} and t.groups
      where m.realm_id = ${realm} and m.user_id = any(${made}::uuid[])`,
  );
}
/** A user who was erased during the transfer is due for removal at the target, under a random id. */
const removeErased = (
  sql: Sql,
  realm: string,
  { id: target, url }: Pick<Target, 'id' | 'url'>,
  at: Date,
  results: readonly Result[],
) => sql`
  insert into scim_link (realm_id, target_id, kind, object_id, remote_id, due_at)
  select t.realm_id, t.id, 'user', gen_random_uuid(), r.remote_id, ${at}
  from jsonb_to_recordset(${JSON.stringify(results)}::jsonb) as r (object_id uuid, remote_id text)
  join scim_target t on t.realm_id = ${realm} and t.id = ${target} and t.url = ${url}
  where not exists (select from realm_user u where u.realm_id = t.realm_id and u.id = r.object_id)
    and not exists (select from scim_link l where l.realm_id = t.realm_id and l.target_id = t.id and l.kind = 'user'
      and l.remote_id = r.remote_id)`;

/** Releases links that were claimed and not tried. Finds them by the whole key: a target may have a link per user. */
export const release = (
  sql: Sql,
  realm: string,
  target: string,
  links: readonly Pick<Link, 'kind' | 'object_id'>[],
) => sql`
  update scim_link l set claimed_until = null
  from jsonb_to_recordset(${JSON.stringify(links)}::jsonb) as r (kind text, object_id uuid)
  where l.realm_id = ${realm} and l.target_id = ${target} and l.kind = r.kind and l.object_id = r.object_id`;

export interface MemberStep {
  group_id: string;
  user_id: string;
  remote_id: string;
  add: boolean;
}
/** The member changes for the target: members that exist there, compared with those that were sent. */
export const memberSteps = (sql: Sql, realm: string, target: string, groups: readonly string[]) => sql<MemberStep>`
  with wanted as (
    select m.group_id, m.user_id, l.remote_id from group_member m join scim_link l on l.realm_id = m.realm_id and l.target_id = ${target}
      and l.kind = 'user' and l.object_id = m.user_id and l.remote_id is not null
    where m.realm_id = ${realm} and m.group_id = any(${groups}::uuid[])
  ), sent as (
    select group_id, user_id, remote_id from scim_link_member
    where realm_id = ${realm} and target_id = ${target} and group_id = any(${groups}::uuid[])
  )
  (select *, true as add from wanted except select *, true from sent)
  union all (select *, false from sent except select *, false from wanted)
  order by group_id, add, user_id`;

export async function keepMembers(sql: Sql, realm: string, target: string, steps: readonly MemberStep[]) {
  const steady = JSON.stringify(steps);
  await sql`
    delete from scim_link_member m using jsonb_to_recordset(${steady}::jsonb) as r (group_id uuid, user_id uuid, remote_id text, add boolean)
    where m.realm_id = ${realm} and m.target_id = ${target} and m.group_id = r.group_id and m.user_id = r.user_id`;
  await sql`
    insert into scim_link_member (realm_id, target_id, group_id, user_id, remote_id)
    select ${realm}::text, ${target}::uuid, group_id, user_id, remote_id
    from jsonb_to_recordset(${steady}::jsonb) as r (group_id uuid, user_id uuid, remote_id text, add boolean) where add
    on conflict (realm_id, target_id, group_id, user_id) do update set remote_id = excluded.remote_id`;
}
/** A group that is created anew at the target has no members there. */
export const forgetMembers = (sql: Sql, realm: string, target: string, groups: readonly string[]) => sql`
  delete from scim_link_member where realm_id = ${realm} and target_id = ${target} and group_id = any(${groups}::uuid[])`;

export const note = (
  sql: Sql,
  realm: string,
  target: string,
  { at, error, pausedUntil }: { at: Date; error: string | null; pausedUntil: Date | null },
) => sql`
  insert into scim_target_state (realm_id, target_id, last_run_at, last_error, paused_until, failures)
  values (${realm}, ${target}, ${at}, ${error}, ${pausedUntil}, ${pausedUntil ? 1 : 0}::int)
  on conflict (realm_id, target_id) do update set last_run_at = ${at}, last_error = ${error}, paused_until = ${pausedUntil},
    failures = case when ${pausedUntil}::timestamptz is null then 0 else scim_target_state.failures + 1 end`;

export type State = 'inStep' | 'waiting' | 'failed';
export interface ObjectRow {
  kind: 'user' | 'group';
  id: string;
  name: string | null;
  remote_id: string | null;
  state: State;
  attempts: number;
  error: string | null;
  due_at: Date | null;
}
const state = fragment`case when l.due_at is null then 'inStep' when l.attempts > 0 then 'failed' else 'waiting' end`;

export const objects = (
  sql: Sql,
  realm: string,
  target: string,
  {
    after,
    wanted,
    limit,
  }: { after: { kind: string; id: string } | undefined; wanted: State | undefined; limit: number },
) => sql<ObjectRow>`
  select l.kind, l.object_id as id, coalesce(u.username, substr(g.path, 2)) as name, l.remote_id, ${state} as state, l.attempts,
    l.error, l.due_at
  from scim_link l
  left join realm_user u on l.kind = 'user' and u.realm_id = l.realm_id and u.id = l.object_id
  left join user_group g on l.kind = 'group' and g.realm_id = l.realm_id and g.id = l.object_id
  where l.realm_id = ${realm} and l.target_id = ${target} and (${wanted ?? null}::text is null or ${state} = ${wanted ?? null})
    and (${after?.kind ?? null}::text is null or (l.kind, l.object_id) > (${after?.kind ?? null}, ${after?.id ?? null}::uuid))
  order by l.kind, l.object_id limit ${limit}`;

/** All users and groups of the realm, and further ones that the target has, each with the target's record. */
export const everyObject = (
  sql: Sql,
  realm: string,
  target: string,
  { after, limit }: { after: { kind: string; id: string } | undefined; limit: number },
) => sql<Pick<Link, 'kind' | 'object_id' | 'remote_id' | 'digest'>>`
  select o.kind, o.id as object_id, l.remote_id, encode(l.digest, 'hex') as digest from (
    select 'user' as kind, id from realm_user where realm_id = ${realm}
    union select 'group', id from user_group where realm_id = ${realm}
    union select kind, object_id from scim_link where realm_id = ${realm} and target_id = ${target}
  ) o left join scim_link l on l.realm_id = ${realm} and l.target_id = ${target} and l.kind = o.kind and l.object_id = o.id
  where ${after?.kind ?? null}::text is null or (o.kind, o.id) > (${after?.kind ?? null}, ${after?.id ?? null}::uuid)
  order by o.kind, o.id limit ${limit}`;
