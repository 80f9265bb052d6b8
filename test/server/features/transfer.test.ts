import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServerProblem } from '../../../server/contract/client.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { exportRealm, importRealm, type Plan } from '../../../server/contract/transfer.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({
    env: {
      SVC_VAR_CLIENT_SHOP_SECRET: 'a-long-and-varied-secret-0123456789',
      SVC_VAR_WEBHOOK_HOOK_SECRET: 'hook-secret-of-20-chars',
    },
  });
}, 60_000);
afterAll(() => server?.stop());

type Query = Partial<Record<'dryRun' | 'manager' | 'prune' | 'force', string>>;

async function apply(
  realm: string,
  document: object,
  query: Query = {},
  headers: Record<string, string> = {},
): Promise<Plan> {
  const { body } = await server.admin.call(importRealm, {
    params: { realm },
    query: query as never,
    body: document as never,
    headers,
  });
  if (!body) throw new Error('no plan');
  return body;
}
const problemOf = (work: Promise<unknown>): Promise<ServerProblem> =>
  work.then(
    () => {
      throw new Error('it was accepted');
    },
    (error: unknown) => {
      if (error instanceof ServerProblem) return error;
      throw error;
    },
  );
const download = async (realm: string, query = '') =>
  (await server.admin.call(exportRealm, { params: { realm } })).body;

const document = {
  formatVersion: 2,
  realm: { displayName: 'Acme', accessTokenTtlSeconds: 600, browserFlow: 'two-steps' },
  resourceIndicators: ['https://api.acme.example'],
  clientScopes: [{ name: 'orders', claims: [{ name: 'tier', source: 'attribute', value: 'tier' }] }],
  roles: [{ name: 'admin', composite: { roles: ['reader'], clientRoles: { shop: ['seller'] } } }, { name: 'reader' }],
  flows: [
    {
      alias: 'two-steps',
      executions: [
        { authenticatorId: 'username-password', requirement: 'REQUIRED' },
        {
          name: 'second factor',
          requirement: 'CONDITIONAL',
          executions: [
            { authenticatorId: 'risk', requirement: 'REQUIRED' },
            { authenticatorId: 'otp', requirement: 'REQUIRED' },
          ],
        },
      ],
    },
  ],
  clients: [
    {
      clientId: 'shop',
      redirectUris: ['https://shop.example/cb'],
      secret: '${SVC_VAR_CLIENT_SHOP_SECRET}',
      defaultClientScopes: ['orders', 'profile'],
    },
    { clientId: 'ci', grantTypes: ['client_credentials'] },
  ],
  clientRoles: { shop: [{ name: 'seller' }, { name: 'buyer', composite: { roles: ['reader'] } }] },
  serviceAccountRoles: [{ clientId: 'ci', roles: ['reader'], clientRoles: { shop: ['seller'] } }],
  groups: [
    { path: '/staff', roles: ['reader'] },
    { path: '/staff/ops', attributes: { floor: ['2'] } },
  ],
  webhooks: [
    {
      name: 'hook',
      url: 'https://hooks.example/in',
      eventTypes: 'LOGIN_SUCCESS,LOGIN_FAILURE',
      secret: '${SVC_VAR_WEBHOOK_HOOK_SECRET}',
    },
  ],
  workloadIdentity: [
    {
      name: 'ci',
      issuer: 'https://issuer.example',
      subject: 'job',
      audience: 'acme',
      clientId: 'ci',
      scopes: 'orders',
    },
  ],
  users: [
    {
      username: 'ana',
      email: 'ana@acme.example',
      roles: ['admin'],
      groups: ['/staff/ops'],
      clientRoles: { shop: ['buyer'] },
      attributes: { tier: ['gold'] },
      createdAt: 1700000000123,
    },
    { username: 'bob' },
  ],
};

describe('a document', () => {
  test('seeds a realm that does not exist, and applied again plans, writes and audits nothing', async () => {
    const first = await apply('acme', document, { manager: 'k8s:c/identity/Realm/acme' });
    expect(first.changes[0]).toMatchObject({ action: 'create', kind: 'realm', key: 'acme' });
    expect(first.changes.filter((c) => c.kind === 'user').map((c) => c.key)).toEqual(['ana', 'bob']);
    const before = await server.pool.query(
      'select (select count(*) from event) events, (select max(last_applied_at) from manager) applied, (select max(revision) from realm) revision',
    );
    const second = await apply('acme', document, { manager: 'k8s:c/identity/Realm/acme' });
    expect(second).toMatchObject({ changes: [], ownership: [], conflicts: [], inSync: true });
    const after = await server.pool.query(
      'select (select count(*) from event) events, (select max(last_applied_at) from manager) applied, (select max(revision) from realm) revision',
    );
    expect(after.rows).toEqual(before.rows);
  });

  test('that was exported and imported elsewhere exports to the same bytes', async () => {
    const original = await download('acme');
    const plan = await apply('copy', original ?? {});
    expect(plan.conflicts).toEqual([]);
    expect(JSON.stringify(await download('copy'))).toBe(JSON.stringify(original));
    expect((await apply('copy', original ?? {})).inSync).toBe(true);
  });
});
