// Owns: how often codes are guessed where no person's own count says it (features/people/credentials): of an address, which may be nobody's, and
// in a realm as a whole. Counted in the database, for all replicas together, by the same statement whosever the address is.
// Implements: decisions "Guessed codes".
import { bySystem } from '../contract/events.ts';
import type { Seal } from '../crypto/seal.ts';
import type { RealmSql } from '../db/realm-share.ts';
import type { Transact } from '../db/transact.ts';

const HOUR_MS = 3_600_000;
/** Of all codes of a realm that went to one address, in an hour: whoever asked for them. */
const MOST_OF_ADDRESS = 20;
/** Wrong codes of a realm in an hour of which its administrators are told. */
const TOLD_OF = new Set([100, 1_000, 10_000, 100_000]);
const OF_REALM = 'realm';

export interface CodeGuessDeps {
  realmSql: RealmSql;
  transact: Transact;
  seal: Seal;
  /** A metric's. */
  wrongCode(realm: string): void;
  now: () => Date;
}

export function createCodeGuesses({ realmSql, transact, seal, wrongCode, now }: CodeGuessDeps) {
  const hour = () => new Date(Math.floor(now().getTime() / HOUR_MS) * HOUR_MS);
  const count = async (realm: string, key: string): Promise<number> => {
    const [row] = await realmSql(realm)<{ used: number }>`
      insert into code_guess (realm_id, key, hour, used) values (${realm}, ${key}, ${hour()}, 1)
      on conflict (realm_id, key, hour) do update set used = code_guess.used + 1 returning used`;
    return row?.used ?? 0;
  };
  return {
    /** Counts a guess of a code that went to an address. @returns whether it may be looked at */
    async ofAddress(realm: string, address: string): Promise<boolean> {
      const digest = seal.digest(address.toLowerCase(), `code-guess:${realm}`).toString('base64url');
      return (await count(realm, `to ${digest}`)) <= MOST_OF_ADDRESS;
    },
    /** A code was wrong. */
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
