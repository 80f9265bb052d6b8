// SQL of realm.settings. It holds only settings that were set; rules.ts adds a new realm's values.

import { Problem } from '../../../contract/problem.ts';
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import type { StoredSettings } from './rules.ts';

/** undefined: there is no such realm, or it is being deleted. No page of a realm without settings is served. */
export async function readSettings(sql: Sql, realm: string): Promise<StoredSettings | undefined> {
  const [row] = await sql<{ settings: StoredSettings }>`
    select settings from realm where realm_id = ${realm} and deleted_at is null`;
  return row?.settings;
}

/** Reads the settings and locks them against other writes until the transaction ends. */
export async function lockSettings(sql: Sql, realm: string): Promise<StoredSettings | undefined> {
  const [row] = await sql<{ settings: StoredSettings }>`
    select settings from realm where realm_id = ${realm} and deleted_at is null for no key update`;
  return row?.settings;
}

export async function mergeSettings(sql: Sql, realm: string, patch: StoredSettings): Promise<void> {
  const json = JSON.stringify(patch);
  await sql`
    update realm set settings = settings || ${json}::jsonb,
      own_issuer = case when ${json}::jsonb ? 'issuer' then rtrim(${json}::jsonb ->> 'issuer', '/') else own_issuer end
    where realm_id = ${realm}`;
}

/** The clients for which the realm's authorities make certificates. */
export const clientsOfAuthorities = (realm: string): Fragment => fragment`
  select client_id from client where realm_id = ${realm} and token_endpoint_auth_method = 'tls_client_auth'
    and tls_client_auth_authorities is null`;

/** @returns whether the realm was bound to another flow */
export async function bindFlow(sql: Sql, realm: string, alias: string): Promise<boolean> {
  const bound = await sql`
    update realm set settings = settings || jsonb_build_object('browserFlow', ${alias}::text)
    where realm_id = ${realm} and settings ->> 'browserFlow' <> ${alias} returning realm_id`;
  return bound.length > 0;
}

/** The constraint that prevents two realms from having the same issuer, even after concurrent writes. */
export const ISSUER_TAKEN = 'realm_own_issuer';
/** The message doesn't name the other realm, which the caller may not see. */
export const issuerTaken = (path: string): Problem =>
  new Problem('name-taken', 'Another realm has this issuer', { errors: [{ path, message: 'is another realm’s' }] });

/** @throws Problem `name-taken` */
export async function refuseTakenIssuer(sql: Sql, realm: string, issuer: unknown, path: string): Promise<void> {
  if (typeof issuer !== 'string') return;
  const [other] = await sql`select from realm where own_issuer = rtrim(${issuer}, '/') and realm_id <> ${realm}`;
  if (other) throw issuerTaken(path);
  const [client] = await sql`
    select from client where realm_id = ${realm} and client_id in (rtrim(${issuer}, '/'), rtrim(${issuer}, '/') || '/')`;
  if (client)
    throw new Problem('name-taken', 'A client of this realm has that name', {
      errors: [{ path, message: 'is the clientId of a client' }],
    });
}

export async function flowExists(sql: Sql, realm: string, alias: string): Promise<boolean> {
  const [row] = await sql`select from flow where realm_id = ${realm} and alias = ${alias}`;
  return row !== undefined;
}
