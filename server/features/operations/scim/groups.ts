// Groups by SCIM: reads them here, writes them through the admin API's code, and changes members through the users'
// write path, with a constant number of statements for any number of members. RFC 7644 §3; decisions "Group".
import { GroupName } from '../../../contract/groups.ts';
import { Problem } from '../../../contract/problem.ts';
import { GROUP, type ScimList, type ScimQuery } from '../../../contract/scim.ts';
import { isUuid } from '../../../crypto/ids.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { escapedGroupName, shownGroupPath } from '../../../domain/group-names.ts';
import type { ResourceApi } from '../../../resource/api.ts';
import type { Resource } from '../../../resource/resource.ts';
import type { ChangeMembers, MemberChange } from '../../people/users/group-members.ts';
import { type Answer, answerOf } from './answer.ts';
import { readResource, type Values } from './body.ts';
import type { Caller } from './caller.ts';
import { scimProblem } from './fault.ts';
import { parseFilter } from './filter.ts';
import { sqlOf } from './filter-sql.ts';
import { idsOf, membersAfter } from './group-members.ts';
import * as store from './group-store.ts';
import { findPage, listResponse, orderOf } from './listing.ts';
import { applyPatch, type Operation, stepsOf } from './patch.ts';
import { type Projection, showsAttribute } from './project.ts';
import { attributeNamed, groupType, placeOf } from './schema.ts';

/** The most members in one response: each takes a few hundred bytes. */
const MOST_MEMBERS = 100_000;
const LONGEST_ID = 255;
const resolve = (path: string) => placeOf(groupType, path);
const missing = (id: string) => new Problem('not-found', `There is no group ${id}`);

export interface ScimGroupsDeps {
  sql: Sql;
  transact: Transact;
  /** The admin API's operations within an open transaction. */
  requestsIn(tx: Tx): Pick<ResourceApi, 'create' | 'replace' | 'remove'>;
  groups: Resource;
  changeMembers: ChangeMembers;
  baseOf(realm: string): string;
}

/** The group's new values; for members, only the changes. */
interface Wanted {
  displayName: string;
  externalId: string | null;
  members: MemberChange | undefined;
}

export function createScimGroups({ sql, transact, requestsIn, groups, changeMembers, baseOf }: ScimGroupsDeps) {
  async function load(on: Sql, realm: string, id: string): Promise<store.ScimGroupRow> {
    const row = isUuid(id) ? await store.findGroup(on, realm, id) : undefined;
    if (!row) throw missing(id);
    return row;
  }

  /** @param members undefined: the resource omits them */
  function resourceOf(realm: string, row: store.ScimGroupRow, members?: readonly store.MemberRow[]): Values {
    const base = baseOf(realm);
    return {
      schemas: [GROUP],
      id: row.id,
      ...(row.external_id !== null && { externalId: row.external_id }),
      displayName: shownGroupPath(row.path).slice(1),
      ...(members &&
        members.length > 0 && {
          members: members.map(({ user_id: value }) => ({ value, $ref: `${base}/Users/${value}`, type: 'User' })),
        }),
      meta: {
        resourceType: 'Group',
        created: row.created_at.toISOString(),
        lastModified: row.updated_at.toISOString(),
        location: `${base}/Groups/${row.id}`,
      },
    };
  }

  /** Loads the group and locks it against other SCIM changes. */
  async function held(on: Sql, realm: string, id: string): Promise<store.ScimGroupRow> {
    if (!isUuid(id)) throw missing(id);
    await store.holdGroup(on, realm, id);
    return load(on, realm, id);
  }

  /** The members of each group; undefined if the response doesn't contain them. */
  async function membersOf(on: Sql, realm: string, rows: readonly store.ScimGroupRow[], projection: Projection) {
    if (!showsAttribute(groupType, projection, 'members')) return undefined;
    if (rows.length === 0) return new Map<string, store.MemberRow[]>();
    const ids = rows.map(({ id }) => id);
    const members = await store.membersOf(on, realm, ids, MOST_MEMBERS + 1);
    if (members.length > MOST_MEMBERS)
      throw scimProblem('tooMany', `They have more than ${MOST_MEMBERS} members: ask with excludedAttributes=members`);
    return Map.groupBy(members, (member) => member.group_id);
  }

  async function answersOf(realm: string, rows: readonly store.ScimGroupRow[], projection: Projection) {
    const members = await membersOf(sql, realm, rows, projection);
    return rows.map((row) =>
      answerOf(
        groupType,
        resourceOf(realm, row, members && (members.get(row.id) ?? [])),
        projection,
        members !== undefined,
      ),
    );
  }
  async function answer(realm: string, id: string, projection: Projection): Promise<Answer> {
    const [one] = await answersOf(realm, [await load(sql, realm, id)], projection);
    if (!one) throw missing(id);
    return one;
  }

  /**
   * Splits a display name into the admin API's parent and name. A slash leads into the group before it; if the realm has no such
   * group, the slash is part of the name, as in the names of Entra and Okta.
   */
  async function placeAt(on: Sql, realm: string, displayName: string, id: string | null) {
    const path = `/${displayName}`;
    if (await store.isNameTaken(on, realm, path, id))
      throw scimProblem('uniqueness', `There is a group ${displayName} already`);
    const cut = path.lastIndexOf('/');
    const parentId = cut === 0 ? undefined : await store.groupAt(on, realm, path.slice(0, cut), id);
    const name = parentId === undefined ? displayName : path.slice(cut + 1);
    const { data, error } = GroupName.safeParse(escapedGroupName(name));
    if (error) throw scimProblem('invalidValue', `displayName: ${error.issues[0]?.message}`);
    return { name: data, parentId: parentId ?? null };
  }

  const unconditional = ({ principal, by }: Caller) => ({ principal, by, expect: () => {} });

  async function change(
    caller: Caller,
    realm: string,
    id: string,
    wantedOf: (row: store.ScimGroupRow) => Wanted,
  ): Promise<void> {
    await transact(realm, async (tx) => {
      const row = await held(tx.sql, realm, id);
      await expected(tx.sql, caller, realm, row);
      const { displayName, externalId, members } = wantedOf(row);
      const renamed = `/${displayName}` !== shownGroupPath(row.path);
      if (renamed) {
        const place = await placeAt(tx.sql, realm, displayName, id);
        await requestsIn(tx).replace(groups, unconditional(caller), realm, { id }, place);
      }
      if (externalId !== row.external_id) {
        await store.saveGroup(tx.sql, realm, id, externalId);
        const subject = { type: 'object', id, name: `/${displayName}` } as const;
        const data = { kind: 'group', action: 'update', fields: ['externalId'] };
        tx.record({ type: 'GROUP_UPDATED', realm, by: caller.by, subject, data });
      }
      if (members) await changeMembers(tx, caller, realm, id, members);
    });
  }

  /** Checks If-Match, whose tag covers the group and all its members. Without the header the members aren't read. */
  async function expected(on: Sql, { expect, conditional }: Caller, realm: string, row: store.ScimGroupRow) {
    if (!conditional) return;
    const members = await membersOf(on, realm, [row], {});
    expect(resourceOf(realm, row, members?.get(row.id) ?? []));
  }

  return {
    async find(realm: string, query: ScimQuery): Promise<ScimList> {
      const found = await findPage<store.ScimGroupRow>(
        sql,
        {
          table: store.groupTable,
          within: store.inRealm(realm),
          select: store.groupSelect,
          id: fragment`g.id`,
          condition: query.filter ? sqlOf(parseFilter(query.filter), store.groupColumns, resolve) : fragment`true`,
          order: orderOf(query, store.groupColumns, resolve),
        },
        query,
      );
      const answers = await answersOf(realm, found.rows, query);
      return listResponse(
        answers.map(({ resource }) => resource),
        found,
      );
    },

    get: answer,

    async create(caller: Caller, realm: string, body: Values, projection: Projection): Promise<Answer> {
      const { displayName, externalId, members } = wantedGroup(readResource(groupType, body));
      const id = await transact(realm, async (tx) => {
        const place = await placeAt(tx.sql, realm, displayName, null);
        const made = await requestsIn(tx).create(groups, unconditional(caller), realm, place);
        if (externalId !== null) await store.saveGroup(tx.sql, realm, made.id, externalId);
        if (members.add.length > 0) await changeMembers(tx, caller, realm, made.id, members);
        return made.id;
      });
      return answer(realm, id, projection);
    },

    async replace(caller: Caller, realm: string, id: string, body: Values, projection: Projection): Promise<Answer> {
      const wanted = wantedGroup(readResource(groupType, body));
      await change(caller, realm, id, () => wanted);
      return answer(realm, id, projection);
    },

    async patch(caller: Caller, realm: string, id: string, operations: readonly Operation[]): Promise<void> {
      const steps = stepsOf(groupType, operations);
      const ofMembers = steps.filter(({ attribute }) => attribute.name === 'members');
      const members = ofMembers.length > 0 ? membersAfter(ofMembers) : undefined;
      const others = steps.filter(({ attribute }) => attribute.name !== 'members');
      await change(caller, realm, id, (row) => ({
        ...wantedGroup(applyPatch(resourceOf(realm, row), others)),
        members,
      }));
    },

    async remove(caller: Caller, realm: string, id: string): Promise<void> {
      await transact(realm, async (tx) => {
        await expected(tx.sql, caller, realm, await held(tx.sql, realm, id));
        await requestsIn(tx).remove(groups, unconditional(caller), realm, { id });
      });
    },
  };
}
export type ScimGroups = ReturnType<typeof createScimGroups>;

/** @throws Problem `invalidValue` */
function wantedGroup({ displayName, externalId, members }: Values): Wanted & { members: MemberChange } {
  if (typeof displayName !== 'string') throw scimProblem('invalidValue', 'displayName is required');
  const id = externalId === undefined ? null : String(externalId);
  if (id !== null && id.length > LONGEST_ID)
    throw scimProblem('invalidValue', `externalId must have at most ${LONGEST_ID} characters`);
  const attribute = attributeNamed(groupType.schema.attributes, 'members');
  return {
    displayName,
    externalId: id,
    members: { add: attribute ? [...new Set(idsOf(attribute, members))] : [], remove: 'others' },
  };
}
