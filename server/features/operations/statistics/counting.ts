// Owns: counting in the process what a realm's statistics say, and writing the counts together every few seconds.
// Does not own: reading them (service.ts), deleting old ones (jobs/janitor.ts), the hour of a client's last token (clients/activity.ts).
// Implements: decisions "Statistics".
import { DAY_MS, HOUR_MS } from '../../../contract/durations.ts';
import type { DomainEvent } from '../../../contract/events.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Bus } from '../../../events/bus.ts';
import { createTally, type Tally } from '../../../schedule/tally.ts';
import * as store from './store.ts';

const WRITE_MS = 3_000;
/** The most counts of one statement. */
const BATCH = 5_000;
/** Counts that wait: of 10,000 realms, while the database is away for hours. */
const MOST_WAITING = 200_000;
/** The most keys of a realm and a day in this process, so that neither its memory nor the table grows with what comes in. */
const MOST_KEYS: Partial<Record<store.Kind, number>> = { failure: 50, client: 200 };
/** The most such keys of all realms together: some megabytes. */
const MOST_KEYS_OF_ALL = 50_000;
/** No key holds text that a user or a provider wrote. */
const REASON = /^[a-z][a-z0-9-]{0,63}$/;
const CLIENT_ID = /^[^\p{Cc}\p{Cs}]{1,500}$/u;
const BAND = /^(low|medium|high)$/;

interface Count {
  realm: string;
  kind: store.Kind;
  key: string;
  hour: number;
}

export function createCounting({
  sql,
  bus,
  log,
  now,
}: {
  sql: Sql;
  bus: Pick<Bus, 'on'>;
  log: { warn(fields: object, message: string): void };
  now(): Date;
}): Pick<Tally<Count>, 'start' | 'stop'> & { delivery(realm: string, outcome: string): void } {
  const tally = createTally<Count>({
    async write(counts) {
      for (let at = 0; at < counts.length; at += BATCH)
        await store.add(
          sql,
          counts.slice(at, at + BATCH).map(({ row, count }) => ({ ...row, hour: new Date(row.hour), count })),
        );
    },
    soonMs: WRITE_MS,
    most: MOST_WAITING,
    failed: (err) => log.warn({ err }, 'Statistics could not be written down'),
  });
  const keys = createKeysOfDay();

  function count(realm: string, kind: store.Kind, key = ''): void {
    const hour = Math.floor(now().getTime() / HOUR_MS) * HOUR_MS;
    tally.add(`${realm} ${kind} ${hour} ${key}`, { realm, kind, key, hour });
  }
  /** Beyond the most keys, counts among the others. */
  function countBy(realm: string, kind: store.Kind, key: unknown, form: RegExp): void {
    const named = typeof key === 'string' && keys.has(now(), { realm, kind, key, form });
    count(realm, kind, named ? key : store.OTHERS);
  }

  function hear({ type, realm, clientId, data }: DomainEvent): void {
    switch (type) {
      case 'TOKEN_ISSUED':
      case 'TOKEN_REFRESHED':
      case 'WORKLOAD_TOKEN_ISSUED':
        count(realm, 'token');
        countBy(realm, 'client', clientId, CLIENT_ID);
        return;
      case 'LOGIN_SUCCESS':
        count(realm, 'sign-in');
        countRisk(realm, data);
        return;
      case 'LOGIN_FAILURE':
        countBy(realm, 'failure', data?.reason, REASON);
        countRisk(realm, data);
    }
  }
  function countRisk(realm: string, data: DomainEvent['data']): void {
    const risk = data?.risk;
    if (typeof risk === 'object' && risk !== null && 'band' in risk) countBy(realm, 'risk', risk.band, BAND);
  }
  bus.on(hear);

  return {
    start: tally.start,
    stop: tally.stop,
    /** Counts a try of a webhook delivery, by the delivery's status after it. */
    delivery: (realm, outcome) => count(realm, 'delivery', outcome),
  };
}

/** The keys of the present day (in UTC) that are counted by name: the first ones. */
function createKeysOfDay() {
  let day = 0;
  let size = 0;
  let known = new Map<string, Set<string>>();
  return {
    has(at: Date, { realm, kind, key, form }: { realm: string; kind: store.Kind; key: string; form: RegExp }): boolean {
      const today = Math.floor(at.getTime() / DAY_MS);
      if (today !== day) {
        day = today;
        size = 0;
        known = new Map();
      }
      const place = `${realm} ${kind}`;
      const own = known.get(place);
      if (own?.has(key)) return true;
      const most = MOST_KEYS[kind] ?? Number.POSITIVE_INFINITY;
      if (size >= MOST_KEYS_OF_ALL || (own?.size ?? 0) >= most || !form.test(key)) return false;
      size += 1;
      if (own) own.add(key);
      else known.set(place, new Set([key]));
      return true;
    },
  };
}
