// The keyring of a server with a custodian: loaded if one is configured. At a start it waits for a custodian that is away.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config.ts';
import type { Sql } from '../db/sql.ts';
import { createOutbound } from '../http/outbound.ts';
import { type Custodian, CustodianError } from './custodian.ts';
import type { Log, OpenKeyring } from './custody.ts';
import { createDataKeys, LOOK_MS } from './data-keys.ts';

/** The pauses between tries at a start double up to this. */
const LONGEST_PAUSE_MS = 10_000;

async function openCustodian(uri: string, config: Config, now: () => Date): Promise<Custodian> {
  const { protocol } = new URL(uri);
  if (protocol === 'pkcs11:') return (await import('./drivers/pkcs11.ts')).openPkcs11(uri);
  const { openByHttp } = await import('./drivers/by-http.ts');
  return openByHttp(uri, {
    config,
    outboundTo: (hosts) => createOutbound({ allow: hosts, caFile: config.SVC_OUTBOUND_CA_FILE }),
    now,
  });
}

interface Deps {
  sql: Sql;
  ready: () => Promise<unknown>;
  log: Log;
  now: () => Date;
  /** The configured keys, which open, and seal as long as no data key does. */
  plain: { current(): readonly Buffer[]; stop(): void };
}

export async function openCustody(
  uri: string,
  config: Config,
  { sql, ready, log, now, plain }: Deps,
): Promise<OpenKeyring> {
  const custodian = await openCustodian(uri, config, now);
  const cacheMs = config.SVC_DATA_KEY_CACHE_SECONDS * 1000;
  const dataKeys = createDataKeys({ sql, custodian, plain: plain.current, now, cacheMs, log });
  try {
    await ready();
    await untilThere(() => dataKeys.refresh(), {
      custodian,
      waitMs: config.SVC_KEY_CUSTODIAN_WAIT_SECONDS * 1000,
      log,
    });
  } catch (error) {
    plain.stop();
    await custodian.close();
    throw error;
  }
  // Its failures are logged, and shown by the health and the diagnostics.
  const looking = setInterval(() => void dataKeys.refresh().catch(() => {}), LOOK_MS).unref();
  return {
    masterKey: dataKeys.keyring,
    custody: dataKeys,
    async stop() {
      clearInterval(looking);
      plain.stop();
      await custodian.close();
    },
  };
}

/** Tries again while the custodian is away. What it refuses is an error at once. */
async function untilThere(
  open: () => Promise<void>,
  { custodian, waitMs, log }: { custodian: Custodian; waitMs: number; log: Log },
): Promise<void> {
  const until = performance.now() + waitMs;
  for (let pause = 500; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof CustodianError)) throw error;
      const { message } = error;
      if (!error.away || performance.now() + pause > until)
        throw new Error(`SVC_KEY_CUSTODIAN: ${custodian.name} gives no data key: ${message}`, { cause: error });
      log.warn(`SVC_KEY_CUSTODIAN: ${custodian.name} is away; the start waits for it: ${message}`);
      await sleep(pause);
    }
  }
}
