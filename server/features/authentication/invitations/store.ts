// SQL of invitations.
import { fragment, type Sql } from '../../../db/sql.ts';

export interface InvitationRow {
  id: string;
  email: string;
  organizationId: string | null;
  organization: string | null;
  /** The name that users see of the organization. */
  organizationName: string | null;
  /** Whether its link went to the address alone: a user with the link then has the address. */
  isMailed: boolean;
  /** The state of the message with its link; null: the message isn't stored, or there is none. */
  messageStatus: 'pending' | 'retrying' | 'sent' | 'dead' | null;
  messageError: string | null;
  /** When that message was tried last. */
  triedAt: Date | null;
  createdAt: Date;
  expiresAt: Date;
}
const columns = fragment`i.id, i.email, i.organization_id as "organizationId", o.name as organization,
  coalesce(o.display_name, o.name) as "organizationName", i.mailed_at is not null as "isMailed",
  m.status as "messageStatus", m.error as "messageError", m.last_attempt_at as "triedAt", i.created_at as "createdAt", i.expires_at as "expiresAt"`;
const of = (realm: string) =>
  fragment`from invitation i left join organization o on o.realm_id = i.realm_id and o.id = i.organization_id
    left join message m on m.realm_id = i.realm_id and m.id = i.message_id
    where i.realm_id = ${realm}`;

/** Ordered by address and id. */
export const list = (
  sql: Sql,
  realm: string,
  {
    organization,
    after,
    limit,
    now,
  }: {
    organization: string | undefined;
    after: readonly [string, string] | undefined;
    limit: number;
    now: Date;
  },
): Promise<InvitationRow[]> => sql<InvitationRow>`
  select ${columns} ${of(realm)} and i.expires_at > ${now}
    ${
      organization === undefined
        ? fragment``
        : fragment`and i.organization_id = (
      select id from organization where realm_id = ${realm} and name = ${organization})`
    }
    ${after ? fragment`and (lower(i.email), i.id::text) > (lower(${after[0]}), ${after[1]})` : fragment``}
  order by lower(i.email), i.id::text limit ${limit}`;

/** @param lock no other request can use it until the transaction ends */
export async function find(
  sql: Sql,
  realm: string,
  which: { id: string } | { link: Buffer },
  { now, lock = false }: { now: Date; lock?: boolean },
): Promise<InvitationRow | undefined> {
  const is = 'id' in which ? fragment`i.id = ${which.id}` : fragment`i.link_hash = ${which.link}`;
  // Invitations to a disabled organization are not valid.
  const [row] = await sql<InvitationRow>`
    select ${columns} ${of(realm)} and ${is} and i.expires_at > ${now}
      and coalesce(o.enabled, true) ${lock ? fragment`for update of i` : fragment``}`;
  return row;
}

export async function organizationNamed(sql: Sql, realm: string, name: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }>`select id from organization where realm_id = ${realm} and name = ${name}`;
  return row?.id;
}

export interface Issue {
  id: string;
  email: string;
  organizationId: string | null;
  link: Buffer;
  /** The id of the message with the link; null: the link is shown. */
  messageId: string | null;
  at: Date;
  expiresAt: Date;
}
/** Stores an invitation in place of the former one for this address and organization. @returns its id */
export async function put(sql: Sql, realm: string, i: Issue): Promise<string> {
  const [row] = await sql<{ id: string }>`
    insert into invitation (realm_id, id, email, organization_id, link_hash, mailed_at, message_id, created_at, expires_at)
    values (${realm}, ${i.id}, ${i.email}, ${i.organizationId}, ${i.link}, ${i.messageId === null ? null : i.at}, ${i.messageId}, ${i.at}, ${i.expiresAt})
    on conflict (realm_id, lower(email), organization_id) do update set email = excluded.email,
      link_hash = excluded.link_hash, mailed_at = excluded.mailed_at,
      message_id = excluded.message_id, expires_at = excluded.expires_at
    returning id`;
  return row?.id ?? i.id;
}

export async function remove(sql: Sql, realm: string, id: string): Promise<boolean> {
  const [row] = await sql`delete from invitation where realm_id = ${realm} and id = ${id} returning id`;
  return row !== undefined;
}

export async function addressOf(sql: Sql, realm: string, userId: string): Promise<string | null> {
  const [row] = await sql<{ email: string | null }>`
    select email from realm_user where realm_id = ${realm} and id = ${userId} and enabled`;
  return row?.email ?? null;
}
