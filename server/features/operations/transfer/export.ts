// Exports the realm document: from one snapshot, streamed, sorted, and byte for byte the same while nothing changes.
// Specification 2.10; decisions "Import, export, plan".
import { Readable } from 'node:stream';
import type pg from 'pg';
import { Problem } from '../../../contract/problem.ts';
import { sections } from '../../../contract/sections.ts';
import { FORMAT_VERSION, furtherSections } from '../../../contract/transfer.ts';
import { type Sql, sqlOver } from '../../../db/sql.ts';
import { hasNoRules, readProfile } from '../../../domain/user-profile.ts';
import { stableJson } from '../../../resource/compare.ts';
import type { Fields, RealmPart } from '../../../resource/part.ts';
import type { UserTransfer } from '../../people/users/transfer.ts';
import { type Defaults, withoutDefaults } from './defaults.ts';
import { withPlaceholders } from './secrets.ts';
import { readRevision } from './store.ts';
import { withUnfit } from './unfit.ts';

/** Text is sent in pieces of about this size. */
const PIECE = 64 * 1024;
/** Every top-level key that an export can have. */
const sectionKeys = [...Object.keys(sections), 'formatVersion', 'requiredEnv'].sort();
const BATCH = 500;

export interface Exported {
  revision: number;
  /** Undefined if the caller already has this revision. */
  body: Readable | undefined;
}

export function createExport({
  pool,
  parts,
  users,
  defaults,
}: {
  pool: pg.Pool;
  parts: readonly RealmPart[];
  users: UserTransfer;
  defaults: Defaults;
}) {
  /** A seeded section stays where it is empty: the realm has lost its seeds, and so shall the realm made of the export. */
  const seeded = new Set<string>(parts.flatMap((part) => (part.seeded ? part.section : [])));
  const leavable = (key: string) => furtherSections.has(key) && !seeded.has(key);

  /** Opens one snapshot for all connections of the export. */
  async function snapshot(): Promise<{ sql: Sql; end(): Promise<void> }> {
    const client = await pool.connect();
    let ended = false;
    const end = async () => {
      if (ended) return;
      ended = true;
      const failure = await client.query('rollback').then(
        () => undefined,
        (error: Error) => error,
      );
      client.release(failure);
    };
    try {
      await client.query('begin isolation level repeatable read read only');
      return { sql: sqlOver(client), end };
    } catch (error) {
      await end();
      throw error;
    }
  }

  return {
    /** @throws Problem `not-found` */
    async export(
      realm: string,
      {
        withUsers,
        withDefaults,
        known,
      }: { withUsers: boolean; withDefaults: boolean; known(revision: number): boolean },
    ): Promise<Exported> {
      const seeds = withDefaults ? undefined : await defaults.seeds();
      const { sql, end } = await snapshot();
      try {
        const revision = await readRevision(sql, realm);
        if (revision === undefined) throw new Problem('not-found', `There is no realm ${realm}`);
        if (known(revision)) return { revision, body: undefined };
        const { printed, requiredEnv } = await print(sql, { realm, parts, withUsers, seeds });
        const profile = await readProfile(sql, realm);
        const rows = withUsers ? await usersOf(sql, realm) : undefined;
        const people = rows && (hasNoRules(profile) ? rows : withUnfit(rows, profile));
        const body = Readable.from(pieces(document(printed, requiredEnv, people, seeds !== undefined)), {
          objectMode: false,
        });
        body.once('close', () => void rows?.destroy());
        return { revision, body };
      } finally {
        // The users' own connection has the snapshot now, so a slow reader holds no connection of the request path.
        await end();
      }
    },
  };

  async function usersOf(sql: Sql, realm: string): Promise<Readable> {
    const [row] = await sql<{ snapshot: string }>`select pg_export_snapshot() as snapshot`;
    return users.rows(realm, row?.snapshot ?? '');
  }

  async function* document(
    printed: ReadonlyMap<string, unknown>,
    requiredEnv: readonly string[],
    rows: AsyncIterable<Buffer> | undefined,
    bare: boolean,
  ): AsyncGenerator<string | Buffer> {
    let open = '{\n';
    for (const key of sectionKeys) {
      if (key === 'users' && !rows) continue;
      const empty = isEmpty(key === 'requiredEnv' ? requiredEnv : printed.get(key));
      if (empty && (bare ? !ALWAYS.has(key) : leavable(key))) continue;
      yield `${open}${JSON.stringify(key)}:`;
      open = ',\n';
      if (key === 'users' && rows) yield* userList(rows);
      else if (key === 'formatVersion') yield String(FORMAT_VERSION);
      else if (key === 'requiredEnv') yield stableJson(requiredEnv);
      else yield* list(printed.get(key) ?? []);
    }
    yield '\n}\n';
  }
}

const ALWAYS = new Set(['formatVersion', 'users']);
const isEmpty = (section: unknown): boolean => Object.keys(Object(section ?? {})).length === 0;

const withoutPeople = ({ people = [] }: RealmPart, fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([field]) => !people.includes(field)));

/** Each section as its part prints it, and the names of its placeholders. */
async function print(
  sql: Sql,
  {
    realm,
    parts,
    withUsers,
    seeds,
  }: {
    realm: string;
    parts: readonly RealmPart[];
    withUsers: boolean;
    /** Set if the export omits the defaults of a new realm. */
    seeds: Parameters<typeof withoutDefaults>[3] | undefined;
  },
) {
  const names = new Set<string>();
  const printed = new Map<string, unknown>();
  for (const part of parts) {
    const current = await part.read(sql, realm);
    const objects = [...current]
      .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .flatMap(([key, { fields }]) => {
        const shown = withPlaceholders(part, key, withUsers ? fields : withoutPeople(part, fields), names);
        const own = seeds ? withoutDefaults(part, realm, { key, fields: shown }, seeds) : shown;
        return own ? [{ key, fields: own }] : [];
      });
    printed.set(part.section, part.print(objects));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { printed, requiredEnv: [...names].sort() };
}

/** Prints one element per line, so that two exports can be compared by eye. */
async function* list(value: unknown): AsyncGenerator<string> {
  if (!Array.isArray(value) || value.length === 0) {
    yield stableJson(value);
    return;
  }
  let open = '[\n';
  for (let at = 0; at < value.length; at += BATCH) {
    yield open +
      value
        .slice(at, at + BATCH)
        .map(stableJson)
        .join(',\n');
    open = ',\n';
    await new Promise((resolve) => setImmediate(resolve));
  }
  yield '\n]';
}

/** PostgreSQL's lines as they arrive: each begins with a comma, which is removed from the first. */
async function* userList(rows: AsyncIterable<Buffer>): AsyncGenerator<string | Buffer> {
  let first = true;
  for await (const line of rows) {
    yield first ? '[\n' : '';
    yield first ? line.subarray(1) : line;
    first = false;
  }
  yield first ? '[]' : ']';
}

/** Collects small pieces, so that not every line is a write of its own. */
async function* pieces(source: AsyncIterable<string | Buffer>): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let size = 0;
  for await (const piece of source) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    pending.push(bytes);
    size += bytes.length;
    if (size < PIECE) continue;
    yield Buffer.concat(pending, size);
    pending = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(pending, size);
}
