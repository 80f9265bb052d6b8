// The composition root's part for the audit log once it is written: sealing it. It decides nothing. Specification 6.1.
import type { Logger } from 'pino';
import type { Sql } from './db/sql.ts';
import type { Transact } from './db/transact.ts';
import type { Bus } from './events/bus.ts';
import { sealEvents } from './events/chain.ts';
import { continuePositions } from './events/position.ts';
import { createRecurring } from './schedule/recurring.ts';

const SOON_MS = 1_000;
/** Where the process that wrote events died before it sealed them. */
const IDLE_MS = 30_000;

export interface AuditDeps {
  sql: Sql;
  transact: Transact;
  bus: Pick<Bus, 'on'>;
  log: Logger;
  now: () => Date;
}

export function createAudit({ sql, transact, bus, log, now }: AuditDeps) {
  const sealing = createRecurring({
    run: () => sealEvents({ sql, transact, now }),
    soonMs: SOON_MS,
    idleMs: IDLE_MS,
    failed: (err) => log.warn({ err }, 'the audit log could not be sealed'),
  });
  bus.on(() => sealing.ask());
  return {
    /** Before anything is written. */
    prepare: () => continuePositions(transact),
    start: sealing.start,
    stop: sealing.stop,
  };
}
