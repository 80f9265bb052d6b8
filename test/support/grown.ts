// Owns: a realm that has grown: people with what they hold, and an audit log, made by SQL in bulk.
// Does not own: the realm itself, which the server makes with all that belongs to it (createRealm).
// Implements: tests of what a statement costs where there is much.
import type pg from 'pg';
import { connectedCluster } from './cluster.ts';

export interface Growth {
  realm: string;
  people: number;
  /** 2,000, or one for each of the people. */
  clients?: number;
  events: number;
  /** 'left to no job': the events stand as if they had been sealed and forwarded, so that no job goes through them. */
  log?: 'to be sealed' | 'left to no job';
  /** When the newest event happened; the oldest is a hundred days older. */
  at: Date;
}

/** The id of the person `n`, from 1 on. */
export const personId = (n: number): string => `00000000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;
const person = (n: string) => `('00000000-0000-7000-8000-' || lpad(to_hex((${n})::bigint), 12, '0'))::uuid`;
/** A UUIDv7 of a moment, another one for each `n`. */
const idAt = (at: string, n: string) =>
  `(lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '70008' || lpad(to_hex((${n})::bigint), 15, '0'))::uuid`;
const digestOf = (n: string) => `sha256(convert_to('x' || ${n}, 'UTF8'))`;

/** Where the generated log begins: before every position that a transaction gets. */
const FIRST_POSITION = -1_000_000_000;
const EVENTS_OF_A_TRANSACTION = 10;

/**
 * Of the people each has a password, every tenth an authenticator app, every fourth a session with an application, every second of
 * those a refresh token; half are in one group, have one role and are in one organization. There are as many roles, groups and organizations as clients. Of the events a third are of
 * the user and the client `busy`. Nothing of the log is sealed: no server may have begun to.
 */
export async function grow(url: string, growth: Growth): Promise<void> {
  await connectedCluster(url, async (client) => {
    await client.query('set synchronous_commit = off; set maintenance_work_mem = "512MB"; set work_mem = "256MB"');
    await growPeople(client, growth);
    await growLog(client, growth);
    await client.query('vacuum analyze');
  });
}

/** Indexes that take longer to fill row by row than at once. */
async function withoutIndexes(client: pg.Client, names: readonly string[], work: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<{ indexname: string; indexdef: string }>(
    'select indexname, indexdef from pg_indexes where indexname = any($1)',
    [names],
  );
  for (const { indexname } of rows) await client.query(`drop index ${indexname}`);
  await work();
  for (const { indexdef } of rows) await client.query(indexdef);
}

const growPeople = (client: pg.Client, { realm, people, clients = Math.min(people, 2000), at }: Growth) =>
  withoutIndexes(client, ['realm_user_search', 'realm_user_attributes'], async () => {
    const run = (text: string, ...more: unknown[]) => client.query(text, [realm, ...more]);
    await run(
      `insert into realm_user (realm_id, id, username, email, email_verified, first_name, last_name, enabled, attributes, created_at)
       select $1, ${person('i')}, 'user-' || i, 'user-' || i || '@people.example', true, 'First' || i, 'Last' || i, i % 1000 <> 7,
         jsonb_build_object('team', jsonb_build_array(case when i % 1000 = 8 then 'red' else 'blue' end)), $3
       from generate_series(1, $2::int) i`,
      people,
      at,
    );
    await run(
      `insert into credential (realm_id, id, user_id, type, secret, created_at)
       select $1, gen_random_uuid(), ${person('i')}, 'password',
         jsonb_build_object('phc', '$argon2id$v=19$m=19456,t=2,p=1$' || encode(${digestOf('i')}, 'base64')), $3
       from generate_series(1, $2::int) i`,
      people,
      at,
    );
    await run(
      `insert into credential (realm_id, id, user_id, type, secret, created_at)
       select $1, gen_random_uuid(), ${person('i')}, 'otp', '{"sealed": "x"}', $3 from generate_series(1, $2::int, 10) i`,
      people,
      at,
    );
    await run(
      `insert into client (realm_id, id, client_id, redirect_uris, grant_types, created_at)
       select $1, ${person('i')}, 'grown-' || i, array['https://app-' || i || '.example/'], array['authorization_code', 'refresh_token'], $3
       from generate_series(1, $2::int) i`,
      clients,
      at,
    );
    await run(
      'insert into client_use (realm_id, client, since) select $1, id, created_at from client where realm_id = $1 on conflict do nothing',
    );
    const session = `select i, ${person('i')} as id, ${person(`1 + i % ${clients}`)} as client,
      $3::timestamptz - i % 3000 * interval '1 second' as began from generate_series(4, $2::int, 4) i`;
    await run(
      `insert into session (realm_id, id, token_hash, user_id, ip_address, user_agent, started_at, last_seen_at, expires_at, authenticated_at, methods)
       select $1, id, ${digestOf('i')}, id, '192.0.2.1', 'Firefox', began, began, case when i % 16 = 8 then began else began + interval '10 days' end, began, '{pwd}'
       from (${session}) s`,
      people,
      at,
    );
    await run(
      `insert into session_client (realm_id, session_id, client) select $1, id, client from (${session}) s where $3::timestamptz is not null`,
      people,
      at,
    );
    await run(
      `insert into refresh_family (realm_id, id, client, user_id, session_id, grant_data, created_at, expires_at, token_hash)
       select $1, id, client, id, id, '{}', began, began + interval '10 days', ${digestOf('i')} from (${session}) s where i % 8 = 0`,
      people,
      at,
    );
    await run(
      `insert into consent (realm_id, user_id, client, scopes, granted_at, updated_at)
       select $1, id, client, '{openid}', began, began from (${session}) s`,
      people,
      at,
    );
    await run(
      `insert into known_device (realm_id, user_id, device_hash, first_seen_at, last_seen_at)
       select $1, id, ${digestOf('i')}, began, began from (${session}) s`,
      people,
      at,
    );
    await run(
      `insert into sign_in_history (realm_id, id, user_id, at, success, ip_address, network)
       select $1, ${idAt('began', 'i')}, ${person('i')}, began, i % 5 <> 0, '192.0.2.1', '192.0.2.0/24'
       from (select i, $3::timestamptz - i * interval '10 seconds' as began from generate_series(1, $2::int) i) h`,
      people,
      at,
    );
    for (const [table, columns, values] of [
      ['role', 'name', `'named-' || n`],
      ['user_group', 'name, path', `'named-' || n, '/named-' || n`],
      ['organization', 'name, display_name, created_at', `'named-' || n, 'Number ' || n, now()`],
    ])
      await run(
        `insert into ${table} (realm_id, id, ${columns}) select $1, gen_random_uuid(), ${values} from generate_series(1, $2::int) n`,
        clients,
      );
    const many = [
      `insert into user_group (realm_id, id, name, path) values ($1, ${person('1')}, 'grown', '/grown')`,
      `insert into group_member (realm_id, group_id, user_id) select $1, ${person('1')}, ${person('i')} from generate_series(2, $2::int, 2) i`,
      `insert into role (realm_id, id, name) values ($1, ${person('1')}, 'grown')`,
      `insert into user_role (realm_id, role_id, user_id) select $1, ${person('1')}, ${person('i')} from generate_series(2, $2::int, 2) i`,
      `insert into organization (realm_id, id, name, created_at) values ($1, ${person('1')}, 'grown', now())`,
      `insert into organization_member (realm_id, organization_id, user_id, joined_at)
       select $1, ${person('1')}, ${person('i')}, now() from generate_series(2, $2::int, 2) i`,
      `insert into message (realm_id, id, channel, template_key, user_id, recipient, status, expires_at, created_at)
       select $1, ${idAt("now() - i * interval '1 second'", 'i')}, 'EMAIL', 'otp-email', ${person('i')}, 'user-' || i || '@people.example', 'sent',
         now(), now() - i * interval '1 second' from generate_series(1, $2::int, 4) i`,
      `insert into invitation (realm_id, id, email, link_hash, created_at, expires_at)
       select $1, ${person('i')}, 'new-' || i || '@people.example', ${digestOf('i')}, now(), now() + interval '1 day'
       from generate_series(1, $2::int, 20) i`,
      ...statistics('hour', 31 * 24),
      ...statistics('day', 400),
    ];
    for (const text of many) await client.query(text, text.includes('$2') ? [realm, people] : [realm]);
  });

/** Of every step, a dozen keys that series show, and twenty clients. */
const statistics = (step: 'hour' | 'day', steps: number) =>
  [
    `(values ('sign-in', ''), ('token', ''), ('failure', 'wrong'), ('failure', 'unknown'), ('failure', 'locked'), ('failure', 'risk'),
      ('risk', 'low'), ('risk', 'medium'), ('risk', 'high'), ('delivery', 'succeeded'), ('delivery', 'retrying'), ('delivery', 'dead'))`,
    `(select 'client', 'grown-' || n from generate_series(1, 20) n)`,
  ].map(
    (keys) => `insert into statistic (realm_id, step, kind, at, key, count)
       select $1, '${step}', kind, date_trunc('${step}', now(), 'UTC') - i * interval '1 ${step}', key, 1 + i
       from generate_series(0, ${steps - 1}) i, ${keys} k (kind, key)`,
  );

const growLog = (client: pg.Client, { realm, people, events, at, log = 'to be sealed' }: Growth) =>
  withoutIndexes(
    client,
    [
      ...['event_people', 'event_actor', 'event_subject', 'event_type', 'event_agent', 'event_self_registered'],
      ...['event_client', 'event_address', 'event_outcome', 'event_actor_other', 'event_actor_name'],
      ...['event_subject_other', 'event_subject_name'],
    ],
    async () => {
      const { rows } = await client.query('select 1 from event_block limit 1');
      if (log === 'to be sealed' && rows.length > 0) throw new Error('a server has begun to seal the log');
      await client.query(
        `insert into event (realm_id, id, type, occurred_at, actor, subject, client_id, ip_address, outcome, data, position)
         select $1, ${idAt('made', 'i')}, type, made,
           jsonb_build_object('type', 'user', 'id', ${person('who')}, 'name', named),
           jsonb_build_object('type', 'user', 'id', ${person('who')}, 'name', named),
           case named when 'busy' then 'busy' else 'grown-' || (1 + who % 2000) end, '192.0.2.' || i % 256, case when type = 'LOGIN_FAILURE' then 'failure' else 'success' end,
           case type when 'USER_UPDATED' then '{"fields": ["email"]}'::jsonb else jsonb_build_object('sessionId', ${person('who')}) end,
           ${FIRST_POSITION} + 1 + i / ${EVENTS_OF_A_TRANSACTION}
         from (
           select i, case when i % 3 = 0 then 2 else 1 + (i::bigint * 7919) % $2::int end as who,
             case when i % 3 = 0 then 'busy' else 'user-' || (1 + (i::bigint * 7919) % $2::int) end as named, $4::timestamptz - ($3::int - i) * (interval '100 days' / $3::int) as made,
             (array['LOGIN_SUCCESS', 'TOKEN_ISSUED', 'TOKEN_REFRESHED', 'TOKEN_REFRESHED', 'LOGIN_FAILURE', 'LOGOUT', 'USER_UPDATED'])[1 + i % 7] as type
           from generate_series(1, $3::int) i
         ) e`,
        [realm, people, events, at],
      );
      if (log === 'to be sealed') await client.query('update event_log set position = $1', [FIRST_POSITION]);
    },
  );
