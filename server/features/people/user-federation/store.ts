// SQL of directories, of the groups that they fill, and of syncs.

import type { z } from 'zod';
import type { Connection, DirectoryGroups, DirectoryUsers } from '../../../contract/user-federation.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import { sealed } from '../../../resource/at-rest.ts';
import { sealedAs } from '../../../resource/declared.ts';

/** Stored fields hold their defaults, so that none is missing. */
type Whole<T extends z.ZodType> = { [Field in keyof z.output<T>]-?: Exclude<z.output<T>[Field], undefined> };

export interface Directory {
  realm: string;
  id: string;
  alias: string;
  enabled: boolean;
  mode: 'import' | 'live';
  connection: Whole<typeof Connection>;
  users: Whole<typeof DirectoryUsers>;
  groups: Whole<typeof DirectoryGroups> | null;
  pageSize: number;
  removed: 'disable' | 'keep';
  away: 'refuse' | 'lastPassword';
  awaySeconds: number;
  /** The password of `bindDn`. */
  secret: string | null;
}

type DirectoryRow = Omit<Directory, 'secret' | 'realm'> & { secret: Buffer | null };

export async function directories(sql: Sql, seal: Seal, realm: string, which: Fragment): Promise<Directory[]> {
  const rows = await sql<DirectoryRow>`
    select id, alias, enabled, mode, connection, users, groups, page_size as "pageSize", removed, away,
      away_seconds as "awaySeconds", secret from directory
    where realm_id = ${realm} and ${which} order by alias collate "C"`;
  const secret = sealed(seal, sealedAs('directory'));
  return rows.map((row) => ({
    ...row,
    realm,
    secret: row.secret && secret.open(row.secret, { realm, id: row.id }),
  }));
}

export type SyncKind = 'full' | 'changed';
export interface SyncRow {
  id: string;
  directory_id: string;
  kind: SyncKind;
  state: 'waiting' | 'running' | 'done' | 'failed';
  created_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
  tries: number;
  read: number;
  total: number | null;
  added: number;
  updated: number;
  disabled: number;
  failed: number;
  errors: { entry: string; message: string }[];
  error: string | null;
  mark: string | null;
}
const columns = fragment`id, directory_id, kind, state, created_at, started_at, finished_at, tries, read, total, added, updated,
  disabled, failed, errors, error, mark`;
const inProgress = fragment`state in ('waiting', 'running')`;

/** @returns undefined: a sync of this directory is in progress already */
export const begin = async (
  sql: Sql,
  realm: string,
  { id, directoryId, kind, at }: { id: string; directoryId: string; kind: SyncKind; at: Date },
): Promise<SyncRow | undefined> =>
  (
    await sql<SyncRow>`
      insert into directory_sync (realm_id, id, directory_id, kind, state, created_at)
      values (${realm}, ${id}, ${directoryId}, ${kind}, 'waiting', ${at})
      on conflict ${fragment`(realm_id, directory_id) where state in ('waiting', 'running')`} do nothing returning ${columns}`
  )[0];

export const current = async (sql: Sql, realm: string, directoryId: string): Promise<SyncRow | undefined> =>
  (
    await sql<SyncRow>`
      select ${columns} from directory_sync where realm_id = ${realm} and directory_id = ${directoryId} and ${inProgress}`
  )[0];

export const sync = async (sql: Sql, realm: string, directoryId: string, id: string): Promise<SyncRow | undefined> =>
  (
    await sql<SyncRow>`
      select ${columns} from directory_sync where realm_id = ${realm} and directory_id = ${directoryId} and id = ${id}`
  )[0];

export const syncs = (
  sql: Sql,
  realm: string,
  directoryId: string,
  { before, limit }: { before: string | undefined; limit: number },
) =>
  sql<SyncRow>`
    select ${columns} from directory_sync
    where realm_id = ${realm} and directory_id = ${directoryId} ${before === undefined ? fragment`` : fragment`and id < ${before}`}
    order by id desc limit ${limit}`;

/** The latest change that a completed sync has seen. */
export const lastMark = async (sql: Sql, realm: string, directoryId: string): Promise<string | null> =>
  (
    await sql<{ mark: string | null }>`
      select mark from directory_sync where realm_id = ${realm} and directory_id = ${directoryId} and state = 'done'
      order by created_at desc limit 1`
  )[0]?.mark ?? null;

/**
 * Claims a sync for this process, if no other process works on it. A repeated sync reads everything again; everything that
 * it had written stays.
 */
export const claimSync = async (
  sql: Sql,
  realm: string,
  { id, runner, at, lostBefore }: { id: string; runner: string; at: Date; lostBefore: Date },
): Promise<SyncRow | undefined> =>
  (
    await sql<SyncRow>`
      update directory_sync set state = 'running', runner = ${runner}, alive_at = ${at}, started_at = coalesce(started_at, ${at}),
        tries = tries + 1, read = 0, failed = 0, errors = '[]', error = null
      where realm_id = ${realm} and id = ${id} and ${inProgress} and (runner is null or alive_at < ${lostBefore})
      returning ${columns}`
  )[0];

export interface Mine {
  realm: string;
  id: string;
  runner: string;
  at: Date;
}

/** Renews the claim. @returns false: another process works on the sync by now */
export const stillMine = async (sql: Sql, { realm, id, runner, at }: Mine): Promise<boolean> =>
  (
    await sql`
      update directory_sync set alive_at = ${at}
      where realm_id = ${realm} and id = ${id} and runner = ${runner} and state = 'running' returning id`
  ).length > 0;

export const setTotal = (sql: Sql, { realm, id, runner }: Mine, total: number) => sql`
  update directory_sync set total = ${total} where realm_id = ${realm} and id = ${id} and runner = ${runner}`;

export interface SyncProgress {
  read: number;
  added: number;
  updated: number;
  disabled: number;
  failures: { entry: string; message: string }[];
  /** The number of failures, if not all are in `failures`. */
  failed?: number;
}
export const MOST_ERRORS = 100;

export const progress = (
  sql: Sql,
  { realm, id, runner }: Mine,
  { read, added, updated, disabled, failures, failed = failures.length }: SyncProgress,
) => sql`
  update directory_sync set read = read + ${read}::int, added = added + ${added}::int, updated = updated + ${updated}::int,
    disabled = disabled + ${disabled}::int, failed = failed + ${failed}::int,
    errors = case when jsonb_array_length(errors) < ${MOST_ERRORS}::int
      then errors || ${JSON.stringify(failures.slice(0, MOST_ERRORS))}::jsonb else errors end
  where realm_id = ${realm} and id = ${id} and runner = ${runner}`;

export const endSync = async (
  sql: Sql,
  { realm, id, runner, at }: Mine,
  { state, error, mark }: { state: 'done' | 'failed'; error: string | null; mark: string | null },
): Promise<SyncRow | undefined> =>
  (
    await sql<SyncRow>`
      update directory_sync set state = ${state}, error = ${error}, mark = ${mark}, finished_at = ${at}, runner = null
      where realm_id = ${realm} and id = ${id} and runner = ${runner} returning ${columns}`
  )[0];

/** Gives the sync back for another process or a later try. */
export const release = (sql: Sql, { realm, id, runner, at }: Mine, error: string | null) => sql`
  update directory_sync set state = 'waiting', runner = null, alive_at = ${at}, error = ${error}
  where realm_id = ${realm} and id = ${id} and runner = ${runner}`;

/** Syncs whose process has not renewed its claim for long. */
export const abandonedSyncs = (sql: Sql, before: Date) => sql<{ realm: string; id: string }>`
  select realm_id as realm, id from directory_sync
  where ${inProgress} and coalesce(alive_at, created_at) < ${before} order by realm_id, id`;

/**
 * Directories whose next sync is due. It is a full sync if there was none for a day: only a full sync finds entries that
 * are gone.
 */
export const dueSyncs = (sql: Sql, at: Date) => sql<{ realm: string; id: string; alias: string; full: boolean }>`
  select d.realm_id as realm, d.id, d.alias, not exists (
    select from directory_sync f where f.realm_id = d.realm_id and f.directory_id = d.id and f.kind = 'full' and f.state = 'done'
      and f.created_at > ${at}::timestamptz - interval '1 day') as full
  from directory d
  where d.enabled and d.schedule > 0 and not exists (
    select from directory_sync s where s.realm_id = d.realm_id and s.directory_id = d.id
      and (s.state in ('waiting', 'running') or s.created_at > ${at}::timestamptz - d.schedule * interval '1 second'))
  order by d.realm_id, d.alias collate "C"`;

/**
 * Autovacuum does the same within a minute or two. Until then PostgreSQL estimates one row for the directory, and compares
 * every user of a page with every user of the directory. If the server's role doesn't own the tables, this only logs a
 * warning.
 */
export const analyze = (sql: Sql): Promise<unknown> => sql`analyze directory_person, realm_user`;

export const hasPeople = async (sql: Sql, realm: string, directoryId: string): Promise<boolean> =>
  (await sql`select from directory_person where realm_id = ${realm} and directory_id = ${directoryId} limit 1`).length >
  0;

/** The realm's groups by each of these paths, whatever its case; a group with just this path goes first. */
export const groupsAt = async (
  sql: Sql,
  realm: string,
  paths: readonly string[],
): Promise<Map<string, { id: string; path: string }>> =>
  new Map(
    (
      await sql<{ asked: string; path: string; id: string }>`
        select a.path as asked, g.path, g.id from unnest(${paths}::text[]) as a (path)
        join user_group g on g.realm_id = ${realm} and lower(g.path) = lower(a.path)
        order by g.path = a.path, g.id`
    ).map(({ asked, path, id }) => [asked, { id, path }]),
  );

/** @returns groups that no entry fills any more, because their entry has another name now */
export const linkGroups = async (
  sql: Sql,
  realm: string,
  directoryId: string,
  syncId: string | null,
  groups: readonly { external: string; groupId: string }[],
): Promise<string[]> => {
  const [externals, ids] = [groups.map(({ external }) => external), groups.map(({ groupId }) => groupId)];
  const left = await sql<{ group_id: string }>`
    select g.group_id from directory_group g
    join unnest(${externals}::text[], ${ids}::uuid[]) as e (external_id, group_id) using (external_id)
    where g.realm_id = ${realm} and g.directory_id = ${directoryId} and g.group_id <> e.group_id`;
  await sql`
    insert into directory_group as g (realm_id, directory_id, external_id, group_id, seen_in)
    select ${realm}, ${directoryId}, e.external_id, e.group_id, ${syncId}::uuid
    from unnest(${externals}::text[], ${ids}::uuid[]) as e (external_id, group_id)
    on conflict (realm_id, directory_id, external_id) do update set group_id = excluded.group_id,
      seen_in = coalesce(excluded.seen_in, g.seen_in)`;
  if (left.length === 0) return [];
  const ofOthers = new Set(await groupsOf(sql, realm, directoryId));
  return left.map(({ group_id: id }) => id).filter((id) => !ofOthers.has(id));
};

/**
 * Forgets groups that a full sync has not seen. @returns those that no other entry fills, for example one with the same
 * name
 */
export const unseenGroups = async (sql: Sql, realm: string, directoryId: string, syncId: string): Promise<string[]> =>
  (
    await sql<{ group_id: string }>`
      with gone as (
        delete from directory_group where realm_id = ${realm} and directory_id = ${directoryId} and seen_in is distinct from ${syncId}
        returning group_id
      ) select distinct group_id from gone where not exists (
        select from directory_group g where g.realm_id = ${realm} and g.directory_id = ${directoryId}
          and g.group_id = gone.group_id and g.seen_in = ${syncId})`
  ).map(({ group_id: id }) => id);

export const groupsOf = async (sql: Sql, realm: string, directoryId: string): Promise<string[]> =>
  (
    await sql<{ group_id: string }>`
      select distinct group_id from directory_group where realm_id = ${realm} and directory_id = ${directoryId}`
  ).map(({ group_id: id }) => id);

/** The directory and the entry of a user who comes from a directory. */
export const linkOf = async (sql: Sql, realm: string, userId: string | null) =>
  (
    await sql<{ directory_id: string; external_id: string; user_id: string }>`
      select directory_id, external_id, user_id from directory_person where realm_id = ${realm} and user_id = ${userId}`
  )[0];

export const userOf = async (
  sql: Sql,
  realm: string,
  directoryId: string,
  external: string | null,
): Promise<string | undefined> =>
  (
    await sql<{ user_id: string }>`
      select user_id from directory_person
      where realm_id = ${realm} and directory_id = ${directoryId} and external_id = ${external}`
  )[0]?.user_id;

export const aliasOf = async (sql: Sql, realm: string, userId: string): Promise<string | undefined> =>
  (
    await sql<{ alias: string }>`
      select d.alias from directory_person p join directory d on d.realm_id = p.realm_id and d.id = p.directory_id
      where p.realm_id = ${realm} and p.user_id = ${userId}`
  )[0]?.alias;
