// SQL of credentials and of the count of failed attempts.
import { asciiEmail } from '../../../contract/email.ts';
import type { Credential } from '../../../contract/users.ts';
import { type Fragment, fragment, type Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import { credentialTypes, reachColumns, type StandingRow, standingColumns } from '../../../domain/standing.ts';

export interface PasswordRow extends StandingRow {
  id: string;
  username: string;
  email: string | null;
  credential_id: string | null;
  phc: string | null;
  /** The password signs no one in until it is changed: the user reported that another person has used it. */
  reported: boolean;
}

// Everything that a sign-in needs about a user, in one statement instead of several round trips.
const withPassword = fragment`u.id, u.username, u.enabled, u.email, u.required_actions, ${credentialTypes}, ${reachColumns},
  c.id as credential_id, case when c.secret ? 'phc' then c.created_at end as password_set_at, c.secret ->> 'phc' as phc, coalesce((c.secret ->> 'temporary')::boolean, false) as temporary,
  coalesce((c.secret ->> 'reported')::boolean, false) as reported`;
// `limit 1` makes PostgreSQL look the password up by its user, even before it has statistics of the realm's size.
const theirPassword = fragment`left join lateral (
    select id, secret, created_at from credential p where p.realm_id = u.realm_id and p.user_id = u.id and p.type = 'password' limit 1
  ) c on true`;
const person = fragment`realm_id, id, username, enabled, email, required_actions, email_verified, attributes, terms_version`;

/**
 * Finds a user by username, ignoring case and Unicode form (domain/user-names.ts), else by e-mail address. Each has its
 * index; `or` would read all users of the realm.
 */
export const findForPassword = async (sql: Sql, realm: string, name: string) =>
  (
    await sql<PasswordRow>`
      select ${withPassword} from (
        select ${person}, 1 as place from realm_user where realm_id = ${realm} and lower(username) = lower(${name})
        union all
        select ${person}, 2 as place from realm_user where realm_id = ${realm} and lower(email) = lower(${asciiEmail(name)})
        union all
        select ${person}, 3 as place from realm_user
        where realm_id = ${realm} and lower(username) = lower(normalize(${name}::text, NFKC))
        union all
        select ${person}, 4 as place from realm_user where realm_id = ${realm}
          and lower(normalize(username, NFKC)) <> lower(username)
          and lower(normalize(username, NFKC)) = lower(normalize(${name}::text, NFKC))
        order by place limit 1
      ) u ${theirPassword}`
  )[0];

export const findById = async (sql: Sql, realm: string, userId: string) =>
  (
    await sql<PasswordRow & { first_name: string | null; last_name: string | null }>`
      select ${withPassword}, u.first_name, u.last_name from realm_user u ${theirPassword}
      where u.realm_id = ${realm} and u.id = ${userId}`
  )[0];

const imported = fragment`type = 'password' and secret ->> 'phc' not like '$argon2id$v=19$m=19456,t=2,p=1$%'`;
const kindOfHash = fragment`(regexp_replace(secret ->> 'phc', '[^$]*\\$[^$]*$', '') || (length(split_part(secret ->> 'phc', '$', -1)))::text)`;
/**
 * The kinds of hashes other than the usual one, with their users. The query goes from kind to kind by the index
 * credential_imported_hash, so it reads no other rows. It returns at most 100 kinds.
 */
export const importedKinds = (sql: Sql, realm: string) => sql<{ kind: string; people: number }>`
  with recursive kinds (kind) as (
    (select ${kindOfHash} from credential where realm_id = ${realm} and ${imported} order by realm_id, ${kindOfHash} limit 1)
    union all
    select (
      select ${kindOfHash} from credential
      where realm_id = ${realm} and ${imported} and ${kindOfHash} > k.kind order by realm_id, ${kindOfHash} limit 1
    ) from kinds k where k.kind is not null
  )
  select k.kind, c.people from (select kind from kinds where kind is not null limit 100) k, lateral (
    select count(*)::int as people from credential where realm_id = ${realm} and ${imported} and ${kindOfHash} = k.kind
  ) c
  order by c.people desc, k.kind`;

export const countPasswords = async (sql: Sql, realm: string): Promise<number> =>
  (
    await sql<{ people: number }>`
      select count(*)::int as people from credential where realm_id = ${realm} and type = 'password'`
  )[0]?.people ?? 0;

/** Counts one more failure in the row `l`. The one that reaches `most` locks the user; after a lock the count begins anew. */
const oneMore = ({ most, now, until }: { most: number; now: Date; until: Date }): Fragment => {
  const failures = fragment`case when l.locked_until <= ${now} then 1 else l.failures + 1 end`;
  return fragment`failures = ${failures}, last_failure_at = ${now},
    locked_until = case
      when l.locked_until > ${now} then l.locked_until
      when ${failures} >= ${most}::int then ${until}
    end`;
};

/**
 * Counts an attempt before its outcome is known, so that a hundred attempts at once get no more guesses than attempts in
 * sequence. The attempt that reaches `most` locks the user at once.
 * @returns the attempts including this one; above `most`: the user was locked already
 */
export async function countAttempt(
  sql: Sql,
  realm: string,
  userId: string,
  { most, now, until }: { most: number; now: Date; until: Date },
): Promise<number> {
  const [row] = await sql<{ failures: number }>`
    insert into lockout as l (realm_id, user_id, failures, last_failure_at, locked_until)
    values (${realm}, ${userId}, 1, ${now}, case when ${most}::int <= 1 then ${until}::timestamptz end)
    on conflict (realm_id, user_id) do update set
      ${oneMore({ most, now, until })}
    returning failures`;
  return row?.failures ?? 0;
}

/**
 * Counts an attempt with a code. With `ofDay` it counts among the codes of a day, too, unless the user is locked. For an
 * unknown user it counts nothing.
 * @returns the failures of all kinds, and the codes in the day that ends at `codesUntil`, including this one
 */
export async function countCode(
  sql: Sql,
  realm: string,
  userId: string,
  { most, now, until, dayEnds, ofDay }: { most: number; now: Date; until: Date; dayEnds: Date; ofDay: boolean },
): Promise<{ failures: number; codes: number; codesUntil: Date }> {
  const [row] = await sql<{ failures: number; codes: number; codesUntil: Date }>`
    insert into lockout as l (realm_id, user_id, failures, last_failure_at, locked_until, codes, codes_until)
    select realm_id, id, 1, ${now}, case when ${most}::int <= 1 then ${until}::timestamptz end, ${Number(ofDay)}::int, ${dayEnds}::timestamptz
    from realm_user where realm_id = ${realm} and id = ${userId}
    on conflict (realm_id, user_id) do update set
      ${oneMore({ most, now, until })},
      codes = case when l.codes_until > ${now} then l.codes else 0 end + case when l.locked_until > ${now} then 0 else ${Number(ofDay)}::int end,
      codes_until = case when l.codes_until > ${now} then l.codes_until else ${dayEnds} end
    returning failures, codes, codes_until as "codesUntil"`;
  return row ?? { failures: 0, codes: 0, codesUntil: dayEnds };
}

/** Takes an attempt back that was right, while more has to be proven before the failures are forgotten. */
export const giveBackAttempt = (sql: Sql, realm: string, userId: string, most: number) => sql`
  update lockout set failures = greatest(failures - 1, 0), locked_until = null
  where realm_id = ${realm} and user_id = ${userId} and failures <= ${most}`;

export interface LockoutRow {
  failures: number;
  last_failure_at: Date;
  locked_until: Date | null;
  codes: number;
  codes_until: Date | null;
}
export const lockout = async (sql: Sql, realm: string, userId: string | null) =>
  (
    await sql<LockoutRow>`
      select failures, last_failure_at, locked_until, codes, codes_until from lockout where realm_id = ${realm} and user_id = ${userId}`
  )[0];

/** @returns whether the user had failures */
export const unlock = async (sql: Sql, realm: string, userId: string) =>
  (await sql`delete from lockout where realm_id = ${realm} and user_id = ${userId} returning user_id`).length > 0;

export const forgetFailures = (sql: Sql, realm: string, userIds: readonly string[]) =>
  sql`delete from lockout where realm_id = ${realm} and user_id = any(${userIds}::uuid[])`;

/** Forgets the failures of those of the users that hold no credential besides a password. */
export const forgetOfPassword = (sql: Sql, realm: string, userIds: readonly string[]) => sql`
  delete from lockout l where l.realm_id = ${realm} and l.user_id = any(${userIds}::uuid[]) and not exists (
    select from credential c where c.realm_id = l.realm_id and c.user_id = l.user_id and c.type <> 'password')`;

export const forgetAtLast = (atLast: Tx['atLast'], realm: string, userId: string) =>
  atLast`delete from lockout where realm_id = ${realm} and user_id = ${userId}`;

/** The present and the former passwords, newest first. */
export const lastPasswords = (sql: Sql, realm: string, userId: string, most: number) => sql<{ phc: string }>`
  select phc from (
    select secret ->> 'phc' as phc, created_at as set_at from credential
    where realm_id = ${realm} and user_id = ${userId} and type = 'password'
    union all
    select phc, set_at from password_history where realm_id = ${realm} and user_id = ${userId}
  ) p where phc is not null order by set_at desc limit ${most}`;

/** Keeps the hash that is about to be replaced, and at most `besidePresent` former ones. */
export async function rememberPassword(
  sql: Sql,
  realm: string,
  userId: string,
  { besidePresent: most }: { besidePresent: number },
): Promise<void> {
  if (most > 0)
    await sql`
      insert into password_history (realm_id, user_id, id, phc, set_at)
      select realm_id, user_id, id, secret ->> 'phc', created_at from credential
      where realm_id = ${realm} and user_id = ${userId} and type = 'password' and secret ? 'phc' on conflict do nothing`;
  await sql`
    delete from password_history where realm_id = ${realm} and user_id = ${userId} and id not in (
      select id from password_history where realm_id = ${realm} and user_id = ${userId}
      order by set_at desc, id desc limit ${Math.max(most, 0)})`;
}

/**
 * Stores the password under a new id, so that proofs by the old password no longer hold (domain/proof.ts). @returns whether
 * it replaced one
 */
export async function setPassword(
  sql: Sql,
  realm: string,
  userId: string,
  to: { id: string; phc: string; temporary: boolean; now: Date },
): Promise<boolean> {
  const [row] = await sql<{ replaced: boolean }>`
  insert into credential (realm_id, id, user_id, type, secret, created_at)
  values (${realm}, ${to.id}, ${userId}, 'password',
    ${JSON.stringify({ phc: to.phc, temporary: to.temporary })}::jsonb, ${to.now})
  on conflict (realm_id, user_id) where type = 'password'
  do update set id = excluded.id, secret = excluded.secret, created_at = excluded.created_at, last_used_at = null
  returning xmax <> 0 as replaced`;
  return row?.replaced === true;
}

/** The new id makes earlier proofs by this password void. A new password, set here or in the directory, works again. */
export const withholdPassword = (sql: Sql, realm: string, userId: string, id: string) => sql`
  update credential set id = ${id}, secret = secret || '{"reported": true}'
  where realm_id = ${realm} and user_id = ${userId} and type = 'password'`;

/** All credentials but the password. */
export const removeSince = (sql: Sql, realm: string, userId: string, since: Date) => sql<{ id: string; type: string }>`
  delete from credential
  where realm_id = ${realm} and user_id = ${userId} and type <> 'password' and created_at >= ${since}
  returning id, type`;

/** Stores the same password under another hash, unless it was changed in the meantime. */
export const rehash = (sql: Sql, realm: string, credentialId: string, from: string, to: string) => sql`
  update credential set secret = jsonb_set(secret, '{phc}', to_jsonb(${to}::text))
  where realm_id = ${realm} and id = ${credentialId} and secret ->> 'phc' = ${from}`;

export interface OtpRow {
  id: string;
  secret: { sealed: string; algorithm?: string; digits?: number; period?: number };
}
export const otps = (sql: Sql, realm: string, userId: string) => sql<OtpRow>`
  select id, secret from credential
  where realm_id = ${realm} and user_id = ${userId} and type = 'otp' order by created_at, id`;

/** @returns whether the code's time step is later than the last accepted one: a code works once */
export const acceptCounter = async (sql: Sql, realm: string, id: string, counter: number, now: Date) =>
  (
    await sql`update credential set last_counter = ${counter}, last_used_at = ${now}
      where realm_id = ${realm} and id = ${id} and (last_counter is null or last_counter < ${counter}) returning id`
  ).length > 0;

export const insertOtp = (
  sql: Sql,
  realm: string,
  userId: string,
  c: { id: string; label: string | null; secret: OtpRow['secret']; counter: number; now: Date },
) => sql`
  insert into credential (realm_id, id, user_id, type, label, secret, created_at, last_used_at, last_counter)
  values (${realm}, ${c.id}, ${userId}, 'otp', ${c.label}, ${JSON.stringify(c.secret)}::jsonb, ${c.now}, ${c.now},
    ${c.counter})`;

export interface CredentialRow {
  id: string;
  type: string;
  label: string | null;
  created_at: Date;
  last_used_at: Date | null;
  /** For a password. */
  temporary: boolean | null;
  /** For a password. */
  reported: boolean | null;
  /** For a passkey. */
  backed_up: boolean | null;
  /** For a passkey. */
  device_type: string | null;
  /** For a passkey whose make was stored. */
  authenticator: Credential['authenticator'] | null;
  /** For recovery codes. */
  codes_left: number | null;
}

/**
 * A sign-in by password doesn't update the credential. The last use is read from the newest matching event among the user's
 * last 1000 events.
 */
const LAST_EVENTS = 1000;
export const lastUsed = fragment`case when c.type <> 'password' then c.last_used_at else (
  select max(e.occurred_at) from (
    select e.type, e.occurred_at, e.data from event e
    where e.realm_id = c.realm_id and e.subject ->> 'type' = 'user' and e.subject ->> 'id' = c.user_id::text
    order by e.id desc limit ${LAST_EVENTS}::int) e
  where e.type in ('LOGIN_SUCCESS', 'ADMIN_LOGIN_SUCCESS') and e.data -> 'methods' @> '["pwd"]' and e.occurred_at >= c.created_at) end`;

export const list = (sql: Sql, realm: string, userId: string) => sql<CredentialRow>`
  select c.id, c.type, c.label, c.created_at, ${lastUsed} as last_used_at, (c.secret ->> 'backedUp')::boolean as backed_up,
    c.secret ->> 'deviceType' as device_type,
    case when c.type = 'webauthn' and c.secret ? 'aaguid' then jsonb_build_object('aaguid', c.secret -> 'aaguid',
      'name', (select m.entry -> 'description' from authenticator_metadata m where m.aaguid = c.secret ->> 'aaguid'),
      'proven', c.secret -> 'proven', 'statuses', coalesce(c.secret -> 'statuses', '[]')) end as authenticator,
    case when c.type = 'password' then coalesce((c.secret ->> 'temporary')::boolean, false) end as temporary,
    case when c.type = 'password' then coalesce((c.secret ->> 'reported')::boolean, false) end as reported,
    jsonb_array_length(c.secret -> 'codes') as codes_left from credential c
  where c.realm_id = ${realm} and c.user_id = ${userId} order by c.created_at, c.id`;

/** @returns whether it existed */
export const remove = async (sql: Sql, realm: string, userId: string, { type, id }: { type: string; id: string }) =>
  (
    await sql`
      delete from credential where realm_id = ${realm} and user_id = ${userId} and type = ${type} and id = ${id}
      returning id`
  ).length > 0;

/** Removes all credentials of a type but one. */
export const removeOthers = async (
  sql: Sql,
  realm: string,
  userId: string,
  { type, id }: { type: string; id: string },
): Promise<string[]> =>
  (
    await sql<{ id: string }>`
      delete from credential where realm_id = ${realm} and user_id = ${userId} and type = ${type} and id <> ${id}
      returning id`
  ).map((row) => row.id);

export const credentialStanding = async (sql: Sql, realm: string, userId: string) =>
  (
    await sql<StandingRow>`
      select ${standingColumns} from realm_user u where u.realm_id = ${realm} and u.id = ${userId}`
  )[0];
