// Owns: the last answer about each access token, to be given again while the database is away.
// Does not own: the answers (service.ts), which events end access (domain/access-ends.ts).
// Implements: docs/high-availability.md "While the database is away". An answer is given again only if it said "active" at most
// `ms` ago, the token has not expired, and no sign has come since that its access ended.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { makeRoom } from '../../../db/cache.ts';
import { orLast } from '../../../db/stale.ts';

/** About 2 KiB each. */
const MOST_ANSWERS = 20_000;
const MOST_ENDS = 10_000;

/** An answer, and the user that it is about. */
export interface About {
  answer: object;
  userId: string | undefined;
}
interface Kept extends About {
  /** When it was asked for: it was true then. */
  at: number;
  /** The count of signs at that time. */
  signs: number;
}
const Active = z.looseObject({ active: z.literal(true), exp: z.number() });

export function createKeptAnswers({ ms, now }: { ms: number; now: () => Date }) {
  const kept = new Map<string, Kept>();
  /** The number of signs, and by realm or user the number of the last one. */
  let signs = 0;
  let ofAll = 0;
  const ends = new Map<string, number>();
  const lastSign = (realm: string, userId: string | undefined): number =>
    Math.max(ofAll, ends.get(realm) ?? 0, (userId !== undefined && ends.get(`${realm} ${userId}`)) || 0);

  function isGood(realm: string, { answer, userId, at, signs: then }: Kept): boolean {
    const time = now().getTime();
    const said = Active.safeParse(answer).data;
    return said !== undefined && said.exp * 1000 > time && time - at <= ms && then >= lastSign(realm, userId);
  }

  return {
    async of(realm: string, client: { id: string }, token: string, ask: () => Promise<About>): Promise<object> {
      if (ms === 0) return (await ask()).answer;
      const key = createHash('sha256').update(`${realm} ${client.id} ${token}`).digest('base64');
      const since = { at: now().getTime(), signs };
      const asked = ask().then((about) => {
        kept.delete(key);
        const fresh = { ...about, ...since };
        if (!isGood(realm, fresh)) return about.answer;
        makeRoom(kept, MOST_ANSWERS);
        kept.set(key, fresh);
        return about.answer;
      });
      const last = kept.get(key);
      if (!last || !isGood(realm, last)) return asked;
      // It may have ended while the database was waited for.
      return orLast(asked, () => (isGood(realm, last) ? last.answer : asked));
    },
    /** Access of a user, of anyone in a realm or of anyone may have ended. */
    drop(realm: string | undefined, userId?: string): void {
      if (ms === 0) return;
      signs += 1;
      if (realm === undefined || ends.size >= MOST_ENDS) {
        ofAll = signs;
        ends.clear();
      } else ends.set(userId === undefined ? realm : `${realm} ${userId}`, signs);
    },
  };
}
export type KeptAnswers = ReturnType<typeof createKeptAnswers>;
