// Reads an evaluation's input, in one query each: a client's authorization services with the names that they use, and the
// requester. evaluate.ts decides. Decisions "Authorization services".
import { AuthorizationService, freshAuthorizationSettings } from '../../../contract/authorization-services.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import { type PersonRow, personColumns, personOf, type RolePairs, rolesOf } from '../../../domain/person.ts';
import { idOfUserNamed, namesOfUser } from '../../../domain/user-names.ts';
import { clientRoleKey } from '../../../resource/items.ts';
import { type Model, modelOf } from './evaluate.ts';
import type { Requester } from './policies.ts';

interface ModelRow {
  services: Record<string, unknown> | null;
  roles: string[];
  client_roles: [string, string][];
  groups: string[];
  clients: string[];
}
const Services = AuthorizationService.omit({ clientId: true });
const none = { settings: freshAuthorizationSettings, resources: [], scopes: [], policies: [], permissions: [] };

/** A row of an earlier version lacks settings that were added later. */
const withAllSettings = (row: Record<string, unknown>) => ({
  ...row,
  settings: { ...freshAuthorizationSettings, ...Object(row.settings) },
});

/** @returns undefined: there is no such client */
export async function readModel(sql: Sql, realm: string, client: string): Promise<Model | undefined> {
  const [row] = await sql<ModelRow>`
    select to_jsonb(s) as services,
      array(select r.name from role r where r.realm_id = c.realm_id and r.client is null and r.name in (
        select jsonb_path_query(s.policies, '$[*].config.roles[*]') #>> '{}')) as roles,
      (select coalesce(jsonb_agg(jsonb_build_array(o.client_id, r.name)), '[]') from role r
        join client o on o.realm_id = r.realm_id and o.id = r.client
        where r.realm_id = c.realm_id and o.client_id in (
          select jsonb_path_query(s.policies, '$[*].config.clientRoles.keyvalue().key') #>> '{}')) as client_roles,
      array(select g.path from user_group g where g.realm_id = c.realm_id and g.path in (
        select jsonb_path_query(s.policies, '$[*].config.groups[*]') #>> '{}')) as groups,
      array(select o.client_id from client o where o.realm_id = c.realm_id and o.client_id in (
        select jsonb_path_query(s.policies, '$[*].config.clients[*]') #>> '{}')) as clients
    from client c left join authorization_service s on s.realm_id = c.realm_id and s.client_id = c.client_id
    where c.realm_id = ${realm} and c.id = ${client}`;
  if (!row) return undefined;
  return modelOf(row.services ? Services.parse(withAllSettings(row.services)) : none, {
    roles: new Set(row.roles),
    clientRoles: new Set(row.client_roles.map(([clientId, role]) => clientRoleKey(clientId, role))),
    groups: new Set(row.groups),
    clients: new Set(row.clients),
  });
}

/** The requesting client, the time, and the request's context. */
export type Circumstances = Pick<Requester, 'clientId' | 'at' | 'context'>;

export interface Found {
  userId: string | null;
  /** The user's value of the realm's subject attribute, if the realm has one. */
  subject: string | null;
  requester: Requester;
}

type UserRow = PersonRow & { names: string[] };
const own = { id: fragment`u.id`, username: fragment`u.username` };

function userOf(row: UserRow, circumstances: Circumstances): Found {
  const person = personOf(row);
  const names = new Set(row.names);
  return {
    userId: person.id,
    subject: person.subject,
    requester: { ...circumstances, ...person, names, called: `the user ${person.username}`, enabled: row.enabled },
  };
}

/** @param usernames those of the model */
export async function readUser(
  sql: Sql,
  realm: string,
  by: { userId?: string | undefined; username?: string | undefined },
  { usernames, ...circumstances }: Circumstances & Pick<Model, 'usernames'>,
): Promise<Found | undefined> {
  const { userId = null, username = null } = by;
  const [row] = await sql<UserRow>`
    select ${personColumns}, ${namesOfUser(realm, own, usernames)} as names from realm_user u
    where u.realm_id = ${realm} and (${userId}::uuid is null or u.id = ${userId}::uuid)
      and (${username}::text is null or u.id = (${idOfUserNamed(realm, username ?? '')}))`;
  return row && userOf(row, circumstances);
}

/** Users in the order of their ids. */
export async function readUsers(
  sql: Sql,
  realm: string,
  { after, limit }: Page,
  { usernames, ...circumstances }: Circumstances & Pick<Model, 'usernames'>,
): Promise<{ key: string; found: Found }[]> {
  const rows = await sql<UserRow>`
    select ${personColumns}, ${namesOfUser(realm, own, usernames)} as names from realm_user u
    where u.realm_id = ${realm} and u.id > ${after}::uuid order by u.id limit ${limit}`;
  return rows.map((row) => ({ key: row.user_id, found: userOf(row, circumstances) }));
}

interface ClientRow {
  client_id: string;
  enabled: boolean;
  roles: RolePairs;
}
/** A client as `c`, with the roles of its service account. */
const clientColumns = fragment`
  c.client_id, c.enabled, (
    with recursive held (role_id) as (
      select role_id from client_role where realm_id = c.realm_id and client = c.id
      union
      select rc.child_id from held h join role_composite rc on rc.realm_id = c.realm_id and rc.role_id = h.role_id
    )
    select coalesce(jsonb_agg(jsonb_build_array(o.client_id, r.name)), '[]')
    from held h join role r on r.realm_id = c.realm_id and r.id = h.role_id
      left join client o on o.realm_id = r.realm_id and o.id = r.client
  ) as roles`;

function clientOf({ client_id: clientId, enabled, roles }: ClientRow, circumstances: Circumstances): Found {
  const nobody = { username: null, names: new Set<string>(), groups: [], attributes: {} };
  const requester = { ...circumstances, ...nobody, called: `the client ${clientId}`, enabled };
  return { userId: null, subject: null, requester: { ...requester, roles: rolesOf(roles) } };
}

/** A client that acts for itself, with the roles of its service account. */
export async function readClient(
  sql: Sql,
  realm: string,
  clientId: string,
  circumstances: Circumstances,
): Promise<Found | undefined> {
  const [row] = await sql<ClientRow>`
    select ${clientColumns} from client c where c.realm_id = ${realm} and c.client_id = ${clientId}`;
  return row && clientOf(row, circumstances);
}

export interface Page {
  after: string;
  limit: number;
}

/** Clients in the order of their clientIds. */
export async function readClients(
  sql: Sql,
  realm: string,
  { after, limit }: Page,
  circumstances: Omit<Circumstances, 'clientId'>,
): Promise<{ key: string; found: Found }[]> {
  const rows = await sql<ClientRow>`
    select ${clientColumns} from client c where c.realm_id = ${realm} and c.client_id > ${after} order by c.client_id limit ${limit}`;
  return rows.map((row) => ({
    key: row.client_id,
    found: clientOf(row, { ...circumstances, clientId: row.client_id }),
  }));
}
