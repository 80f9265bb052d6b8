// Sealing: what must be read again (private keys, webhook and OTP secrets) is AES-256-GCM under SVC_MASTER_KEY.
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

/** `context` binds a sealed value to its place (`webhook:<realm>:<id>`), so that rows can't be swapped. */
export interface Seal {
  seal(plain: string | Buffer, context: string): Buffer;
  open(sealed: Buffer, context: string): Buffer;
  /** The name of the key that seals, as each sealed value has it behind its version. */
  newestKey: Buffer;
  /** How many keys open. */
  keys: number;
  /** Recognises a text without storing it; it can't be computed without the newest key. */
  digest(plain: string, context: string): Buffer;
  /** What that is, and what it was while another key of the ring was the newest. */
  digests(plain: string, context: string): Buffer[];
}

const VERSION = 1;
const KEY_ID_BYTES = 4;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEADER = 1 + KEY_ID_BYTES;

const keyId = (key: Buffer) => createHash('sha256').update('svc-seal').update(key).digest().subarray(0, KEY_ID_BYTES);

/** @param keyring base64 or base64url of 32 bytes each, the newest first */
export function createSeal(keyring: readonly Buffer[]): Seal {
  // As key objects: with plain bytes Node 24 takes several times as long.
  const keys = keyring.map((key) => ({ key: createSecretKey(key), id: keyId(key) }));
  const [newest] = keys;
  if (!newest) throw new Error('the keyring is empty');
  const digestKeyOf = ({ key }: (typeof keys)[number]) =>
    Buffer.from(hkdfSync('sha256', key, '', 'svc-seal:digest', 32));
  const digestUnder = (digestKey: Buffer, plain: string, context: string) =>
    createHmac('sha256', digestKey).update(`${context}\0${plain}`).digest();
  const digestKey = digestKeyOf(newest);
  return {
    newestKey: newest.id,
    keys: keys.length,
    digest: (plain, context) => digestUnder(digestKey, plain, context),
    digests: (plain, context) => keys.map((key) => digestUnder(digestKeyOf(key), plain, context)),
    seal(plain, context) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', newest.key, iv);
      cipher.setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([Buffer.from([VERSION]), newest.id, iv, cipher.getAuthTag(), body]);
    },
    open(sealed, context) {
      const id = sealed.subarray(1, HEADER);
      const known = keys.find((k) => k.id.equals(id));
      if (sealed[0] !== VERSION || !known) throw new Error('sealed under a master key that is not in SVC_MASTER_KEY');
      const tagAt = HEADER + IV_BYTES;
      const decipher = createDecipheriv('aes-256-gcm', known.key, sealed.subarray(HEADER, tagAt), {
        // Else a tag that was cut short is taken, and four bytes can be guessed.
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(sealed.subarray(tagAt, tagAt + TAG_BYTES));
      return Buffer.concat([decipher.update(sealed.subarray(tagAt + TAG_BYTES)), decipher.final()]);
    },
  };
}
