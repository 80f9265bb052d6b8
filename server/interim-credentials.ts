// Stands in for features/credentials until it is here; to be removed with it.
import type { Passwords } from './crypto/passwords.ts';
import type { Sql } from './db/sql.ts';
import type { Tx } from './db/transact.ts';

export const interimCredentials = ({
  sql,
  passwords,
  newId,
  now,
}: {
  sql: Sql;
  passwords: Passwords;
  newId: () => string;
  now: () => Date;
}) => ({
  async checkPassword({ realm, username, password }: { realm: string; username: string; password: string }) {
    const [row] = await sql<{ id: string; username: string; phc: string; enabled: boolean }>`
      select u.id, u.username, u.enabled, c.secret->>'phc' as phc from realm_user u
      join credential c on c.realm_id = u.realm_id and c.user_id = u.id and c.type = 'password'
      where u.realm_id = ${realm} and lower(u.username) = lower(${username})`;
    const { ok } = await passwords.verify(row?.phc ?? passwords.phcForNobody, password);
    return row && ok && row.enabled
      ? ({ ok: true, user: { id: row.id, username: row.username } } as const)
      : ({ ok: false, reason: row ? 'wrong' : 'unknown' } as const);
  },
  hasOtp: async () => false,
  checkOtp: async () => false,
  mustActFirst: async () => undefined,
  async setPassword(
    { sql: on, record }: Tx,
    by: Parameters<Tx['record']>[0]['by'],
    realm: string,
    userId: string,
    { phc, temporary }: { phc: string; temporary: boolean },
  ) {
    await on`delete from credential where realm_id = ${realm} and user_id = ${userId} and type = 'password'`;
    await on`insert into credential (realm_id, id, user_id, type, secret, created_at)
      values (${realm}, ${newId()}, ${userId}, 'password', ${JSON.stringify({ phc, temporary })}, ${now()})`;
    record({ type: 'PASSWORD_CHANGED', realm, by, subject: { type: 'user', id: userId, name: null } });
  },
});
