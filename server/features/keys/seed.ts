// A fresh realm's first key, active at once: nobody can have fetched this realm's JWKS before.
import type { Seal } from '../../crypto/seal.ts';
import type { RealmSeed } from '../realms/seed.ts';
import { type GenerateKeyPair, generateRsa, type KeyPair } from './generate.ts';
import { insertActive, type NewKey } from './store.ts';

/** Binds the sealed private key to its row. */
export const contextOf = (realm: string, keyId: string) => `realm-key:${realm}:${keyId}`;

export const newKey = (key: { realm: string; pair: KeyPair; seal: Seal; keyId: string; at: Date }): NewKey => ({
  keyId: key.keyId,
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
  ({ seal, now, newId, generate = generateRsa }: SeedDeps): RealmSeed =>
  async ({ sql }, realm) => {
    const pair = await generate();
    await insertActive(sql, realm, newKey({ realm, pair, seal, keyId: newId(), at: now() }));
  };
