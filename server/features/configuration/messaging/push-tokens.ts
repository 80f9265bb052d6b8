// The devices that push messages reach: registered for a user, with encrypted tokens. Specification 4.4; decisions
// "Push token".
import type { By, EventType } from '../../../contract/events.ts';
import type { PushToken, PushTokenInput } from '../../../contract/messages.ts';
import { Problem, unknownName } from '../../../contract/problem.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import type { Author } from '../../../resource/api.ts';
import { refuseStrongerUsers } from '../../../resource/rights.ts';

interface Row {
  id: string;
  user_id: string;
  platform: 'fcm' | 'apns';
  device_name: string | null;
  token: Buffer;
  created_at: Date;
  last_used_at: Date | null;
}
interface Named extends Row {
  username: string | null;
}
const username = fragment`(select u.username from realm_user u where u.realm_id = push_token.realm_id and u.id = push_token.user_id)`;
/** The most devices of one user that get a message: the newest ones. */
const MOST = 10;
export const digestOf = (seal: Seal, realm: string, token: string) => seal.digest(token, `push-token:${realm}`);
/** The context contains the token's digest, which stays the same when the row moves to another device. */
export const contextOf = (realm: string, digest: Buffer) => `push-token:${realm}:${digest.toString('hex')}`;

const toWire = ({ id, user_id, platform, device_name, created_at, last_used_at }: Row): PushToken => ({
  id,
  userId: user_id,
  platform,
  deviceName: device_name,
  createdAt: created_at.getTime(),
  lastUsedAt: last_used_at?.getTime() ?? null,
});

export interface Device {
  id: string;
  platform: 'fcm' | 'apns';
  token: string;
  deviceName: string | null;
}
/** @param which the devices of a user, or the device with this id */
async function devices(
  sql: Sql,
  seal: Seal,
  realm: string,
  which: { userId?: string; id?: string },
): Promise<Device[]> {
  const rows = await sql<Row & { token_digest: Buffer }>`
    select id, user_id, platform, device_name, token, token_digest, created_at, last_used_at from push_token
    where realm_id = ${realm} and (user_id = ${which.userId ?? null}::uuid or id = ${which.id ?? null}::uuid)
    order by id desc limit ${MOST}`;
  return rows.map(({ id, platform, token, token_digest: digest, device_name: deviceName }) => ({
    id,
    platform,
    token: seal.open(token, contextOf(realm, digest)).toString(),
    deviceName,
  }));
}
export const devicesOf = (sql: Sql, seal: Seal, realm: string, userId: string) => devices(sql, seal, realm, { userId });
export const deviceOf = async (sql: Sql, seal: Seal, realm: string, id: string): Promise<Device | undefined> =>
  (await devices(sql, seal, realm, { id }))[0];

/** Deletes a device that its gateway no longer knows. */
export const forgetDevice = (sql: Sql, realm: string, id: string) =>
  sql`delete from push_token where realm_id = ${realm} and id = ${id}`;
export const markUsed = (sql: Sql, realm: string, id: string, at: Date) =>
  sql`update push_token set last_used_at = ${at} where realm_id = ${realm} and id = ${id}`;

export function createPushTokens({
  sql,
  transact,
  seal,
  now,
  newId,
}: {
  sql: Sql;
  transact: Transact;
  seal: Seal;
  now: () => Date;
  newId: () => string;
}) {
  const happened = (
    type: EventType,
    realm: string,
    by: By,
    { id, user_id, username, platform, device_name }: Named,
  ) => ({
    type,
    realm,
    by,
    subject: userParty(user_id, username),
    data: { pushToken: id, platform, deviceName: device_name },
  });

  async function insert(
    tx: Tx,
    by: By,
    realm: string,
    { userId, platform, deviceName = null, token, credentialId }: PushTokenInput & { credentialId: string | null },
  ): Promise<Row> {
    const digest = digestOf(seal, realm, token);
    const [row] = await tx.sql<Named>`
      insert into push_token (realm_id, id, user_id, platform, device_name, token, token_digest, credential_id, created_at)
      values (${realm}, ${newId()}, ${userId}, ${platform}, ${deviceName}, ${seal.seal(token, contextOf(realm, digest))},
        ${digest}, ${credentialId}, ${now()})
      on conflict (realm_id, token_digest) do update set user_id = excluded.user_id, platform = excluded.platform,
        device_name = excluded.device_name, token = excluded.token, credential_id = excluded.credential_id
      returning id, user_id, platform, device_name, token, created_at, last_used_at, ${username} as username`;
    if (!row) throw new Error('nothing was inserted');
    tx.record(happened('PUSH_TOKEN_REGISTERED', realm, by, row));
    return row;
  }

  return {
    /** Newest first. */
    async list(
      realm: string,
      { after, limit, userId }: { after: string | undefined; limit: number; userId: string | undefined },
    ): Promise<PushToken[]> {
      const rows = await sql<Row>`
        select id, user_id, platform, device_name, created_at, last_used_at from push_token
        where realm_id = ${realm} and (${after ?? null}::uuid is null or id < ${after ?? null})
          and (${userId ?? null}::uuid is null or user_id = ${userId ?? null})
        order by id desc limit ${limit}`;
      return rows.map(toWire);
    },

    register: ({ principal, by }: Author, realm: string, input: PushTokenInput): Promise<PushToken> =>
      transact(realm, async (tx) => {
        const { userId } = input;
        const known = await tx.sql<{ user_id: string }>`
          select user_id from push_token where realm_id = ${realm} and token_digest = ${digestOf(seal, realm, input.token)} for update`;
        await refuseStrongerUsers(tx.sql, principal, realm, [userId, ...known.map((row) => row.user_id)]);
        const [person] = await tx.sql`select from realm_user where realm_id = ${realm} and id = ${userId}`;
        if (!person)
          throw new Problem('invalid-request', undefined, { errors: [unknownName('userId', 'user', userId)] });
        return toWire(await insert(tx, by, realm, { ...input, credentialId: null }));
      }),

    /** Replaces the tokens of a device with a key. */
    async replace(tx: Tx, by: By, realm: string, input: PushTokenInput & { credentialId: string }): Promise<void> {
      await tx.sql`delete from push_token where realm_id = ${realm} and credential_id = ${input.credentialId}`;
      await insert(tx, by, realm, input);
    },

    remove: ({ principal, by }: Author, realm: string, id: string): Promise<void> =>
      transact(realm, async (tx) => {
        const [row] = await tx.sql<Named>`
          delete from push_token where realm_id = ${realm} and id = ${id}
          returning id, user_id, platform, device_name, token, created_at, last_used_at, ${username} as username`;
        if (!row) throw new Problem('not-found', 'There is no such push token');
        await refuseStrongerUsers(tx.sql, principal, realm, [row.user_id]);
        tx.record(happened('PUSH_TOKEN_REMOVED', realm, by, row));
      }),
  };
}
export type PushTokens = ReturnType<typeof createPushTokens>;
