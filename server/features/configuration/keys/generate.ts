// Generates a realm's key pairs, off the event loop. Specification 2.4; RSA has 2048 bits: performance.md section 1.
import { generateKeyPair } from 'node:crypto';
import type { KeyAlgorithm } from '../../../contract/algorithms.ts';

const MODULUS_BITS = 2048;

/** Both keys in DER: the public one as SubjectPublicKeyInfo, the private one as PKCS#8. */
export interface KeyPair {
  publicKey: Buffer;
  privateKey: Buffer;
}

/** Generates a key pair; tests may return prepared ones. */
export type GenerateKeyPair = (algorithm: KeyAlgorithm) => Promise<KeyPair>;

export const generatePair: GenerateKeyPair = (algorithm) =>
  new Promise((resolve, reject) => {
    const der = {
      publicKeyEncoding: { type: 'spki', format: 'der' },
      privateKeyEncoding: { type: 'pkcs8', format: 'der' },
    } as const;
    const made = (error: Error | null, publicKey: Buffer, privateKey: Buffer) =>
      error ? reject(error) : resolve({ publicKey, privateKey });
    if (algorithm === 'ES256') generateKeyPair('ec', { namedCurve: 'P-256', ...der }, made);
    else if (algorithm === 'EdDSA') generateKeyPair('ed25519', der, made);
    else generateKeyPair('rsa', { modulusLength: MODULUS_BITS, ...der }, made);
  });
