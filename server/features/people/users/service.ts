// Owns: users as administrators see them: profile, roles, groups, passwords and credentials that administrators set.
// Does not own: checking passwords and one-time codes (credentials), sessions, bulk import and export (transfer).
// Implements: decisions "User", "Rights"; specification 4.10.

import type { By } from '../../../contract/events.ts';
import type { Changes } from '../../../contract/names.ts';
import { type FieldError, fieldErrorOf, Problem } from '../../../contract/problem.ts';
import type { Credential, ListedUser, User, UserInput } from '../../../contract/users.ts';
import type { Passwords } from '../../../crypto/passwords.ts';
import { constraintOf } from '../../../db/error-code.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import type { AdminRights } from '../../../domain/admin-rights.ts';
import { type EndCause, endAccess } from '../../../domain/end-access.ts';
import { giveDefaults, newUser } from '../../../domain/new-users.ts';
import type { OwnSession, Principal } from '../../../domain/principal.ts';
import type { Reach } from '../../../domain/reach.ts';
import { SUBJECT_TAKEN } from '../../../domain/subjects.ts';
import { profileFaults, readProfile, visibleTo } from '../../../domain/user-profile.ts';
import { changedFields } from '../../../http/changed-fields.ts';
import type { Credentials } from '../credentials/service.ts';
import { refuseBeyond } from './limits.ts';
import { list, lockedAmong, search, type UserPage, type UserSearch } from './search.ts';
import { userShown, usersShown } from './shown.ts';
import * as store from './store.ts';
import { emptyUser, mergedUser, toRow, toWire } from './wire.ts';

/** The caller that changes a user, and the condition for the change. */
export interface Change {
  principal: Principal;
  by: By;
  expect(current: User, on: Sql): void | Promise<void>;
  /** The groups that a group administrator can reach. */
  reach?: Reach | undefined;
}

/** The user as it should become, and the data that another feature writes for the user in the same transaction. */
export interface Wanted<Input> {
  input: Input;
  beside?: Beside | undefined;
}
export interface Beside {
  /** The fields that change. */
  fields: readonly string[];
  write(on: Sql, id: string): Promise<unknown>;
}
/** The changes of a user, fixed or computed from the present user. */
export type Wish = Changes<UserInput> | ((on: Sql) => Promise<Wanted<Changes<UserInput>>>);

const missing = () => new Problem('not-found', 'There is no such user');
const subjectOf = ({ id, username }: User) => ({ type: 'user', id, name: username }) as const;
/** Users who set their own password keep the session in which they do it. */
const ownSession = (principal: Principal, realm: string, id: string): OwnSession | undefined =>
  principal.type === 'user' && principal.realm === realm && principal.id === id ? principal.session : undefined;
const invalid = (errors: FieldError[]) =>
  new Problem('invalid-request', errors.map((e) => `${e.path}: ${e.message}`).join('; '), { errors });

/**
 * Setting a user's password, roles or groups lets the caller act as the user. So the caller must hold all permissions that
 * the user holds.
 */
export const coverage =
  (access: Pick<AdminRights, 'covers'>) =>
  async (principal: Principal, realm: string, who: string | readonly string[], on: Sql): Promise<void> => {
    if (!(await access.covers(principal, realm, typeof who === 'string' ? { userId: who } : { userIds: who }, on)))
      throw new Problem('privilege-escalation', 'The user holds admin permissions that you do not hold');
  };

export type MustCover = ReturnType<typeof coverage>;

export function createUsers({
  sql,
  transact,
  access,
  passwords,
  newPasswordFaults,
  setPassword,
  credentials,
  now,
  newId,
}: {
  sql: Sql;
  transact: Transact;
  access: Pick<AdminRights, 'covers'>;
  passwords: Pick<Passwords, 'hash'>;
  newPasswordFaults: Credentials['newPasswordFaults'];
  /** Replaces the hash, records PASSWORD_CHANGED, and ends the user's sessions and tokens. */
  setPassword: Credentials['setPassword'];
  credentials: Pick<Credentials, 'list' | 'remove'>;
  now: () => Date;
  newId: () => string;
}) {
  const mustCover = coverage(access);

  /** An attribute that administrators may not see can't be searched either. @throws Problem `invalid-request` */
  async function refuseHidden(on: Sql, realm: string, names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    const seen = visibleTo(await readProfile(on, realm), 'admin', Object.fromEntries(names.map((name) => [name, []])));
    const hidden = names.filter((name) => !Object.hasOwn(seen, name));
    if (hidden.length > 0)
      throw invalid(hidden.map((name) => ({ path: `attribute.${name}`, message: 'is not visible to administrators' })));
  }

  /**
   * Checks the user against the realm's profile. Attributes that administrators may not see keep their value.
   * @throws Problem `invalid-request` naming the fields
   */
  async function fitting(
    on: Sql,
    realm: string,
    { before, wanted, reach }: { before?: User; wanted: User; reach?: Reach | undefined },
  ): Promise<User> {
    const profile = await readProfile(on, realm);
    const had = before?.attributes ?? {};
    const seen = visibleTo(profile, 'admin', had);
    const hidden = Object.fromEntries(Object.entries(had).filter(([name]) => !Object.hasOwn(seen, name)));
    const after = { ...wanted, attributes: { ...hidden, ...wanted.attributes } };
    if (reach) await refuseBeyond(on, realm, reach, { before, after });
    const faults = profileFaults(profile, { by: reach ? 'user' : 'admin', before, after });
    if (faults.length > 0) throw invalid(faults.map(fieldErrorOf));
    return after;
  }

  async function load(on: Sql, realm: string, id: string): Promise<User> {
    const row = await store.find(on, realm, id);
    if (!row) throw missing();
    return toWire(row);
  }

  /** Checks a new password against the realm's rules and hashes it, before any transaction. */
  async function hashed(
    realm: string,
    password: string,
    user: Pick<User, 'id' | 'username' | 'email' | 'firstName' | 'lastName'>,
  ): Promise<string> {
    const faults = await newPasswordFaults(realm, password, user);
    if (faults.length > 0) throw invalid(faults.map((fault) => fieldErrorOf({ path: 'password', fault })));
    return passwords.hash(password);
  }

  async function link(on: Sql, realm: string, user: User): Promise<void> {
    const roles = await store.setRoles(on, realm, user.id, user.roles);
    const groups = await store.setGroups(on, realm, user.id, user.groups);
    const unknown = (kind: 'role' | 'group', names: readonly string[], there: Set<string>): FieldError[] =>
      names.flatMap((name, i) =>
        there.has(name) ? [] : [{ path: `${kind}s[${i}]`, message: `there is no ${kind} ${name} in this realm` }],
      );
    const errors = [...unknown('role', user.roles, roles), ...unknown('group', user.groups, groups)];
    if (errors.length > 0) throw invalid(errors);
  }

  /** Two concurrent requests wanted the same value: a constraint of the database rejected one. */
  const raced = (error: unknown): never => {
    throw constraintOf(error) === SUBJECT_TAKEN ? takenAt('subject', 'attributes') : error;
  };
  const takenAt = (what: string, path = what) =>
    new Problem('name-taken', `The ${what} is taken`, { errors: [{ path, message: 'is taken' }] });
  /** @throws Problem `name-taken` */
  async function refuseTaken(on: Sql, realm: string, user: User, changed: readonly string[]): Promise<void> {
    const said = (...fields: string[]) => fields.some((field) => changed.includes(field));
    // Only changed names are checked: a user may keep a name that clashes since before.
    const which = said('username', 'email') ? await store.takenName(on, realm, user) : undefined;
    if (which) throw takenAt(which);
    const attribute = said('attributes') ? await store.subjectTaken(on, realm, user) : undefined;
    if (attribute !== undefined) throw takenAt(attribute, `attributes.${attribute}`);
  }

  const end = (tx: Tx, by: By, realm: string, id: string, cause: EndCause): Promise<void> =>
    endAccess(tx, realm, { people: [id], cause, by, at: now() });

  const temporaryAlone = (input: Changes<UserInput>) => {
    if (input.passwordTemporary !== undefined && input.password === undefined)
      throw invalid([{ path: 'passwordTemporary', message: 'needs the field password, which is missing' }]);
  };

  return {
    async list(realm: string, wanted: UserSearch, page: UserPage): Promise<User[]> {
      if (Object.values(wanted).every((one) => one === undefined))
        return usersShown(sql, realm, (await list(sql, realm, page)).map(toWire));
      await refuseHidden(sql, realm, Object.keys(wanted.attributes ?? {}));
      return transact(realm, async (tx) => {
        await tx.sql`set local plan_cache_mode = force_custom_plan`;
        return usersShown(tx.sql, realm, (await search(tx.sql, realm, wanted, page, now())).map(toWire));
      });
    },

    /** One statement for all rows of a page. */
    async withLocked(realm: string, users: readonly User[]): Promise<ListedUser[]> {
      const locked = await lockedAmong(
        sql,
        realm,
        users.map(({ id }) => id),
        now(),
      );
      return users.map((user) => ({ ...user, locked: locked.has(user.id) }));
    },

    get: async (realm: string, id: string): Promise<User> => userShown(sql, realm, await load(sql, realm, id)),

    async create(
      { by, reach }: Pick<Change, 'by' | 'reach'>,
      realm: string,
      input: UserInput,
      beside?: Beside,
    ): Promise<User> {
      temporaryAlone(input);
      const user = mergedUser(emptyUser(newId(), input.username, now()), input);
      const phc = input.password === undefined ? undefined : await hashed(realm, input.password, user);
      return transact(realm, async (tx) => {
        await fitting(tx.sql, realm, { wanted: user, reach });
        await refuseTaken(tx.sql, realm, user, ['username', 'email', 'attributes']);
        if (!(await store.insert(tx.sql, realm, toRow(user)))) throw new Problem('name-taken', 'The username is taken');
        await link(tx.sql, realm, user);
        await giveDefaults(tx.sql, realm, newUser(user.id));
        await beside?.write(tx.sql, user.id);
        tx.record({ type: 'USER_CREATED', realm, by, subject: subjectOf(user) });
        if (phc !== undefined)
          await setPassword(tx, by, realm, user, {
            phc,
            temporary: input.passwordTemporary ?? false,
            newAccount: true,
          });
        return userShown(tx.sql, realm, await load(tx.sql, realm, user.id));
      }).catch(raced);
    },

    async update({ principal, by, expect, reach }: Change, realm: string, id: string, wish: Wish): Promise<User> {
      const wanted = async (on: Sql): Promise<Wanted<Changes<UserInput>>> =>
        typeof wish === 'function' ? wish(on) : { input: wish };
      const { input: said } = await wanted(sql);
      temporaryAlone(said);
      const { password } = said;
      const phc =
        password === undefined
          ? undefined
          : await hashed(realm, password, mergedUser(await load(sql, realm, id), said));
      const read = async (on: Sql) => {
        const before = await load(on, realm, id);
        await expect(await userShown(on, realm, before), on);
        const { input, beside } = await wanted(on);
        const after = await fitting(on, realm, { before, wanted: mergedUser(before, input), reach });
        const fields = [...changedFields(mergedUser(before, {}), after), ...(beside?.fields ?? [])];
        return { before, after, fields, beside };
      };
      return transact(realm, async (tx) => {
        const { sql: on, record } = tx;
        const unlocked = await read(on);
        if (unlocked.fields.length === 0 && phc === undefined) return userShown(on, realm, unlocked.before);
        await mustCover(principal, realm, id, on);
        await store.lock(on, realm, id);
        const { before, after, fields, beside } = await read(on);
        await refuseTaken(on, realm, after, fields);
        await store.update(on, realm, toRow(after));
        await link(on, realm, after);
        if (beside && beside.fields.length > 0) await beside.write(on, id);
        if (fields.length > 0 || phc === undefined)
          record({ type: 'USER_UPDATED', realm, by, subject: subjectOf(after), data: { fields } });
        if (phc !== undefined)
          await setPassword(tx, by, realm, after, {
            phc,
            temporary: said.passwordTemporary ?? false,
            keep: ownSession(principal, realm, id),
          });
        if (before.enabled && !after.enabled) await end(tx, by, realm, id, 'disabled');
        return userShown(on, realm, await load(on, realm, id));
      }).catch(raced);
    },

    remove: ({ principal, by, expect }: Change, realm: string, id: string): Promise<void> =>
      transact(realm, async (tx) => {
        const { sql: on, record } = tx;
        await store.lock(on, realm, id);
        const user = await load(on, realm, id);
        await expect(await userShown(on, realm, user), on);
        await mustCover(principal, realm, id, on);
        record({ type: 'USER_DELETED', realm, by, subject: subjectOf(user) });
        await end(tx, by, realm, id, 'deleted');
        await store.remove(on, realm, id);
      }),

    async setPassword(
      { principal, by }: Pick<Change, 'principal' | 'by'>,
      realm: string,
      id: string,
      { password, temporary = false }: { password: string; temporary?: boolean | undefined },
    ): Promise<void> {
      const user = await load(sql, realm, id);
      // This check only saves the slow hash; the one in the transaction decides.
      await mustCover(principal, realm, id, sql);
      const phc = await hashed(realm, password, user);
      await transact(realm, async (tx) => {
        const known = await load(tx.sql, realm, id);
        await mustCover(principal, realm, id, tx.sql);
        await setPassword(tx, by, realm, known, { phc, temporary, keep: ownSession(principal, realm, id) });
      });
    },

    async credentials(realm: string, id: string): Promise<Credential[]> {
      await load(sql, realm, id);
      return credentials.list(realm, id);
    },

    removeCredential: (
      { principal, by }: Pick<Change, 'principal' | 'by'>,
      realm: string,
      { userId, type, id }: { userId: string; type: string; id: string },
    ): Promise<void> =>
      transact(realm, async (tx) => {
        const user = await load(tx.sql, realm, userId);
        await mustCover(principal, realm, userId, tx.sql);
        if (!(await credentials.remove(tx, by, realm, user, { type, id })))
          throw new Problem('not-found', 'There is no such credential');
      }),
  };
}
export type Users = ReturnType<typeof createUsers>;
