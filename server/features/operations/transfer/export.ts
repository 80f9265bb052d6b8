// Exports the realm document: from one snapshot, streamed, sorted, and byte for byte the same while nothing changes.
// Specification 2.10; decisions "Import, export, plan".
import { Readable } from 'node:stream';
import type pg from 'pg';
import { Problem } from '../../../contract/problem.ts';
import { sections } from '../../../contract/sections.ts';
import { FORMAT_VERSION, furtherSections } from '../../../contract/transfer.ts';
import type { UserProfile } from '../../../contract/user-profile.ts';
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
      // Compiling a statement over all objects (JIT) takes longer than running it.
      await client.query('begin isolation level repeatable read read only; set local jit = off');
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
      let printing = nothing;
      try {
        const revision = await readRevision(sql, realm);
        if (revision === undefined) throw new Problem('not-found', `There is no realm ${realm}`);
        if (known(revision)) return { revision, body: undefined };
        const profile = await readProfile(sql, realm);
        const people = withUsers ? await usersOf(sql, realm, profile) : undefined;
        const printed = print(sql, { realm, parts, withUsers, seeds });
        printing = printed.end;
        const body = Readable.from(pieces(document(printed, people?.rows, seeds !== undefined)), { objectMode: false });
        body.once('close', () => people?.end());
        return { revision, body };
      } finally {
        // The sections are read while the answer is on its way, and at the database's speed: a slow reader holds no connection of the
        // request path. The users' own connection has the snapshot already.
        const ended = printing.then(end, end);
        if (printing === nothing) await ended;
      }
    },
  };

  /** The users of the same snapshot. PostgreSQL sorts them while the sections before them are sent. */
  async function usersOf(sql: Sql, realm: string, profile: UserProfile) {
    const [row] = await sql<{ snapshot: string }>`select pg_export_snapshot() as snapshot`;
    const { rows } = await users.startRows(realm, row?.snapshot ?? '');
    return {
      async *rows(): AsyncGenerator<Buffer> {
        yield* hasNoRules(profile) ? await rows : withUnfit(await rows, profile);
      },
      end: () => void rows.then((stream) => stream.destroy()).catch(() => {}),
    };
  }

  async function* document(
    { section, requiredEnv }: Printed,
    people: (() => AsyncIterable<Buffer>) | undefined,
    bare: boolean,
  ): AsyncGenerator<string | Buffer> {
    let open = '{\n';
    for (const key of sectionKeys) {
      if (key === 'users' && !people) continue;
      const value = key === 'requiredEnv' ? await requiredEnv : await section(key);
      if (isEmpty(value) && (bare ? !ALWAYS.has(key) : leavable(key))) continue;
      yield `${open}${JSON.stringify(key)}:`;
      open = ',\n';
      if (key === 'users' && people) yield* userList(people());
      else if (key === 'formatVersion') yield String(FORMAT_VERSION);
      else if (key === 'requiredEnv') yield stableJson(value);
      else yield* list(value ?? []);
    }
    yield '\n}\n';
  }
}

/** Nothing is printed. */
const nothing: Promise<unknown> = Promise.resolve();

interface Printed {
  /** undefined: no part has it. */
  section(key: string): Promise<unknown>;
  /** The names that placeholders need; they are known when all sections are. */
  requiredEnv: Promise<string[]>;
  /** Whether it comes to its end or fails. */
  end: Promise<void>;
}

const ALWAYS = new Set(['formatVersion', 'users']);
const isEmpty = (section: unknown): boolean => Object.keys(Object(section ?? {})).length === 0;

const withoutPeople = ({ people = [] }: RealmPart, fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([field]) => !people.includes(field)));

/** Starts to print the sections in the document's order, each by its part. */
function print(
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
): Printed {
  const names = new Set<string>();
  async function printed(part: RealmPart): Promise<unknown> {
    const current = await part.read(sql, realm, undefined, withUsers ? [] : part.people);
    const objects = [...current]
      .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .flatMap(([key, { fields }]) => {
        const shown = withPlaceholders(part, key, withUsers ? fields : withoutPeople(part, fields), names);
        const own = seeds ? withoutDefaults(part, realm, { key, fields: shown }, seeds) : shown;
        return own ? [{ key, fields: own }] : [];
      });
    await new Promise((resolve) => setImmediate(resolve));
    return part.print(objects);
  }
  const sectionsOf = new Map<string, Promise<unknown>>();
  let last: Promise<unknown> = Promise.resolve();
  for (const part of parts.toSorted((a, b) => (a.section < b.section ? -1 : 1))) {
    last = last.then(() => printed(part));
    sectionsOf.set(part.section, last);
  }
  const requiredEnv = last.then(() => [...names].sort());
  const end = requiredEnv.then(
    () => {},
    () => {},
  );
  // An answer that its caller has given up reads none of them.
  for (const one of sectionsOf.values()) one.catch(() => {});
  return { section: (key) => sectionsOf.get(key) ?? nothing, requiredEnv, end };
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

/** Collects small pieces, so that not every line is a write; sends the first at once, so that the caller sees the start. */
async function* pieces(source: AsyncIterable<string | Buffer>): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let size = 0;
  let least = 0;
  for await (const piece of source) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    pending.push(bytes);
    size += bytes.length;
    if (size < least) continue;
    yield Buffer.concat(pending, size);
    least = PIECE;
    pending = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(pending, size);
}
