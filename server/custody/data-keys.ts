// Owns: the data keys, which seal what is stored: wrapped by the custodian in the database, unwrapped in memory for a bounded time.
// Does not own: how a custodian wraps (drivers/), which of them is configured (custody.ts), sealing (crypto/seal.ts).
// Implements: keys beyond SVC_MASTER_KEY (docs/keys.md).
// While the custodian is away the unwrapped keys serve on until SVC_DATA_KEY_CACHE_SECONDS are over; then nothing is sealed or opened.
import { randomBytes } from 'node:crypto';
import { type Keyring, KeysUnavailable } from '../crypto/keyring.ts';
import { keyId } from '../crypto/seal.ts';
import type { Sql } from '../db/sql.ts';
import { type Custodian, CustodianError } from './custodian.ts';
import { addDataKey, type DataKeyRow, dropDataKeys, letNewestSeal, letNoneSeal, listDataKeys } from './store.ts';

/** The most data keys in memory, the newest ones. */
const MOST = 64;
/** How often a server looks for new data keys. */
export const LOOK_MS = 15_000;
/** A new key is stored this long before it seals, so that every server has it. */
export const AHEAD_MS = 300_000;

export interface DataKeysDeps {
  sql: Sql;
  custodian: Custodian;
  /** The keys of SVC_MASTER_KEY or its file. They open, and seal as long as no data key does. */
  plain: () => readonly Buffer[];
  now: () => Date;
  cacheMs: number;
  log: { info(message: string): void; warn(message: string): void };
}

interface Unwrapped {
  key: Buffer;
  at: number;
  sealsFrom: number | undefined;
  number: number;
}

export function createDataKeys({ sql, custodian, plain, now, cacheMs, log }: DataKeysDeps) {
  let unwrapped = new Map<string, Unwrapped>();
  let ring: { keys: readonly Buffer[]; plain: readonly Buffer[]; until: number } | undefined;
  let fault: { message: string; since: Date } | undefined;

  async function unwrap({ key_id, custodian: by, wrapped }: DataKeyRow): Promise<Buffer> {
    if (by !== custodian.name)
      throw new CustodianError(
        `the data key ${key_id} is wrapped by ${by}, and SVC_KEY_CUSTODIAN names ${custodian.name}: docs/keys.md says how to change the custodian`,
        { away: false },
      );
    const key = await custodian.unwrap(wrapped);
    if (key.length !== 32 || keyId(key).toString('hex') !== key_id)
      throw new CustodianError(`what is stored as the data key ${key_id} is another key`, { away: false });
    return key;
  }

  async function add(number: number, sealsFrom: Date | null): Promise<void> {
    const key = randomBytes(32);
    const row = {
      number,
      key_id: keyId(key).toString('hex'),
      custodian: custodian.name,
      wrapped: await custodian.wrap(key),
      created_at: now(),
      seals_from: sealsFrom,
    };
    // A custodian that can't give the key back must not get to keep the only copy.
    if (!(await unwrap(row)).equals(key))
      throw new CustodianError(`${custodian.name} unwraps another key than it wrapped`, { away: false });
    await addDataKey(sql, row);
  }

  /** Reads the list, and unwraps the keys that are new, or were unwrapped half of their time ago. */
  async function look(): Promise<void> {
    let rows = await listDataKeys(sql, MOST);
    if (rows.length === 0) {
      // Beside configured keys it waits for `npm run reseal`: by then every server knows the custodian.
      await add(1, plain().length > 0 ? null : now());
      rows = await listDataKeys(sql, MOST);
    }
    const next = new Map<string, Unwrapped>();
    let failed: unknown;
    for (const row of rows) {
      const had = unwrapped.get(row.key_id);
      const found = { number: row.number, sealsFrom: row.seals_from?.getTime() };
      const at = now().getTime();
      if (had && at - had.at < cacheMs / 2) {
        next.set(row.key_id, { ...had, ...found });
        continue;
      }
      try {
        next.set(row.key_id, { key: await unwrap(row), at, ...found });
      } catch (error) {
        failed ??= error;
        if (had) next.set(row.key_id, { ...had, ...found });
      }
    }
    unwrapped = next;
    ring = undefined;
    if (failed !== undefined) throw failed;
  }

  async function refresh(): Promise<void> {
    try {
      await look();
      if (fault) log.info(`the key custodian ${custodian.name} answers again`);
      fault = undefined;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (error instanceof CustodianError && !fault && unwrapped.size > 0)
        log.warn(
          `the key custodian ${custodian.name} (SVC_KEY_CUSTODIAN) fails, and the unwrapped keys serve on: ${message}`,
        );
      fault ??= { message, since: now() };
      throw error;
    }
  }

  function build(): readonly Buffer[] {
    const at = now().getTime();
    const valid = [...unwrapped.values()].filter((one) => one.at + cacheMs > at).sort((a, b) => b.number - a.number);
    const given = plain();
    const sealing = [...unwrapped.values()]
      .filter(({ sealsFrom }) => sealsFrom !== undefined && sealsFrom <= at)
      .reduce<Unwrapped | undefined>((best, one) => (best && best.number > one.number ? best : one), undefined);
    if (sealing ? !valid.includes(sealing) : given.length === 0)
      throw new KeysUnavailable(
        `No key is at hand: the key custodian ${custodian.name} (SVC_KEY_CUSTODIAN) is away for longer than SVC_DATA_KEY_CACHE_SECONDS`,
      );
    const others = valid.filter((one) => one !== sealing).map(({ key }) => key);
    const keys = sealing ? [sealing.key, ...others, ...given] : [...given, ...others];
    const ends = valid.map((one) => one.at + cacheMs);
    const begins = valid.flatMap(({ sealsFrom }) => (sealsFrom !== undefined && sealsFrom > at ? [sealsFrom] : []));
    ring = { keys, plain: given, until: Math.min(...ends, ...begins) };
    return keys;
  }

  const keyring: Keyring = {
    current: () => (ring && ring.until > now().getTime() && ring.plain === plain() ? ring.keys : build()),
  };

  return {
    keyring,
    /** Looks at once, instead of within {@link LOOK_MS}. */
    refresh,
    /** Lets the newest key seal, which has waited for every server to know it. */
    async letSeal(): Promise<boolean> {
      const changed = await letNewestSeal(sql, now());
      await refresh();
      return changed;
    },
    /** Returns to the configured keys, which then seal. */
    async letPlainSeal(): Promise<boolean> {
      const changed = await letNoneSeal(sql);
      await refresh();
      return changed;
    },
    /** Adds a key if the newest is older than this. It seals once every server has it. @returns whether it did */
    async rotate(olderThanMs: number): Promise<boolean> {
      const [newest] = await listDataKeys(sql, 1);
      const at = now().getTime();
      if (!newest || newest.seals_from === null || at - newest.created_at.getTime() < olderThanMs) return false;
      await add(newest.number + 1, new Date(at + AHEAD_MS));
      await refresh();
      return true;
    },
    /** Whether the newest key seals since at least this long. */
    async sealsSince(ms: number): Promise<boolean> {
      const [newest] = await listDataKeys(sql, 1);
      return newest !== undefined && newest.seals_from !== null && now().getTime() - newest.seals_from.getTime() >= ms;
    },
    /** Deletes all keys but the newest, which nothing is sealed by. */
    async dropOlder(): Promise<number> {
      const [newest] = await listDataKeys(sql, 1);
      if (!newest) return 0;
      const gone = await dropDataKeys(sql, newest.number);
      await refresh();
      return gone.length;
    },
    status: () => ({ custodian: custodian.name, keys: unwrapped.size, fault }),
  };
}
export type DataKeys = ReturnType<typeof createDataKeys>;
