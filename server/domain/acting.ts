// Impersonated sessions: when an administrator may act in one for a user. It ends with the administrator's own access, with the session
// in which they began it, and with their permission, in any realm. Decisions "Impersonation".
import type { By } from '../contract/events.ts';
import { type Fragment, fragment } from '../db/statement.ts';
import type { Tx } from '../db/transact.ts';
import { userParty } from './party.ts';

/** Condition on a session `s`: it is not impersonated, or its administrator may still act in it. */
export const actingHolds = fragment`(s.impersonator is null or exists (
  select from realm_user i
  where i.realm_id = s.impersonator ->> 'realm' and i.id = (s.impersonator ->> 'id')::uuid and i.enabled
    and (s.impersonator ->> 'session' is null
      or exists (select from admin_session a where a.realm_id = i.realm_id and a.id = (s.impersonator ->> 'session')::uuid)
      or exists (select from session o where o.realm_id = i.realm_id and o.id = (s.impersonator ->> 'session')::uuid))
    and exists (
      select from admin_grant g join admin_role r on r.realm_id = g.realm_id and r.id = g.role_id
      where g.realm_id = i.realm_id and g.user_id = i.id and g.target_realm in (s.realm_id, '*')
        and r.permissions @> array['users:impersonate'])))`;

/** Ends impersonated sessions whose administrators belong to the realm `home`. @param which a condition on the session row `s` */
export async function endActing(
  { sql, record }: Pick<Tx, 'sql' | 'record'>,
  home: string,
  { which, by, at }: { which: Fragment; by: By; at: Date },
): Promise<void> {
  const ended = await sql<{
    realm: string;
    id: string;
    userId: string;
    username: string;
    clients: string[];
    live: boolean;
  }>`
    delete from session s using realm_user u
    where s.impersonator is not null and s.impersonator ->> 'realm' = ${home} and ${which}
      and u.realm_id = s.realm_id and u.id = s.user_id
    returning s.realm_id as realm, s.id, s.user_id as "userId", u.username, s.expires_at > ${at} as live, array(
      select c.client_id from session_client sc join client c on c.realm_id = sc.realm_id and c.id = sc.client
      where sc.realm_id = s.realm_id and sc.session_id = s.id order by 1) as clients`;
  for (const { realm, id, userId, username, clients, live } of ended) {
    if (!live) continue;
    const data = { sessionId: id, reason: 'impersonator-ended', ...(clients.length > 0 && { clients }) };
    record({ type: 'SESSION_ENDED', realm, by, subject: userParty(userId, username), data });
  }
}
/** Condition on a session `s`: one of these administrators acts in it. @param people a query of their ids */
export const actedBy = (people: Fragment): Fragment =>
  fragment`s.impersonator ->> 'id' in (select id::text from (${people}) them (id))`;
/** Condition on a session `s`: its impersonation began in one of these sessions, given by id. */
export const actedFrom = (sessions: readonly string[]): Fragment =>
  fragment`s.impersonator ->> 'session' = any(${sessions}::text[])`;
