// Owns: the search over everything that the caller may see, and the lists of what ends soon and of unused clients; who gets which.
// Does not own: lists of one kind (their tests), plans of large tables (growth.long.test.ts).
// Implements: decisions "Search", "Lists".
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import { createAgent } from '../../../server/contract/agents.ts';
import type { Client } from '../../../server/contract/client.ts';
import { createClientSecret, listClients } from '../../../server/contract/clients.ts';
import { DAY_MS } from '../../../server/contract/durations.ts';
import { listExpiring, listUnusedClients } from '../../../server/contract/expiring.ts';
import { createInvitation } from '../../../server/contract/invitations.ts';
import { createInitialAccessToken, deleteInitialAccessToken } from '../../../server/contract/provisioning.ts';
import { createRealm, deleteRealm } from '../../../server/contract/realms.ts';
import { createScimToken } from '../../../server/contract/scim-tokens.ts';
import { search } from '../../../server/contract/search.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { listUsers, setPassword } from '../../../server/contract/users.ts';
import { selfSigned } from '../../../server/crypto/certificate.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { pem } from '../../../server/features/configuration/saml-clients/certificates.ts';
import { PASSWORD } from '../../support/applications.ts';
import { asOperator, realmctl, withOperator } from '../../support/realmctl.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let clock = new Date();
const ids = new Map<string, string>();
/** A helper for each role. */
const by = new Map<string, Client>();
beforeAll(async () => {
  server = await startTestServer({ env: withOperator, now: () => clock });
  const { admin } = server;
  for (const realm of ['acme', 'umbrella']) {
    await admin.call(createRealm, { body: { realm, displayName: realm === 'acme' ? 'The Acme Company' : 'Umbrella' } });
    await admin.call(importRealm, {
      params: { realm },
      body: {
        roles: [{ name: 'zebra-keeper' }],
        groups: [{ path: '/zebras' }, { path: '/zebras/young' }, { path: '/lions' }],
        organizations: [{ name: 'zebra-house', displayName: 'House of Zebras' }],
        clients: [{ clientId: 'zebra-shop' }, { clientId: 'lion-shop', name: 'Lions & zebras 100%' }],
        adminRoles: [
          { name: 'zebra-desk', permissions: ['users:read', 'groups:read'], groups: ['/zebras'] },
          { name: 'zebra-shops', permissions: ['clients:read'], clients: ['zebra-shop'] },
          { name: 'users-alone', permissions: ['users:read'] },
        ],
        users: [
          { username: 'zebra', email: `zebra@${realm}.example.com`, groups: ['/zebras/young'] },
          { username: 'zebra2', groups: ['/lions'] },
          { username: 'ann', firstName: 'Ann', lastName: 'Zebrano' },
          { username: 'zebra-desk' },
          { username: 'zebra-shops' },
          { username: 'users-alone' },
          { username: 'realm-viewer' },
        ],
      },
    });
  }
  for (const { username, id } of (await admin.call(listUsers, { params: { realm: 'acme' } })).body ?? [])
    ids.set(username, id);
  for (const { clientId, id } of (await admin.call(listClients, { params: { realm: 'acme' } })).body ?? [])
    ids.set(clientId, id);
  for (const username of ['zebra-desk', 'zebra-shops', 'users-alone', 'realm-viewer']) {
    const params = { realm: 'acme', userId: ids.get(username) ?? '' };
    await admin.call(setPassword, { params, body: { password: PASSWORD } });
    await admin.call(putUserAdminRoles, { params, body: { grants: [{ role: username, realm: 'acme' }] } });
    by.set(username, await server.signIn({ realm: 'acme', username, password: PASSWORD }));
  }
});
afterAll(() => server?.stop());

async function found(q: string, more: Record<string, unknown> = {}, caller: Client = server.admin) {
  const { body } = await caller.call(search, { query: { q, limit: 50, ...more } });
  return (body?.hits ?? []).map(({ kind, realm, name }) => `${kind} ${realm} ${name}`).sort();
}
const of = (username: string): Client => by.get(username) ?? server.admin;
const forbidden = { status: 403 };

test('a part of a name finds all kinds in all realms, in one realm, and of chosen kinds', async () => {
  const all = await found('ZEBRA');
  const inAcme = [
    'client acme lion-shop',
    'client acme zebra-shop',
    'group acme /zebras',
    'organization acme zebra-house',
    'role acme zebra-keeper',
    ...['ann', 'zebra', 'zebra-desk', 'zebra-shops', 'zebra2'].map((name) => `user acme ${name}`),
  ].sort();
  expect(all.filter((hit) => hit.includes(' acme '))).toEqual(inAcme);
  expect(all.filter((hit) => hit.includes(' umbrella '))).toHaveLength(inAcme.length);
  expect(await found('zebra', { realm: 'acme' })).toEqual(inAcme);
  expect(await found('zebra', { realm: 'acme', kinds: 'role, group' })).toEqual([
    'group acme /zebras',
    'role acme zebra-keeper',
  ]);
  expect(await found('acme company')).toEqual(['realm acme acme']);
  expect(await found('zebra', { realm: 'nowhere' })).toEqual([]);
});

test('whole names, addresses and ids come first, whatever their length; wildcards are plain text', async () => {
  const { body } = await server.admin.call(search, { query: { q: 'zebra', realm: 'acme', kinds: 'user', limit: 2 } });
  expect(body?.hits[0]).toEqual({
    kind: 'user',
    realm: 'acme',
    id: ids.get('zebra'),
    name: 'zebra',
    detail: 'zebra@acme.example.com',
    exact: true,
  });
  expect(body?.more).toEqual(['user']);
  expect(await found('zebra@umbrella.example.com')).toEqual(['user umbrella zebra']);
  expect(await found(ids.get('zebra-shop') ?? '')).toEqual(['client acme zebra-shop']);
  expect(await found(newId())).toEqual([]);
  expect(await found('ze')).toEqual([]);
  expect(await found('100%', { realm: 'acme' })).toEqual(['client acme lion-shop']);
  expect(await found('z%a', { realm: 'acme' })).toEqual([]);
  expect(await found('z_bra', { realm: 'acme' })).toEqual([]);
  for (const query of [{ q: ' ' }, { q: 'zebra', kinds: 'lion' }, { q: 'zebra', limit: 51 }])
    await expect(server.admin.call(search, { query })).rejects.toMatchObject({ status: 400 });
});

test('everybody finds what they may see, and no other realm’s', async () => {
  expect(await found('zebra', {}, of('users-alone'))).toEqual(
    ['ann', 'zebra', 'zebra-desk', 'zebra-shops', 'zebra2'].map((name) => `user acme ${name}`).sort(),
  );
  expect((await found('zebra', {}, of('realm-viewer'))).every((hit) => hit.includes(' acme '))).toBe(true);
  expect(await found('umbrella', {}, of('realm-viewer'))).toEqual([]);
  expect(await found('zebra', { realm: 'umbrella' }, of('realm-viewer'))).toEqual([]);
  // of one group, and of one client
  expect(await found('zebra', {}, of('zebra-desk'))).toEqual(['group acme /zebras', 'user acme zebra']);
  expect(await found(ids.get('zebra2') ?? '', {}, of('zebra-desk'))).toEqual([]);
  expect(await found('zebra@acme.example.com', {}, of('zebra-desk'))).toEqual(['user acme zebra']);
  expect(await found('shop', {}, of('zebra-shops'))).toEqual(['client acme zebra-shop']);
  expect(await found(ids.get('lion-shop') ?? '', {}, of('zebra-shops'))).toEqual([]);
});

test('a realm that is deleted is found no more, nor anything of it', async () => {
  await server.admin.call(createRealm, { body: { realm: 'shortlived' } });
  await server.admin.call(importRealm, { params: { realm: 'shortlived' }, body: { users: [{ username: 'mayfly' }] } });
  expect(await found('mayfly')).toEqual(['user shortlived mayfly']);
  await server.admin.call(deleteRealm, { params: { realm: 'shortlived' } });
  for (const q of ['mayfly', 'shortlived']) expect(await found(q)).toEqual([]);
});

test('what ends soon is listed, the soonest first, of the kinds that the caller may read', async () => {
  const { admin } = server;
  const params = { realm: 'acme' };
  await admin.call(createInvitation, { params, body: { email: 'new@example.com', mail: false } });
  const secretOf = { ...params, id: ids.get('zebra-shop') ?? '' };
  await admin.call(createClientSecret, { params: secretOf, body: {} });
  await admin.call(createClientSecret, { params: secretOf, body: { graceSeconds: 3600 } });
  await admin.call(createAgent, { params, body: { name: 'bot', purpose: 'Tests', reviewIntervalDays: 20 } });
  const kinds = async (query: object = {}, caller: Client = admin) =>
    (await caller.call(listExpiring, { params, query })).body?.map(({ kind }) => kind);
  expect(await kinds()).toEqual(['client-secret', 'invitation', 'agent-review']);
  expect(await kinds({ days: 0 })).toEqual([]);
  expect(await kinds({ limit: 1 })).toEqual(['client-secret']);
  await admin.call(createScimToken, {
    params,
    body: { name: 'entra', permissions: ['read'], expiresAt: clock.getTime() + 5 * DAY_MS },
  });
  const certificate = await certificateUntil(new Date(clock.getTime() + 10 * DAY_MS));
  const samlClients = [
    {
      entityId: 'https://wiki.example',
      assertionConsumerServices: [{ url: 'https://wiki.example/acs', binding: 'POST' as const, default: true }],
      signingCertificates: [certificate],
    },
  ];
  await admin.call(importRealm, { params, body: { samlClients } });
  expect(await kinds()).toEqual([
    'client-secret',
    'scim-token',
    'invitation',
    'saml-client-certificate',
    'agent-review',
  ]);
  expect(await kinds({ limit: 2 })).toEqual(['client-secret', 'scim-token']);
  // a token without a name is told by its day and its uses, and not by its id
  const made = { uses: 3, expiresAt: clock.getTime() + DAY_MS };
  const { body: token } = await admin.call(createInitialAccessToken, { params, body: made });
  const listed = (await admin.call(listExpiring, { params })).body?.find(({ id }) => id === token?.id);
  expect(listed?.name).toMatch(/^made \d{4}-\d\d-\d\d \d\d:\d\d UTC, for 3 clients$/);
  await admin.call(deleteInitialAccessToken, { params: { ...params, id: token?.id ?? '' } });
  expect(await kinds({ days: 3650 }, of('users-alone'))).toEqual(['scim-token', 'invitation']);
  await expect(kinds({}, of('zebra-desk'))).rejects.toMatchObject(forbidden);
  for (const realm of ['umbrella', 'nowhere'])
    await expect(of('realm-viewer').call(listExpiring, { params: { realm } })).rejects.toMatchObject(forbidden);
  await expect(admin.call(listExpiring, { params: { realm: 'nowhere' } })).rejects.toMatchObject({ status: 404 });
});

async function certificateUntil(until: Date): Promise<string> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const input = { name: 'wiki', serial: newId(), publicKey: spki, privateKey, from: new Date(0), until };
  return pem((await selfSigned(input)).toString('base64'));
}

test('a former client secret is listed for a week after its end, and then no more', async () => {
  const params = { realm: 'umbrella' };
  const { admin } = server;
  const [client] = (await admin.call(listClients, { params, query: { q: 'zebra-shop' } })).body ?? [];
  const secretOf = { ...params, id: client?.id ?? '' };
  await admin.call(createClientSecret, { params: secretOf, body: {} });
  await admin.call(createClientSecret, { params: secretOf, body: { graceSeconds: 3600 } });
  const former = async () =>
    (await admin.call(listExpiring, { params })).body?.flatMap(({ kind, expired }) =>
      kind === 'client-secret' ? [expired] : [],
    );
  expect(await former()).toEqual([false]);
  const ends = `update client set previous_secret_expires_at = $1 where realm_id = 'umbrella' and client_id = 'zebra-shop'`;
  await server.pool.query(ends, [new Date(clock.getTime() - 6 * DAY_MS)]);
  expect(await former()).toEqual([true]);
  await server.pool.query(ends, [new Date(clock.getTime() - 8 * DAY_MS)]);
  expect(await former()).toEqual([]);
});

test('realmctl search, get expiring and get unused-clients', async () => {
  const run = (...args: string[]) => realmctl(asOperator(server), args);
  const searched = await run('search', 'zebra', '--limit', '1', '-r', 'acme');
  expect(searched.stdout).toMatch(/^KIND +REALM +NAME +DETAIL +ID\n/);
  expect(searched.stdout).toMatch(/^user +acme +zebra +zebra@acme\.example\.com +\S+$/m);
  expect(searched.stderr).toContain('There are more of');
  expect((await run('search', 'zebra-keeper', '-o', 'name')).stdout).toContain('role/acme/zebra-keeper\n');
  expect((await run('search', 'nothing at all')).stderr).toBe('Nothing matches nothing at all.\n');
  expect((await run('get', 'expiring', '-r', 'acme')).stdout).toMatch(/^invitation +new@example\.com +/m);
  expect((await run('get', 'unused-clients', '-r', 'acme')).stderr).toBe('No unused-clients in acme.\n');
});

test('clients that got no token for long are listed, page by page, and not those that did', async () => {
  const params = { realm: 'umbrella' };
  const unused = async (caller: Client = server.admin, realm = 'umbrella') =>
    (await caller.call(listUnusedClients, { params: { realm }, query: { days: 30 } })).body?.map((one) => one.clientId);
  await server.admin.call(importRealm, {
    params,
    body: {
      clients: [{ clientId: 'robot', grantTypes: ['client_credentials'], secret: 'a secret of the robot, long' }],
    },
  });
  expect(await unused()).toEqual([]);
  clock = new Date(clock.getTime() + 40 * DAY_MS);
  const answer = await fetch(`${server.baseUrl}/realms/umbrella/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from('robot:a secret of the robot, long').toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  expect(answer.status).toBe(200);
  const noted = async () => {
    const sql = `select from client_use u join client c on c.realm_id = u.realm_id and c.id = u.client
      where c.client_id = 'robot' and u.used_at is not null`;
    return (await server.pool.query(sql)).rowCount;
  };
  await expect.poll(noted, { timeout: 10_000 }).toBe(1);
  // sessions of before have ended
  const admin = await server.signIn({ username: 'admin', password: ADMIN_PASSWORD });
  const listed = await unused(admin);
  expect(listed).toEqual(expect.arrayContaining(['lion-shop', 'zebra-shop']));
  expect(listed).not.toContain('robot');
  const page = await admin.call(listUnusedClients, { params, query: { days: 30, limit: 1 } });
  expect(page.body?.map(({ clientId }) => clientId)).toEqual(listed?.slice(0, 1));
  const shops = await server.signIn({ realm: 'acme', username: 'zebra-shops', password: PASSWORD });
  expect(await unused(shops, 'acme')).toEqual(['zebra-shop']);
  await expect(unused(shops)).rejects.toMatchObject(forbidden);
});
