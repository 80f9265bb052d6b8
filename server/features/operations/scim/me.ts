// /Me (RFC 7644 §3.11): the user's own resource. The realm's user profile decides which attributes users see and
// change. Writes go through the account API's code, so that the same rules, notices and proofs apply. Decisions "User
// profile".
import { Problem } from '../../../contract/problem.ts';
import type { Sql } from '../../../db/sql.ts';
import { readProfile, visibleTo } from '../../../domain/user-profile.ts';
import type { Expect } from '../../../http/etag.ts';
import type { OwnDetails, OwnWrite } from '../../authentication/account/own-details.ts';
import { type Answer, answerOf } from './answer.ts';
import { readResource, type Values } from './body.ts';
import { scimProblem } from './fault.ts';
import { applyPatch, type Operation, stepsOf } from './patch.ts';
import type { Projection } from './project.ts';
import { userType } from './schema.ts';
import { scimPathOf } from './user-attributes.ts';
import { changedIn } from './user-document.ts';
import { findUser, type ScimUserRow } from './user-store.ts';
import { userResource, type WantedUser, wantedUser } from './user-wire.ts';
import { asScimFault } from './users.ts';

/** The user's own write, and its `If-Match` condition. */
interface Write {
  write: OwnWrite;
  expect: Expect;
}
export interface ScimMeDeps {
  sql: Sql;
  details: Pick<OwnDetails, 'changeProfile' | 'profile'>;
  baseOf(realm: string): string;
}
interface Seen {
  row: ScimUserRow;
  /** The attributes that the user may see. */
  visible: Record<string, string[]>;
  resource: Values;
}

export function createScimMe({ sql, details, baseOf }: ScimMeDeps) {
  async function read(realm: string, id: string): Promise<Seen> {
    const [row, profile] = await Promise.all([findUser(sql, realm, id), readProfile(sql, realm)]);
    if (!row) throw new Problem('not-found', `There is no user ${id}`);
    const visible = (all: ScimUserRow['attributes']) => visibleTo(profile, 'user', all);
    return { row, visible: visible(row.attributes), resource: userResource(row, { base: baseOf(realm), visible }) };
  }
  const get = async (realm: string, id: string, projection: Projection): Promise<Answer> =>
    answerOf(userType, (await read(realm, id)).resource, projection);

  async function change(
    { write, expect }: Write,
    projection: Projection,
    wish: (seen: Seen) => { wanted: WantedUser; leaves: boolean },
  ): Promise<Answer> {
    const { realm, holder } = write;
    const seen = await read(realm, holder.userId);
    expect(seen.resource);
    const { wanted, leaves } = wish(seen);
    const { editable } = await details.profile(realm, holder.userId);
    const changes = ownChanges(wanted, seen, { editable: new Set(editable), leaves });
    if (Object.keys(changes).length > 0) await asScimFault(details.changeProfile(write, changes));
    return get(realm, holder.userId, projection);
  }

  return {
    get,
    /** Attributes that the user may not change can be omitted, and keep their values. */
    replace: (own: Write, body: Values, projection: Projection): Promise<Answer> => {
      const resource = readResource(userType, body);
      return change(own, projection, ({ visible }) => ({
        wanted: wantedUser(resource, { before: visible, roles: 'kept' }),
        leaves: true,
      }));
    },
    patch: (own: Write, operations: readonly Operation[], projection: Projection): Promise<Answer> => {
      const steps = stepsOf(userType, operations);
      return change(own, projection, ({ visible, resource }) => ({
        wanted: wantedUser(applyPatch(resource, steps), { before: visible, roles: 'said' }),
        leaves: false,
      }));
    },
  };
}
export type ScimMe = ReturnType<typeof createScimMe>;

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one, i) => one === b[i]);

/**
 * The changes for the account API.
 * @param leaves whether an omitted attribute keeps its value if the user may not change it
 * @throws Problem `mutability`
 */
function ownChanges(
  { input, said }: WantedUser,
  { row, visible }: Seen,
  { editable, leaves }: { editable: ReadonlySet<string>; leaves: boolean },
): Parameters<OwnDetails['changeProfile']>[1] {
  const { username, email = null, enabled, password, roles, firstName = null, lastName = null } = input;
  const saysEmail = email !== null || !leaves;
  const told = new Set(changedIn(leaves ? {} : row.document, said.document));
  const changed = changedIn(row.document, said.document).filter((name) => told.has(name));
  const refused = [
    ...(username === row.username ? [] : ['userName']),
    ...(saysEmail && (email !== row.email || said.emailType !== row.email_type) ? ['emails'] : []),
    ...(enabled === undefined || enabled === row.enabled ? [] : ['active']),
    ...(password === undefined ? [] : ['password']),
    ...(roles === undefined || same([...roles].sort(), [...row.roles].sort()) ? [] : ['roles']),
    ...(said.externalId === row.external_id || (leaves && said.externalId === null) ? [] : ['externalId']),
    ...changed,
  ];
  const names: { firstName?: string | null; lastName?: string | null } = {};
  for (const [name, value, before] of [
    ['firstName', firstName, row.first_name],
    ['lastName', lastName, row.last_name],
  ] as const) {
    if ((value ?? '') === (before ?? '')) continue;
    if (editable.has(name)) names[name] = value;
    else if (value !== null || !leaves) refused.push(scimPathOf(name));
  }
  const attributes: Record<string, string[]> = {};
  for (const name of new Set([...Object.keys(visible), ...Object.keys(input.attributes ?? {})])) {
    const [before = [], after = []] = [visible, input.attributes ?? {}].map((of) =>
      Object.hasOwn(of, name) ? of[name] : [],
    );
    if (same(before, after)) continue;
    if (editable.has(`attributes.${name}`)) attributes[name] = [...after];
    else if (after.length > 0 || !leaves) refused.push(scimPathOf(`attributes.${name}`));
  }
  if (refused.length > 0)
    throw scimProblem('mutability', `${[...new Set(refused)].join(', ')}: isn’t yours to change here`);
  return { ...names, ...(Object.keys(attributes).length > 0 && { attributes }) };
}
