// SQL of admin sessions, admin roles and their grants.

import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import type { Maker } from '../../../domain/admin-rights.ts';
import { agentActs } from '../../../domain/agents.ts';
import type { Factor } from '../../../domain/factors.ts';
import { type PersonRow, personColumns } from '../../../domain/person.ts';
import { type Proven, provenUser } from '../../../domain/proof.ts';
import { type Cutoffs, sessionLives } from '../../../domain/session.ts';

/** Permissions over a target realm, and their limits: groups and clients by id; null: no limit. */
export interface HeldGrant {
  target: string;
  permissions: string[];
  groups: string[] | null;
  clients: string[] | null;
}
export interface GrantRow extends HeldGrant {
  role: string;
}
export type Holder = { userId: string } | { clientUuid: string };
/** One holder, or several users for reading. */
export type Holders = Holder | { userIds: readonly string[] };

const ofHolder = (holder: Holders) => {
  if ('userIds' in holder) return fragment`g.user_id = any(${holder.userIds}::uuid[])`;
  return 'userId' in holder ? fragment`g.user_id = ${holder.userId}` : fragment`g.client = ${holder.clientUuid}`;
};

/** The limits of the admin role `r`, as names. */
const limitedTo = {
  groups: fragment`case when r.by_groups then array(
    select l.group_id from admin_role_group l where l.realm_id = r.realm_id and l.role_id = r.id) end`,
  clients: fragment`case when r.by_clients then array(
    select l.client from admin_role_client l where l.realm_id = r.realm_id and l.role_id = r.id) end`,
};
const grantsOf = (realm: Fragment, holder: Fragment) => fragment`coalesce((
  select jsonb_agg(jsonb_build_object('target', g.target_realm, 'permissions', r.permissions,
    'groups', ${limitedTo.groups}, 'clients', ${limitedTo.clients}))
  from admin_grant g join admin_role r on r.realm_id = g.realm_id and r.id = g.role_id
  where g.realm_id = ${realm} and ${holder}), '[]')`;

export const grants = (sql: Sql, realm: string, holder: Holders): Promise<GrantRow[]> => sql<GrantRow>`
  select r.name as role, g.target_realm as target, r.permissions, ${limitedTo.groups} as groups, ${limitedTo.clients} as clients
  from admin_grant g join admin_role r on r.realm_id = g.realm_id and r.id = g.role_id
  where g.realm_id = ${realm} and ${ofHolder(holder)}
  order by r.name, g.target_realm`;

/** The last holder on the previous page. */
export interface HolderPage {
  after: { id: string; target: string } | undefined;
  limit: number;
}
export interface HolderRow {
  type: 'user' | 'client';
  id: string;
  name: string;
  target: string;
}
export const holdersOf = (
  sql: Sql,
  realm: string,
  roleId: string,
  { after, limit }: HolderPage,
): Promise<HolderRow[]> => sql<HolderRow>`
  select case when g.user_id is null then 'client' else 'user' end as type, coalesce(g.user_id, g.client) as id,
    coalesce(u.username, c.client_id) as name, g.target_realm as target
  from admin_grant g
  left join realm_user u on u.realm_id = g.realm_id and u.id = g.user_id
  left join client c on c.realm_id = g.realm_id and c.id = g.client
  where g.realm_id = ${realm} and g.role_id = ${roleId}
    ${after === undefined ? fragment`` : fragment`and (coalesce(g.user_id, g.client), g.target_realm collate "C") > (${after.id}::uuid, ${after.target})`}
  order by coalesce(g.user_id, g.client), g.target_realm collate "C" limit ${limit}`;

export interface SessionRow extends PersonRow {
  last_seen_at: Date;
  expires_at: Date;
  factors: Factor[];
  /** The types of the user's credentials. */
  types: string[];
  grants: HeldGrant[];
}

export async function findSession(sql: Sql, realm: string, tokenHash: Buffer): Promise<SessionRow | undefined> {
  const [row] = await sql<SessionRow>`
    select ${personColumns}, s.last_seen_at, s.expires_at, s.factors, array(
      select c.type from credential c where c.realm_id = s.realm_id and c.user_id = s.user_id
    ) as types, ${grantsOf(fragment`s.realm_id`, fragment`g.user_id = s.user_id`)} as grants
    from admin_session s join realm_user u on u.realm_id = s.realm_id and u.id = s.user_id and u.enabled
    where s.realm_id = ${realm} and s.token_hash = ${tokenHash}`;
  return row;
}

export interface TokenRow {
  user_id: string;
  username: string;
  has_second_factor: boolean;
  grants: HeldGrant[];
}

/** The user of an access token of `clientId`; undefined if user, session or client changed since or no longer exists. */
export async function findPerson(
  sql: Sql,
  realm: string,
  token: {
    userId: string;
    sessionId: string;
    clientId: string;
    audience: string;
    /** Types of credentials. */
    secondFactors: readonly string[];
    cutoffs: Cutoffs;
  },
): Promise<TokenRow | undefined> {
  const [row] = await sql<TokenRow>`
    select u.id as user_id, u.username,
      exists (
        select from credential c
        where c.realm_id = u.realm_id and c.user_id = u.id and c.type = any(${token.secondFactors}::text[])
      ) as has_second_factor,
      ${grantsOf(fragment`u.realm_id`, fragment`g.user_id = u.id`)} as grants
    from session s join realm_user u on u.realm_id = s.realm_id and u.id = s.user_id and u.enabled
      join client c on c.realm_id = s.realm_id and c.client_id = ${token.clientId} and c.enabled
        and c.token_endpoint_auth_method = 'none' and c.allowed_resources @> array[${token.audience}]
    where s.realm_id = ${realm} and s.id = ${token.sessionId} and s.user_id = ${token.userId}
      and ${sessionLives(token.cutoffs)}`;
  return row;
}

export async function touchSession(sql: Sql, realm: string, tokenHash: Buffer, at: Date): Promise<void> {
  await sql`update admin_session set last_seen_at = ${at} where realm_id = ${realm} and token_hash = ${tokenHash}`;
}

export async function insertSession(
  sql: Sql,
  realm: string,
  session: { tokenHash: Buffer; proven: Proven; factors: readonly Factor[]; at: Date; expiresAt: Date },
): Promise<string> {
  const { tokenHash, proven, factors, at, expiresAt } = session;
  const [row] = await sql<{ id: string }>`
    insert into admin_session (realm_id, token_hash, user_id, factors, started_at, last_seen_at, expires_at)
    values (${realm}, ${tokenHash}, ${provenUser(realm, proven)}, ${JSON.stringify(factors)}, ${at}, ${at}, ${expiresAt})
    returning id`;
  return row?.id ?? '';
}

/** Replaces the session's secret, since the session has more rights now. False: the session has ended in the meantime. */
export async function stepUpSession(
  sql: Sql,
  realm: string,
  tokenHash: Buffer,
  next: { tokenHash: Buffer; proven: Proven; factors: readonly Factor[]; at: Date },
): Promise<boolean> {
  const [row] = await sql`
    update admin_session set token_hash = ${next.tokenHash}, user_id = ${provenUser(realm, next.proven)},
      factors = ${JSON.stringify(next.factors)}, last_seen_at = ${next.at}
    where realm_id = ${realm} and token_hash = ${tokenHash} returning user_id`;
  return row !== undefined;
}

export interface EndedSessionRow {
  id: string;
  /** The realm's session that began by it. */
  accountSession: string | null;
}
export async function deleteSession(sql: Sql, realm: string, tokenHash: Buffer): Promise<EndedSessionRow | undefined> {
  const [row] = await sql<EndedSessionRow>`
    delete from admin_session where realm_id = ${realm} and token_hash = ${tokenHash}
    returning id, account_session as "accountSession"`;
  return row;
}

export async function deleteExpiredSessions(sql: Sql, at: Date, idleSince: Date): Promise<void> {
  await sql`delete from admin_session where expires_at <= ${at} or last_seen_at <= ${idleSince}`;
}

export interface ClientRow {
  id: string;
  client_id: string;
  grants: HeldGrant[];
  /** The agent that the client belongs to. */
  agent: { id: string; name: string } | null;
}

export async function findClient(sql: Sql, realm: string, clientId: string, at: Date): Promise<ClientRow | undefined> {
  const [row] = await sql<ClientRow>`
    select c.id, c.client_id, ${grantsOf(fragment`c.realm_id`, fragment`g.client = c.id`)} as grants, (
      select jsonb_build_object('id', t.id, 'name', t.name) from agent t
      where t.realm_id = c.realm_id and t.client_id = c.client_id) as agent
    from client c where c.realm_id = ${realm} and c.client_id = ${clientId} and c.enabled and not exists (
      select from agent t where t.realm_id = c.realm_id and t.client_id = c.client_id
        and not (${agentActs} and (t.expires_at is null or t.expires_at > ${at})))`;
  return row;
}

/** The present grants of the author of a link; undefined: the author is deleted or disabled, and may do nothing. */
export async function grantsOfMaker(
  sql: Sql,
  { type, realm, id }: Maker,
  at: Date,
): Promise<readonly HeldGrant[] | undefined> {
  const ofClient = fragment`${grantsOf(fragment`c.realm_id`, fragment`g.client = c.id`)} as grants`;
  const who = {
    user: fragment`${grantsOf(fragment`u.realm_id`, fragment`g.user_id = u.id`)} as grants from realm_user u
      where u.realm_id = ${realm} and u.id = ${id} and u.enabled`,
    client: fragment`${ofClient} from client c where c.realm_id = ${realm} and c.id = ${id} and c.enabled
      and not exists (select from agent t where t.realm_id = c.realm_id and t.client_id = c.client_id)`,
    agent: fragment`${ofClient} from client c join agent t on t.realm_id = c.realm_id and t.client_id = c.client_id
      where c.realm_id = ${realm} and t.id = ${id} and c.enabled and ${agentActs} and (t.expires_at is null or t.expires_at > ${at})`,
  };
  return (await sql<{ grants: HeldGrant[] }>`select ${who[type]}`)[0]?.grants;
}

/**
 * The realm whose settings name this issuer and that owns the key. The key decides, because any realm may set another
 * realm's issuer. Tokens of a realm without an issuer of its own are found by their path.
 */
export async function realmOfIssuer(sql: Sql, issuer: string, keyId: string): Promise<string | undefined> {
  const [row] = await sql<{ realm_id: string }>`
    select r.realm_id from realm r join realm_key k on k.realm_id = r.realm_id and k.key_id = ${keyId}
    where r.settings->>'issuer' = ${issuer} and r.deleted_at is null limit 1`;
  return row?.realm_id;
}

export interface RoleRow {
  id: string;
  name: string;
  built_in: boolean;
  permissions: string[];
  limited: boolean;
}

export const rolesNamed = (sql: Sql, realm: string, roleNames: readonly string[]): Promise<RoleRow[]> => sql<RoleRow>`
  select id, name, built_in, permissions, by_groups or by_clients as limited from admin_role where realm_id = ${realm} and name = any(${roleNames}::text[])`;

/** Locks the roles: a concurrent grant of them waits for their new permissions. */
export async function lockRoles(sql: Sql, realm: string, roleNames: readonly string[]): Promise<void> {
  await sql`
    select id from admin_role where realm_id = ${realm} and name = any(${roleNames}::text[]) order by id for update`;
}

/** Inserts missing built-in roles, and sets the permissions of this release in all of them. */
export async function putBuiltInRoles(
  sql: Sql,
  realms: readonly string[],
  roles: readonly { name: string; permissions: string }[],
): Promise<void> {
  await sql`
    insert into admin_role (realm_id, id, name, built_in, permissions)
    select realm, gen_random_uuid(), role.name, true, string_to_array(role.permissions, ',')
    from unnest(${realms}::text[]) as realm
    cross join unnest(${roles.map((r) => r.name)}::text[], ${roles.map((r) => r.permissions)}::text[]) as role (name, permissions)
    on conflict (realm_id, name) do update set permissions = excluded.permissions
    where admin_role.built_in and admin_role.permissions <> excluded.permissions`;
}

/** Whether every realm has these roles with these permissions. A role of the same name that is not built in stays as it is. */
export async function haveBuiltInRoles(
  sql: Sql,
  roles: readonly { name: string; permissions: string }[],
): Promise<boolean> {
  const [row] = await sql<{ complete: boolean }>`
    select count(*) = (select count(*) * ${roles.length} from realm where deleted_at is null) as complete
    from admin_role r
    join unnest(${roles.map((r) => r.name)}::text[], ${roles.map((r) => r.permissions)}::text[]) as role (name, permissions)
      on role.name = r.name and (not r.built_in or r.permissions = string_to_array(role.permissions, ','))
    where r.realm_id not in (select realm_id from realm where deleted_at is not null)`;
  return row?.complete === true;
}

/** False: the holder has the role already. */
export async function insertGrant(
  sql: Sql,
  realm: string,
  grant: { roleId: string; holder: Holder; target: string },
): Promise<boolean> {
  const userId = 'userId' in grant.holder ? grant.holder.userId : null;
  const client = 'clientUuid' in grant.holder ? grant.holder.clientUuid : null;
  const [row] = await sql`
    insert into admin_grant (realm_id, role_id, user_id, client, target_realm)
    values (${realm}, ${grant.roleId}, ${userId}, ${client}, ${grant.target})
    on conflict do nothing returning role_id`;
  return row !== undefined;
}

/** The holder's name; undefined: there is no such user or client. */
export async function holderName(sql: Sql, realm: string, holder: Holder): Promise<string | undefined> {
  const [row] =
    'userId' in holder
      ? await sql<{ name: string }>`
          select username as name from realm_user where realm_id = ${realm} and id = ${holder.userId}`
      : await sql<{ name: string }>`
          select client_id as name from client where realm_id = ${realm} and id = ${holder.clientUuid}`;
  return row?.name;
}

/** The roles with these names, locked until the transaction ends. */
export const holdRoles = (sql: Sql, realm: string, roleNames: readonly string[]): Promise<RoleRow[]> => sql<RoleRow>`
  select id, name, built_in, permissions, by_groups or by_clients as limited from admin_role
  where realm_id = ${realm} and name = any(${roleNames}::text[]) order by id for share`;

export async function existingRealms(sql: Sql, realms: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ realm_id: string }>`
    select realm_id from realm where realm_id = any(${realms}::text[]) and deleted_at is null`;
  return new Set(rows.map((row) => row.realm_id));
}

export async function deleteGrants(
  sql: Sql,
  realm: string,
  holder: Holder,
  gone: readonly { roleId: string; target: string }[],
): Promise<void> {
  await sql`
    delete from admin_grant g
    using unnest(${gone.map((g) => g.roleId)}::uuid[], ${gone.map((g) => g.target)}::text[]) as gone (role_id, target)
    where g.realm_id = ${realm} and ${ofHolder(holder)} and g.role_id = gone.role_id and g.target_realm = gone.target`;
}

export async function insertGrants(
  sql: Sql,
  realm: string,
  holder: Holder,
  given: readonly { roleId: string; target: string }[],
): Promise<void> {
  const userId = 'userId' in holder ? holder.userId : null;
  const client = 'clientUuid' in holder ? holder.clientUuid : null;
  await sql`
    insert into admin_grant (realm_id, role_id, user_id, client, target_realm)
    select ${realm}, role_id, ${userId}, ${client}, target
    from unnest(${given.map((g) => g.roleId)}::uuid[], ${given.map((g) => g.target)}::text[]) as given (role_id, target)
    on conflict do nothing`;
}
