// Owns: the SQL of a plain resource's table, from its columns: reading by key, id and page, writing sets of rows.
// Does not own: the meaning of values (resource.ts), tables that several objects share or that have a shape of their own.
// Implements: design "One write path for an object": a table has one writer for every way in.
import { changedMeanwhile } from '../db/error-code.ts';
import { jsonText } from '../db/json.ts';
import { searchedText, textMatches } from '../db/searched-text.ts';
import { Fragment, fragment, type Sql } from '../db/sql.ts';
import { clientRolePrefix, splitClientRoleKey } from './items.ts';
import type { Existing, Fields, Saved, StoredSecret } from './part.ts';

export type ColumnType = 'text' | 'text[]' | 'boolean' | 'int' | 'jsonb' | 'uuid' | 'timestamptz';
export interface Column {
  type: ColumnType;
  /** Default: the field's name in snake case. */
  name?: string;
  toRow?(value: unknown): unknown;
  fromRow?(value: unknown): unknown;
}

/** The realm and id of an object, to which values can be bound. */
export interface ObjectRef {
  realm: string;
  id: string;
}
/** A stored secret: it has columns of its own, and is compared or opened, never read into a field. */
export interface SecretAtRest {
  columns: Readonly<Record<string, 'bytea' | 'text' | 'timestamptz'>>;
  /** Whether an object with these fields has no secret; a stored one is then deleted. */
  none?(fields: Fields): boolean;
  stored(row: Readonly<Record<string, unknown>>, at: ObjectRef): StoredSecret | null;
  store(plain: string, at: ObjectRef): Promise<Readonly<Record<string, Buffer | string | null>>>;
}

/** A table of objects, and the column of their natural key. */
interface Lookup {
  table: string;
  key: string;
}

export interface TableOptions {
  name: string;
  /** The fields of the natural key, each a text column. A key of several fields joins them by `/`. */
  key: readonly string[];
  columns: Readonly<Record<string, ColumnType | Column>>;
  secrets?: Readonly<Record<string, SecretAtRest>>;
  /** Fields that other tables store, as SQL over the row `t`. The resource's `link` writes them. */
  elsewhere?: Readonly<Record<string, Fragment | { sql: Fragment; fromRow(value: unknown): unknown }>>;
  /** Read-only fields of a response, as SQL over the row `t`. */
  facts?: Readonly<Record<string, Fragment>>;
  /** Fields that only documents have, as SQL over the row `t`. */
  inDocument?: Readonly<Record<string, { of: Fragment; fromRow(value: unknown): unknown }>>;
  /** Columns that are computed from the object, for example a parent's id. */
  derived?: Readonly<Record<string, { type: ColumnType; of(saved: Saved): unknown }>>;
  /** Columns with another object's id, which is looked up by its key; null without a key. */
  ids?: Readonly<Record<string, Lookup & { of(saved: Saved): string | undefined }>>;
  /** The parent object, referred to by `column`: its key precedes this one's, as in clientRoleKey. */
  under?: Lookup & { column: string };
  /** Only these rows of the table, for example `t.client is null`. */
  only?: Fragment;
  /** It has `created_at`. */
  createdAt?: boolean;
}

export interface Row extends Existing {
  id: string;
  key: string;
  createdAt: number | null;
  facts: Readonly<Record<string, unknown>>;
}
export interface PageOf {
  after: string | undefined;
  limit: number;
  /** A pattern for `like`, compared with the search fields without regard to case. */
  search?: string | undefined;
  filter?: Fragment | undefined;
}

const raw = (text: string): Fragment => new Fragment([text], []);
const snake = (field: string): string => field.replaceAll(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);
const quoted = (name: string): string => `"${name}"`;
const EVERY = fragment``;
/** JSON's null becomes SQL's null, even in a jsonb column. */
const sqlOf = (name: string, type: ColumnType | 'bytea' | 'timestamptz'): string => {
  if (type === 'jsonb') return `nullif(x.${quoted(name)}, 'null'::jsonb)`;
  if (type === 'timestamptz') return `x.${quoted(name)}::timestamptz`;
  return type === 'bytea' ? `decode(x.${quoted(name)}, 'hex')` : `x.${quoted(name)}`;
};

/** Reads and writes the rows of a kind, many in one statement. */
export function createTable(
  options: TableOptions,
  { now, search = [] }: { now: () => Date; search?: readonly string[] },
) {
  const { elsewhere = {}, facts = {}, inDocument = {}, derived = {}, secrets = {}, only = EVERY, under } = options;
  const columns = Object.entries(options.columns).map(([field, of]) => {
    const column: Column = typeof of === 'string' ? { type: of } : of;
    return { ...column, field, name: column.name ?? snake(field) };
  });
  const keys = options.key.map((field) => ({ field, name: snake(field) }));
  const secretColumns = Object.values(secrets).flatMap((secret) => Object.entries(secret.columns));
  const ownKey =
    keys.length === 1 ? `t.${keys[0]?.name}` : `concat_ws('/', ${keys.map((k) => `t.${k.name}`).join(', ')})`;
  const ids = Object.entries({
    ...options.ids,
    ...(under && {
      [under.column]: { ...under, of: ({ key: natural }: Saved) => splitClientRoleKey(natural).clientId },
    }),
  });

  const table = raw(`${options.name} t`);
  const key = under ? fragment`${clientRolePrefix(parentKey(under))} || ${raw(ownKey)}` : raw(ownKey);
  const head = [
    ' as key',
    ...(options.createdAt ? ['t.created_at as "createdAt"'] : []),
    ...columns.map(({ field, name }) => `t.${name} as ${quoted(field)}`),
    ...secretColumns.map(([name]) => `t.${name} as ${quoted(`secret ${name}`)}`),
  ].join(', ');
  const withOthers = (others: [string, Fragment][]) =>
    new Fragment(
      [
        't.id, ',
        others.length > 0 ? `${head}, ` : head,
        ...others.map(([field], i) => ` as ${quoted(field)}${i + 1 < others.length ? ', ' : ''}`),
      ],
      [key, ...others.map(([, of]) => of)],
    );
  const others = [
    ...Object.entries(elsewhere).map(([name, of]): [string, Fragment] => [name, of instanceof Fragment ? of : of.sql]),
    ...Object.entries(facts).map(([name, of]): [string, Fragment] => [`fact ${name}`, of]),
  ];
  const selected = withOthers(others);
  const selectedBut = (without: readonly string[]) =>
    withOthers([
      ...others,
      ...Object.entries(inDocument).flatMap(([field, { of }]): [string, Fragment][] =>
        without.includes(field) ? [] : [[field, of]],
      ),
    ]);
  const selectedWhole = selectedBut([]);
  const searched = searchedText(search.map((field) => `t.${snake(field)}`));

  function toRow(realm: string, found: Readonly<Record<string, unknown>>): Row {
    const id = String(found.id);
    const fields: Record<string, unknown> = {};
    for (const { field, fromRow } of columns) fields[field] = fromRow ? fromRow(found[field]) : found[field];
    for (const [field, of] of Object.entries(elsewhere))
      fields[field] = of instanceof Fragment ? found[field] : of.fromRow(found[field]);
    for (const [field, { fromRow }] of Object.entries(inDocument))
      if (found[field] !== undefined) fields[field] = fromRow(found[field]);
    for (const [field, secret] of Object.entries(secrets)) {
      const held = Object.fromEntries(Object.keys(secret.columns).map((name) => [name, found[`secret ${name}`]]));
      fields[field] = secret.stored(held, { realm, id });
    }
    const at = found.createdAt;
    return {
      id,
      key: String(found.key),
      fields,
      createdAt: at instanceof Date ? at.getTime() : null,
      facts: Object.fromEntries(Object.keys(facts).map((name) => [name, found[`fact ${name}`]])),
    };
  }

  /**
   * The rows of these keys, each found by its index: right after an import the planner assumes an empty table and would
   * choose a nested loop.
   */
  function among(realm: string, wanted: readonly string[]): Fragment {
    const parts = under ? wanted.map(splitClientRoleKey) : wanted.map((role) => ({ clientId: null, role }));
    const parent = under
      ? fragment`and t.${raw(under.column)} = (
          select u.id from ${raw(under.table)} u where u.realm_id = ${realm} and u.${raw(under.key)} = w.parent)`
      : EVERY;
    return fragment`unnest(${parts.map((p) => p.clientId)}::text[], ${parts.map((p) => p.role)}::text[]) as w (parent, own)
      cross join lateral (
        select * from ${table} where t.realm_id = ${realm} ${only} ${parent} and ${raw(ownKey)} = w.own offset 0) t`;
  }

  /** The ids of other objects for the rows' columns, by key: of objects in `saved`, else of stored ones. */
  async function idsIn(sql: Sql, realm: string, saved: readonly Saved[]): Promise<Map<string, Map<string, string>>> {
    const found = new Map<string, Map<string, string>>();
    for (const [column, { table: name, key: by, of }] of ids) {
      const known = new Map(name === options.name ? saved.map((one) => [one.key, one.id ?? '']) : []);
      const wanted = [...new Set(saved.flatMap((one) => of(one) ?? []))].filter((natural) => !known.has(natural));
      if (wanted.length > 0) {
        const rows = await sql<{ id: string; key: string }>`
          select id, ${raw(by)} as key from ${raw(name)} where realm_id = ${realm} and ${raw(by)} = any(${wanted}::text[])
          for key share`;
        // The object existed when it was checked: the transaction runs again, and then reports that it is missing.
        if (rows.length < wanted.length) throw changedMeanwhile(`what names it in ${name} is gone`);
        for (const row of rows) known.set(row.key, row.id);
      }
      found.set(column, known);
    }
    return found;
  }

  /** The rows to write, as one JSON text. */
  async function rowsOf(sql: Sql, realm: string, saved: readonly Saved[]): Promise<string> {
    const rows: object[] = [];
    const others = await idsIn(sql, realm, saved);
    for (const one of saved) {
      const { id = '', key: natural, fields, changed } = one;
      const row: Record<string, unknown> = { id };
      const own = under ? splitClientRoleKey(natural).role : natural;
      for (const [i, part] of splitKey(own, keys.length).entries()) row[`key ${i}`] = part;
      for (const [column, { of }] of ids) row[`id ${column}`] = others.get(column)?.get(of(one) ?? '');
      for (const { field, toRow: form } of columns) row[field] = form ? form(fields[field]) : fields[field];
      for (const [name, { of }] of Object.entries(derived)) row[`derived ${name}`] = of(one);
      for (const [field, secret] of Object.entries(secrets)) {
        const forgotten = secret.none?.(fields) ?? false;
        const plain = forgotten ? null : fields[field];
        if (!forgotten && !changed.includes(field)) continue;
        if (typeof plain !== 'string' && plain !== null) continue;
        const stored = plain === null ? {} : await secret.store(plain, { realm, id });
        for (const name of Object.keys(secret.columns)) {
          const value = stored[name] ?? null;
          row[`secret ${name}`] = Buffer.isBuffer(value) ? value.toString('hex') : value;
          row[`new ${name}`] = true;
        }
      }
      rows.push(row);
    }
    return jsonText(rows);
  }
  const written = [
    ...keys.map(({ name }, i) => ({ name, from: `key ${i}`, type: 'text' as const })),
    ...columns.map(({ field, name, type }) => ({ name, from: field, type })),
    ...Object.entries(derived).map(([name, { type }]) => ({ name, from: `derived ${name}`, type })),
    ...ids.map(([name]) => ({ name, from: `id ${name}`, type: 'uuid' as const })),
  ];
  const recordset = raw(
    `as x (${[
      'id uuid',
      ...written.map(({ from, type }) => `${quoted(from)} ${type}`),
      ...secretColumns.flatMap(([name]) => [`${quoted(`secret ${name}`)} text`, `${quoted(`new ${name}`)} boolean`]),
    ].join(', ')})`,
  );
  const into = raw(
    `${options.name} (${['realm_id', 'id', ...written.map((w) => w.name), ...secretColumns.map(([name]) => name)].join(', ')}`,
  );
  const values = raw(
    [
      'x.id',
      ...written.map(({ from, type }) => sqlOf(from, type)),
      ...secretColumns.map(([name, type]) => sqlOf(`secret ${name}`, type)),
    ].join(', '),
  );
  const set = raw(
    [
      ...written.map(({ name, from, type }) => `${name} = ${sqlOf(from, type)}`),
      ...secretColumns.map(
        ([name, type]) =>
          `${name} = case when x.${quoted(`new ${name}`)} then ${sqlOf(`secret ${name}`, type)} else t.${name} end`,
      ),
    ].join(', '),
  );
  const made = options.createdAt ? raw(', created_at)') : raw(')');

  return {
    /** The rows of these keys, or all rows. @param without fields of documents that are not read */
    async read(
      sql: Sql,
      realm: string,
      wanted?: readonly string[],
      without: readonly string[] = [],
    ): Promise<Map<string, Row>> {
      const rows = await sql<Record<string, unknown>>`
        select ${without.length === 0 ? selectedWhole : selectedBut(without)}
        from ${wanted ? among(realm, wanted) : fragment`${table} where t.realm_id = ${realm} ${only}`}`;
      return new Map(rows.map((row) => [String(row.key), toRow(realm, row)]));
    },

    /** Condition on the rows `t`: they belong to these objects. */
    below: (
      realm: string,
      { column, table: of, key: by }: NonNullable<typeof under>,
      parents: readonly string[],
    ) => fragment`
      t.${raw(column)} in (
        select u.id from ${raw(of)} u where u.realm_id = ${realm} and u.${raw(by)} = any(${parents}::text[]))`,

    /** @param condition on the rows `t` */
    async readWhere(sql: Sql, realm: string, condition: Fragment): Promise<Map<string, Row>> {
      const rows = await sql<Record<string, unknown>>`
        select ${selectedWhole} from ${table} where t.realm_id = ${realm} ${only} and ${condition}`;
      return new Map(rows.map((row) => [String(row.key), toRow(realm, row)]));
    },

    /** @param lock no other transaction changes the row until this one ends */
    async find(
      sql: Sql,
      realm: string,
      which: { id: string } | { key: string },
      { lock = false }: { lock?: boolean } = {},
    ): Promise<Row | undefined> {
      const is =
        'id' in which
          ? fragment`t.id = ${which.id}`
          : fragment`t.id in (select t.id from ${among(realm, [which.key])})`;
      const [row] = await sql<Record<string, unknown>>`
        select ${selected} from ${table} where t.realm_id = ${realm} ${only} and ${is} ${lock ? fragment`for update of t` : EVERY}`;
      return row && toRow(realm, row);
    },

    async page(sql: Sql, realm: string, { after, limit, search: pattern, filter }: PageOf): Promise<Row[]> {
      const matching =
        pattern === undefined || search.length === 0 ? EVERY : fragment`and ${textMatches(searched, pattern)}`;
      const beyond = after === undefined ? EVERY : fragment`and ${key} > ${after}`;
      const rows = await sql<Record<string, unknown>>`
        select ${selected} from ${table} where t.realm_id = ${realm} ${only} ${beyond} ${matching} ${filter ?? EVERY}
        order by ${key} limit ${limit}`;
      return rows.map((row) => toRow(realm, row));
    },

    async insert(sql: Sql, realm: string, saved: readonly Saved[]): Promise<void> {
      if (saved.length === 0) return;
      const rows = await rowsOf(sql, realm, saved);
      await sql`
        insert into ${into}${made}
        select ${realm}, ${values}${options.createdAt ? fragment`, ${now()}::timestamptz` : EVERY}
        from jsonb_to_recordset(${rows}::jsonb) ${recordset}`;
    },

    /** Updates rows by id, the key included: this renames objects. */
    async update(sql: Sql, realm: string, saved: readonly Saved[]): Promise<void> {
      if (saved.length === 0) return;
      const rows = await rowsOf(sql, realm, saved);
      await sql`
        update ${table} set ${set} from jsonb_to_recordset(${rows}::jsonb) ${recordset}
        where t.realm_id = ${realm} and t.id = x.id`;
    },

    async remove(sql: Sql, realm: string, wanted: readonly string[]): Promise<void> {
      if (wanted.length === 0) return;
      const ids = await sql<{ id: string }>`select t.id from ${among(realm, wanted)}`;
      await sql`delete from ${table} where t.realm_id = ${realm} and t.id = any(${ids.map((row) => row.id)}::uuid[])`;
    },
  };
}
export type Table = ReturnType<typeof createTable>;

/** The key of the object that `t` belongs to. */
const parentKey = ({ table, key, column }: Lookup & { column: string }): Fragment =>
  raw(`(select u.${key} from ${table} u where u.realm_id = t.realm_id and u.id = t.${column})`);

/** The parts of a natural key; only the last may contain a `/`. */
export function splitKey(key: string, parts: number): string[] {
  const all = key.split('/');
  return parts === 1 ? [key] : [...all.slice(0, parts - 1), all.slice(parts - 1).join('/')];
}
const joinKey = (parts: readonly unknown[]): string => parts.map(String).join('/');

/** The key of an object by its fields. */
export const keyOf = (fields: Fields, key: readonly string[]): string => joinKey(key.map((field) => fields[field]));
