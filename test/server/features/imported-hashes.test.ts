// What is computed for a name says nothing of whether somebody has it, where hashes came from elsewhere and cost more.
import { pbkdf2Sync } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importRealm } from '../../../server/contract/transfer.ts';
import { type Kind, kindAt, kindsOf } from '../../../server/features/people/credentials/nobody.ts';
import { makeRealm } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const ITERATIONS = 500_000;
const salt = Buffer.from('0123456789abcdef');
const plain = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
const hash = pbkdf2Sync('umbrella', salt, ITERATIONS, 32, 'sha256');
const phc = `$pbkdf2-sha256$i=${ITERATIONS}$${plain(salt)}$${plain(hash)}`;
/** As the server's own are in tests. */
const usual = `$argon2id$v=19$m=8,t=1,p=1$${plain(salt)}$${plain(hash)}`;
const imported = Array.from({ length: 12 }, (_, i) => `imported-${i}`);

let server: TestServer;
const offset = 0;
beforeAll(async () => {
  server = await startTestServer({
    env: { SVC_TRUST_PROXY: '127.0.0.1' },
    now: () => new Date(Date.now() + offset),
  });
  await makeRealm(server, 'fresh');
  await makeRealm(server, 'acme');
  const users = [
    ...imported.map((username) => ({ username, credentials: [{ type: 'password' as const, phc }] })),
    ...Array.from({ length: 12 }, (_, i) => ({
      username: `usual-${i}`,
      credentials: [{ type: 'password' as const, phc: usual }],
    })),
    ...Array.from({ length: 30 }, (_, i) => ({ username: `without-${i}` })),
  ];
  await server.admin.call(importRealm, { params: { realm: 'acme' }, query: {}, body: { users } });
});
afterAll(() => server?.stop());

let asked = 0;
/** The processor's time that checking a wrong password for the name takes, in microseconds. */
async function costOf(username: string, realm: string): Promise<number> {
  asked += 1;
  const before = process.cpuUsage();
  const response = await fetch(`${server.baseUrl}/admin/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': `10.0.${asked >> 8}.${asked & 255}` },
    body: JSON.stringify({ username, password: 'wrong', realm }),
  });
  expect(response.status).toBe(401);
  return process.cpuUsage(before).user;
}
/** Whether it takes the work of an imported hash. Other work of the process can only add to it: what costs much once is asked again. */
const isCostly = async (username: string, realm = 'acme'): Promise<boolean> =>
  (await costOf(username, realm)) > costOfOne / 2 && (await costOf(username, realm)) > costOfOne / 2;
let costOfOne = 0;
beforeAll(() => {
  const costs = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage();
    pbkdf2Sync('umbrella', salt, ITERATIONS, 32, 'sha256');
    return process.cpuUsage(before).user;
  });
  costOfOne = Math.min(...costs);
});

const costly = async (names: readonly string[], realm?: string) => {
  const found: string[] = [];
  for (const name of names) if (await isCostly(name, realm)) found.push(name);
  return found;
};
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

test('names that nobody has, and people without a password, cost what the realm’s people cost, each always the same', async () => {
  expect(await costly(imported.slice(0, 3))).toEqual(imported.slice(0, 3));
  expect(await costly(names('usual', 3))).toEqual([]);
  for (const prefix of ['nobody', 'without']) {
    const some = await costly(names(prefix, 30));
    // Half of those with a password; of 30 names fewer than 4 or more than 26 are one in 50,000.
    expect(some.length, prefix).toBeGreaterThanOrEqual(4);
    expect(some.length, prefix).toBeLessThanOrEqual(26);
    expect(await costly(some.slice(0, 3).map((name) => name.toUpperCase()))).toHaveLength(3);
    expect(await costly(some.slice(0, 3).map((name) => `${name}@example.com`))).toHaveLength(3);
  }
  expect(await costly(names('nobody', 10), 'fresh')).toEqual([]);
}, 300_000);

test('each kind has the share of its people, and a name that went over to today’s never comes back', () => {
  const others = [
    { kind: '$scrypt$ln=12,r=8,p=1$43', people: 30 },
    { kind: '$pbkdf2-sha256$i=5000$27', people: 10 },
  ];
  const before = kindsOf('usual', 100, others);
  expect(before.map(({ upTo }) => upTo)).toEqual([0.6, 0.9, 1]);
  expect(before[2]?.phc).toMatch(/^\$pbkdf2-sha256\$i=5000\$[^$]{22}\$[^$]{27}$/);
  const share = (kinds: readonly Kind[], phc?: string) =>
    Array.from({ length: 1_000 }, (_, i) => kindAt(kinds, i / 1_000)?.phc === phc).filter(Boolean).length / 1_000;
  expect(share(before, 'usual')).toBeCloseTo(0.6, 2);
  expect(share(before, before[1]?.phc)).toBeCloseTo(0.3, 2);
  const after = kindsOf('usual', 100, [{ kind: '$scrypt$ln=12,r=8,p=1$43', people: 20 }]);
  for (let at = 0; at < 1; at += 0.01)
    if (kindAt(before, at)?.phc === 'usual') expect(kindAt(after, at)?.phc).toBe('usual');
  expect(kindsOf('usual', 0, [])).toMatchObject([{ phc: 'usual' }]);
  expect(kindAt(kindsOf('usual', 0, []), 0.5)?.phc).toBe('usual');
});
