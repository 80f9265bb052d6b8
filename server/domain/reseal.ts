// Owns: encrypting values of older master keys again by the newest one; and counting those that remain.
// Does not own: the list of sealed columns (each feature has its own, server/compose/sealed-columns.ts joins them), sealing itself.
// Implements: decisions "Secrets" (a keyring, so that it can rotate).
// A value is replaced only if it hasn't changed since it was read, so servers may write meanwhile. An interrupted run keeps its progress.

import { bySystem } from '../contract/events.ts';
import { MASTER } from '../contract/realms.ts';
import { NIL_ID } from '../crypto/ids.ts';
import type { Seal } from '../crypto/seal.ts';
import { Fragment, fragment, type Sql } from '../db/sql.ts';
import type { Transact } from '../db/transact.ts';

/** A column whose values are sealed, one to a row. */
export interface SealedColumn {
  table: string;
  /** The column that names a row within its realm, a UUID; null: the realm is the row. */
  key: string | null;
  column: string;
  /** In a jsonb column: the member that holds the sealed value, in base64. */
  member?: string;
  /** The column with the value's digest, which the newest key makes too. */
  digest?: { column: string; of(seal: Seal, realm: string, plain: string): Buffer };
  /** The context that binds the value to its row (crypto/seal.ts). */
  context(row: { realm: string; key: string; digest: Buffer | null }): string;
}

export interface Resealed {
  column: string;
  resealed: number;
  /** Values of a key that isn't in the keyring. */
  unreadable: number;
}

const BATCH = 200;
/** The most that are counted of a column, so that the count is fast. */
const MOST_COUNTED = 1_000;

interface Row {
  realm: string;
  key: string;
  sealed: Buffer;
  digest: Buffer | null;
}
interface Fresh extends Row {
  fresh: Buffer;
  freshDigest: Buffer | null;
}

// the server's own names, never a user's
const raw = (text: string) => new Fragment([text], []);
const nameOf = ({ table, column, member }: SealedColumn) => [table, column, ...(member ? [member] : [])].join('.');
const keyOf = ({ key }: SealedColumn) => key ?? 'realm_id';
const sealedIn = ({ column, member }: SealedColumn) =>
  member ? `decode(t.${column} ->> '${member}', 'base64')` : `t.${column}`;
/** A sealed value holds its key's id behind the version byte (crypto/seal.ts). */
const isOld = (column: SealedColumn, seal: Seal) =>
  fragment`${raw(`substring(${sealedIn(column)} from 2 for 4)`)} <> ${seal.newestKey}`;

/** Seals values anew that an older master key sealed, in batches. */
export function createReseal({
  sql,
  transact,
  seal,
  columns,
}: {
  sql: Sql;
  transact: Transact;
  seal: Seal;
  columns: readonly SealedColumn[];
}) {
  const oldRows = (column: SealedColumn, after: { realm: string; key: string }) => {
    const place = column.key
      ? fragment`(t.realm_id, ${raw(`t.${column.key}`)}) > (${after.realm}, ${after.key}::uuid)`
      : fragment`t.realm_id > ${after.realm}`;
    return sql<Row>`
      select t.realm_id as realm, ${raw(`t.${keyOf(column)}`)}::text as key, ${raw(sealedIn(column))} as sealed,
        ${raw(column.digest ? `t.${column.digest.column}` : 'null::bytea')} as digest
      from ${raw(column.table)} t where ${isOld(column, seal)} and ${place}
      order by t.realm_id, ${raw(`t.${keyOf(column)}`)} limit ${BATCH}`;
  };

  function freshOf(column: SealedColumn, row: Row): Fresh | undefined {
    let plain: Buffer;
    try {
      plain = seal.open(row.sealed, column.context(row));
    } catch {
      return undefined;
    }
    const { digest } = column;
    const freshDigest = digest ? digest.of(seal, row.realm, plain.toString()) : null;
    return { ...row, freshDigest, fresh: seal.seal(plain, column.context({ ...row, digest: freshDigest })) };
  }

  function write(on: Sql, column: SealedColumn, rows: readonly Fresh[]) {
    const hex = (bytes: (row: Fresh) => Buffer | null) => rows.map((row) => bytes(row)?.toString('hex') ?? '');
    const own = column.key ? fragment`and ${raw(`t.${column.key}`)} = v.key::uuid` : fragment``;
    const values = fragment`unnest(${rows.map((row) => row.realm)}::text[], ${rows.map((row) => row.key)}::text[],
      ${hex((row) => row.sealed)}::text[], ${hex((row) => row.fresh)}::text[], ${rows.map((row) => row.fresh.toString('base64'))}::text[],
      ${hex((row) => row.freshDigest)}::text[]) as v (realm, key, old, fresh, fresh64, digest)`;
    const same = fragment`t.realm_id = v.realm ${own} and ${raw(sealedIn(column))} = decode(v.old, 'hex')`;
    const { table, column: name, member, digest } = column;
    const assigned = member
      ? raw(`${name} = jsonb_set(t.${name}, '{${member}}', to_jsonb(v.fresh64))`)
      : raw(`${name} = decode(v.fresh, 'hex')${digest ? `, ${digest.column} = decode(v.digest, 'hex')` : ''}`);
    // A row with the same secret was stored meanwhile, under the newest key: that row stays.
    const twice = digest
      ? fragment`with twice as (
          delete from ${raw(table)} t using ${values} where ${same} and exists (
            select from ${raw(table)} o where o.realm_id = v.realm and o.${raw(digest.column)} = decode(v.digest, 'hex'))
          returning t.realm_id, ${raw(`t.${keyOf(column)}`)} as key)`
      : fragment``;
    const notTwice = digest
      ? fragment`and not exists (select from twice d where d.realm_id = t.realm_id and d.key = ${raw(`t.${keyOf(column)}`)})`
      : fragment``;
    return on`${twice} update ${raw(table)} t set ${assigned} from ${values} where ${same} ${notTwice}`;
  }

  async function oneColumn(column: SealedColumn): Promise<Resealed> {
    const done: Resealed = { column: nameOf(column), resealed: 0, unreadable: 0 };
    for (let after = { realm: '', key: NIL_ID }; ; ) {
      const rows = await oldRows(column, after);
      const last = rows.at(-1);
      if (!last) return done;
      after = { realm: last.realm, key: column.key ? last.key : NIL_ID };
      const fresh = rows.flatMap((row) => freshOf(column, row) ?? []);
      done.unreadable += rows.length - fresh.length;
      done.resealed += fresh.length;
      if (fresh.length > 0)
        await transact(undefined, async (tx) => {
          await write(tx.sql, column, fresh);
          const data = { column: done.column, secrets: fresh.length };
          tx.record({ type: 'SECRETS_RESEALED', realm: MASTER, by: bySystem, data });
        });
    }
  }

  return {
    /** How many values an older key sealed: at most a thousand are counted in each column. */
    async left(realm?: string): Promise<{ column: string; secrets: number }[]> {
      return Promise.all(
        columns.map(async (column) => {
          const only = realm === undefined ? fragment`` : fragment`and t.realm_id = ${realm}`;
          const [row] = await sql<{ secrets: number }>`
            select count(*)::int as secrets from (
              select from ${raw(column.table)} t where ${isOld(column, seal)} ${only} limit ${MOST_COUNTED}) old`;
          return { column: nameOf(column), secrets: row?.secrets ?? 0 };
        }),
      );
    },
    /** Seals the values again, and yields the result of each column. */
    async *run(): AsyncGenerator<Resealed> {
      for (const column of columns) yield await oneColumn(column);
    },
  };
}
export type Reseal = ReturnType<typeof createReseal>;
