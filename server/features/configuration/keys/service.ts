// Owns: a realm's keys, one for each used algorithm: rotation, retention, deletion, and the keys that sign and verify now.
// Does not own: tokens (features/configuration/issued-tokens), sealing (crypto/seal.ts), the JWKS endpoint (features/protocol/discovery).
// Implements: specification 2.4, 3 (Realm key), 4.3, 5 rule 4.
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import {
  DEFAULT_ALGORITHM,
  type KeyAlgorithm,
  RealmEncryption,
  type SigningAlgorithm,
} from '../../../contract/algorithms.ts';
import { type By, bySystem, type DomainEvent } from '../../../contract/events.ts';
import type { RealmKey } from '../../../contract/keys.ts';
import { Problem } from '../../../contract/problem.ts';
import type { JwtKey } from '../../../crypto/jwt.ts';
import { KeysUnavailable } from '../../../crypto/keyring.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { createRealmCache } from '../../../db/cache.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { createCertificates } from './certificates.ts';
import { createEncryptionKeys } from './encryption-keys.ts';
import * as encryption from './encryption-store.ts';
import { type GenerateKeyPair, generatePair } from './generate.ts';
import { algorithmOf, contextOf, nameOf, newKey } from './seed.ts';
import * as store from './store.ts';

/** RFC 7517: a key as the JWKS shows it; `kid` is the key's id. */
export interface PublishedJwk<Algorithm = SigningAlgorithm> {
  kid: string;
  alg: Algorithm;
  use: 'sig' | 'enc';
  kty?: string;
}
export interface PublishedKey {
  keyId: string;
  publicKey: KeyObject;
  jwk: PublishedJwk;
}

export interface KeysDeps {
  sql: Sql;
  transact: Transact;
  seal: Seal;
  now: () => Date;
  newId: () => string;
  generate?: GenerateKeyPair | undefined;
  /** How long a new key is published before it signs, so that other replicas learn of it. */
  publishAheadMs?: number;
}

const PUBLISH_AHEAD_MS = 500;
/** The maximum age of any replica's JWKS, even if a notification was lost. */
const CACHE_MS = 2_000;
const FORSAKEN_MS = 60_000;

const toWire = (row: store.KeyRow): RealmKey => ({
  keyId: row.key_id,
  algorithm: row.algorithm,
  status: row.rotated_at === null ? 'ACTIVE' : 'RETAINED',
  publicKey: row.public_key,
  createdAt: row.created_at.getTime(),
  rotatedAt: row.rotated_at?.getTime() ?? null,
});

const publicKeyOf = (row: store.KeyRow): KeyObject =>
  createPublicKey({ key: Buffer.from(row.public_key, 'base64'), format: 'der', type: 'spki' });

function published(row: store.KeyRow): PublishedKey {
  const publicKey = publicKeyOf(row);
  const alg = algorithmOf(row.algorithm);
  return {
    keyId: row.key_id,
    publicKey,
    jwk: { kid: row.key_id, alg, use: 'sig', ...publicKey.export({ format: 'jwk' }) },
  };
}
const encryptedFor = (row: store.KeyRow): PublishedJwk<RealmEncryption> => ({
  kid: row.key_id,
  alg: RealmEncryption.parse(row.algorithm),
  use: 'enc',
  ...publicKeyOf(row).export({ format: 'jwk' }),
});

const isEncryption = (algorithm: KeyAlgorithm): algorithm is RealmEncryption =>
  RealmEncryption.safeParse(algorithm).success;

const rotated = (by: By, realm: string, { keyId, algorithm }: store.NewKey): DomainEvent => ({
  type: 'KEY_ROTATED',
  realm,
  by,
  subject: { type: 'object', id: keyId, name: 'key' },
  data: { keyId, algorithm },
});

export function createKeys(deps: KeysDeps) {
  const { sql, transact, seal, now, newId, generate = generatePair, publishAheadMs = PUBLISH_AHEAD_MS } = deps;
  // One entry holds the signing and the published keys, so that this process never signs with an unpublished key.
  const cache = createRealmCache({
    now,
    ttlMs: CACHE_MS,
    async load(realm) {
      const rows = await store.readPublished(sql, realm);
      const active = new Map<SigningAlgorithm, JwtKey>();
      // Verifiers get the public keys even while nothing can be signed.
      let unavailable: KeysUnavailable | undefined;
      const signing = rows.filter(({ encrypts }) => !encrypts);
      for (const { key_id: keyId, algorithm, private_key: sealed } of signing) {
        if (sealed === null) continue;
        try {
          const der = seal.open(sealed, contextOf(realm, keyId));
          const alg = algorithmOf(algorithm);
          active.set(alg, { keyId, alg, privateKey: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) });
        } catch (error) {
          if (!(error instanceof KeysUnavailable)) throw error;
          unavailable = error;
        }
      }
      const verifying = signing.map(published);
      const encrypting = rows.filter(({ encrypts }) => encrypts).map(encryptedFor);
      return { active, unavailable, published: verifying, jwks: [...verifying.map(({ jwk }) => jwk), ...encrypting] };
    },
  });

  const certificates = createCertificates({ sql, seal, now });
  const encryptionKeys = createEncryptionKeys({ ...deps, generate, rotated });

  /**
   * Verifiers may ask any replica for the JWKS. So the new key is first published everywhere, and signs only then; the
   * previous one stays published. Concurrent rotations run one after the other, each with its own key.
   * @param by undefined: this is the first key of its algorithm; if another replica has created one in the meantime,
   * that one is returned
   */
  async function renew(by: By | undefined, realm: string, algorithm: SigningAlgorithm): Promise<RealmKey> {
    const key = newKey({ realm, algorithm, pair: await generate(algorithm), seal, keyId: newId(), at: now() });
    if (!(await store.publishAhead(sql, realm, key))) throw new Problem('not-found', `There is no realm ${realm}`);
    cache.drop(realm);
    certificates.drop(realm);
    await new Promise((resolve) => setTimeout(resolve, publishAheadMs));
    return transact(
      realm,
      async (tx) => {
        const at = now();
        if (!(await store.lockRealm(tx.sql, realm))) throw new Problem('not-found', `There is no realm ${realm}`);
        const there = by ? undefined : await store.readActive(tx.sql, realm, key.algorithm);
        if (there) return toWire(there);
        await store.retireActive(tx.sql, realm, key.algorithm, at);
        const row = await store.activate(tx.sql, realm, key.keyId, at);
        // The realm was deleted and created again while the key was being published.
        if (!row) throw new Problem('not-found', `The realm ${realm} was replaced meanwhile`);
        await store.dropForsaken(tx.sql, realm, new Date(at.getTime() - FORSAKEN_MS - publishAheadMs));
        tx.record(rotated(by ?? bySystem, realm, key));
        return toWire(row);
      },
      { bookkeeping: by === undefined },
    );
  }

  /** Keys being generated, by realm and algorithm. */
  const firsts = new Map<string, Promise<RealmKey>>();
  async function first(realm: string, algorithm: SigningAlgorithm): Promise<JwtKey | undefined> {
    const name = `${realm} ${algorithm}`;
    const making = firsts.get(name) ?? renew(undefined, realm, algorithm).finally(() => firsts.delete(name));
    firsts.set(name, making);
    await making;
    cache.drop(realm);
    return (await cache.get(realm, '')).active.get(algorithm);
  }

  return {
    drop(realm: string | undefined): void {
      cache.drop(realm);
      certificates.drop(realm);
    },

    /** The certificates of all published keys, the signing key's first. */
    certificates: (realm: string): Promise<store.KeyCertificate[]> => certificates.get(realm, ''),

    /**
     * Generates the keys of algorithms that the realm has not used yet, in the transaction that chooses them: applications read the
     * key set before their first token. The key is active at once, because no token can need it before the commit.
     */
    async prepare(tx: Tx, realm: string, algorithms: Iterable<KeyAlgorithm>): Promise<void> {
      for (const algorithm of new Set(algorithms)) {
        if (isEncryption(algorithm)) {
          await encryptionKeys.prepare(tx, realm, algorithm);
          continue;
        }
        if (await store.readActive(tx.sql, realm, nameOf(algorithm))) continue;
        const pair = await generate(algorithm);
        if (!(await store.lockRealm(tx.sql, realm))) throw new Problem('not-found', `There is no realm ${realm}`);
        if (await store.readActive(tx.sql, realm, nameOf(algorithm))) continue;
        const key = newKey({ realm, algorithm, pair, seal, keyId: newId(), at: now() });
        await store.insertActive(tx.sql, realm, key);
        tx.record(rotated(bySystem, realm, key));
      }
    },

    /**
     * The key that signs now. A client that an older version saved may have no key of its algorithm yet: its first token generates
     * the key, which takes a second.
     */
    async active(realm: string, algorithm: SigningAlgorithm = DEFAULT_ALGORITHM): Promise<JwtKey> {
      let found = await cache.get(realm, '');
      if (found.unavailable) {
        cache.drop(realm);
        found = await cache.get(realm, '');
      }
      const { active, unavailable } = found;
      if (unavailable) throw unavailable;
      const missing = active.size > 0 && algorithm !== DEFAULT_ALGORITHM;
      const key = active.get(algorithm) ?? (missing ? await first(realm, algorithm) : undefined);
      if (!key) throw new Problem('not-found', `There is no realm ${realm}`, { reason: 'no active key' });
      return key;
    },

    /** The keys that clients encrypt their requests for, the active one first. */
    decryptingRequests: encryptionKeys.decrypting,

    /** The RSA keys that identity providers may encrypt SAML assertions for, the active one first. */
    async decrypting(realm: string): Promise<KeyObject[]> {
      const rows = await store.readDecrypting(sql, realm);
      return rows.map(({ key_id, private_key: sealed }) =>
        createPrivateKey({ key: seal.open(sealed, contextOf(realm, key_id)), format: 'der', type: 'pkcs8' }),
      );
    },

    /** The active keys, the retained ones, and for a moment those that are about to become active. */
    async published(realm: string): Promise<PublishedKey[]> {
      return (await cache.get(realm, '')).published;
    },
    /** The key set that the realm publishes: the same list until it changes. */
    async jwks(realm: string): Promise<readonly PublishedJwk<KeyAlgorithm>[]> {
      return (await cache.get(realm, '')).jwks;
    },
    /** The same list, if it is cached. */
    jwksReady: (realm: string): readonly PublishedJwk<KeyAlgorithm>[] | undefined => cache.ready(realm, '')?.jwks,

    async list(realm: string): Promise<RealmKey[]> {
      return (await store.listUsed(sql, realm)).map(toWire);
    },

    /** @param algorithm keys of other algorithms don't change */
    async rotate(by: By, realm: string, algorithm: KeyAlgorithm = DEFAULT_ALGORITHM): Promise<RealmKey> {
      return isEncryption(algorithm)
        ? toWire(await encryptionKeys.rotate(by, realm, algorithm))
        : renew(by, realm, algorithm);
    },

    /** Tokens that the key signed become invalid, and requests for it can't be read; the active key can't be removed. */
    remove: (by: By, realm: string, keyId: string): Promise<void> =>
      transact(realm, async (tx) => {
        const gone =
          (await store.deleteRetained(tx.sql, realm, keyId)) || (await encryption.deleteRetained(tx.sql, realm, keyId));
        if (!gone) {
          const known = (await store.readKey(tx.sql, realm, keyId)) ?? (await encryption.readKey(tx.sql, realm, keyId));
          if (!known) throw new Problem('not-found', `There is no key ${keyId}`);
          throw new Problem(
            'key-active',
            'Rotate first: the active key signs the tokens of this realm, or clients encrypt for it',
          );
        }
        tx.record({
          type: 'KEY_DELETED',
          realm,
          by,
          subject: { type: 'object', id: keyId, name: 'key' },
          data: { keyId },
        });
      }),
  };
}
export type Keys = ReturnType<typeof createKeys>;
