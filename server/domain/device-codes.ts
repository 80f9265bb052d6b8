// SQL of the device flow (RFC 8628): begin a request, find it by the code that the user typed, deny it. The device polls its code
// (polled-codes.ts); once the user allows the device, the code is locked and redeemed like any other (grants.ts).
import type { Sql } from '../db/sql.ts';

export interface NewDeviceCode {
  hash: Buffer;
  userCodeHash: Buffer;
  client: string;
  parameters: string;
  ipAddress: string;
  createdAt: Date;
  expiresAt: Date;
  intervalSeconds: number;
}
/** Stores a new code. @returns false if another device has the same user code */
export const insertDeviceCode = async (sql: Sql, realm: string, code: NewDeviceCode): Promise<boolean> =>
  (
    await sql`
      insert into device_authorization (realm_id, code_hash, client, user_code_hash, parameters, ip_address, created_at, expires_at,
        interval_seconds)
      values (${realm}, ${code.hash}, ${code.client}, ${code.userCodeHash}, ${code.parameters}, ${code.ipAddress},
        ${code.createdAt}, ${code.expiresAt}, ${code.intervalSeconds})
      on conflict do nothing returning true`
  ).length > 0;

export interface Waiting {
  code_hash: Buffer;
  client_id: string;
  parameters: string;
  ip_address: string;
  created_at: Date;
}
/** The device that waits with this user code, not yet allowed or denied. */
export async function waitingDevice(
  sql: Sql,
  realm: string,
  { userCodeHash, now }: { userCodeHash: Buffer; now: Date },
): Promise<Waiting | undefined> {
  const [row] = await sql<Waiting>`
    select d.code_hash, c.client_id, d.parameters, d.ip_address, d.created_at
    from device_authorization d join client c on c.realm_id = d.realm_id and c.id = d.client
    where d.realm_id = ${realm} and d.user_code_hash = ${userCodeHash} and d.expires_at > ${now}
      and d.session_id is null and d.denied_at is null`;
  return row;
}

/** @returns false if the device was allowed or denied meanwhile */
export const denyDevice = async (sql: Sql, realm: string, hash: Buffer, now: Date): Promise<boolean> =>
  (
    await sql`
      update device_authorization set denied_at = ${now}
      where realm_id = ${realm} and code_hash = ${hash} and session_id is null and denied_at is null returning true`
  ).length > 0;
