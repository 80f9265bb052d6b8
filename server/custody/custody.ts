// Owns: the server's keyring, as it is configured: keys in the environment or a file, or data keys that a custodian wraps.
// Does not own: how data keys live (data-keys.ts), how a custodian wraps (drivers/), sealing (crypto/seal.ts).
// Implements: docs/keys.md.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config.ts';
import type { Keyring } from '../crypto/keyring.ts';
import type { Sql } from '../db/sql.ts';
import { createOutbound } from '../http/outbound.ts';
import { parseKeyring } from '../key-settings.ts';
import { type Custodian, CustodianError } from './custodian.ts';
import { createDataKeys, type DataKeys, LOOK_MS } from './data-keys.ts';
import { openKeyFile } from './key-file.ts';

export type Custody = Pick<
  DataKeys,
  'refresh' | 'letSeal' | 'letPlainSeal' | 'rotate' | 'sealsSince' | 'dropOlder' | 'status'
>;

export interface OpenKeyring {
  masterKey: Keyring | readonly Buffer[];
  /** Undefined: no custodian is configured. */
  custody: Custody | undefined;
  stop(): Promise<void>;
}

interface Log {
  info(message: string): void;
  warn(message: string): void;
}

/** The pauses between tries at a start double up to this. */
const LONGEST_PAUSE_MS = 10_000;

async function openCustodian(uri: string, config: Config): Promise<Custodian> {
  const { protocol } = new URL(uri);
  if (protocol === 'pkcs11:') return (await import('./drivers/pkcs11.ts')).openPkcs11(uri);
  const { openByHttp } = await import('./drivers/by-http.ts');
  return openByHttp(uri, {
    config,
    outboundTo: (hosts) => createOutbound({ allow: hosts, caFile: config.SVC_OUTBOUND_CA_FILE }),
  });
}

/**
 * The configured keys, read once; the file is watched.
 * @param otherwise the keys if none are configured
 */
async function openPlain(config: Config, log: Log, otherwise: () => Promise<readonly Buffer[]>) {
  if (config.SVC_MASTER_KEY_FILE !== undefined) {
    const { keyring, stop } = openKeyFile(config.SVC_MASTER_KEY_FILE, { parse: parseKeyring, log });
    return { current: keyring.current, stop };
  }
  const keys = config.SVC_MASTER_KEY ?? (config.SVC_KEY_CUSTODIAN === undefined ? await otherwise() : []);
  return { current: () => keys, stop: () => {} };
}

/**
 * @param ready when the database has its tables
 * @throws Error that names the variable, if no key can be had within SVC_KEY_CUSTODIAN_WAIT_SECONDS
 */
export async function openKeyring(
  config: Config,
  {
    sql,
    ready = async () => {},
    log,
    now,
    otherwise = async () => [],
  }: {
    sql: Sql;
    ready?: () => Promise<unknown>;
    log: Log;
    now: () => Date;
    otherwise?: () => Promise<readonly Buffer[]>;
  },
): Promise<OpenKeyring> {
  const plain = await openPlain(config, log, otherwise);
  if (config.SVC_KEY_CUSTODIAN === undefined)
    return { masterKey: { current: plain.current }, custody: undefined, stop: async () => plain.stop() };
  const custodian = await openCustodian(config.SVC_KEY_CUSTODIAN, config);
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
