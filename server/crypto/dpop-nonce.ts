// Nonces of DPoP proofs (RFC 9449 §8): an HMAC of the current time window, the same at every replica and stored nowhere.
import { createHmac, hkdfSync } from 'node:crypto';
import { derivedFrom, type Keyring } from './keyring.ts';
import { sameSecret } from './tokens.ts';

/** A nonce is accepted for at least this long and at most twice as long. */
const WINDOW_MS = 300_000;

export function createDpopNonces({ keyring, now }: { keyring: Keyring | readonly Buffer[]; now: () => Date }) {
  const nonceKeys = derivedFrom(keyring, (keys) =>
    keys.map((master) => Buffer.from(hkdfSync('sha256', master, '', 'svc-dpop-nonce', 32))),
  );
  const windowNow = () => Math.floor(now().getTime() / WINDOW_MS);
  const nonceOf = (key: Buffer, realm: string, window: number): string =>
    createHmac('sha256', key).update(`${realm} ${window}`).digest('base64url');
  return {
    current(realm: string): string {
      const [newest] = nonceKeys();
      if (!newest) throw new Error('the keyring is empty');
      return nonceOf(newest, realm, windowNow());
    },
    holds: (realm: string, nonce: string): boolean =>
      nonceKeys().some((key) =>
        [windowNow(), windowNow() - 1].some((window) => sameSecret(nonce, nonceOf(key, realm, window))),
      ),
  };
}
export type DpopNonces = ReturnType<typeof createDpopNonces>;
