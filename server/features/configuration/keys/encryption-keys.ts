// The keys that clients encrypt their requests for. They sign nothing, so that an answer about a decryption says nothing
// about a signature. The first one is made when a client declares that it encrypts.
import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { RealmEncryption } from '../../../contract/algorithms.ts';
import { type By, bySystem, type DomainEvent } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import * as store from './encryption-store.ts';
import type { GenerateKeyPair, KeyPair } from './generate.ts';
import { type KeyRow, lockRealm, type NewKey } from './store.ts';

/** Binds the sealed private key to its row. */
export const contextOf = (realm: string, keyId: string) => `realm-encryption-key:${realm}:${keyId}`;

export function createEncryptionKeys({
  sql,
  transact,
  seal,
  now,
  newId,
  generate,
  rotated,
}: {
  sql: Sql;
  transact: Transact;
  seal: Seal;
  now: () => Date;
  newId: () => string;
  generate: GenerateKeyPair;
  rotated(by: By, realm: string, key: NewKey): DomainEvent;
}) {
  async function insert(tx: Tx, by: By, realm: string, algorithm: RealmEncryption, pair: KeyPair): Promise<KeyRow> {
    const keyId = newId();
    const key = {
      keyId,
      algorithm,
      publicKey: pair.publicKey.toString('base64'),
      sealedPrivateKey: seal.seal(pair.privateKey, contextOf(realm, keyId)),
      at: now(),
    };
    const row = await store.insertActive(tx.sql, realm, key);
    tx.record(rotated(by, realm, key));
    return row;
  }

  return {
    /** Makes the key if the realm has none yet, in the transaction of the client that needs it. */
    async prepare(tx: Tx, realm: string, algorithm: RealmEncryption): Promise<void> {
      if (await store.readActive(tx.sql, realm, algorithm)) return;
      const pair = await generate(algorithm);
      if (!(await lockRealm(tx.sql, realm))) throw new Problem('not-found', `There is no realm ${realm}`);
      if (await store.readActive(tx.sql, realm, algorithm)) return;
      await insert(tx, bySystem, realm, algorithm, pair);
    },

    /** The key before still decrypts, so the new one needs no time to become known. */
    async rotate(by: By, realm: string, algorithm: RealmEncryption): Promise<KeyRow> {
      const pair = await generate(algorithm);
      return transact(realm, async (tx) => {
        if (!(await lockRealm(tx.sql, realm))) throw new Problem('not-found', `There is no realm ${realm}`);
        await store.retireActive(tx.sql, realm, algorithm, now());
        return insert(tx, by, realm, algorithm, pair);
      });
    },

    /** The private keys, the newest first. */
    async decrypting(realm: string): Promise<{ keyId: string; privateKey: KeyObject }[]> {
      const rows = await store.readDecrypting(sql, realm);
      return rows.map(({ key_id: keyId, private_key: sealed }) => {
        const key = seal.open(sealed, contextOf(realm, keyId));
        return { keyId, privateKey: createPrivateKey({ key, format: 'der', type: 'pkcs8' }) };
      });
    },
  };
}
