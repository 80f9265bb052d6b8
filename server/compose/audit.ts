// The composition root's part for written audit events: sealing and forwarding them. It decides nothing. Specification
// 6.1.
import type { Logger } from 'pino';
import { type Config, forwardingOf } from '../config.ts';
import type { AuditConfig } from '../contract/monitoring.ts';
import type { Seal } from '../crypto/seal.ts';
import type { Sql } from '../db/sql.ts';
import type { Transact } from '../db/transact.ts';
import type { Bus } from '../events/bus.ts';
import { sealEvents } from '../events/chain.ts';
import { continuePositions } from '../events/position.ts';
import { createReceiver } from '../features/operations/forwarding/receivers.ts';
import { createForwarding, forwardingProgress } from '../features/operations/forwarding/service.ts';
import { createOutbound } from '../http/outbound.ts';
import { createRecurring } from '../schedule/recurring.ts';

/** How soon the server seals and forwards an event. Its pauses after failures are multiples of this. */
const SOON_MS = 1_000;
/** How soon events are sealed if the process that wrote them died before. */
const IDLE_MS = 30_000;
/** The longest pause before a receiver that doesn't answer is tried again. */
const LONGEST_MS = 60_000;

export interface AuditDeps {
  config: Config;
  sql: Sql;
  transact: Transact;
  seal: Seal;
  bus: Pick<Bus, 'on'>;
  log: Logger;
  now: () => Date;
  newId: () => string;
  /** Instead of `SOON_MS`. */
  soonMs: number | undefined;
}

export function createAudit({ config, sql, transact, seal, bus, log, now, newId, soonMs = SOON_MS }: AuditDeps) {
  const sending = createSending({ config, sql, log, now, newId, soonMs });
  const sealing = createRecurring({
    run: async () => {
      const left = await sealEvents({ sql, transact, seal, now });
      sending?.recurring.ask();
      return left;
    },
    soonMs,
    idleMs: IDLE_MS,
    failed: (err) => log.warn({ err }, 'the audit log could not be sealed'),
  });
  bus.on(() => sealing.ask());
  const target = sending?.target;
  return {
    forwarding: target !== undefined,
    /** Call it before any event is written. */
    async prepare() {
      await continuePositions(transact);
      await sending?.forwarding.begin();
    },
    start() {
      sealing.start();
      sending?.recurring.start();
    },
    async stop() {
      await sealing.stop();
      await sending?.stop();
    },
    async status(): Promise<AuditConfig['forwarding']> {
      if (!target) return { enabled: false, target: null, format: null, ...NOTHING };
      const { protocol, host, pathname } = target.url;
      // Path and query may contain a key, so they aren't shown.
      const shown = protocol === 'file:' ? `file://${pathname}` : `${protocol}//${host}`;
      return { enabled: true, target: shown, format: target.shape, ...(await forwardingProgress(sql)) };
    },
  };
}

const NOTHING = {
  waiting: 0,
  oldestWaitingAt: null,
  sent: 0,
  lastSentAt: null,
  lastError: null,
  cut: 0,
  lastCutId: null,
};

function createSending({
  config,
  sql,
  log,
  now,
  newId,
  soonMs,
}: Omit<AuditDeps, 'bus' | 'transact' | 'seal' | 'soonMs'> & { soonMs: number }) {
  const target = forwardingOf(config);
  if (!target) return undefined;
  const caFile = config.SVC_OUTBOUND_CA_FILE;
  // The server's operator has configured this receiver, which usually has a private address. No realm can use this
  // guard.
  const outbound = createOutbound({
    allow: [...(config.SVC_OUTBOUND_ALLOW ?? []), ...(target.url.host === '' ? [] : [target.url.host])],
    caFile,
    log: (message) => log.info({ outbound: message }, 'an outbound request failed'),
  });
  const host = new URL(config.baseUrl).hostname;
  const forwarding = createForwarding({
    sql,
    receiver: createReceiver(target, { outbound, caFile, host }),
    holder: newId(),
    log: (message) => log.warn(message),
    now,
  });
  const recurring = createRecurring({
    run: forwarding.run,
    soonMs,
    idleMs: IDLE_MS,
    longestMs: LONGEST_MS,
    failed: (err) => log.warn({ err }, 'the audit log could not be forwarded; events wait'),
  });
  const stop = async () => {
    await forwarding.stop(recurring.stop);
    await outbound.close();
  };
  return { target, forwarding, recurring, stop };
}
