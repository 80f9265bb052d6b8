// SQL of messages and their sources. The resource engine writes providers and templates.
import type { Channel, DriverName } from '../../../contract/message-drivers.ts';
import type { TemplateKey } from '../../../contract/message-templates.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import type { TemplateText } from './built-in-templates.ts';

export interface FoundTemplate extends TemplateText {
  locale: string;
}
/** The enabled template in the first of these locales that has one. */
export async function template(
  sql: Sql,
  realm: string,
  key: TemplateKey,
  locales: readonly string[],
): Promise<FoundTemplate | undefined> {
  const [row] = await sql<FoundTemplate>`
    select locale, subject, content as body, html from message_template
    where realm_id = ${realm} and template_key = ${key} and locale = any(${locales}::text[]) and enabled
    order by array_position(${locales}::text[], locale) limit 1`;
  return row;
}

export interface ProviderRow {
  id: string;
  channel: Channel;
  driver: DriverName;
  fromAddress: string | null;
  fromName: string | null;
  config: unknown;
  secret: Buffer | null;
}
const providerColumns = fragment`id, channel, driver, from_address as "fromAddress", from_name as "fromName", config, secret`;
/** The enabled providers, ordered by driver name. */
export const enabledProviders = (sql: Sql, realm: string, channel: Channel) => sql<ProviderRow>`
  select ${providerColumns} from messaging_provider
  where realm_id = ${realm} and channel = ${channel} and enabled order by driver`;
/** Enabled or not. */
export async function provider(
  sql: Sql,
  realm: string,
  { channel, driver }: { channel: Channel; driver: DriverName },
): Promise<ProviderRow | undefined> {
  const [row] = await sql<ProviderRow>`
    select ${providerColumns} from messaging_provider
    where realm_id = ${realm} and channel = ${channel} and driver = ${driver}`;
  return row;
}

export interface MessageRow {
  id: string;
  channel: Channel;
  template_key: TemplateKey;
  user_id: string | null;
  recipient: string;
  status: 'pending' | 'retrying' | 'sent' | 'dead';
  attempts: number;
  error: string | null;
  created_at: Date;
  last_attempt_at: Date | null;
  expires_at: Date;
  /** Whether it was given up with its content kept; also of one that has expired since. */
  kept: boolean;
}
const messageColumns = fragment`id, channel, template_key, user_id, recipient, status, attempts, error, created_at, last_attempt_at, expires_at,
    status = 'dead' and content is not null as kept`;
export interface NewMessage {
  id: string;
  channel: Channel;
  templateKey: TemplateKey;
  userId: string | null;
  recipient: string;
  content: Buffer | null;
  /** Digests of the users that the message names. */
  named: readonly string[];
  expiresAt: Date;
}
export const insertMessages = (sql: Sql, realm: string, rows: readonly NewMessage[], at: Date) => sql`
  insert into message (realm_id, id, channel, template_key, user_id, recipient, content, named, expires_at, created_at)
  select ${realm}, x.id, x.channel, x."templateKey", x."userId", x.recipient, decode(x.content, 'hex'), x.named, x."expiresAt", ${at}
  from jsonb_to_recordset(${JSON.stringify(
    rows.map((row) => ({ ...row, content: row.content?.toString('hex') ?? null })),
  )}::jsonb) as x (id uuid, channel text, "templateKey" text, "userId" uuid, recipient text, content text, named text[], "expiresAt" timestamptz)`;

/** Newest first. */
export const messagesOf = (
  sql: Sql,
  realm: string,
  {
    after,
    limit,
    status,
    userId,
  }: { after?: string | undefined; limit: number; status?: string | undefined; userId?: string | undefined },
) => sql<MessageRow>`
  select ${messageColumns}
  from message where realm_id = ${realm} and (${after ?? null}::uuid is null or id < ${after ?? null})
    and (${status ?? null}::text is null or status = ${status ?? null})
    and (${userId ?? null}::uuid is null or user_id = ${userId ?? null})
    and (content is not null or status in ('sent', 'dead'))
  order by id desc limit ${limit}`;

/** A message of the list. */
export async function messageOf(sql: Sql, realm: string, id: string): Promise<MessageRow | undefined> {
  const [row] = await sql<MessageRow>`
    select ${messageColumns}
    from message where realm_id = ${realm} and id = ${id} and (content is not null or status in ('sent', 'dead'))`;
  return row;
}

/** Sets a message that was given up back to pending, unless it has expired or its content is deleted. */
export async function reopen(sql: Sql, realm: string, id: string, now: Date): Promise<MessageRow | undefined> {
  const [row] = await sql<MessageRow>`
    update message set status = 'pending'
    where realm_id = ${realm} and id = ${id} and status = 'dead' and content is not null and expires_at > ${now}
    returning ${messageColumns}`;
  return row;
}

export async function sendableMessage(sql: Sql, realm: string, id: string) {
  const [row] = await sql<MessageRow & { content: Buffer | null }>`
    select ${messageColumns}, content
    from message where realm_id = ${realm} and id = ${id}`;
  return row;
}

export interface Outcome {
  status: 'retrying' | 'sent' | 'dead';
  attempt: number;
  error: string | null;
  at: Date;
  /** The device that it goes to no longer exists. */
  gone?: boolean | undefined;
}
/**
 * Stores the outcome of a try. A message that was not sent keeps its content until it expires: it is tried again, or an
 * administrator sends it again; the janitor deletes the content of one that has expired since. No row returned: a later
 * try has stored its outcome already, or the message was deleted with a user that it names.
 */
export const recordOutcome = (
  sql: Sql,
  realm: string,
  id: string,
  { status, attempt, error, at, gone = false }: Outcome,
) => sql`
  update message set status = ${status}, attempts = ${attempt}, error = ${error}, last_attempt_at = ${at},
    content = case when ${status} = 'retrying' or (${status} = 'dead' and not ${gone}::boolean and expires_at > ${at}) then content end
  where realm_id = ${realm} and id = ${id} and attempts < ${attempt} returning id`;
export const drop = (sql: Sql, realm: string, id: string) =>
  sql`delete from message where realm_id = ${realm} and id = ${id}`;

/** A count's key, and its limit per hour. */
export interface Bound {
  key: string;
  most: number;
}
/** The realm's own count. */
export interface OfRealm {
  /** NOBODY: a count without a limit, so that a message without a recipient costs the same work. */
  pool: Channel | 'NOBODY';
  /** Whether this message counts towards the realm's limit. */
  counts: boolean;
  newId(): string;
}
/**
 * Adds one to each key's count in this hour, and to the realm's count if no key is beyond its limit: refused messages
 * of one recipient or address don't use up the others' limit. The realm's count is the sum of several rows. Each
 * transaction raises one that no other transaction has locked, so it waits for none, and two that send several messages
 * can't deadlock.
 * @returns the counts including this message
 */
export async function count(
  sql: Sql,
  realm: string,
  bounds: readonly Bound[],
  { hour, pool, counts, newId }: OfRealm & { hour: Date },
): Promise<{ used: Map<string, number>; ofRealm: number }> {
  const rows = await sql<{ key: string | null; used: number }>`
    with bound as (
      select key, most from unnest(${bounds.map(({ key }) => key)}::text[], ${bounds.map(({ most }) => most)}::int[]) as b (key, most)
    ), more as (
      insert into message_count (realm_id, key, hour, used) select ${realm}, key, ${hour}, 1 from bound order by key
      on conflict (realm_id, key, hour) do update set used = message_count.used + 1
      returning key, used
    ), counted as (
      select where ${counts} and not exists (select from more join bound using (key) where used > most)
    ), free as (
      select part from realm_message_count
      where realm_id = ${realm} and channel = ${pool} and hour = ${hour} and exists (select from counted)
      limit 1 for update skip locked
    ), raised as (
      update realm_message_count set used = used + 1
      where realm_id = ${realm} and channel = ${pool} and hour = ${hour} and part = (select part from free)
      returning 1
    ), begun as (
      insert into realm_message_count (realm_id, channel, hour, part, used)
      select ${realm}, ${pool}, ${hour}, ${newId()}, 1 from counted where not exists (select from free)
      returning 1
    )
    select key, used from more
    union all
    select null, (select count(*) from raised)::int + (select count(*) from begun)::int + coalesce((
      select sum(used) from realm_message_count where realm_id = ${realm} and channel = ${pool} and hour = ${hour}), 0)::int`;
  const used = new Map(rows.map((row) => [row.key ?? '', row.used]));
  return { used, ofRealm: used.get('') ?? 0 };
}

export interface PersonRow {
  username: string;
  email: string | null;
  first_name: string | null;
  last_name: string | null;
  attributes: Record<string, string[]>;
}
export async function person(sql: Sql, realm: string, userId: string): Promise<PersonRow | undefined> {
  const [row] = await sql<PersonRow>`
    select username, email, first_name, last_name, attributes from realm_user where realm_id = ${realm} and id = ${userId}`;
  return row;
}

export const verifiedEmail = async (sql: Sql, realm: string, userId: string): Promise<string | undefined> =>
  (
    await sql<{ email: string }>`
      select email from realm_user
      where realm_id = ${realm} and id = ${userId} and email_verified and email is not null`
  )[0]?.email;
