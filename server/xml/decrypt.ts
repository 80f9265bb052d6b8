// Owns: reading XML that was encrypted for a key of this server: AES under a key that RSA-OAEP carries.
// Does not own: whether the decrypted content is authentic (signature.ts, features): anyone can encrypt.
// Implements: XML Encryption 1.1 §5.2, §5.5.2. RSA with PKCS #1 v1.5 is never decrypted, nor AES-CBC without a signature around it: an
// attacker who changes the message could learn its content from the server's answers.

import { constants, createDecipheriv, type KeyObject, privateDecrypt } from 'node:crypto';
import { childrenIn } from './children.ts';
import { type Xml, XmlError } from './document.ts';

const XENC = 'http://www.w3.org/2001/04/xmlenc#';
const XENC11 = 'http://www.w3.org/2009/xmlenc11#';
const SIGNATURES = 'http://www.w3.org/2000/09/xmldsig#';
const MGF = `${XENC11}mgf1`;

const ciphers: Readonly<Record<string, { name: 'aes-128-gcm' | 'aes-256-gcm'; bytes: number } | undefined>> = {
  [`${XENC11}aes128-gcm`]: { name: 'aes-128-gcm', bytes: 16 },
  [`${XENC11}aes256-gcm`]: { name: 'aes-256-gcm', bytes: 32 },
};
const chained: Readonly<Record<string, { name: 'aes-128-cbc' | 'aes-256-cbc'; bytes: number } | undefined>> = {
  [`${XENC}aes128-cbc`]: { name: 'aes-128-cbc', bytes: 16 },
  [`${XENC}aes256-cbc`]: { name: 'aes-256-cbc', bytes: 32 },
};
const digests: Readonly<Record<string, string | undefined>> = {
  [`${SIGNATURES}sha1`]: 'sha1',
  [`${XENC}sha256`]: 'sha256',
  [`${XENC}sha512`]: 'sha512',
};

const of = childrenIn(XENC);
const bytesOf = (at: Xml): Buffer => {
  const [value] = of(at, 'CipherData').flatMap((data) => of(data, 'CipherValue'));
  return Buffer.from(value?.text ?? '', 'base64');
};
const algorithmIn = (at: Xml | undefined): string => at?.attributes.Algorithm ?? '';
/** One error for every cause, so that an attacker learns nothing from it. */
const unreadable = (cause?: unknown): XmlError => new XmlError('The encrypted content can’t be read', { cause });

/**
 * The decrypted content of an element, as text.
 * @param keys the server's keys, one of which should match
 * @param signed whether a verified signature covers the element
 * @throws XmlError
 */
export function decrypted(around: Xml, keys: readonly KeyObject[], { signed }: { signed: boolean }): string {
  const [data, another] = of(around, 'EncryptedData');
  if (!data || another) throw unreadable();
  const algorithm = algorithmIn(of(data, 'EncryptionMethod')[0]);
  const cipher = ciphers[algorithm] ?? (signed ? chained[algorithm] : undefined);
  if (!cipher) throw unreadable();
  const [carried] = [...of(data, 'KeyInfo', SIGNATURES), around].flatMap((at) => of(at, 'EncryptedKey'));
  for (const key of keys) {
    const secret = carried && carriedKey(carried, key);
    if (secret?.length === cipher.bytes) return opened(bytesOf(data), secret, cipher.name);
  }
  throw unreadable();
}

function carriedKey(carried: Xml, key: KeyObject): Buffer | undefined {
  const [method] = of(carried, 'EncryptionMethod');
  const digest = digests[algorithmIn(method && of(method, 'DigestMethod', SIGNATURES)[0]) || `${SIGNATURES}sha1`];
  const mask = algorithmIn(method && of(method, 'MGF', XENC11)[0]) || `${MGF}sha1`;
  const known = [`${XENC}rsa-oaep-mgf1p`, `${XENC11}rsa-oaep`].includes(algorithmIn(method));
  // This server supports only one digest for both purposes.
  if (!known || digest === undefined || mask !== `${MGF}${digest}`) return undefined;
  try {
    return privateDecrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: digest }, bytesOf(carried));
  } catch {
    return undefined;
  }
}

function opened(bytes: Buffer, secret: Buffer, name: 'aes-128-gcm' | 'aes-256-gcm' | 'aes-128-cbc' | 'aes-256-cbc') {
  try {
    if (name === 'aes-128-gcm' || name === 'aes-256-gcm') {
      const decipher = createDecipheriv(name, secret, bytes.subarray(0, 12), { authTagLength: 16 });
      decipher.setAuthTag(bytes.subarray(-16));
      return textIn(Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]));
    }
    const decipher = createDecipheriv(name, secret, bytes.subarray(0, 16)).setAutoPadding(false);
    const padded = Buffer.concat([decipher.update(bytes.subarray(16)), decipher.final()]);
    // Only the last byte of the padding has a meaning (§5.2.2).
    return textIn(padded.subarray(0, padded.length - (padded.at(-1) ?? 0)));
  } catch (error) {
    throw unreadable(error);
  }
}
const textIn = (bytes: Buffer): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes);
