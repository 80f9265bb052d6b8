// Challenges for passkeys to sign. Each page gets a challenge of its own, which contains its expiry and is bound to one
// sign-in, link or ticket. The server stores nothing until a passkey has signed the challenge: then domain/spent-proofs.ts
// keeps its digest.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Seal } from '../../../crypto/seal.ts';
import { type SingleUseProof, singleUseProof } from '../../../domain/spent-proofs.ts';

/** How long a challenge for signing in is valid. */
const USE_MS = 5 * 60_000;
/**
 * How long a challenge for setting up a passkey is valid: the user has more to do. As long as the tickets of the account
 * API.
 */
const SET_UP_MS = 10 * 60_000;
const TIME_BYTES = 6;
const NONCE_BYTES = 16;
const MAC_AT = TIME_BYTES + NONCE_BYTES;

type Purpose = 'use' | 'set-up';
/** `binding`: a value that only the sign-in, link or ticket of the challenge has. */
interface Bound {
  realm: string;
  purpose: Purpose;
  binding: string;
}
export type ReadChallenge =
  | { ok: true; once: SingleUseProof }
  | { ok: false; reason: 'wrong' | 'late' | 'cross-origin' };

/**
 * The fields of the browser's client data that are checked here. A page of another origin that shows ours in a frame makes
 * `crossOrigin` true and may set `topOrigin`. Our pages allow no frames, so both are refused.
 */
const ClientData = z.object({
  challenge: z.string().max(200),
  crossOrigin: z.unknown().optional(),
  topOrigin: z.unknown().optional(),
});

function clientDataIn(encoded: string): z.infer<typeof ClientData> | undefined {
  try {
    return ClientData.safeParse(JSON.parse(Buffer.from(encoded, 'base64url').toString())).data;
  } catch {
    return undefined;
  }
}

export function createPasskeyChallenges({ seal, now }: { seal: Seal; now: () => Date }) {
  const said = (head: Buffer, { purpose, binding }: Bound) => `${purpose}:${head.toString('base64url')}:${binding}`;
  const contextOf = ({ realm }: Bound) => `passkey-challenge:${realm}`;

  return {
    make(bound: Bound): string {
      const head = Buffer.alloc(MAC_AT);
      head.writeUIntBE(now().getTime() + (bound.purpose === 'use' ? USE_MS : SET_UP_MS), 0, TIME_BYTES);
      randomBytes(NONCE_BYTES).copy(head, TIME_BYTES);
      return Buffer.concat([head, seal.digest(said(head, bound), contextOf(bound))]).toString('base64url');
    },

    /**
     * Reads and checks the challenge in a browser's answer. Whether it was signed before is known only when it is spent.
     */
    read(clientDataJSON: string, bound: Bound): ReadChallenge {
      const data = clientDataIn(clientDataJSON);
      if (!data) return { ok: false, reason: 'wrong' };
      const whole = Buffer.from(data.challenge, 'base64url');
      // Only one spelling of a challenge is accepted: otherwise another spelling of a spent one would count again.
      if (whole.toString('base64url') !== data.challenge) return { ok: false, reason: 'wrong' };
      const [head, mac] = [whole.subarray(0, MAC_AT), whole.subarray(MAC_AT)];
      const isOurs = seal
        .digests(said(head, bound), contextOf(bound))
        .some((digest) => digest.length === mac.length && timingSafeEqual(digest, mac));
      if (!isOurs) return { ok: false, reason: 'wrong' };
      if ((data.crossOrigin ?? false) !== false || data.topOrigin !== undefined)
        return { ok: false, reason: 'cross-origin' };
      const until = head.readUIntBE(0, TIME_BYTES);
      if (until <= now().getTime()) return { ok: false, reason: 'late' };
      return { ok: true, once: singleUseProof('passkey-challenge', data.challenge, new Date(until)) };
    },
  };
}
