// Seals state that the browser keeps in a cookie: AES-256-GCM under a key for each token, so that no number of visitors exhausts
// a key (NIST SP 800-38D §8.3). seal.ts seals what the server stores.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import { derivedFrom, type Keyring } from './keyring.ts';
import { newSecret } from './tokens.ts';

export interface TokenSeal {
  /** @returns a new token of 256 random bits, and the text that only this token opens, in this `context` */
  seal(plain: string, context: string): { token: string; sealed: string };
  /** Undefined if the text was not sealed with this token, in this context, under a key of this keyring. */
  open(token: string, sealed: string, context: string): string | undefined;
}

const VERSION = 1;
const KEY_ID_BYTES = 4;
const TAG_BYTES = 16;
const HEADER = 1 + KEY_ID_BYTES;
const BODY = HEADER + TAG_BYTES;
// Each key seals one text, so a fixed nonce is safe.
const NONCE = Buffer.alloc(12);

/** @param purpose separates these keys from those of other purposes @throws Error for an empty keyring */
export function createTokenSeal(keyring: Keyring | readonly Buffer[], purpose: string): TokenSeal {
  const ring = derivedFrom(keyring, (keys) => {
    const roots = keys.map((master) => {
      const key = Buffer.from(hkdfSync('sha256', master, '', `svc-token-seal:${purpose}`, 32));
      const id = hash('sha256', Buffer.concat([Buffer.from('svc-token-seal'), key]), 'buffer').subarray(
        0,
        KEY_ID_BYTES,
      );
      return { key: createSecretKey(key), id };
    });
    const [newest] = roots;
    if (!newest) throw new Error('the keyring is empty');
    return { roots, newest };
  });
  ring();
  // As key objects: with plain bytes Node 24 takes several times as long.
  const keyOf = (root: KeyObject, token: string, context: string): KeyObject =>
    createSecretKey(
      createHmac('sha256', root)
        .update(JSON.stringify([context, token]))
        .digest(),
    );
  return {
    seal(plain, context) {
      const { newest } = ring();
      const token = newSecret();
      const cipher = createCipheriv('aes-256-gcm', keyOf(newest.key, token, context), NONCE);
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      const all = Buffer.concat([Buffer.from([VERSION]), newest.id, cipher.getAuthTag(), body]);
      return { token, sealed: all.toString('base64url') };
    },
    open(token, sealed, context) {
      const bytes = Buffer.from(sealed, 'base64url');
      const root = ring().roots.find(({ id }) => id.equals(bytes.subarray(1, HEADER)));
      if (bytes[0] !== VERSION || bytes.length < BODY || !root) return undefined;
      const decipher = createDecipheriv('aes-256-gcm', keyOf(root.key, token, context), NONCE, {
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(bytes.subarray(HEADER, BODY));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(BODY)), decipher.final()]).toString();
      } catch {
        return undefined;
      }
    },
  };
}
