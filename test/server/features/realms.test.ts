import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, ServerProblem } from '../../../server/contract/client.ts';
import { createClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { listKeys, rotateKeys } from '../../../server/contract/keys.ts';
import {
  createRealm,
  deleteRealm,
  getEndpoints,
  getFormerRealm,
  getRealm,
  getRealmHealth,
  listRealms,
  putAdoption,
} from '../../../server/contract/realms.ts';
import { getSettings, putSettings } from '../../../server/contract/settings.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { createWebhook } from '../../../server/contract/webhooks.ts';
import { sqlOver } from '../../../server/db/sql.ts';
import { administrator } from '../../support/administrators.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let made = 0;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const fresh = () => {
  made += 1;
  return `realms-${made}`;
};
async function realm(): Promise<{ realm: string }> {
  const params = { realm: fresh() };
  await server.admin.call(createRealm, { body: params });
  return params;
}
async function status(answer: Promise<unknown>): Promise<number> {
  try {
    await answer;
    return 200;
  } catch (error) {
    if (error instanceof ServerProblem) return error.status;
    throw error;
  }
}
const events = async (name: string, type: string) =>
  (await server.admin.call(listEvents, { params: { realm: name }, query: { type } })).body ?? [];

test('a created realm has its name, a revision, an issuer, a key and fresh settings', async () => {
  const name = fresh();
  const answer = await server.admin.call(createRealm, { body: { realm: name, displayName: 'Acme & Söhne' } });
  expect(answer.status).toBe(201);
  expect(answer.body).toMatchObject({
    realm: name,
    displayName: 'Acme & Söhne',
    issuer: `${server.baseUrl}/realms/${name}`,
  });
  expect((await server.admin.call(getRealm, { params: { realm: name } })).body).toEqual(answer.body);
  expect((await server.admin.call(listKeys, { params: { realm: name } })).body).toHaveLength(1);
  const settings = await server.admin.call(getSettings, { params: { realm: name } });
  expect(settings.body).toMatchObject({ realmId: name, displayName: 'Acme & Söhne' });
  expect(await events(name, 'REALM_CREATED')).toHaveLength(1);
});

test('a name that is taken is a 409, one that is no label a 400, and nothing is left behind', async () => {
  const { realm: name } = await realm();
  expect(await status(server.admin.call(createRealm, { body: { realm: name } }))).toBe(409);
  expect(await status(server.admin.call(createRealm, { body: { realm: 'master' } }))).toBe(409);
  for (const bad of ['', 'Upper', '-a', 'a-', 'a_b', 'a'.repeat(64), 'a\0', 'ä'])
    expect(await status(server.admin.call(createRealm, { body: { realm: bad } }))).toBe(400);
  expect(await events(name, 'REALM_CREATED')).toHaveLength(1);
});

test('the same name at once is created once', async () => {
  const name = fresh();
  const answers = await Promise.all(
    [1, 2, 3, 4].map(() => status(server.admin.call(createRealm, { body: { realm: name } }))),
  );
  expect(answers.sort()).toEqual([200, 409, 409, 409]);
});

test('creating needs realm:create over every realm; a refusal is audited', async () => {
  const { realm: name } = await realm();
  const here = await administrator(server, { target: name, permissions: ['realm:create', 'realm:read'] });
  const wanted = fresh();
  expect(await status(here.call(createRealm, { body: { realm: wanted } }))).toBe(403);
  expect(await status(server.admin.call(getRealm, { params: { realm: wanted } }))).toBe(404);
  const [denied] = await events('master', 'ACCESS_DENIED');
  expect(denied).toMatchObject({ outcome: 'denied', data: { permission: 'realm:create', method: 'POST' } });
  const everywhere = await administrator(server, { target: '*', permissions: ['realm:create'] });
  expect(await status(everywhere.call(createRealm, { body: { realm: wanted } }))).toBe(200);
});

test('the list shows the realms that one may read, and no other', async () => {
  const [one, two] = [await realm(), await realm()];
  const names = async (client: Client) =>
    (await client.call(listRealms, { query: { limit: 10_000 } })).body?.map((row) => row.realm) ?? [];
  expect(await names(server.admin)).toEqual(expect.arrayContaining(['master', one.realm, two.realm]));
  const viewer = await administrator(server, { target: one.realm, permissions: ['realm:read'] });
  expect(await names(viewer)).toEqual([one.realm]);
  const editor = await administrator(server, { target: two.realm, permissions: ['users:write'] });
  expect(await names(editor)).toEqual([]);
});

test('one conditional request tells whether any realm has changed', async () => {
  const params = await realm();
  const all = await server.admin.call(listRealms);
  const ask = (etag = '') => server.admin.call(listRealms, { headers: { 'if-none-match': etag } });
  expect((await ask(all.etag)).status).toBe(304);
  const before = all.body?.find((row) => row.realm === params.realm)?.revision ?? 0;
  await server.admin.call(putSettings, { params, body: { rememberMe: true } });
  const changed = await ask(all.etag);
  expect(changed.status).toBe(200);
  expect(changed.body?.find((row) => row.realm === params.realm)?.revision).toBe(before + 1);
  await realm();
  expect((await ask(changed.etag)).status).toBe(200);
});

test('a change in a realm that one may not read does not show in the ETag', async () => {
  const [mine, other] = [await realm(), await realm()];
  const viewer = await administrator(server, { target: mine.realm, permissions: ['realm:read'] });
  const { etag = '' } = await viewer.call(listRealms);
  await server.admin.call(putSettings, { params: other, body: { rememberMe: true } });
  expect((await viewer.call(listRealms, { headers: { 'if-none-match': etag } })).status).toBe(304);
});

test('the list is paged by a cursor, and its ETag is that of all realms', async () => {
  await realm();
  await realm();
  const all = (await server.admin.call(listRealms)).body ?? [];
  const seen: string[] = [];
  const tags = new Set<string | undefined>();
  for (let cursor: string | undefined; ; ) {
    const page = await server.admin.call(listRealms, { query: { limit: 2, ...(cursor ? { cursor } : {}) } });
    seen.push(...(page.body ?? []).map((row) => row.realm));
    tags.add(page.etag);
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  expect(seen).toEqual(all.map((row) => row.realm));
  expect(tags.size).toBe(1);
  expect(await status(server.admin.call(listRealms, { query: { cursor: 'nonsense' } }))).toBe(400);
});

test('the list is searched by name and display name, with its own number and ETag', async () => {
  const [one, two] = [fresh(), fresh()];
  await server.admin.call(createRealm, { body: { realm: one, displayName: 'Flowers & 100% Seeds' } });
  await server.admin.call(createRealm, { body: { realm: two, displayName: 'Tools' } });
  const found = async (query: Record<string, string>) =>
    (await server.admin.call(listRealms, { query })).body?.map(({ realm: name }) => name);
  expect(await found({ q: 'FLOWERS' })).toEqual([one]);
  expect(await found({ q: '100%' })).toEqual([one]);
  expect(await found({ q: '_ools' })).toEqual([]);
  expect(await found({ q: two.toUpperCase() })).toContain(two);
  expect(await found({ q: '' })).toEqual(expect.arrayContaining(['master', one, two]));
  const { etag = '' } = await server.admin.call(listRealms, { query: { q: 'flowers' } });
  const again = () => server.admin.call(listRealms, { query: { q: 'flowers' }, headers: { 'if-none-match': etag } });
  await server.admin.call(putSettings, { params: { realm: two }, body: { rememberMe: true } });
  expect((await again()).status).toBe(304);
  await server.admin.call(putSettings, { params: { realm: one }, body: { rememberMe: true } });
  expect((await again()).status).toBe(200);
  const viewer = await administrator(server, { target: two, permissions: ['realm:read'] });
  expect((await viewer.call(listRealms, { query: { q: 'flowers' } })).body).toEqual([]);
});

test('a deleted realm is gone with all it held, and only master remembers', async () => {
  const { realm: name } = await realm();
  const params = { realm: name };
  await server.admin.call(putSettings, { params, body: { rememberMe: true } });
  expect((await server.admin.call(deleteRealm, { params })).status).toBe(204);
  expect(await status(server.admin.call(getRealm, { params }))).toBe(404);
  expect(await status(server.admin.call(getSettings, { params }))).toBe(404);
  expect(await status(server.admin.call(listKeys, { params }))).toBe(404);
  expect(await status(server.admin.call(listEvents, { params }))).toBe(404);
  expect(await status(server.admin.call(deleteRealm, { params }))).toBe(404);
  const [event] = await events('master', 'REALM_DELETED');
  expect(event).toMatchObject({ subject: { type: 'realm', id: name }, actor: { name: 'admin' } });
  const sql = sqlOver(server.pool);
  const tables = await sql<{ name: string }>`
    select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind = 'r' and a.attname = 'realm_id' and c.relnamespace = 'public'::regnamespace`;
  expect(tables.length).toBeGreaterThan(20);
  for (const table of tables) {
    const { rows } = await server.pool.query(`select count(*)::int as n from ${table.name} where realm_id = $1`, [
      name,
    ]);
    expect([table.name, rows[0].n]).toEqual([table.name, 0]);
  }
});

test('a realm made again under the name of a deleted one begins anew', async () => {
  const { realm: name } = await realm();
  const params = { realm: name };
  const [key] = (await server.admin.call(listKeys, { params })).body ?? [];
  const former = await administrator(server, { target: name, permissions: ['realm:read'] });
  await server.admin.call(putSettings, { params, body: { rememberMe: true } });
  const revision = async () => (await server.admin.call(getRealm, { params })).body?.revision ?? 0;
  const last = await revision();
  await server.admin.call(deleteRealm, { params });
  await server.admin.call(createRealm, { body: params });
  // whoever knows a revision of the one that is gone must not take this one for it
  expect(await revision()).toBeGreaterThan(last);
  expect((await server.admin.call(getSettings, { params })).body).toMatchObject({ rememberMe: false });
  const [again] = (await server.admin.call(listKeys, { params })).body ?? [];
  expect(again?.keyId).not.toBe(key?.keyId);
  expect(await events(name, 'SETTINGS_UPDATED')).toEqual([]);
  // what was granted over the one that is gone is not held over this one: no grant is left, so nobody is signed in
  expect(await status(former.call(getRealm, { params }))).toBe(401);
});

test('master cannot be deleted, and deleting needs its own permission', async () => {
  expect(await status(server.admin.call(deleteRealm, { params: { realm: 'master' } }))).toBe(409);
  const params = await realm();
  const editor = await administrator(server, { target: params.realm, permissions: ['realm:read', 'realm:write'] });
  expect(await status(editor.call(deleteRealm, { params }))).toBe(403);
  const { etag = '' } = await server.admin.call(getRealm, { params });
  await server.admin.call(putSettings, { params, body: { rememberMe: true } });
  expect(await status(server.admin.call(deleteRealm, { params, headers: { 'if-match': etag } }))).toBe(412);
  expect(await status(server.admin.call(getRealm, { params }))).toBe(200);
});

test('the endpoints are those of this server, with the issuer that the realm has set', async () => {
  const params = await realm();
  const { body } = await server.admin.call(getEndpoints, { params });
  const base = `${server.baseUrl}/realms/${params.realm}`;
  expect(body).toMatchObject({
    issuer: base,
    discovery: `${base}/.well-known/openid-configuration`,
    token: `${base}/oauth2/token`,
    registration: `${base}/connect/register`,
    workloadIdentityToken: `${base}/workload-identity/token`,
    scim: `${base}/scim/v2`,
  });
  await server.admin.call(putSettings, { params, body: { issuer: 'https://id.example' } });
  const after = await server.admin.call(getEndpoints, { params });
  expect(after.body).toEqual({ ...body, issuer: 'https://id.example' });
});

test("a realm's health names what keeps people from signing in", async () => {
  const params = await realm();
  const health = async () => (await server.admin.call(getRealmHealth, { params })).body;
  expect(await health()).toMatchObject({
    status: 'UP',
    components: { signingKey: { status: 'UP' }, browserFlow: { status: 'UP' }, webhooks: { status: 'UP' } },
  });
  await server.admin.call(createClient, { params, body: { clientId: 'old', secret: 'secret' } });
  await server.admin.call(createClient, {
    params,
    body: { clientId: 'new', secret: '0123456789abcdefghijklmnopqrstuv' },
  });
  const hook = { url: 'https://hooks.example.com', eventTypes: '*', enabled: true };
  await server.admin.call(createWebhook, { params, body: { ...hook, name: 'old', secret: 'only-fifteen-ch' } });
  await server.admin.call(createWebhook, { params, body: { ...hook, name: 'new', secret: 'exactly-sixteen-' } });
  expect(await health()).toMatchObject({
    status: 'UP',
    components: { weakSecrets: { status: 'UP', details: { clients: ['old'], webhooks: ['old'] } } },
  });
  await sqlOver(server.pool)`
    update flow_execution set requirement = 'DISABLED' where realm_id = ${params.realm} and flow_alias = 'browser'`;
  expect(await health()).toMatchObject({ status: 'DOWN', components: { browserFlow: { status: 'DOWN' } } });
  await server.admin.call(rotateKeys, { params });
  await sqlOver(server.pool)`
    update realm_key set private_key = '\\x00' where realm_id = ${params.realm} and rotated_at is null`;
  await server.admin.call(putSettings, { params, body: { rememberMe: true } });
  expect(await health()).toMatchObject({
    components: { signingKey: { status: 'DOWN', details: { readable: false } } },
  });
});

test('who made a deleted realm, and who could adopt it, stays known to those who make realms', async () => {
  const name = fresh();
  const former = async () => (await server.admin.call(getFormerRealm, { params: { name } })).body;
  const maker = 'k8s:prod/identity/Realm/acme';
  await server.admin.call(importRealm, { params: { realm: name }, query: { manager: maker }, body: {} });
  await server.admin.call(putAdoption, { params: { realm: name }, body: { managers: ['k8s:*/shop/*'] } });
  expect(await status(former())).toBe(404);
  await server.admin.call(deleteRealm, { params: { realm: name } });
  expect(await former()).toEqual({ createdBy: maker, managers: ['k8s:*/shop/*'] });
  await server.admin.call(createRealm, { body: { realm: name } });
  await server.admin.call(deleteRealm, { params: { realm: name } });
  expect(await former()).toEqual({ createdBy: '', managers: [] });
});

test('whose a deleted realm was is not for who can make none, and the attempt is audited', async () => {
  const params = await realm();
  const reader = await administrator(server, { target: params.realm, permissions: ['realm:create', 'realm:read'] });
  expect(await status(reader.call(getFormerRealm, { params: { name: params.realm } }))).toBe(403);
  expect(await events('master', 'ACCESS_DENIED')).toContainEqual(
    expect.objectContaining({ data: expect.objectContaining({ permission: 'realm:create' }) }),
  );
});
