// Owns: the users who can administer the whole installation, and the rule that the last of them can't be removed.
// Does not own: giving admin roles (features/operations/admin-access), when a transaction is checked (db/transact.ts).
// Implements: decisions "The last administrator".
import type { DomainEvent, EventType } from '../contract/events.ts';
import { permissions } from '../contract/permissions.ts';
import { Problem } from '../contract/problem.ts';
import { MASTER } from '../contract/realms.ts';
import { type Fragment, fragment, type Sql } from '../db/sql.ts';
import type { Safeguard } from '../db/transact.ts';

/** Types of credentials that identify the user without another factor. */
export const IDENTIFYING = ['password', 'webauthn'];

/** Changes that a plan would make, so that the rule can be checked before anything is written. */
export interface Assumed {
  /** A query of the ids of master's users that the plan deletes or disables. */
  leaving?: Fragment | undefined;
  /** Admin roles with the permissions that they get over every realm; none: the role is deleted, or limited. */
  roles: readonly { name: string; permissions: readonly string[] }[];
  /** Aliases of identity providers that the plan deletes or disables. */
  providers: readonly string[];
  /** Aliases of directories that the plan deletes or disables. */
  directories: readonly string[];
}
const NOTHING: Assumed = { roles: [], providers: [], directories: [] };

interface Administrator {
  id: string;
  /** The user has a credential or a provider's link that works. Other demands of the realm's flow are not checked. */
  signsIn: boolean;
}

/** The enabled users of master who hold every permission over every realm, those who can sign in first. */
const administrators = (sql: Sql, { leaving, roles, providers, directories }: Assumed) => {
  const changed = fragment`unnest(${roles.map(({ name }) => name)}::text[], ${roles.map((role) => role.permissions.join(','))}::text[])`;
  return sql<Administrator>`
    with held as (
      select g.user_id, p.permission
      from admin_grant g join admin_role r on r.realm_id = g.realm_id and r.id = g.role_id
      left join ${changed} as changed (name, permissions) on changed.name = r.name
      cross join unnest(case when changed.name is null then r.permissions
        else string_to_array(changed.permissions, ',') end) as p (permission)
      where g.realm_id = ${MASTER} and g.user_id is not null and g.target_realm = '*'
        and (changed.name is not null or not r.by_groups and not r.by_clients)
    ), whole as (
      select user_id from held group by user_id having array_agg(permission) @> ${permissions}::text[]
    )
    select u.id, exists (
      select from credential c where c.realm_id = u.realm_id and c.user_id = u.id and c.type = any(${IDENTIFYING}::text[])
        and not coalesce((c.secret ->> 'reported')::boolean, false)
        and (not c.secret ? 'directory' or exists (
          select from directory d where d.realm_id = c.realm_id and d.id::text = c.secret ->> 'directory' and d.enabled
            and d.alias <> all(${directories}::text[])))
    ) or exists (
      select from identity_link l join identity_provider p on p.realm_id = l.realm_id and p.id = l.provider_id
      where l.realm_id = u.realm_id and l.user_id = u.id and p.enabled and p.alias <> all(${providers}::text[])
    ) as "signsIn"
    from realm_user u join whole on whole.user_id = u.id
    where u.realm_id = ${MASTER} and u.enabled ${leaving ? fragment`and u.id not in (${leaving})` : fragment``}
    order by 2 desc, u.created_at, u.id`;
};

/** 2: an administrator of master can sign in. 1: master has an administrator, who can't sign in now. 0: it has none. */
type Level = 0 | 1 | 2;
async function levelOf(sql: Sql, assumed: Assumed): Promise<Level> {
  const [first] = await administrators(sql, assumed);
  if (!first) return 0;
  return first.signsIn ? 2 : 1;
}

/** Whether a user of master holds realm-admin over every realm and can sign in. */
export const hasAdministrator = async (sql: Sql): Promise<boolean> => (await levelOf(sql, NOTHING)) === 2;

const WORDS =
  'No user of master would be left who holds realm-admin over every realm and can sign in: give it to another user first';

/** The row of a directory sync's report for the account that the sync leaves enabled. */
export const KEPT_ADMINISTRATOR =
  'stays enabled: no other user of master holds realm-admin over every realm and can sign in; give it to another user first';

class LastAdministrator extends Problem {
  readonly left: Level;
  constructor(left: Level) {
    super('last-administrator', WORDS);
    this.left = left;
  }
}
/** Whether the write was refused because it would leave master without an administrator. */
export const isLastAdministrator = (error: unknown): boolean => error instanceof LastAdministrator;

/** If two transactions each remove one of two administrators, the second waits and sees the first one's outcome. */
const lock = (sql: Sql) => sql`select pg_advisory_xact_lock(hashtext('realmkeeper administrators'))`;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const always = () => true;
/** Events of writes that may remove an administrator. */
const takesAway: Partial<Record<EventType, (data: Record<string, unknown>) => boolean>> = {
  USER_DELETED: always,
  USER_ERASED: always,
  USER_UPDATED: ({ fields }) => list(fields).includes('enabled'),
  CREDENTIAL_DELETED: ({ type }) => IDENTIFYING.includes(text(type)),
  IDENTITY_UNLINKED: always,
  ADMIN_GRANT_CHANGED: ({ taken }) => list(taken).length > 0,
  ADMIN_ROLE_UPDATED: always,
  IDENTITY_PROVIDER_UPDATED: always,
  IDENTITY_PROVIDER_DELETED: always,
  DIRECTORY_UPDATED: always,
  DIRECTORY_DELETED: always,
};

/**
 * Refuses a transaction that leaves master with no administrator. A user who reports a sign-in as a stranger's is never
 * refused: their password stops working, and they get a new one by e-mail.
 */
export const lastAdministratorStays: Safeguard = {
  concerns: (events: readonly DomainEvent[]) =>
    events.some(({ type, realm, data = {} }) => realm === MASTER && takesAway[type]?.(data) === true) &&
    !events.some(({ type }) => type === 'SIGN_IN_REPORTED'),
  async verify(sql) {
    await lock(sql);
    const left = await levelOf(sql, NOTHING);
    if (left < 2) throw new LastAdministrator(left);
  },
  isExcused: async (error, sql) => error instanceof LastAdministrator && (await levelOf(sql, NOTHING)) <= error.left,
};

/** Refuses a plan for master if applying it would be refused. @throws Problem `last-administrator` */
export async function refuseLastAdministrator(sql: Sql, assumed: Assumed): Promise<void> {
  const left = await levelOf(sql, assumed);
  if (left < 2 && (await levelOf(sql, NOTHING)) > left) throw new LastAdministrator(left);
}

/**
 * Picks the user who must stay enabled among those about to be disabled; undefined if another administrator remains. Until the
 * caller's transaction ends, no other one can remove an administrator.
 * @param leaving a query of the ids of the users to be disabled
 */
export async function administratorToKeep(sql: Sql, leaving: Fragment): Promise<string | undefined> {
  await lock(sql);
  const [left] = await administrators(sql, { ...NOTHING, leaving });
  if (left?.signsIn) return undefined;
  const [first] = await administrators(sql, NOTHING);
  return first && (!left || first.signsIn) ? first.id : undefined;
}
