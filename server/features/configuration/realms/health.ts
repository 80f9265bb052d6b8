// A realm's health: whether its users can sign in, and whether its messages and webhooks arrive. It takes one query, so
// callers may ask often. Specification 4.2 (GET /health). features/operations/monitoring has the server's own health.
import type { z } from 'zod';
import { HostedCaptcha } from '../../../contract/captchas.ts';
import { firstSignInIds } from '../../../contract/flows.ts';
import { Problem } from '../../../contract/problem.ts';
import type { RealmHealth } from '../../../contract/realms.ts';
import { freshSettings } from '../../../contract/settings.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Reseal } from '../../../domain/reseal.ts';

type Health = z.infer<typeof RealmHealth>;
export type RealmHealthOf = (realm: string) => Promise<Health>;

interface HealthRow {
  active_key: string | null;
  keys: number;
  flow: string;
  flow_exists: boolean;
  executions: number;
  captcha: string;
  captcha_keys: boolean;
  registers: boolean;
  webhooks: number;
  /** Enabled webhooks whose last finished delivery is a dead letter. */
  failing: string[];
  dead: number;
  waiting: number;
  /** The outcomes of the last hour's messages, by channels with a provider. */
  messaging: { channel: string; dead: number; sent: boolean }[];
  /** Names, at most {@link MOST_NAMED} of each. */
  weak_clients: string[];
  weak_webhooks: string[];
}
/** The extra bytes of a sealed text: version, key, nonce, tag (crypto/seal.ts). */
const SEALED_OVERHEAD = 33;
const SHORT = 16;
const MOST_NAMED = 100;
/** The number of failed messages that may be due to wrong addresses rather than the gateway. */
const FEW_DEAD = 3;

async function read(sql: Sql, realm: string): Promise<HealthRow | undefined> {
  const fresh = freshSettings(realm);
  const [row] = await sql<HealthRow>`
    with subject as (
      select realm_id, coalesce(settings ->> 'browserFlow', ${fresh.browserFlow}) as flow,
        coalesce(settings ->> 'captchaProvider', ${fresh.captchaProvider}) as captcha,
        coalesce((settings ->> 'registrationEnabled')::boolean, ${fresh.registrationEnabled}) as registers
      from realm where realm_id = ${realm}
    ), keys as (
      select count(*)::int as keys, max(key_id::text) filter (where rotated_at is null) as active_key
      from realm_key where realm_id = ${realm} and activated_at is not null
    ), last as (
      select w.name, (
        select d.status from webhook_delivery d
        where d.realm_id = w.realm_id and d.webhook_id = w.id and d.status in ('succeeded', 'dead')
        order by d.last_attempt_at desc nulls last limit 1
      ) as status
      from webhook w where w.realm_id = ${realm} and w.enabled
    ), deliveries as (
      select count(*) filter (where status = 'dead')::int as dead,
        count(*) filter (where status in ('pending', 'retrying'))::int as waiting
      from webhook_delivery where realm_id = ${realm}
    ), hour as (
      -- ids of messages begin with their time in milliseconds
      select rpad(lpad(to_hex((extract(epoch from now() - interval '1 hour') * 1000)::bigint), 12, '0'), 32, '0')::uuid as since
    ), messaging as (
      select p.channel,
        (select count(*)::int from message m, hour
         where m.realm_id = ${realm} and m.status = 'dead' and m.channel = p.channel and m.id > since) as dead,
        exists (select from message m, hour
         where m.realm_id = ${realm} and m.status = 'sent' and m.channel = p.channel and m.id > since) as sent
      from messaging_provider p where p.realm_id = ${realm} and p.enabled group by p.channel
    )
    select k.active_key, k.keys, s.flow,
      exists (select from flow f where f.realm_id = s.realm_id and f.alias = s.flow) as flow_exists,
      (select count(*)::int from flow_execution e
       where e.realm_id = s.realm_id and e.flow_alias = s.flow
         and e.authenticator_id is not null and not e.condition and e.requirement <> 'DISABLED'
         and e.authenticator_id <> all(${[...firstSignInIds]}::text[])) as executions,
      s.captcha, s.registers,
      exists (select from captcha c
        where c.realm_id = s.realm_id and c.provider = s.captcha and c.secret is not null) as captcha_keys,
      (select count(*)::int from last) as webhooks,
      coalesce((select array_agg(name order by name) from last where status = 'dead'), '{}') as failing,
      d.dead, d.waiting,
      coalesce((select jsonb_agg(to_jsonb(m) order by channel) from messaging m), '[]') as messaging,
      array(select client_id from client where realm_id = s.realm_id and secret_slow is not null
        order by client_id collate "C" limit ${MOST_NAMED}) as weak_clients,
      array(select name from webhook where realm_id = s.realm_id and octet_length(secret) < ${SEALED_OVERHEAD + SHORT}
        order by name collate "C" limit ${MOST_NAMED}) as weak_webhooks
    from subject s, keys k, deliveries d`;
  return row;
}

/**
 * `sealedUnderOlder`: the realm's secrets encrypted by older keys, at most a thousand of each kind; counted while there
 * are older keys.
 */
export interface MasterKeyHealth {
  olderKeys: number;
  sealedUnderOlder: number;
}

const status = (up: boolean) => (up ? ('UP' as const) : ('DOWN' as const));

/** A row's health. Pure. `readable`: the active key can be opened, so the master key is the one that sealed it. */
export function judge(row: HealthRow, readable: boolean, masterKey: MasterKeyHealth): Health {
  const captchaReady = row.captcha_keys || !HostedCaptcha.safeParse(row.captcha).success;
  const failing = row.messaging.filter(({ dead, sent }) => dead >= FEW_DEAD && !sent);
  const components = {
    signingKey: {
      status: status(row.active_key !== null && readable),
      details: { activeKeyId: row.active_key, published: row.keys, readable },
    },
    // Older keys do no harm while they are configured: this shows whether they can be removed.
    masterKey: { status: status(true), details: { ...masterKey } },
    // Weak secrets work, but can be guessed.
    weakSecrets: { status: status(true), details: { clients: row.weak_clients, webhooks: row.weak_webhooks } },
    browserFlow: {
      status: status(row.flow_exists && row.executions > 0),
      details: { alias: row.flow, exists: row.flow_exists, methods: row.executions },
    },
    // Without the CAPTCHA's keys no registration succeeds.
    captcha: {
      status: status(captchaReady || !row.registers),
      details: { provider: row.captcha, ready: captchaReady },
    },
    // Codes and links don't arrive; GET …/messaging/messages has the gateway's texts.
    messaging: {
      status: status(failing.length === 0),
      details: {
        channels: row.messaging.map(({ channel }) => channel),
        failing: failing.map(({ channel }) => channel),
        deadLetters: row.messaging.reduce((sum, { dead }) => sum + dead, 0),
      },
    },
    webhooks: {
      status: status(row.failing.length === 0),
      details: { enabled: row.webhooks, failing: row.failing, deadLetters: row.dead, waiting: row.waiting },
    },
  };
  return { status: status(Object.values(components).every((c) => c.status === 'UP')), components };
}

export const createRealmHealth =
  ({
    sql,
    keys,
    seal,
    reseal,
  }: {
    sql: Sql;
    keys: { active(realm: string): Promise<unknown> };
    seal: Pick<Seal, 'keys'>;
    reseal: Pick<Reseal, 'left'>;
  }): RealmHealthOf =>
  async (realm) => {
    const row = await read(sql, realm);
    if (!row) throw new Problem('not-found', `There is no realm ${realm}`);
    const readable = await keys.active(realm).then(
      () => true,
      () => false,
    );
    const olderKeys = seal.keys - 1;
    const left = olderKeys > 0 ? await reseal.left(realm) : [];
    const sealedUnderOlder = left.reduce((sum, { secrets }) => sum + secrets, 0);
    return judge(row, readable, { olderKeys, sealedUnderOlder });
  };
