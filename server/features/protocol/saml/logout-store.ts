// SQL of single logouts: a session's service providers, the sessions that a request names, and a logout's progress.
import { z } from 'zod';
import type { Sql } from '../../../db/sql.ts';

const Participant = z.object({
  entityId: z.string(),
  sessionIndex: z.string(),
  nameId: z.object({ format: z.enum(['persistent', 'transient', 'emailAddress', 'unspecified']), value: z.string() }),
});
/** A service provider, with its names of the user and the session. */
export type Participant = z.infer<typeof Participant>;

export const SamlLogoutProgress = z.object({
  /** The service providers that are not notified yet. */
  rest: z.array(Participant),
  /** The entity id whose answer is awaited; null: no service provider was notified yet. */
  asked: z.string().nullable(),
  /** At least one service provider has not ended its session. */
  partial: z.boolean(),
  /**
   * The next step after all service providers: the identity provider of the session. It sends the browser back to the
   * address with `token`.
   */
  over: z.object({ url: z.string(), token: z.string() }).optional(),
  after: z.discriminatedUnion('to', [
    z.object({ to: z.literal('address'), url: z.string() }),
    /**
     * The identity provider requested the logout: the browser goes back to it, and `partial=1` reports an incomplete
     * logout.
     */
    z.object({ to: z.literal('provider'), url: z.string() }),
    z.object({
      to: z.literal('client'),
      entityId: z.string(),
      requestId: z.string(),
      binding: z.enum(['POST', 'Redirect']),
      relayState: z.string().optional(),
    }),
  ]),
});
export type SamlLogoutProgress = z.infer<typeof SamlLogoutProgress>;
/** The browser's last address, after every service provider was notified. */
export type Then = Extract<SamlLogoutProgress['after'], { url: string }>;

/** The service providers that these sessions signed in to and that support single logout. */
export async function participantsOf(sql: Sql, realm: string, sessionIds: readonly string[]): Promise<Participant[]> {
  const rows = await sql<{ entity_id: string; session_index: string; format: string; value: string }>`
    select c.entity_id, s.session_index, s.name_id_format as format, s.name_id as value
    from saml_session s join saml_client c on c.realm_id = s.realm_id and c.id = s.client
    where s.realm_id = ${realm} and s.session_id = any(${sessionIds}::uuid[]) and c.enabled
      and c.single_logout_services <> '[]'
    order by c.entity_id, s.session_index`;
  return rows.map(({ entity_id, session_index, format, value }) =>
    Participant.parse({ entityId: entity_id, sessionIndex: session_index, nameId: { format, value } }),
  );
}

/** The sessions in which the client knows the user by that name; without a session index, all of them. */
export const sessionsNamed = async (
  sql: Sql,
  realm: string,
  { client, name, indexes }: { client: string; name: string; indexes: readonly string[] },
): Promise<string[]> =>
  (
    await sql<{ session_id: string }>`
      select session_id from saml_session
      where realm_id = ${realm} and client = ${client} and name_id = ${name}
        and (${indexes.length === 0} or session_index = any(${indexes}::text[]))`
  ).map((row) => row.session_id);

/** @returns false: the request was answered before */
export const noteAnswered = async (
  sql: Sql,
  realm: string,
  { client, requestId, expiresAt }: { client: string; requestId: string; expiresAt: Date },
): Promise<boolean> =>
  (
    await sql`
      insert into saml_answered (realm_id, client, request_id, expires_at)
      values (${realm}, ${client}, ${requestId}, ${expiresAt}) on conflict do nothing returning true`
  ).length > 0;

export const keepProgress = (
  sql: Sql,
  realm: string,
  { hash, progress, expiresAt }: { hash: Buffer; progress: SamlLogoutProgress; expiresAt: Date },
): Promise<unknown> => sql`
  insert into saml_logout (realm_id, token_hash, progress, expires_at)
  values (${realm}, ${hash}, ${JSON.stringify(progress)}::jsonb, ${expiresAt})`;

/** Once. */
export async function takeProgress(
  sql: Sql,
  realm: string,
  hash: Buffer,
  now: Date,
): Promise<SamlLogoutProgress | undefined> {
  const [row] = await sql<{ progress: unknown; expires_at: Date }>`
    delete from saml_logout where realm_id = ${realm} and token_hash = ${hash} returning progress, expires_at`;
  return row && row.expires_at > now ? SamlLogoutProgress.parse(row.progress) : undefined;
}
