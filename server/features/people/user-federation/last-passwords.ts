// Owns: the last password that a directory took of somebody, as a hash, for while it can't be asked: where its policy says so.
// Does not own: asking the directory (sign-in.ts), lock-outs (features/people/credentials).
// Implements: specification 4.2; decisions "User federation" (away).
import type { Passwords } from '../../../crypto/passwords.ts';
import type { Sql } from '../../../db/sql.ts';
import type { DirectoryPerson } from '../users/from-directory.ts';
import type { Directory } from './store.ts';

export interface LastPasswordDeps {
  sql: Sql;
  passwords: () => Pick<Passwords, 'hash' | 'verify' | 'phcForNobody'>;
  now: () => Date;
}

/** Not once the person is disabled there, or has another password there as far as a sync has seen. */
const read = async (sql: Sql, { realm, id }: Directory, userId: string, since: Date): Promise<string | undefined> =>
  (
    await sql<{ phc: string }>`
      select l.phc from directory_password l
      join directory_person p on p.realm_id = l.realm_id and p.user_id = l.user_id and p.directory_id = l.directory_id
      where l.realm_id = ${realm} and l.user_id = ${userId} and l.directory_id = ${id} and l.known_at > ${since}
        and p.enabled_there and p.password_changed is not distinct from l.password_changed`
  )[0]?.phc;

/** Of directories that aren't to be asked so any more. */
export const forgetLastPasswords = (sql: Sql, realm: string, directories: readonly string[]) =>
  sql`delete from directory_password where realm_id = ${realm} and directory_id = any(${directories}::uuid[])`;

export const createLastPasswords = ({ sql, passwords, now }: LastPasswordDeps) => ({
  /** Where the policy asks for it. */
  async remember(
    { realm, id, away }: Directory,
    userId: string,
    { password, passwordChanged }: { password: string } & Pick<DirectoryPerson, 'passwordChanged'>,
  ): Promise<void> {
    if (away !== 'lastPassword') return;
    const phc = await passwords().hash(password);
    await sql`
      insert into directory_password as l (realm_id, user_id, directory_id, phc, password_changed, known_at)
      select realm_id, user_id, directory_id, ${phc}, ${passwordChanged}, ${now()} from directory_person
      where realm_id = ${realm} and user_id = ${userId} and directory_id = ${id}
      on conflict (realm_id, user_id) do update set directory_id = excluded.directory_id, phc = excluded.phc,
        password_changed = excluded.password_changed, known_at = excluded.known_at`;
  },

  /**
   * Computes one hash, whoever it is.
   * @param directory of the person; undefined: it is nobody of a directory that is away
   * @returns undefined: there is nothing to compare with
   */
  async matches(
    directory: Directory | undefined,
    userId: string | undefined,
    { password, tried }: { password: string; tried: boolean },
  ): Promise<boolean | undefined> {
    const since = new Date(now().getTime() - (directory?.awaySeconds ?? 0) * 1000);
    const phc = directory && userId !== undefined ? await read(sql, directory, userId, since) : undefined;
    const { verify, phcForNobody } = passwords();
    const { ok } = await verify(phc ?? phcForNobody, password);
    return phc === undefined ? undefined : ok && tried;
  },
});
export type LastPasswords = ReturnType<typeof createLastPasswords>;
