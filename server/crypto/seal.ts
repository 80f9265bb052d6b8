// Sealing: secrets that the server must read again (private keys, webhook and OTP secrets) are encrypted by AES-256-GCM under
// SVC_MASTER_KEY.
// A keyring: the first key seals, every key opens, so that the master key can rotate. Decisions "Secrets".
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
} from 'node:crypto';
import { derivedFrom, type Keyring } from './keyring.ts';

/** `context` binds a sealed value to its place (`webhook:<realm>:<id>`), so that rows can't be swapped. */
export interface Seal {
  seal(plain: string | Buffer, context: string): Buffer;
  /** @throws Error if the value was sealed under an unknown key, in another context, or was changed */
  open(sealed: Buffer, context: string): Buffer;
  /** The id of the key that seals (4 bytes); each sealed value holds it behind the version byte. */
  readonly newestKey: Buffer;
  /** How many keys the keyring holds. */
  readonly keys: number;
  /** An HMAC that recognises a text without storing it. Only the holder of the newest key can compute it. */
  digest(plain: string, context: string): Buffer;
  /** The digests of the text under each key of the ring, the newest first. */
  digests(plain: string, context: string): Buffer[];
}

const VERSION = 1;
const KEY_ID_BYTES = 4;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEADER = 1 + KEY_ID_BYTES;

/** By which a sealed value names its key. */
export const keyId = (key: Buffer): Buffer =>
  createHash('sha256').update('svc-seal').update(key).digest().subarray(0, KEY_ID_BYTES);

/** @param keys of 32 bytes each, the newest first @throws Error for an empty keyring */
function ringOf(given: readonly Buffer[]) {
  // As key objects: with plain bytes Node 24 takes several times as long.
  const keys = given.map((key) => ({ key: createSecretKey(key), id: keyId(key) }));
  const [newest] = keys;
  if (!newest) throw new Error('the keyring is empty');
  const digestKeyOf = ({ key }: typeof newest) => Buffer.from(hkdfSync('sha256', key, '', 'svc-seal:digest', 32));
  return { keys, newest, newestDigest: digestKeyOf(newest), digestKeys: () => keys.map(digestKeyOf) };
}

const digestUnder = (digestKey: Buffer, plain: string, context: string) =>
  createHmac('sha256', digestKey).update(`${context}\0${plain}`).digest();

/** @throws Error for an empty keyring */
export function createSeal(keyring: Keyring | readonly Buffer[]): Seal {
  const ring = derivedFrom(keyring, ringOf);
  ring();
  return {
    get newestKey() {
      return ring().newest.id;
    },
    get keys() {
      return ring().keys.length;
    },
    digest: (plain, context) => digestUnder(ring().newestDigest, plain, context),
    digests: (plain, context) =>
      ring()
        .digestKeys()
        .map((digestKey) => digestUnder(digestKey, plain, context)),
    seal(plain, context) {
      const { newest } = ring();
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', newest.key, iv);
      cipher.setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([Buffer.from([VERSION]), newest.id, iv, cipher.getAuthTag(), body]);
    },
    open(sealed, context) {
      const id = sealed.subarray(1, HEADER);
      const known = ring().keys.find((k) => k.id.equals(id));
      if (sealed[0] !== VERSION || !known) throw new Error('sealed under a master key that is not in SVC_MASTER_KEY');
      const tagAt = HEADER + IV_BYTES;
      const decipher = createDecipheriv('aes-256-gcm', known.key, sealed.subarray(HEADER, tagAt), {
        // Without it Node accepts a shortened tag, and an attacker can guess four bytes.
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(sealed.subarray(tagAt, tagAt + TAG_BYTES));
      return Buffer.concat([decipher.update(sealed.subarray(tagAt + TAG_BYTES)), decipher.final()]);
    },
  };
}
