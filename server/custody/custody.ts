// Owns: the server's keyring, as it is configured: keys in the environment or a file, or data keys that a custodian wraps.
// Does not own: the start of a custodian (custodied.ts), how data keys live (data-keys.ts), how a custodian wraps (drivers/), sealing (crypto/seal.ts).
// Implements: docs/keys.md.
import type { Config } from '../config.ts';
import type { Keyring } from '../crypto/keyring.ts';
import type { Sql } from '../db/sql.ts';
import type { DataKeys } from './data-keys.ts';

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

export interface Log {
  info(message: string): void;
  warn(message: string): void;
}

/**
 * The configured keys, read once; the file is watched.
 * @param otherwise the keys if none are configured
 */
async function openPlain(config: Config, log: Log, otherwise: () => Promise<readonly Buffer[]>) {
  if (config.SVC_MASTER_KEY_FILE !== undefined) {
    const [{ openKeyFile }, { parseKeyring }] = await Promise.all([
      import('./key-file.ts'),
      import('../key-settings.ts'),
    ]);
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
  const { openCustody } = await import('./custodied.ts');
  return openCustody(config.SVC_KEY_CUSTODIAN, config, { sql, ready, log, now, plain });
}
