// SQL of streams, their subjects and their tokens, for receivers and administrators.
import type { SentSignal, SubjectFormat } from '../../../contract/signals.ts';
import { jsonText } from '../../../db/json.ts';
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';

export interface ReceiverRow {
  id: string;
  client_id: string;
  events: SentSignal[];
  subjects: 'used' | 'all';
  start_with: 'all' | 'none';
  formats: SubjectFormat[];
  audience: string | null;
  subject_in_events: boolean;
}
const receiverColumns = fragment`
  r.id, r.client_id, r.events, r.subjects, r.start_with, r.formats, r.audience, r.subject_in_events`;

/** The enabled receiver of a client. */
export async function receiverOf(sql: Sql, realm: string, clientId: string): Promise<ReceiverRow | undefined> {
  const [row] = await sql<ReceiverRow>`
    select ${receiverColumns} from signal_receiver r where r.realm_id = ${realm} and r.client_id = ${clientId} and r.enabled`;
  return row;
}
export async function receiverById(sql: Sql, realm: string, id: string) {
  const [row] = await sql<{ client_id: string }>`
    select client_id from signal_receiver where realm_id = ${realm} and id = ${id}`;
  return row;
}

export type Status = 'enabled' | 'paused' | 'disabled';
export interface StreamRow {
  id: string;
  receiver: string;
  method: string;
  pushed: boolean;
  endpoint_url: string | null;
  authorization_header: Buffer | null;
  events_requested: string[] | null;
  format: SubjectFormat;
  description: string | null;
  status: Status;
  status_reason: string | null;
  verified_at: Date | null;
}
const streamColumns = fragment`
  s.id, s.receiver, s.method, s.pushed, s.endpoint_url, s.authorization_header, s.events_requested, s.format, s.description, s.status,
  s.status_reason, s.verified_at`;

export const streamsOf = (sql: Sql, realm: string, receiver: string) => sql<StreamRow>`
  select ${streamColumns} from signal_stream s where s.realm_id = ${realm} and s.receiver = ${receiver} order by s.id`;
export async function streamOf(sql: Sql, realm: string, receiver: string, id: string): Promise<StreamRow | undefined> {
  const [row] = await sql<StreamRow>`
    select ${streamColumns} from signal_stream s where s.realm_id = ${realm} and s.receiver = ${receiver} and s.id = ${id}`;
  return row;
}
/** Locks the receiver, so that two requests at once don't exceed its number of streams. */
export async function lockReceiver(sql: Sql, realm: string, receiver: string): Promise<number> {
  await sql`select from signal_receiver where realm_id = ${realm} and id = ${receiver} for update`;
  const [row] = await sql<{ streams: number }>`
    select count(*)::int as streams from signal_stream where realm_id = ${realm} and receiver = ${receiver}`;
  return row?.streams ?? 0;
}

export type SavedStream = Omit<StreamRow, 'status' | 'status_reason' | 'verified_at'>;
export const insertStream = (sql: Sql, realm: string, s: SavedStream, at: Date) => sql`
  insert into signal_stream (realm_id, id, receiver, method, pushed, endpoint_url, authorization_header, events_requested, format,
    description, created_at)
  values (${realm}, ${s.id}, ${s.receiver}, ${s.method}, ${s.pushed}, ${s.endpoint_url}, ${s.authorization_header},
    ${s.events_requested}, ${s.format}, ${s.description}, ${at})`;
export const updateStream = (sql: Sql, realm: string, s: SavedStream) => sql`
  update signal_stream set method = ${s.method}, pushed = ${s.pushed}, endpoint_url = ${s.endpoint_url},
    authorization_header = ${s.authorization_header}, events_requested = ${s.events_requested}, format = ${s.format},
    description = ${s.description}
  where realm_id = ${realm} and id = ${s.id}`;
export const deleteStream = async (sql: Sql, realm: string, receiver: string, id: string): Promise<boolean> =>
  (
    await sql`delete from signal_stream where realm_id = ${realm} and receiver = ${receiver} and id = ${id} returning id`
  ).length > 0;
export const setStatus = (sql: Sql, realm: string, id: string, status: Status, reason: string | null) => sql`
  update signal_stream set status = ${status}, status_reason = ${reason} where realm_id = ${realm} and id = ${id}`;
/** @returns whether so much time has passed since the last verification */
export const beginVerification = async (sql: Sql, realm: string, id: string, at: Date, since: Date): Promise<boolean> =>
  (
    await sql`
      update signal_stream set verified_at = ${at}
      where realm_id = ${realm} and id = ${id} and (verified_at is null or verified_at <= ${since}) returning id`
  ).length > 0;

/** Notes the state of the users whom a new stream may be about: of all, or of those who have used the receiver's client. */
export function seedPeople(
  sql: Sql,
  realm: string,
  { id, client_id, subjects }: Pick<ReceiverRow, 'id' | 'client_id' | 'subjects'>,
) {
  const users = fragment`
    select sc.user_id from (
      select s.user_id, c.client from session_client c join session s on s.realm_id = c.realm_id and s.id = c.session_id
        where c.realm_id = ${realm}
      union all select user_id, client from refresh_family where realm_id = ${realm}
      union all select user_id, client from consent where realm_id = ${realm}
    ) sc join client c on c.realm_id = ${realm} and c.id = sc.client and c.client_id = ${client_id}`;
  const which: Fragment = subjects === 'all' ? fragment`true` : fragment`u.id in (${users})`;
  return sql`
    insert into signal_person as p (realm_id, user_id, email, subject, enabled, receivers)
    select u.realm_id, u.id, u.email, u.subject, u.enabled,
      case when u.id in (${users}) then array[${id}::uuid] else '{}' end
    from realm_user u where u.realm_id = ${realm} and ${which}
    on conflict (realm_id, user_id) do update
      set receivers = array(select distinct unnest(p.receivers || excluded.receivers))
      where not p.receivers @> excluded.receivers`;
}

/** A person whom the receiver may know. @param which a condition on the user `u` */
export async function visiblePerson(
  sql: Sql,
  realm: string,
  { id, subjects }: Pick<ReceiverRow, 'id' | 'subjects'>,
  which: Fragment,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }>`
    select u.id from realm_user u where u.realm_id = ${realm} and ${which} and (${subjects === 'all'}::boolean or exists (
      select from signal_person p where p.realm_id = u.realm_id and p.user_id = u.id and p.receivers @> array[${id}::uuid]))
    order by u.id limit 1`;
  return row?.id;
}
export const setSubject = (sql: Sql, realm: string, streamId: string, userId: string, added: boolean) => sql`
  insert into signal_stream_subject (realm_id, stream_id, user_id, added) values (${realm}, ${streamId}, ${userId}, ${added})
  on conflict (realm_id, stream_id, user_id) do update set added = excluded.added`;

export interface NewSet {
  id: string;
  stream_id: string;
  user_id: string | null;
  event: string;
  claims: object;
}
export const insertSets = (sql: Sql, realm: string, sets: readonly NewSet[], at: Date) => sql`
  insert into signal_set (realm_id, id, stream_id, user_id, event, claims, created_at)
  select ${realm}, s.id, s.stream_id, s.user_id, s.event, s.claims, ${at}
  from jsonb_to_recordset(${jsonText(sets)}::jsonb) as s (id uuid, stream_id uuid, user_id uuid, event text, claims jsonb)`;

export interface WaitingSet {
  id: string;
  claims: object;
}
export const waitingSets = (sql: Sql, realm: string, streamId: string, limit: number) => sql<WaitingSet>`
  select id, claims from signal_set
  where realm_id = ${realm} and stream_id = ${streamId} and status = 'pending' order by id limit ${limit}`;

/** Once told, nothing is left of a deleted user. */
const forgotten = fragment`
  claims = case when event in ('account-purged', 'scim-delete') then '{}' else claims end,
  user_id = case when event in ('account-purged', 'scim-delete') then null else user_id end`;

/** Tokens that a receiver acknowledges, or can't use. */
export const settleSets = (
  sql: Sql,
  realm: string,
  streamId: string,
  {
    acknowledged,
    refused,
    at,
  }: { acknowledged: readonly string[]; refused: Readonly<Record<string, string>>; at: Date },
) => sql`
  update signal_set set status = case when id = any(${acknowledged}::uuid[]) then 'delivered' else 'dead' end,
    error = ${jsonText(refused)}::jsonb ->> id::text, attempts = attempts + 1, last_attempt_at = ${at}, ${forgotten}
  where realm_id = ${realm} and stream_id = ${streamId} and status = 'pending'
    and id = any(${[...acknowledged, ...Object.keys(refused)]}::uuid[])`;

/** A token to push, with its stream. */
export interface Sendable extends Pick<StreamRow, 'endpoint_url' | 'authorization_header' | 'status' | 'pushed'> {
  claims: object;
  attempts: number;
  sent: 'pending' | 'delivered' | 'dead';
  client_id: string;
  enabled: boolean;
  /** The oldest token about the same user that was never sent and is older than this one. */
  earlier: string | null;
}
export async function sendableSet(sql: Sql, realm: string, id: string): Promise<Sendable | undefined> {
  const [row] = await sql<Sendable>`
    select t.claims, t.attempts, t.status as sent, s.endpoint_url, s.authorization_header, s.status, s.pushed, r.client_id, r.enabled,
      (select e.id from signal_set e
        where e.realm_id = t.realm_id and e.user_id = t.user_id and e.stream_id = t.stream_id and e.status = 'pending'
          and e.attempts = 0 and e.id < t.id
        order by e.id limit 1) as earlier
    from signal_set t join signal_stream s on s.realm_id = t.realm_id and s.id = t.stream_id
      join signal_receiver r on r.realm_id = s.realm_id and r.id = s.receiver
    where t.realm_id = ${realm} and t.id = ${id}`;
  return row;
}
export interface Outcome {
  status: 'pending' | 'delivered' | 'dead';
  attempt: number;
  responseStatus: number | null;
  error: string | null;
  at: Date;
}
/** A try that ends late never overwrites the result of a later one. */
export const recordOutcome = (sql: Sql, realm: string, id: string, o: Outcome) => sql`
  update signal_set set status = ${o.status}, attempts = ${o.attempt}, response_status = ${o.responseStatus}, error = ${o.error},
    last_attempt_at = ${o.at}, ${o.status === 'pending' ? fragment`claims = claims` : forgotten}
  where realm_id = ${realm} and id = ${id} and attempts < ${o.attempt}`;
/** The tokens that wait in a stream, each with the number of its next try. */
export const waitingPushes = (sql: Sql, realm: string, streamId: string) => sql<{
  id: string;
  attempt: number;
  user_id: string | null;
}>`
  select id, attempts + 1 as attempt, user_id from signal_set
  where realm_id = ${realm} and stream_id = ${streamId} and status = 'pending' order by id`;
/** The tokens of a disabled stream are never delivered. */
export const dropWaiting = (sql: Sql, realm: string, streamId: string) => sql`
  delete from signal_set where realm_id = ${realm} and stream_id = ${streamId} and status = 'pending'`;

export interface ShownRow {
  id: string;
  pushed: boolean;
  endpoint_url: string | null;
  format: SubjectFormat;
  events_requested: string[] | null;
  events: SentSignal[];
  status: Status;
  status_reason: string | null;
  description: string | null;
  created_at: Date;
  waiting: number;
  failed: number;
  last_delivered_at: Date | null;
  last_error: string | null;
}
/** Streams as administrators see them. */
export const shownStreams = (
  sql: Sql,
  realm: string,
  receiver: string,
  { after, limit }: { after: string | undefined; limit: number },
) => sql<ShownRow>`
  select s.id, s.pushed, s.endpoint_url, s.format, s.events_requested, r.events, s.status, s.status_reason, s.description, s.created_at,
    t.waiting, t.failed, t.last_delivered_at,
    (select error from signal_set e where e.realm_id = s.realm_id and e.stream_id = s.id and e.error is not null
      order by e.id desc limit 1) as last_error
  from signal_stream s join signal_receiver r on r.realm_id = s.realm_id and r.id = s.receiver
  cross join lateral (
    select count(*) filter (where status = 'pending')::int as waiting, count(*) filter (where status = 'dead')::int as failed,
      max(last_attempt_at) filter (where status = 'delivered') as last_delivered_at
    from signal_set where realm_id = s.realm_id and stream_id = s.id) t
  where s.realm_id = ${realm} and s.receiver = ${receiver} and (${after ?? null}::uuid is null or s.id > ${after ?? null}::uuid)
  order by s.id limit ${limit}`;

/** A realm without streams keeps nothing of what receivers knew. */
export const forgetWithoutStreams = (sql: Sql, realm: string) => sql`
  delete from signal_person p
  where p.realm_id = ${realm} and not exists (select from signal_stream s where s.realm_id = p.realm_id)`;
