// Users by SCIM: reads them here, and writes them through the users feature's write path, with its rules, audit events
// and revocation of access. RFC 7644 §3; decisions "User", "User profile", "Rights".
import { Problem } from '../../../contract/problem.ts';
import type { ScimList, ScimQuery } from '../../../contract/scim.ts';
import type { UserProfile } from '../../../contract/user-profile.ts';
import { isUuid } from '../../../crypto/ids.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import { readProfile, visibleTo } from '../../../domain/user-profile.ts';
import type { Beside, Users } from '../../people/users/service.ts';
import { type Answer, answerOf } from './answer.ts';
import { readResource, type Values } from './body.ts';
import type { Caller } from './caller.ts';
import { parseFilter } from './filter.ts';
import { sqlOf } from './filter-sql.ts';
import { findPage, listResponse, orderOf } from './listing.ts';
import { applyPatch, type Operation, stepsOf } from './patch.ts';
import type { Projection } from './project.ts';
import { placeOf, userType } from './schema.ts';
import { createTotals } from './totals.ts';
import { isUnsaid, scimPathOf } from './user-attributes.ts';
import { changedIn } from './user-document.ts';
import {
  findUser,
  inRealm,
  type ScimUserExtras,
  type ScimUserRow,
  saveUser,
  userColumns,
  userSelect,
  userTable,
} from './user-store.ts';
import { userResource, type WantedUser, wantedUser } from './user-wire.ts';

const missing = (id: string) => new Problem('not-found', `There is no user ${id}`);
const resolve = (path: string) => placeOf(userType, path);

export interface ScimUsersDeps {
  sql: Sql;
  users: Pick<Users, 'create' | 'update' | 'remove'>;
  baseOf(realm: string): string;
}

export function createScimUsers({ sql, users, baseOf }: ScimUsersDeps) {
  const totals = createTotals();
  const shownBy = (realm: string, profile: UserProfile) => {
    const base = baseOf(realm);
    const visible = (attributes: ScimUserRow['attributes']) => visibleTo(profile, 'admin', attributes);
    return (row: ScimUserRow): Values => userResource(row, { base, visible });
  };
  const show = async (on: Sql, realm: string) => shownBy(realm, await readProfile(on, realm));
  async function load(on: Sql, realm: string, id: string): Promise<ScimUserRow> {
    const row = isUuid(id) ? await findUser(on, realm, id) : undefined;
    if (!row) throw missing(id);
    return row;
  }
  async function answer(realm: string, id: string, projection: Projection): Promise<Answer> {
    const row = await load(sql, realm, id);
    return answerOf(userType, (await show(sql, realm))(row), projection);
  }

  /** The user's SCIM data that the users feature doesn't store; written only if they changed. */
  const beside = (realm: string, before: ScimUserExtras, said: ScimUserExtras): Beside => ({
    fields: [
      ...(before.externalId === said.externalId ? [] : ['externalId']),
      ...(before.emailType === said.emailType ? [] : ['emails.type']),
      ...(before.emailPrimary === said.emailPrimary ? [] : ['emails.primary']),
      ...changedIn(before.document, said.document),
    ],
    write: (on, id) => saveUser(on, realm, id, said),
  });

  /** Checks If-Match, whose tag covers the whole SCIM user. Without the header the user isn't read. */
  const expected =
    ({ expect, conditional }: Caller, realm: string, id: string) =>
    async (_: unknown, on: Sql): Promise<void> => {
      if (conditional) expect((await show(on, realm))(await load(on, realm, id)));
    };

  async function write(
    caller: Caller,
    realm: string,
    id: string,
    wanted: (row: ScimUserRow, shown: Values) => WantedUser,
  ): Promise<void> {
    const { principal, by } = caller;
    await asScimFault(
      users.update({ principal, by, expect: expected(caller, realm, id) }, realm, id, async (on) => {
        const row = await load(on, realm, id);
        const { input, said } = wanted(row, (await show(on, realm))(row));
        return { input, beside: beside(realm, saidBefore(row), said) };
      }),
    );
  }

  return {
    async find(realm: string, query: ScimQuery): Promise<ScimList> {
      const profile = await readProfile(sql, realm);
      const columns = userColumns(realm, profile);
      const found = await findPage<ScimUserRow>(
        sql,
        {
          table: userTable,
          within: inRealm(realm),
          select: userSelect,
          id: fragment`u.id`,
          condition: query.filter ? sqlOf(parseFilter(query.filter), columns, resolve) : fragment`true`,
          order: orderOf(query, columns, resolve),
          total: (count) => totals.of(JSON.stringify([realm, query.filter ?? '']), count),
        },
        query,
      );
      const shown = shownBy(realm, profile);
      return listResponse(
        found.rows.map((row) => answerOf(userType, shown(row), query).resource),
        found,
      );
    },

    get: answer,

    async create({ by }: Caller, realm: string, body: Values, projection: Projection): Promise<Answer> {
      const { input, said } = wantedUser(readResource(userType, body), { before: {}, roles: 'kept' });
      const none = { externalId: null, emailType: null, emailPrimary: true, document: {} };
      const stands = beside(realm, none, said);
      const { id } = await asScimFault(
        users.create({ by }, realm, input, stands.fields.length > 0 ? stands : undefined),
      );
      return answer(realm, id, projection);
    },

    async replace(caller: Caller, realm: string, id: string, body: Values, projection: Projection): Promise<Answer> {
      const resource = readResource(userType, body);
      // An empty list also means no roles, but readResource drops it (RFC 7643 §2.5).
      const roles = Object.keys(body).some((name) => name.toLowerCase() === 'roles') ? 'said' : 'kept';
      await write(caller, realm, id, (row) => wantedUser(resource, { before: row.attributes, roles }));
      return answer(realm, id, projection);
    },

    async patch(
      caller: Caller,
      realm: string,
      id: string,
      operations: readonly Operation[],
      projection: Projection,
    ): Promise<Answer> {
      const steps = stepsOf(userType, operations);
      await write(caller, realm, id, (row, shown) =>
        wantedUser(applyPatch(shown, steps), { before: row.attributes, roles: 'said' }),
      );
      return answer(realm, id, projection);
    },

    async remove(caller: Caller, realm: string, id: string): Promise<void> {
      const { principal, by } = caller;
      await load(sql, realm, id);
      await users.remove({ principal, by, expect: expected(caller, realm, id) }, realm, id);
    },
  };
}
export type ScimUsers = ReturnType<typeof createScimUsers>;

const saidBefore = (row: ScimUserRow): ScimUserExtras => ({
  externalId: row.external_id,
  emailType: row.email_type,
  emailPrimary: row.email_primary,
  document: row.document,
});

const UNSAID =
  ' by the realm’s user profile, and SCIM has no attribute for it: require it of people alone, who are asked when they sign in';

/** Turns the users feature's field errors into SCIM errors with SCIM's names. */
export async function asScimFault<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Problem) || !error.errors) throw error;
    const detail = error.errors
      .map(({ path, message }) => `${scimPathOf(path)}: ${message}${isUnsaid(path) ? UNSAID : ''}`)
      .join('; ');
    const more = { errors: error.errors, ...(error.extra && { extra: error.extra }), cause: error };
    throw new Problem(error.code, detail, more);
  }
}
