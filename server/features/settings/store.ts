// SQL of realm.settings. Only what was set is there; rules.ts puts it over a fresh realm's values.
import type { Sql } from '../../db/sql.ts';
import type { StoredSettings } from './rules.ts';

export async function readSettings(sql: Sql, realm: string): Promise<StoredSettings | undefined> {
  const [row] = await sql<{ settings: StoredSettings }>`select settings from realm where realm_id = ${realm}`;
  return row?.settings;
}

/** The same, and nobody else writes them until the transaction ends. */
export async function lockSettings(sql: Sql, realm: string): Promise<StoredSettings | undefined> {
  const [row] = await sql<{ settings: StoredSettings }>`
    select settings from realm where realm_id = ${realm} for no key update`;
  return row?.settings;
}

export async function mergeSettings(sql: Sql, realm: string, patch: StoredSettings): Promise<void> {
  await sql`update realm set settings = settings || ${JSON.stringify(patch)}::jsonb where realm_id = ${realm}`;
}

export async function flowExists(sql: Sql, realm: string, alias: string): Promise<boolean> {
  const [row] = await sql`select from flow where realm_id = ${realm} and alias = ${alias}`;
  return row !== undefined;
}

/** Settings belong field by field, so there may be several managers. */
export async function managersOf(sql: Sql, realm: string): Promise<string[]> {
  const rows = await sql<{ manager: string }>`
    select distinct manager from managed_object
    where realm_id = ${realm} and kind in ('settings', 'resourceIndicator') order by manager`;
  return rows.map(({ manager }) => manager);
}
