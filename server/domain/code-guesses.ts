// Owns: counts of guessed codes for an address, which may belong to no user, and for a whole realm. Counts of a known user are
// features/people/credentials'. The database counts for all replicas, with the same statement for known and unknown addresses.
// Implements: decisions "Guessed codes".
import { HOUR_MS } from '../contract/durations.ts';
import { bySystem } from '../contract/events.ts';
import type { Seal } from '../crypto/seal.ts';
import type { RealmSql } from '../db/realm-share.ts';
import type { Transact } from '../db/transact.ts';

/** The most guesses in an hour of all codes that the realm sent to one address, no matter which client requested them. */
const MOST_OF_ADDRESS = 20;
/** Counts of a realm's wrong codes in an hour at which its administrators are notified. */
const TOLD_OF = new Set([100, 1_000, 10_000, 100_000]);
const OF_REALM = 'realm';

export interface CodeGuessDeps {
  realmSql: RealmSql;
  transact: Transact;
  seal: Seal;
  /** Increments the metric. */
  wrongCode(realm: string): void;
  now: () => Date;
}

/** Counts wrong codes for each address and realm, by the hour. */
export function createCodeGuesses({ realmSql, transact, seal, wrongCode, now }: CodeGuessDeps) {
  const hour = () => new Date(Math.floor(now().getTime() / HOUR_MS) * HOUR_MS);
  const count = async (realm: string, key: string): Promise<number> => {
    const [row] = await realmSql(realm)<{ used: number }>`
      insert into code_guess (realm_id, key, hour, used) values (${realm}, ${key}, ${hour()}, 1)
      on conflict (realm_id, key, hour) do update set used = code_guess.used + 1 returning used`;
    return row?.used ?? 0;
  };
  return {
    /** Counts a guess of a code that went to an address. @returns false if the code must be rejected unchecked */
    async ofAddress(realm: string, address: string): Promise<boolean> {
      const digest = seal.digest(address.toLowerCase(), `code-guess:${realm}`).toString('base64url');
      return (await count(realm, `to ${digest}`)) <= MOST_OF_ADDRESS;
    },
    /** Counts a wrong code of the realm. */
    async wrong(realm: string): Promise<void> {
      wrongCode(realm);
      const wrong = await count(realm, OF_REALM);
      if (!TOLD_OF.has(wrong)) return;
      await transact(realm, async ({ record }) =>
        record({ type: 'CODES_GUESSED', realm, by: bySystem, data: { wrong, since: hour().getTime() } }),
      );
    },
  };
}
export type CodeGuesses = ReturnType<typeof createCodeGuesses>;
