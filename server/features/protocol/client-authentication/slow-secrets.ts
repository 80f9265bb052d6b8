// Checks weak client secrets, whose hashes are slow. Few checks run at once, so that a flood of wrong secrets leaves
// threads for sign-ins. The checks of one client run one after another, so that a flood for one client leaves room for
// others.
import { timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Passwords } from '../../../crypto/passwords.ts';
import { sha256 } from '../../../crypto/tokens.ts';
import { makeRoom } from '../../../db/cache.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import { createSemaphore } from '../../../schedule/semaphore.ts';

/** The most remembered digests of correct secrets. */
const REMEMBERED = 1_000;
/** The most checks at the same time, for all clients together. */
const AT_ONCE = 4;
/** The most different secrets of one client that are checked or wait for their check. */
const MOST_WAITING = 32;
/** The most checks at the same time for names that have no slow secret. */
const NOBODYS_AT_ONCE = 2;

export function createSlowSecrets({ passwords }: { passwords: Pick<Passwords, 'verify' | 'phcForNobody'> }) {
  /** PHC → digest of the correct secret, so that the slow check runs only once. */
  const remembered = new Map<string, Buffer>();
  /** Running checks by PHC and digest: equal secrets of one client share a check. */
  const inProgress = new Map<string, Map<string, Promise<boolean>>>();
  const semaphore = createSemaphore({ perKey: 1, inAll: AT_ONCE });
  let nobodys = 0;
  let lastMs = 0;

  async function verify(phc: string, secret: string): Promise<boolean> {
    const from = performance.now();
    const { ok } = await passwords.verify(phc, secret);
    lastMs = performance.now() - from;
    return ok;
  }

  function check(phc: string, secret: string, digest: string): Promise<boolean> {
    const ofClient = inProgress.get(phc) ?? new Map<string, Promise<boolean>>();
    const same = ofClient.get(digest);
    if (same) return same;
    if (ofClient.size >= MOST_WAITING)
      throw new OAuthError('slow_down', 'This client is being checked too often at this moment', {
        retryAfterSeconds: 2,
      });
    inProgress.set(phc, ofClient);
    const checking = semaphore(phc, () => verify(phc, secret)).finally(() => {
      ofClient.delete(digest);
      if (ofClient.size === 0) inProgress.delete(phc);
    });
    ofClient.set(digest, checking);
    return checking;
  }

  return {
    /** Whether the secret held before, so that it is checked without delay. */
    isKnown(phc: string, secret: string): boolean {
      const known = remembered.get(phc);
      return known !== undefined && timingSafeEqual(known, sha256(secret));
    },
    async holds(phc: string, secret: string): Promise<boolean> {
      const digest = sha256(secret);
      const known = remembered.get(phc);
      if (known && timingSafeEqual(known, digest)) return true;
      if (!(await check(phc, secret, digest.toString('base64url')))) return false;
      makeRoom(remembered, REMEMBERED);
      remembered.set(phc, digest);
      return true;
    },
    /**
     * Takes as long as a check, for a client without a slow secret. Beyond {@link NOBODYS_AT_ONCE} such calls only
     * sleep, so that invented names don't delay the checks of existing clients.
     */
    async pretend(secret: string): Promise<void> {
      if (nobodys >= NOBODYS_AT_ONCE) return sleep(lastMs);
      nobodys += 1;
      try {
        await verify(passwords.phcForNobody, secret);
      } finally {
        nobodys -= 1;
      }
    },
  };
}
export type SlowSecrets = ReturnType<typeof createSlowSecrets>;
