// The code by which a user permits applications to ask them on their devices (OpenID Connect CIBA Core §7.1, `user_code`). It keeps
// strangers from making the devices ring, and proves nothing at a sign-in.
import type { By } from '../../../contract/events.ts';
import { passwordForm } from '../../../contract/password-form.ts';
import type { Passwords } from '../../../crypto/passwords.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import type { RateLimit } from '../../../domain/rate-limit.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import type { KnownUser } from './service.ts';

export const USER_CODE = 'user-code';

export interface UserCodeDeps {
  sql: Sql;
  passwords: Pick<Passwords, 'hash' | 'verify' | 'phcForNobody'>;
  notify: Notify;
  now: () => Date;
  newId: () => string;
}

export const createUserCodes = ({ sql, passwords, notify, now, newId }: UserCodeDeps) => ({
  /** Computed before the transaction, so that none waits for it. */
  hash: (code: string): Promise<string> => passwords.hash(passwordForm(code)),

  /** Stores a code in place of the old one. @returns the new credential's id */
  async enrol(tx: Tx, by: By, realm: string, user: KnownUser, phc: string): Promise<string> {
    const id = newId();
    await tx.sql`delete from credential where realm_id = ${realm} and user_id = ${user.id} and type = ${USER_CODE}`;
    await tx.sql`
      insert into credential (realm_id, id, user_id, type, secret, created_at)
      values (${realm}, ${id}, ${user.id}, ${USER_CODE}, ${JSON.stringify({ phc })}::jsonb, ${now()})`;
    const subject = userParty(user.id, user.username);
    tx.record({ type: 'CREDENTIAL_CREATED', realm, by, subject, data: { credentialId: id, type: USER_CODE } });
    await notify(tx, { realm, by, userId: user.id, what: 'credential-added' });
    return id;
  },

  /**
   * Whether the code is the user's. An unknown user (null), and one without a code, takes as long. So does a try beyond the limit:
   * spellings of one name count together only for a user who exists.
   * @param attempts of each user, or of each hint that names none
   */
  async holds(
    realm: string,
    { userId, hint }: { userId: string | null; hint: string },
    code: string,
    attempts: Pick<RateLimit, 'take'>,
  ): Promise<boolean> {
    const isLeft = attempts.take(`${realm} ${userId ?? hint}`) === undefined;
    const [row] = await sql<{ phc: string }>`
      select secret ->> 'phc' as phc from credential
      where realm_id = ${realm} and user_id = ${userId} and type = ${USER_CODE}`;
    const { ok } = await passwords.verify(row?.phc ?? passwords.phcForNobody, passwordForm(code));
    return ok && row !== undefined && isLeft;
  },
});
export type UserCodes = ReturnType<typeof createUserCodes>;
