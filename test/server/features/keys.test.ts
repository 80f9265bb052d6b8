import { createPublicKey, randomBytes, sign, verify } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bySystem } from '../../../server/contract/events.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { createSeal } from '../../../server/crypto/seal.ts';
import { listenForChanges } from '../../../server/db/changes.ts';
import { openPool, sqlOver } from '../../../server/db/sql.ts';
import { createTransact } from '../../../server/db/transact.ts';
import { createBus } from '../../../server/events/bus.ts';
import { createOutbox } from '../../../server/events/outbox.ts';
import { seedKeys } from '../../../server/features/configuration/keys/seed.ts';
import { createKeys } from '../../../server/features/configuration/keys/service.ts';
import { createRemoval } from '../../../server/features/configuration/realms/removal.ts';
import { createRealms } from '../../../server/features/configuration/realms/service.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';

const seal = createSeal([randomBytes(32)]);
const now = () => new Date();

/** What a replica of the server has of keys: its own pool, its own cache, its own ear for changes. */
async function startReplica(url: string, { hearsAfterMs = 0, publishAheadMs = 250 } = {}) {
  const pool = openPool(url, { max: 4 });
  const sql = sqlOver(pool);
  const bus = createBus({ failed: () => {} });
  const outbox = createOutbox({ now, newId, consumers: [], enqueue: async () => {} });
  const transact = createTransact({ pool, outbox, committed: bus.emit, strict: true });
  const keys = createKeys({ sql, transact, seal, now, newId, publishAheadMs });
  bus.on(({ realm }) => keys.drop(realm));
  const changes = await listenForChanges({
    url,
    changed: (realm) => void setTimeout(keys.drop, hearsAfterMs, realm),
    log: () => {},
  });
  const realms = createRealms({
    sql,
    transact,
    baseUrl: 'http://localhost',
    now,
    seeds: [seedKeys({ seal, now, newId })],
    denied: async () => {},
    gone: keys.drop,
    removal: createRemoval({ sql, transact }),
    warn: () => {},
  });
  const stop = async () => {
    await changes.stop();
    await pool.end();
  };
  return { keys, realms, sql, stop };
}
type Replica = Awaited<ReturnType<typeof startReplica>>;

let database: TestDatabase;
let one: Replica;
let other: Replica;
let made = 0;

beforeAll(async () => {
  database = await createDatabase();
  [one, other] = await Promise.all([startReplica(database.url), startReplica(database.url)]);
});
afterAll(async () => {
  await Promise.all([one.stop(), other.stop()]);
  await database.drop();
});

async function realm(): Promise<string> {
  made += 1;
  await one.realms.create(bySystem, { realm: `keys-${made}` });
  return `keys-${made}`;
}

test('a fresh realm has one active RSA key, published under its id', async () => {
  const name = await realm();
  const [key, ...more] = await one.keys.list(name);
  expect(more).toEqual([]);
  expect(key).toMatchObject({ algorithm: 'RSA', status: 'ACTIVE', rotatedAt: null });
  const published = await one.keys.published(name);
  expect(published.map(({ jwk }) => jwk.kid)).toEqual([key?.keyId]);
  const [first] = published;
  const der = Buffer.from(key?.publicKey ?? '', 'base64');
  const { n, e } = createPublicKey({ key: der, format: 'der', type: 'spki' }).export({ format: 'jwk' });
  expect(first?.jwk).toEqual({ kid: key?.keyId, kty: 'RSA', alg: 'RS256', use: 'sig', n, e });
  expect(first?.publicKey.asymmetricKeyDetails?.modulusLength).toBe(2048);
});

test('rotation makes a new active key and retains the one before it, still published', async () => {
  const name = await realm();
  const before = await one.keys.active(name);
  const rotated = await one.keys.rotate(bySystem, name);
  expect(rotated).toMatchObject({ status: 'ACTIVE', rotatedAt: null });
  expect((await one.keys.active(name)).keyId).toBe(rotated.keyId);
  expect((await one.keys.list(name)).map((key) => [key.keyId, key.status, key.rotatedAt === null])).toEqual([
    [rotated.keyId, 'ACTIVE', true],
    [before.keyId, 'RETAINED', false],
  ]);
  expect((await one.keys.published(name)).map(({ keyId }) => keyId)).toEqual([rotated.keyId, before.keyId]);
});

test('deleting the active key is refused and leaves the published keys unchanged', async () => {
  const name = await realm();
  const { keyId } = await one.keys.active(name);
  await expect(one.keys.remove(bySystem, name, keyId)).rejects.toMatchObject({ code: 'key-active' });
  expect((await one.keys.published(name)).map((key) => key.keyId)).toEqual([keyId]);
});

test('a retained key can be deleted once, and is then published no more', async () => {
  const name = await realm();
  const { keyId } = await one.keys.active(name);
  const rotated = await one.keys.rotate(bySystem, name);
  await one.keys.remove(bySystem, name, keyId);
  expect((await one.keys.published(name)).map((key) => key.keyId)).toEqual([rotated.keyId]);
  await expect(one.keys.remove(bySystem, name, keyId)).rejects.toMatchObject({ code: 'not-found' });
});

test('a key of another realm is not found', async () => {
  const [mine, theirs] = [await realm(), await realm()];
  const { keyId } = await one.keys.active(theirs);
  await one.keys.rotate(bySystem, theirs);
  await expect(one.keys.remove(bySystem, mine, keyId)).rejects.toMatchObject({ code: 'not-found' });
  expect(await one.keys.list(theirs)).toHaveLength(2);
});

test('a realm that does not exist has no key and cannot rotate', async () => {
  await expect(one.keys.active('nowhere')).rejects.toMatchObject({ code: 'not-found' });
  await expect(one.keys.rotate(bySystem, 'nowhere')).rejects.toMatchObject({ code: 'not-found' });
  expect(await one.keys.published('nowhere')).toEqual([]);
});

test('the private key is sealed to its place', async () => {
  const [mine, theirs] = [await realm(), await realm()];
  const [row] = await one.sql<{ private_key: Buffer }>`select private_key from realm_key where realm_id = ${mine}`;
  expect(row?.private_key.includes('PRIVATE')).toBe(false);
  await one.sql`update realm_key set private_key = ${row?.private_key} where realm_id = ${theirs}`;
  one.keys.drop(theirs);
  await expect(one.keys.active(theirs)).rejects.toThrow();
});

test('rotations at once, in two replicas, each make their own key and leave exactly one active', async () => {
  const name = await realm();
  const rotations = [one, other, one, other].map(({ keys }) => keys.rotate(bySystem, name));
  const ids = (await Promise.all(rotations)).map((key) => key.keyId);
  const keys = await one.keys.list(name);
  expect(keys).toHaveLength(5);
  expect(keys.filter((key) => key.status === 'ACTIVE')).toHaveLength(1);
  expect(keys.map((key) => key.keyId)).toEqual(expect.arrayContaining(ids));
});

test('two replicas that need the first key of an algorithm at once sign by one and the same', async () => {
  const name = await realm();
  const [mine, theirs] = await Promise.all([one.keys.active(name, 'ES256'), other.keys.active(name, 'ES256')]);
  expect(mine.keyId).toBe(theirs.keyId);
  const used = (await one.keys.list(name)).filter(({ status }) => status === 'ACTIVE');
  expect(used.map(({ algorithm }) => algorithm).sort()).toEqual(['ES256', 'RSA']);
});

test('a rotation whose server died leaves a key that never signs, and the next rotation removes it', async () => {
  const name = await realm();
  const { keyId } = await one.keys.active(name);
  await one.sql`
    insert into realm_key (realm_id, key_id, public_key, private_key, created_at)
    select realm_id, gen_random_uuid(), public_key, private_key, now() - interval '1 hour'
    from realm_key where realm_id = ${name}`;
  one.keys.drop(name);
  expect((await one.keys.active(name)).keyId).toBe(keyId);
  expect(await one.keys.list(name)).toHaveLength(1);
  await one.keys.rotate(bySystem, name);
  const [row] = await one.sql<{ keys: number }>`select count(*)::int as keys from realm_key where realm_id = ${name}`;
  expect(row?.keys).toBe(2);
});

test('no verifier ever meets a key that its replica does not publish, while keys rotate under load', async () => {
  const name = await realm();
  // one hears of changes late, as over a slow network or with a busy event loop, but long before the key signs
  const replicas = await Promise.all(
    [0, 100].map((hearsAfterMs) => startReplica(database.url, { hearsAfterMs, publishAheadMs: 2_000 })),
  );
  let rotating = true;
  let checked = 0;
  const used = new Set<string>();
  const payload = Buffer.from('a token');

  /** Signs at one replica and at once asks another one for the key, as a resource server would. */
  async function client(number: number): Promise<string[]> {
    const gaps: string[] = [];
    for (let i = number; rotating; i += 1) {
      const signer = replicas[i % 2]?.keys;
      const publisher = replicas[(i >> 1) % 2]?.keys;
      if (!signer || !publisher) throw new Error('two replicas');
      const { keyId, privateKey } = await signer.active(name);
      const signature = await new Promise<Buffer>((resolve, reject) =>
        sign('sha256', payload, privateKey, (error, made) => (error ? reject(error) : resolve(made))),
      );
      const key = (await publisher.published(name)).find((published) => published.keyId === keyId);
      if (!key || !verify('sha256', payload, key.publicKey, signature)) gaps.push(keyId);
      used.add(keyId);
      checked += 1;
      if (checked % 50 === 0) await sleep(0);
    }
    return gaps;
  }
  const clients = [0, 1, 2, 3, 4, 5, 6, 7].map(client);
  try {
    for (let i = 0; i < 4; i += 1) {
      const rotated = await replicas[i % 2]?.keys.rotate(bySystem, name);
      await expect.poll(() => used).toContain(rotated?.keyId);
    }
  } finally {
    rotating = false;
  }
  expect((await Promise.all(clients)).flat()).toEqual([]);
  for (const replica of replicas) await replica.stop();
  expect(checked).toBeGreaterThan(100);
  expect(used.size).toBe(5);
});
