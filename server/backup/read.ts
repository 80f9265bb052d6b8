// Reads a realm for its backup, as it is at one moment: in one transaction that sees no later change, in batches by key.
import type pg from 'pg';
import { type Fragment, fragment, type Sql, sqlOver } from '../db/sql.ts';
import { raw, schemaNumber, type Table, tablesOfRealms } from './catalogue.ts';
import { FORM, type Header } from './form.ts';
import type { Row, RowSecrets } from './secrets.ts';
import { partOf } from './tables.ts';

export interface Choice {
  sessions: boolean;
  history: boolean;
}

const BATCH = 500;
const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ');

async function* rowsOf(sql: Sql, { name, columns, key }: Table, realm: string): AsyncGenerator<Row> {
  const rest = key.filter((column) => column !== 'realm_id');
  const typeOf = (column: string) => columns.find((one) => one.name === column)?.type ?? 'text';
  const texts = raw(columns.map((column) => `t."${column.name}"::text as "${column.name}"`).join(', '));
  for (let last: Row | undefined; ; ) {
    const after =
      last && rest.length > 0
        ? fragment`and (${raw(quoted(rest))}) > (${join(rest.map((c) => fragment`${last?.[c] ?? null}::text::${raw(typeOf(c))}`))})`
        : fragment``;
    const order =
      rest.length > 0 ? fragment`order by ${raw(rest.map((c) => `t."${c}"`).join(', '))} limit ${BATCH}` : fragment``;
    const rows = await sql<Row>`select ${texts} from ${raw(name)} t where t.realm_id = ${realm} ${after} ${order}`;
    yield* rows;
    last = rows.at(-1);
    // Tables with no key of their own are few rows, read at once.
    if (rest.length === 0 || rows.length < BATCH) return;
  }
}

const join = (parts: readonly Fragment[]): Fragment =>
  parts.reduce((all, part, at) => (at === 0 ? part : fragment`${all}, ${part}`));

/** The lines of a backup. @throws Error if there is no such realm, or a table is not decided on */
export async function* readRealm(
  client: pg.ClientBase,
  realm: string,
  { choice, secrets, at }: { choice: Choice; secrets: RowSecrets; at: Date },
): AsyncGenerator<string> {
  const sql = sqlOver(client as pg.Client);
  await client.query('begin isolation level repeatable read read only');
  try {
    await client.query("set local datestyle = 'ISO'; set local intervalstyle = 'postgres'; set local timezone = 'UTC'");
    const tables = await tablesOfRealms(sql);
    const header: Header = {
      form: FORM,
      realm,
      schema: await schemaNumber(sql),
      createdAt: at.toISOString(),
      ...choice,
    };
    yield JSON.stringify(header);
    const end: Record<string, number> = {};
    for (const table of tables) {
      const part = partOf(table.name);
      if (part === undefined) throw new Error(`nobody has decided whether ${table.name} belongs into a backup`);
      if (part === 'never' || (part !== 'always' && !choice[part])) continue;
      end[table.name] = 0;
      for await (const row of rowsOf(sql, table, realm)) {
        if (table.name === 'realm' && row.deleted_at) throw new Error(`the realm ${realm} is being deleted`);
        secrets.open(table.name, row, realm);
        end[table.name] = (end[table.name] ?? 0) + 1;
        yield JSON.stringify({ table: table.name, row });
      }
      if (table.name === 'realm' && end.realm === 0) throw new Error(`there is no realm ${realm}`);
    }
    yield JSON.stringify({ end });
  } finally {
    await client.query('rollback');
  }
}
