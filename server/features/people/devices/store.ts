// SQL of challenges: pushes and QR codes that devices approve.
import { fragment, type Sql } from '../../../db/sql.ts';

export interface ChallengeRow {
  id: string;
  user_id: string;
  username: string;
  kind: 'push' | 'qr';
  status: 'waiting' | 'approved' | 'denied' | 'used';
  challenge: string;
  number: string | null;
  application: string | null;
  ip_address: string | null;
  user_agent: string | null;
  created_at: Date;
  expires_at: Date;
}
const MOST = 10;
const USER_AGENT_MAX = 512;
const columns = fragment`c.id, c.user_id, u.username, c.kind, c.status, c.challenge, c.number, c.application, c.ip_address,
  c.user_agent, c.created_at, c.expires_at`;
const withUser = fragment`device_challenge c join realm_user u on u.realm_id = c.realm_id and u.id = c.user_id`;

export const find = async (sql: Sql, realm: string, id: string, { lock = false } = {}) =>
  (
    await sql<ChallengeRow>`select ${columns} from ${withUser}
      where c.realm_id = ${realm} and c.id = ${id}${lock ? fragment` for update of c` : fragment``}`
  )[0];

export const waitingOf = (sql: Sql, realm: string, userId: string, now: Date) => sql<ChallengeRow>`
  select ${columns} from ${withUser}
  where c.realm_id = ${realm} and c.user_id = ${userId} and c.kind = 'push' and c.status = 'waiting' and c.expires_at > ${now}
  order by c.created_at desc, c.id desc limit ${MOST}`;

/** Counts the user's unapproved pushes. The lock on the user's row lets no second request count at the same moment. */
export async function countUnansweredPushes(sql: Sql, realm: string, userId: string, since: Date) {
  await sql`select from realm_user where realm_id = ${realm} and id = ${userId} for no key update`;
  const [row] = await sql<{ all: number; denied: number }>`
    select count(*) filter (where status in ('waiting', 'denied'))::int as all,
      count(*) filter (where status = 'denied')::int as denied
    from device_challenge
    where realm_id = ${realm} and user_id = ${userId} and kind = 'push' and created_at > ${since}`;
  return row ?? { all: 0, denied: 0 };
}

/** @returns whether the row was inserted; false: there is one with this id */
export const insert = async (
  sql: Sql,
  realm: string,
  c: {
    id: string;
    userId: string;
    kind: string;
    status: string;
    challenge: string;
    number: string | null;
    application: string | undefined;
    ipAddress: string | null;
    userAgent: string | undefined;
    credentialId: string | null;
    at: Date;
    expiresAt: Date;
  },
) =>
  (
    await sql`
      insert into device_challenge (realm_id, id, user_id, kind, status, challenge, number, application, ip_address, user_agent,
        credential_id, created_at, expires_at)
      values (${realm}, ${c.id}, ${c.userId}, ${c.kind}, ${c.status}, ${c.challenge}, ${c.number}, ${c.application ?? null},
        ${c.ipAddress}, ${c.userAgent?.replaceAll('\0', '').slice(0, USER_AGENT_MAX) ?? null}, ${c.credentialId}, ${c.at},
        ${c.expiresAt})
      on conflict do nothing returning id`
  ).length > 0;

export const answerChallenge = (
  sql: Sql,
  realm: string,
  id: string,
  status: 'approved' | 'denied',
  device: string,
) => sql`
  update device_challenge set status = ${status}, credential_id = ${device} where realm_id = ${realm} and id = ${id}`;

export interface RedeemedChallenge {
  user_id: string;
  username: string;
  credential_id: string;
}
/** Uses up an approval, once, if its user is enabled. */
export const redeemChallenge = async (sql: Sql, realm: string, id: string, kind: 'push' | 'qr', now: Date) =>
  (
    await sql<RedeemedChallenge>`
      update device_challenge c set status = 'used' from realm_user u
      where c.realm_id = ${realm} and c.id = ${id} and c.kind = ${kind} and c.status = 'approved' and c.expires_at > ${now}
        and c.credential_id is not null and u.realm_id = c.realm_id and u.id = c.user_id and u.enabled
      returning c.user_id, u.username, c.credential_id`
  )[0];
