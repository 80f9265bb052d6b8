// Owns: the last password of a user that a directory accepted, kept as a hash for times when the directory can't be asked, if its `away` policy allows it.
// Does not own: asking the directory (sign-in.ts), lockouts (features/people/credentials).
// Implements: specification 4.2; decisions "User federation" (away).
import type { Passwords } from '../../../crypto/passwords.ts';
import type { Sql } from '../../../db/sql.ts';
import type { DirectoryPerson } from '../users/from-directory.ts';
import type { Directory } from './store.ts';

export interface LastPasswordDeps {
  sql: Sql;
  passwords: Pick<Passwords, 'hash' | 'verify' | 'phcForNobody'>;
  now: () => Date;
}

/** The hash, unless a sync has seen that the user is disabled in the directory or has another password there. */
const read = async (sql: Sql, { realm, id }: Directory, userId: string, since: Date): Promise<string | undefined> =>
  (
    await sql<{ phc: string }>`
      select l.phc from directory_password l
      join directory_person p on p.realm_id = l.realm_id and p.user_id = l.user_id and p.directory_id = l.directory_id
      where l.realm_id = ${realm} and l.user_id = ${userId} and l.directory_id = ${id} and l.known_at > ${since}
        and p.enabled_there and p.password_changed is not distinct from l.password_changed`
  )[0]?.phc;

/** Deletes the last passwords of directories whose policy no longer allows them. */
export const forgetLastPasswords = (sql: Sql, realm: string, directories: readonly string[]) =>
  sql`delete from directory_password where realm_id = ${realm} and directory_id = any(${directories}::uuid[])`;

export const createLastPasswords = ({ sql, passwords, now }: LastPasswordDeps) => ({
  /** Keeps the password, if the policy asks for it. */
  async remember(
    { realm, id, away }: Directory,
    userId: string,
    { password, passwordChanged }: { password: string } & Pick<DirectoryPerson, 'passwordChanged'>,
  ): Promise<void> {
    if (away !== 'lastPassword') return;
    const phc = await passwords.hash(password);
    await sql`
      insert into directory_password as l (realm_id, user_id, directory_id, phc, password_changed, known_at)
      select realm_id, user_id, directory_id, ${phc}, ${passwordChanged}, ${now()} from directory_person
      where realm_id = ${realm} and user_id = ${userId} and directory_id = ${id}
      on conflict (realm_id, user_id) do update set directory_id = excluded.directory_id, phc = excluded.phc,
        password_changed = excluded.password_changed, known_at = excluded.known_at`;
  },

  /**
   * Computes one hash in every case, so that the time reveals nothing.
   * @param directory of the user; undefined: the user doesn't come from a directory that is away
   * @returns undefined: there is no hash to compare with
   */
  async matches(
    directory: Directory | undefined,
    userId: string | undefined,
    { password, tried }: { password: string; tried: boolean },
  ): Promise<boolean | undefined> {
    const since = new Date(now().getTime() - (directory?.awaySeconds ?? 0) * 1000);
    const phc = directory && userId !== undefined ? await read(sql, directory, userId, since) : undefined;
    const { verify, phcForNobody } = passwords;
    const { ok } = await verify(phc ?? phcForNobody, password);
    return phc === undefined ? undefined : ok && tried;
  },
});
export type LastPasswords = ReturnType<typeof createLastPasswords>;
