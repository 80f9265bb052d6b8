// SQL of making tokens: the waiting events, what receivers know of their users, and the streams.
import type { SentSignal, SubjectFormat } from '../../../contract/signals.ts';
import { fragment, type Sql } from '../../../db/sql.ts';
import type { PersonState } from './notes.ts';

export const takeSources = (sql: Sql, realm: string, limit: number) => sql<{ id: string }>`
  select id, type, occurred_at, actor, subject, data from signal_source
  where realm_id = ${realm} order by id limit ${limit} for update skip locked`;
export const deleteSources = (sql: Sql, realm: string, ids: readonly string[]) =>
  sql`delete from signal_source where realm_id = ${realm} and id = any(${ids}::uuid[])`;

export interface KnownPerson {
  user_id: string;
  before: (PersonState & { receivers: string[] }) | null;
  after: PersonState | null;
  /** The clients of the user's live sessions, and when each session began: epoch ms. */
  live: { client: string; since: number }[];
}
const state = fragment`'email', email, 'subject', subject, 'enabled', enabled`;

/** The last known state of these users, and the present one. The rows are locked, so that changes are told in their order. */
export async function knownPeople(sql: Sql, realm: string, ids: readonly string[], now: Date): Promise<KnownPerson[]> {
  if (ids.length === 0) return [];
  await sql`
    select from signal_person where realm_id = ${realm} and user_id = any(${ids}::uuid[]) order by user_id for update`;
  return sql<KnownPerson>`
    select wanted.id as user_id,
      (select jsonb_build_object(${state}, 'receivers', receivers) from signal_person
        where realm_id = ${realm} and user_id = wanted.id) as before,
      (select jsonb_build_object(${state}) from realm_user where realm_id = ${realm} and id = wanted.id) as after,
      (select coalesce(jsonb_agg(jsonb_build_object('client', c.client_id,
          'since', (extract(epoch from s.started_at) * 1000)::bigint)), '[]') from session s
        join session_client sc on sc.realm_id = s.realm_id and sc.session_id = s.id
        join client c on c.realm_id = sc.realm_id and c.id = sc.client
        where s.realm_id = ${realm} and s.user_id = wanted.id and s.expires_at > ${now}) as live
    from unnest(${ids}::uuid[]) as wanted (id)`;
}

/** Users whose state differs from what is known of them, after an import. */
export const changedPeople = async (sql: Sql, realm: string, limit: number): Promise<string[]> =>
  (
    await sql<{ user_id: string }>`
      select p.user_id from signal_person p left join realm_user u on u.realm_id = p.realm_id and u.id = p.user_id
      where p.realm_id = ${realm} and (u.id is null or u.enabled <> p.enabled or u.email is distinct from p.email)
      order by p.user_id limit ${limit}`
  ).map(({ user_id }) => user_id);

/** Keeps the present state of these users, of new ones only where every user is told about. */
export const keepPeople = (sql: Sql, realm: string, ids: readonly string[]) => sql`
  insert into signal_person as p (realm_id, user_id, email, subject, enabled)
  select u.realm_id, u.id, u.email, u.subject, u.enabled from realm_user u
  where u.realm_id = ${realm} and u.id = any(${ids}::uuid[]) and (
    exists (select from signal_person k where k.realm_id = u.realm_id and k.user_id = u.id)
    or exists (select from signal_receiver r where r.realm_id = u.realm_id and r.enabled and r.subjects = 'all'))
  on conflict (realm_id, user_id) do update
    set email = excluded.email, subject = excluded.subject, enabled = excluded.enabled
    where (p.email, p.subject, p.enabled) is distinct from (excluded.email, excluded.subject, excluded.enabled)`;

/** Forgets deleted users: all that is left of them are the tokens that say so. */
export async function forgetPeople(sql: Sql, realm: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`delete from signal_person where realm_id = ${realm} and user_id = any(${ids}::uuid[])`;
  await sql`delete from signal_stream_subject where realm_id = ${realm} and user_id = any(${ids}::uuid[])`;
  await sql`
    delete from signal_set
    where realm_id = ${realm} and user_id = any(${ids}::uuid[]) and event not in ('account-purged', 'scim-delete')`;
}

export interface LiveStream {
  id: string;
  receiver: string;
  client_id: string;
  pushed: boolean;
  status: 'enabled' | 'paused';
  format: SubjectFormat;
  formats: SubjectFormat[];
  events: SentSignal[];
  events_requested: string[] | null;
  subjects: 'used' | 'all';
  start_with: 'all' | 'none';
  audience: string | null;
  subject_in_events: boolean;
}
export const liveStreams = (sql: Sql, realm: string) => sql<LiveStream>`
  select s.id, s.receiver, r.client_id, s.pushed, s.status, s.format, r.formats, r.events, s.events_requested, r.subjects, r.start_with,
    r.audience, r.subject_in_events
  from signal_stream s join signal_receiver r on r.realm_id = s.realm_id and r.id = s.receiver and r.enabled
  where s.realm_id = ${realm} and s.status <> 'disabled' order by s.id`;

/** Which of these users receivers added to their streams, or removed. */
export const chosenSubjects = (sql: Sql, realm: string, ids: readonly string[]) => sql<{
  stream_id: string;
  user_id: string;
  added: boolean;
}>`
  select stream_id, user_id, added from signal_stream_subject where realm_id = ${realm} and user_id = any(${ids}::uuid[])`;

export const consentedScopes = async (
  sql: Sql,
  realm: string,
  { userId, client }: { userId: string; client: string },
): Promise<string[]> =>
  (
    await sql<{ scopes: string[] }>`
      select scopes from consent where realm_id = ${realm} and user_id = ${userId} and client = ${client}`
  )[0]?.scopes ?? [];

/** The names of receivers that were changed and have streams, to learn of people again. */
export const receiversWithStreams = (sql: Sql, realm: string, ids: readonly string[]) => sql<{
  id: string;
  client_id: string;
  subjects: 'used' | 'all';
}>`
  select r.id, r.client_id, r.subjects from signal_receiver r
  where r.realm_id = ${realm} and r.id = any(${ids}::uuid[])
    and exists (select from signal_stream s where s.realm_id = r.realm_id and s.receiver = r.id)`;
