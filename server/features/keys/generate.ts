// Making a realm's RSA key pair, off the event loop. Specification 2.4; 2048 bits: performance.md section 1.
import { generateKeyPair } from 'node:crypto';

const MODULUS_BITS = 2048;

/** Both halves in DER: the public one as SubjectPublicKeyInfo, the private one as PKCS#8. */
export interface KeyPair {
  publicKey: Buffer;
  privateKey: Buffer;
}

/** Makes a key pair; a test may hand out some that were made before. */
export type GenerateKeyPair = () => Promise<KeyPair>;

export const generateRsa: GenerateKeyPair = () =>
  new Promise((resolve, reject) => {
    generateKeyPair(
      'rsa',
      {
        modulusLength: MODULUS_BITS,
        publicKeyEncoding: { type: 'spki', format: 'der' },
        privateKeyEncoding: { type: 'pkcs8', format: 'der' },
      },
      (error, publicKey, privateKey) => (error ? reject(error) : resolve({ publicKey, privateKey })),
    );
  });
