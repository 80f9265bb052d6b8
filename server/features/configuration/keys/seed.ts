// A new realm's first key, of the default algorithm. It is active at once: no client can have cached this realm's JWKS yet.
import { DEFAULT_ALGORITHM, SigningAlgorithm } from '../../../contract/algorithms.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { RealmSeed } from '../realms/seed.ts';
import { type GenerateKeyPair, generatePair, type KeyPair } from './generate.ts';
import { insertActive, type NewKey } from './store.ts';

/** The algorithm's name in the specification (2.4), if it has one there. */
export const nameOf = (algorithm: SigningAlgorithm): string => (algorithm === DEFAULT_ALGORITHM ? 'RSA' : algorithm);
export const algorithmOf = (name: string): SigningAlgorithm =>
  name === 'RSA' ? DEFAULT_ALGORITHM : SigningAlgorithm.parse(name);

/** Binds the sealed private key to its row. */
export const contextOf = (realm: string, keyId: string) => `realm-key:${realm}:${keyId}`;

export const newKey = (key: {
  realm: string;
  algorithm: SigningAlgorithm;
  pair: KeyPair;
  seal: Seal;
  keyId: string;
  at: Date;
}): NewKey => ({
  keyId: key.keyId,
  algorithm: nameOf(key.algorithm),
  publicKey: key.pair.publicKey.toString('base64'),
  sealedPrivateKey: key.seal.seal(key.pair.privateKey, contextOf(key.realm, key.keyId)),
  at: key.at,
});

interface SeedDeps {
  seal: Seal;
  now: () => Date;
  newId: () => string;
  generate?: GenerateKeyPair | undefined;
}

export const seedKeys =
  ({ seal, now, newId, generate = generatePair }: SeedDeps): RealmSeed =>
  async ({ sql }, realm) => {
    const algorithm = DEFAULT_ALGORITHM;
    const pair = await generate(algorithm);
    await insertActive(sql, realm, newKey({ realm, algorithm, pair, seal, keyId: newId(), at: now() }));
  };
