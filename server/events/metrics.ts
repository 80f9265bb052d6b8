// Owns: the process's counters and their text form: events in realms, the forwarding of the log, the process itself.
// Does not own: HTTP requests (http/request-metric.ts), serving (features/operations/monitoring), an outcome's meaning (features).
// Implements: specification 6.3; decisions "Monitoring" (`realm` labels are limited to realms that exist).
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { DomainEvent, EventType } from '../contract/events.ts';
import { MASTER } from '../contract/realms.ts';
import { createRequestMetric } from '../http/request-metric.ts';

export type WriteOutcome = 'success' | 'denied' | 'failure';

export interface MetricsDeps {
  /** SVC_HTTP_HISTOGRAM: latency buckets, which add cardinality. */
  histogram: boolean;
  /** A cached check, for realm names from addresses that anybody may write. */
  realmExists(realm: string): Promise<boolean>;
  /** The existing ones of `realms`, so that a deleted realm's series end. */
  existing(realms: readonly string[]): Promise<Set<string>>;
  /** How far the audit log is forwarded; every server reports the same. */
  forwarding?(): Promise<Forwarded>;
  /** How long each job of the queue has been due; every server reports the same. */
  dueJobs?(): Promise<readonly { name: string; seconds: number }[]>;
  /** false in tests: Node's own figures need observers that outlive the registry. */
  processMetrics?: boolean;
}

interface Forwarded {
  waiting: number;
  oldestWaitingAt: number | null;
  sent: number;
  cut: number;
}

const SIGN_INS: Partial<Record<EventType, 'success' | 'failure'>> = {
  LOGIN_SUCCESS: 'success',
  LOGIN_FAILURE: 'failure',
  ADMIN_LOGIN_SUCCESS: 'success',
  ADMIN_LOGIN_FAILURE: 'failure',
};
const MESSAGES: Partial<Record<EventType, 'dead' | 'suppressed'>> = {
  MESSAGE_FAILED: 'dead',
  MESSAGE_SUPPRESSED: 'suppressed',
};

export function createMetrics({
  histogram,
  realmExists,
  existing,
  forwarding,
  dueJobs,
  processMetrics = true,
}: MetricsDeps) {
  const registry = new Registry();
  const registers = [registry];
  if (processMetrics) {
    collectDefaultMetrics({ register: registry });
    // Gauges whose names are those of counters; the ones without `_total` say the same by type.
    for (const what of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${what}_total`);
  }
  const logins = new Counter({
    name: 'svc_login_total',
    help: 'Login attempts and their outcomes',
    labelNames: ['realm', 'outcome'],
    registers,
  });
  const tokens = new Counter({
    name: 'svc_tokens_issued_total',
    help: 'Tokens issued',
    labelNames: ['realm'],
    registers,
  });
  const challenges = new Counter({
    name: 'svc_mfa_challenge_total',
    help: 'MFA challenges raised',
    labelNames: ['realm'],
    registers,
  });
  const wrongCodes = new Counter({
    name: 'svc_wrong_codes_total',
    help: 'One-time codes that were wrong: of apps, messages and recovery',
    labelNames: ['realm'],
    registers,
  });
  const deadLetters = new Counter({
    name: 'svc_webhook_dead_letters_total',
    help: 'Webhook deliveries that were given up after their last try',
    labelNames: ['realm'],
    registers,
  });
  const messages = new Counter({
    name: 'svc_messages_total',
    help: 'Messages by what became of them: sent, retried (one try failed), dead (given up), suppressed (beyond a limit, or for nobody)',
    labelNames: ['realm', 'channel', 'outcome'],
    registers,
  });
  const writes = new Counter({
    name: 'svc_admin_write_total',
    help: 'Administrative write operations',
    labelNames: ['realm', 'method', 'outcome'],
    registers,
  });
  const request = createRequestMetric(registry, { histogram });

  if (forwarding) forwardingGauges(registry, forwarding);
  if (dueJobs) jobGauge(registry, dueJobs);

  /** Realms that have series. */
  const known = new Set<string>();
  /** Counts whose realm is being looked up; a scrape waits for them. */
  const pending = new Set<Promise<void>>();

  /** Counts under the realm's name. A realm that doesn't exist counts under master: attempts on the server as a whole. */
  function inRealm(realm: string, count: (label: string) => void): void {
    if (known.has(realm)) {
      count(realm);
      return;
    }
    const found = realmExists(realm)
      .catch(() => false)
      .then((exists) => {
        const label = exists ? realm : MASTER;
        known.add(label);
        count(label);
      })
      .finally(() => pending.delete(found));
    pending.add(found);
  }

  async function forgetDeleted(): Promise<void> {
    const alive = await existing([...known]).catch(() => undefined);
    if (!alive) return;
    const gone = [...known].filter((realm) => !alive.has(realm));
    if (gone.length === 0) return;
    for (const realm of gone) known.delete(realm);
    for (const counter of [logins, tokens, challenges, wrongCodes, deadLetters, messages, writes]) {
      for (const { labels } of (await counter.get()).values) {
        if (labels.realm !== undefined && gone.includes(String(labels.realm))) counter.remove({ ...labels });
      }
    }
  }

  const message = (realm: string, channel: string, outcome: string) =>
    inRealm(realm, (label) => messages.inc({ realm: label, channel, outcome }));

  return {
    registry,
    /** Counts a try that the gateway answered. */
    message: (realm: string, channel: string, outcome: 'sent' | 'retried') => message(realm, channel, outcome),
    /** The bus's listener: counts recorded sign-ins, MFA challenges and undeliverable messages. */
    count({ type, realm, data }: DomainEvent): void {
      const outcome = SIGN_INS[type];
      const became = MESSAGES[type];
      if (became !== undefined) message(realm, String(data?.channel), became);
      if (outcome) inRealm(realm, (label) => logins.inc({ realm: label, outcome }));
      else if (type === 'MFA_CHALLENGE') inRealm(realm, (label) => challenges.inc({ realm: label }));
      else if (type === 'REALM_DELETED') void forgetDeleted();
    },
    tokenIssued: (realm: string) => inRealm(realm, (label) => tokens.inc({ realm: label })),
    wrongCode: (realm: string) => inRealm(realm, (label) => wrongCodes.inc({ realm: label })),
    deadLetter: (realm: string) => inRealm(realm, (label) => deadLetters.inc({ realm: label })),
    adminWrite: ({ realm, method, outcome }: { realm: string; method: string; outcome: WriteOutcome }) =>
      inRealm(realm, (label) => writes.inc({ realm: label, method, outcome })),

    /** Counts one answered request; `uri` is the route's pattern, never the address. */
    request,

    contentType: registry.contentType,

    /** The metrics in the text exposition format. */
    async text(): Promise<string> {
      await Promise.allSettled([...pending]);
      await forgetDeleted();
      return registry.metrics();
    },

    /** Sums over all realms, for administrators. */
    async totals() {
      await Promise.allSettled([...pending]);
      const sum = async (counter: Counter, label?: string): Promise<Record<string, number>> => {
        const sums: Record<string, number> = {};
        for (const { labels, value } of (await counter.get()).values) {
          const key = label === undefined ? 'total' : String(labels[label]);
          sums[key] = (sums[key] ?? 0) + value;
        }
        return sums;
      };
      return {
        logins: await sum(logins, 'outcome'),
        tokensIssued: (await sum(tokens)).total ?? 0,
        mfaChallenges: (await sum(challenges)).total ?? 0,
        adminWrites: await sum(writes, 'outcome'),
      };
    },
  };
}
export type Metrics = ReturnType<typeof createMetrics>;

function jobGauge(registry: Registry, dueJobs: NonNullable<MetricsDeps['dueJobs']>): void {
  new Gauge({
    name: 'svc_job_due_seconds',
    help: 'How long the job of the queue that is due longest has waited for a server: deliveries, messages, synchronizations',
    labelNames: ['job'],
    registers: [registry],
    async collect() {
      const found = await dueJobs().catch(() => undefined);
      if (!found) return;
      this.reset();
      for (const { name, seconds } of found) this.set({ job: name }, seconds);
    },
  });
}

function forwardingGauges(registry: Registry, forwarding: () => Promise<Forwarded>): void {
  let asked: Promise<Forwarded | undefined> | undefined;
  /** Of one scrape. */
  const found = () => {
    asked ??= forwarding()
      .catch(() => undefined)
      .finally(() => {
        asked = undefined;
      });
    return asked;
  };
  const gauge = (name: string, help: string, of: (found: Forwarded) => number) =>
    new Gauge({
      name: `svc_audit_forwarding_${name}`,
      help,
      registers: [registry],
      async collect() {
        const now = await found();
        if (now) this.set(of(now));
      },
    });
  gauge(
    'lag_seconds',
    'Age of the oldest audit event that the receiver has not got yet',
    ({ oldestWaitingAt: since }) => (since === null ? 0 : Math.max(0, Date.now() - since) / 1000),
  );
  gauge('waiting', 'Audit events that the receiver has not got yet, up to 100000', ({ waiting }) => waiting);
  gauge('sent', 'Audit events that the receiver has got', ({ sent }) => sent);
  gauge('cut', 'Audit events that the receiver refused, and has without their data', ({ cut }) => cut);
}
