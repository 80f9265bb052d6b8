// Deleting a realm that holds much, or of which something is held: it answers no more at once, and goes in the background.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProblem } from '../../../server/contract/client.ts';
import { createClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { createRealm, deleteRealm, getFormerRealm, getRealm, listRealms } from '../../../server/contract/realms.ts';
import type { Route } from '../../../server/contract/route.ts';
import { getSettings, putSettings } from '../../../server/contract/settings.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { createUser } from '../../../server/contract/users.ts';
import { createWebhook, listWebhooks } from '../../../server/contract/webhooks.ts';
import { administrator } from '../../support/administrators.ts';
import { getCode, makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.stop());

async function problemOf(answer: Promise<unknown>): Promise<{ status: number; type: string | undefined }> {
  try {
    await answer;
    return { status: 200, type: undefined };
  } catch (error) {
    if (!(error instanceof ServerProblem)) throw error;
    return { status: error.status, type: error.problem?.type };
  }
}
/** The tables that still hold rows of the realm. */
async function heldBy(realm: string): Promise<string[]> {
  const { rows: tables } = await server.pool.query<{ name: string }>(`
    select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind = 'r' and a.attname = 'realm_id' and c.relnamespace = 'public'::regnamespace order by 1`);
  const held: string[] = [];
  for (const { name } of tables) {
    const { rows } = await server.pool.query(`select from ${name} where realm_id = $1 limit 1`, [realm]);
    if (rows.length > 0) held.push(name);
  }
  return held;
}

test('a realm of more rows than one batch takes is gone with all of them', async () => {
  const realm = 'large';
  await server.admin.call(createRealm, { body: { realm } });
  await server.pool.query(
    `insert into realm_user (realm_id, id, username, created_at)
     select $1, gen_random_uuid(), 'user-' || n, now() from generate_series(1, 4500) n`,
    [realm],
  );
  await server.pool.query(
    `insert into event (realm_id, id, type, occurred_at, outcome)
     select $1, gen_random_uuid(), 'LOGIN_SUCCESS', now(), 'success' from generate_series(1, 4100) n`,
    [realm],
  );
  await server.admin.call(deleteRealm, { params: { realm } });
  await expect.poll(() => heldBy(realm), { timeout: 60_000 }).toEqual([]);
});

test('no page of a realm that is being deleted is served, also to a user who was signed in', async () => {
  const realm = 'pages';
  await makePeopledRealm(server, realm);
  await server.admin.call(putSettings, { params: { realm }, body: { registrationVerifyEmail: false } });
  const { person } = await getCode(server, realm, 'spa');
  const at = `/realms/${realm}`;
  const account = await person.open(`${at}/account`);
  expect(account.status).toBe(200);
  const csrf = account.fields.csrf ?? '';
  const fresh = createPerson(server.baseUrl);
  const signIn = await fresh.open(`${at}/login?for=account`);
  expect(signIn.heading).toBe('Sign in');

  const holder = await server.pool.connect();
  try {
    await holder.query('begin');
    await holder.query('select from realm_user where realm_id = $1 for update', [realm]);
    expect(await server.admin.call(deleteRealm, { params: { realm } })).toMatchObject({ status: 202 });
    for (const path of [
      'account',
      'theme.css',
      'colours.css',
      'login',
      'login?for=account',
      'login/admin',
      'impersonation',
    ])
      expect([path, (await person.open(`${at}/${path}`)).status]).toEqual([path, 404]);
    expect((await person.post(`${at}/account/change`, { csrf, action: 'UPDATE_PASSWORD' })).status).toBe(404);
    expect((await fresh.fill(signIn, { username: 'alice', password: PASSWORD })).status).toBe(404);
    const { rows } = await server.pool.query('select from session where realm_id = $1', [realm]);
    expect(rows.length).toBeLessThanOrEqual(1);
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  await expect.poll(() => heldBy(realm), { timeout: 90_000, interval: 500 }).toEqual([]);
}, 180_000);

test('what is held by another transaction keeps nothing of the realm answering, and goes when it is let go', async () => {
  const realm = 'held';
  const params = { realm };
  await server.admin.call(createRealm, { body: params });
  await server.admin.call(putSettings, { params, body: { issuer: 'https://held.example' } });
  const { body: user } = await server.admin.call(createUser, { params, body: { username: 'ann' } });
  await server.admin.call(createClient, {
    params,
    body: { clientId: 'app', secret: 'a-secret-of-32-letters-in-length' },
  });
  await server.admin.call(createWebhook, {
    params,
    body: { name: 'hook', url: 'https://hooks.example.com', eventTypes: '*', enabled: true },
  });
  const own = await administrator(server, { target: realm, permissions: ['realm:read', 'realm:delete'] });
  const discovery = `${server.baseUrl}/realms/${realm}/.well-known/openid-configuration`;
  expect((await fetch(discovery)).status).toBe(200);

  const holder = await server.pool.connect();
  try {
    await holder.query('begin');
    await holder.query('select from realm_user where realm_id = $1 and id = $2 for update', [realm, user?.id]);

    const answer = await server.admin.call(deleteRealm, { params });
    expect(answer).toMatchObject({ status: 202, body: undefined });
    expect(await heldBy(realm)).toContain('realm_user');

    for (const route of [getRealm, getSettings, listEvents, listWebhooks, deleteRealm])
      expect(await problemOf(server.admin.call(route as Route, { params }))).toMatchObject({ status: 404 });
    expect(await problemOf(own.call(getRealm, { params }))).toMatchObject({ status: 401 });
    expect((await fetch(discovery)).status).toBe(404);
    const token = await fetch(`${server.baseUrl}/realms/${realm}/oauth2/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: 'app',
        client_secret: 'a-secret-of-32-letters-in-length',
      }),
    });
    expect(token.status).toBe(404);
    const { body: listed } = await server.admin.call(listRealms, { query: { limit: 10_000 } });
    expect(listed?.map((one) => one.realm)).not.toContain(realm);
    const { rows } = await server.pool.query('select enabled from webhook where realm_id = $1', [realm]);
    expect(rows.filter(({ enabled }) => enabled)).toEqual([]);

    const taken = { status: 409, type: 'urn:svc:problem:being-deleted' };
    expect(await problemOf(server.admin.call(createRealm, { body: params }))).toEqual(taken);
    for (const dryRun of ['true', 'false'])
      expect(await problemOf(server.admin.call(importRealm, { params, query: { dryRun }, body: {} }))).toEqual(taken);
    expect((await server.admin.call(getFormerRealm, { params: { name: realm } })).body).toMatchObject({
      createdBy: '',
    });
    // Its issuer is free for another realm.
    await server.admin.call(createRealm, { body: { realm: 'heir' } });
    await server.admin.call(putSettings, { params: { realm: 'heir' }, body: { issuer: 'https://held.example' } });
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  await expect.poll(() => heldBy(realm), { timeout: 90_000, interval: 500 }).toEqual([]);
  const { body: again } = await server.admin.call(createRealm, { body: params });
  expect(again?.issuer).toBe(`${server.baseUrl}/realms/${realm}`);
  expect((await server.admin.call(listWebhooks, { params })).body).toEqual([]);
}, 180_000);
