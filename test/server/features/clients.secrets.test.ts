// Owns: a client's secret over its life: made anew while the old one still works, gone when it is of no use any more.
// Does not own: other ways in which a client proves itself (client-authentication.test.ts).
// Implements: decisions "Client", "Secrets"; specification 4.10.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as api from '../../../server/contract/clients.ts';
import type { Changes } from '../../../server/contract/names.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { sqlOver } from '../../../server/db/sql.ts';
import { basic, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let offset = 0;
const params = { realm: 'acme' };
const WEAK = 'only-sixteen-chr';
const OTHER = 'p4Wd0sZk8QvN2hXyB6tJm1GcRf9LeUaT';

beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(Date.now() + offset) });
  await makeRealm(server, 'acme');
});
afterAll(() => server?.stop());

const confidential = (clientId: string, secret?: string) =>
  makeClient(server, 'acme', { clientId, grantTypes: ['client_credentials'], ...(secret && { secret }) });
const rotate = async (id: string, body?: { graceSeconds?: number }) =>
  (await server.admin.call(api.createClientSecret, { params: { ...params, id }, body })).body;
const put = (id: string, body: Changes<api.ClientInput>) =>
  server.admin.call(api.putClient, { params: { ...params, id }, body });
const statusOf = async (clientId: string, secret: string) =>
  (
    await post(
      server,
      'acme',
      'token',
      { grant_type: 'client_credentials' },
      { authorization: basic(clientId, secret) },
    )
  ).status;
const stored = async (clientId: string) => {
  const [row] = await sqlOver(server.pool)<Record<string, unknown>>`
    select num_nonnulls(secret_hash, secret_slow) as now, num_nonnulls(previous_secret_hash, previous_secret_slow,
      previous_secret_expires_at) as before from client where realm_id = 'acme' and client_id = ${clientId}`;
  return row;
};

describe('a secret that is made anew', () => {
  test.each([
    ['strong', SECRET],
    ['weak', WEAK],
  ])('lets the old %s one work for as long as was asked, and no longer', async (kind, old) => {
    const clientId = `rotates-${kind}`;
    const id = await confidential(clientId, old);
    expect(await statusOf(clientId, old)).toBe(200);
    const made = await rotate(id, { graceSeconds: 600 });
    const until = made?.previousSecretExpiresAt ?? 0;
    expect(Math.abs(until - Date.now() - offset - 600_000)).toBeLessThan(60_000);
    const { body } = await server.admin.call(api.getClient, { params: { ...params, id } });
    expect(body?.previousSecretExpiresAt).toBe(until);
    expect((await put(id, body!)).body).toEqual(body);
    for (const secret of [old, made?.secret ?? '']) expect(await statusOf(clientId, secret)).toBe(200);
    expect(await statusOf(clientId, OTHER)).toBe(401);
    offset += 601_000;
    expect(await statusOf(clientId, old)).toBe(401);
    expect(await statusOf(clientId, made?.secret ?? '')).toBe(200);
    const { body: state } = await server.admin.call(api.getClientSecret, { params: { ...params, id } });
    expect(state).toEqual({ secretSet: true, previousSecretExpiresAt: null });
  });

  test('ends the old one at once where no grace is asked for', async () => {
    const id = await confidential('at-once', SECRET);
    expect(await rotate(id)).toMatchObject({ previousSecretExpiresAt: null });
    expect(await statusOf('at-once', SECRET)).toBe(401);
    expect(await stored('at-once')).toEqual({ now: 1, before: 0 });
  });

  test('twice within the grace leaves the first one dead', async () => {
    const id = await confidential('twice', SECRET);
    const second = await rotate(id, { graceSeconds: 600 });
    const third = await rotate(id, { graceSeconds: 600 });
    const statuses = [SECRET, second?.secret ?? '', third?.secret ?? ''].map((secret) => statusOf('twice', secret));
    expect(await Promise.all(statuses)).toEqual([401, 200, 200]);
  });

  test('has no old one to keep where there was none', async () => {
    const id = await confidential('first-one');
    expect(await rotate(id, { graceSeconds: 600 })).toMatchObject({ previousSecretExpiresAt: null });
    expect(await stored('first-one')).toEqual({ now: 1, before: 0 });
  });

  test('ends both when somebody sets another', async () => {
    const id = await confidential('set-by-hand', SECRET);
    const made = await rotate(id, { graceSeconds: 600 });
    await put(id, { secret: OTHER });
    const statuses = [SECRET, made?.secret ?? '', OTHER].map((secret) => statusOf('set-by-hand', secret));
    expect(await Promise.all(statuses)).toEqual([401, 401, 200]);
  });

  test('cannot be asked to last for ever, nor be made for who has no secret', async () => {
    const id = await confidential('too-long', SECRET);
    await expect(rotate(id, { graceSeconds: 31 * 86_400 })).rejects.toMatchObject({ status: 400 });
    await expect(rotate(id, { graceSeconds: -1 })).rejects.toMatchObject({ status: 400 });
    const open = await makeClient(server, 'acme', { clientId: 'open', tokenEndpointAuthMethod: 'none' });
    await expect(rotate(open, { graceSeconds: 1 })).rejects.toMatchObject({ status: 400 });
    await expect(rotate('0192f0a0-0000-7000-8000-00000000abcd')).rejects.toMatchObject({ status: 404 });
  });
});

const KEYS = { tokenEndpointAuthMethod: 'private_key_jwt', jwksUri: 'https://app.test/jwks' } as const;
const OPEN = { tokenEndpointAuthMethod: 'none', grantTypes: ['authorization_code'] } as const;

describe.each([
  ['private_key_jwt', KEYS],
  ['none', OPEN],
])('a client that changes from a secret to %s loses it', (method, shape) => {
  const ways: [string, (clientId: string, id: string, change: object) => Promise<unknown>][] = [
    ['by the admin API', (_, id, change) => put(id, change)],
    [
      'by a document',
      (clientId, _, change) => server.admin.call(importRealm, { params, body: { clients: [{ clientId, ...change }] } }),
    ],
  ];
  test.each(ways)('%s, and has none when it changes back', async (way, change) => {
    const clientId = `${method}-${way.replaceAll(' ', '-')}`;
    const id = await confidential(clientId, SECRET);
    await rotate(id, { graceSeconds: 600 });
    await change(clientId, id, { ...shape, grantTypes: [...('grantTypes' in shape ? shape.grantTypes : [])] });
    expect(await stored(clientId)).toEqual({ now: 0, before: 0 });
    const back = { tokenEndpointAuthMethod: 'client_secret_basic', grantTypes: ['client_credentials'], jwksUri: null };
    await change(clientId, id, back);
    expect(await statusOf(clientId, SECRET)).toBe(401);
  });
});

test('a secret beside a method that uses none is refused by both ways', async () => {
  const id = await confidential('mixed', SECRET);
  const mixed = { ...KEYS, secret: SECRET };
  const refusal = { status: 400 };
  await expect(put(id, mixed)).rejects.toMatchObject(refusal);
  const declared = server.admin.call(importRealm, { params, body: { clients: [{ clientId: 'mixed', ...mixed }] } });
  await expect(declared).rejects.toMatchObject(refusal);
  expect(await statusOf('mixed', SECRET)).toBe(200);
});
