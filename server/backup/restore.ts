// Writes a realm from its backup: all of it in one transaction, into a name that no realm has. Its secrets are sealed under the keys of
// this installation. Nothing is committed of a file that is cut off, changed, or of other tables than this database has.
import { bySystem } from '../contract/events.ts';
import { MASTER } from '../contract/realms.ts';
import { fragment, type Sql } from '../db/sql.ts';
import type { Transact } from '../db/transact.ts';
import { raw, schemaNumber, type Table, tablesOfRealms } from './catalogue.ts';
import { End, Header, Row as RowLine } from './form.ts';
import type { Row, RowSecrets } from './secrets.ts';
import { partOf } from './tables.ts';

const BATCH = 500;
const LONGEST_MS = 6 * 3_600_000;

export interface Restored {
  realm: string;
  rows: Record<string, number>;
}

const parsed = <T>(line: string, schema: { parse(value: unknown): T }): T => {
  try {
    return schema.parse(JSON.parse(line));
  } catch {
    // The parsers' messages may quote the line.
    throw new Error('the file is not a backup of a realm, or it was changed');
  }
};

/** Where the realm's own name stands besides `realm_id`, and what is of one installation alone. */
function rename(table: string, row: Row, from: string, to: string): void {
  row.realm_id = to;
  // counted anew for the chain over this installation's log
  if (table === 'event') delete row.position;
  if (table === 'admin_grant' && row.target_realm === from) row.target_realm = to;
  if (table === 'realm' && from !== to) {
    // An issuer is one realm's alone.
    row.own_issuer = null;
    const settings = Object(JSON.parse(row.settings ?? '{}'));
    delete settings.issuer;
    row.settings = JSON.stringify(settings);
  }
}

function insert(sql: Sql, { name, columns }: Table, rows: readonly Row[]) {
  const given = columns.filter((column) => rows.some((row) => column.name in row));
  const names = raw(given.map((column) => `"${column.name}"`).join(', '));
  const casts = raw(given.map((column, at) => `v.c${at}::${column.type}`).join(', '));
  const arrays = given
    .map((column) => fragment`${rows.map((row) => row[column.name] ?? null)}::text[]`)
    .reduce((all, part) => fragment`${all}, ${part}`);
  const aliases = raw(given.map((_, at) => `c${at}`).join(', '));
  return sql`insert into ${raw(name)} (${names}) select ${casts} from unnest(${arrays}) as v (${aliases})`;
}

/** @param lines of the decrypted file, read once @param as the realm's new name; absent: its own */
export function createRestore({ transact, secrets }: { transact: Transact; secrets: RowSecrets }) {
  return async function restore(
    lines: AsyncIterable<string>,
    { as }: { as?: string | undefined } = {},
  ): Promise<Restored> {
    const reader = lines[Symbol.asyncIterator]();
    const next = async (): Promise<string> => {
      const { value, done } = await reader.next();
      if (done) throw new Error('the file ends too early: it is not whole');
      return value;
    };
    const header = parsed(await next(), Header);
    const realm = as ?? header.realm;
    if (realm === MASTER || header.realm === MASTER)
      throw new Error(`${MASTER} belongs to its installation: restore the database instead`);
    const rows: Record<string, number> = {};
    await transact(
      undefined,
      async (tx) => {
        const schema = await schemaNumber(tx.sql);
        if (schema !== header.schema)
          throw new Error(
            `the backup is of the schema ${header.schema}, and this database has ${schema}: restore it by the release that made it, then upgrade`,
          );
        const [there] = await tx.sql`select from realm where realm_id = ${realm}`;
        if (there) throw new Error(`there is a realm ${realm}: delete it first, or restore under another name`);
        const tables = new Map((await tablesOfRealms(tx.sql)).map((table) => [table.name, table]));
        let batch: { table: Table; rows: Row[] } | undefined;
        const flush = async () => {
          if (batch && batch.rows.length > 0) await insert(tx.sql, batch.table, batch.rows);
          batch = undefined;
        };
        for (;;) {
          const line = await next();
          if (line.startsWith('{"end":')) {
            await flush();
            const { end } = parsed(line, End);
            const counted = Object.entries(end).filter(([, count]) => count > 0);
            const right =
              counted.length === Object.keys(rows).length && counted.every(([name, count]) => rows[name] === count);
            if (!right) throw new Error('the file is not whole: rows are missing');
            break;
          }
          const { table: name, row } = parsed(line, RowLine);
          const table = tables.get(name);
          const part = partOf(name);
          const known = new Set(table?.columns.map((column) => column.name));
          if (
            !table ||
            part === undefined ||
            part === 'never' ||
            row.realm_id !== header.realm ||
            !Object.keys(row).every((c) => known.has(c))
          )
            throw new Error('the file is not a backup of a realm, or it was changed');
          if (batch && (batch.table !== table || (batch.rows.length >= BATCH && !table.namesItself))) await flush();
          rename(name, row, header.realm, realm);
          secrets.seal(name, row, realm);
          batch ??= { table, rows: [] };
          batch.rows.push(row);
          rows[name] = (rows[name] ?? 0) + 1;
        }
        tx.record({
          type: 'REALM_RESTORED',
          realm,
          by: bySystem,
          data: { from: header.realm, backupOf: header.createdAt },
        });
      },
      { longestMs: LONGEST_MS },
    );
    return { realm, rows };
  };
}
