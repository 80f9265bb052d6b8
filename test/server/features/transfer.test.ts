import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sections } from '../../../server/contract/sections.ts';
import { furtherSections } from '../../../server/contract/transfer.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;

const SHOP_SECRET = 'a-long-and-varied-secret-0123456789';
const placeholder = (name: string) => `\${${name}}`;

beforeAll(async () => {
  server = await startTestServer({
    env: { SVC_VAR_CLIENT_SHOP_SECRET: SHOP_SECRET, SVC_VAR_WEBHOOK_HOOK_SECRET: 'hook-secret-of-20-chars' },
  });
  admin = await importer(server);
});
afterAll(() => server?.stop());

const document = {
  formatVersion: 2,
  realm: { displayName: 'Acme', accessTokenTtlSeconds: 600, browserFlow: 'two-steps' },
  resourceIndicators: ['https://api.acme.example'],
  claims: [{ name: 'tier', source: 'attribute', attribute: 'tier' }],
  clientScopes: [{ name: 'orders', claims: ['tier'] }],
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
      redirectUris: ['https://shop.example/cb', 'https://shop.example/b'],
      secret: placeholder('SVC_VAR_CLIENT_SHOP_SECRET'),
      defaultClientScopes: ['orders', 'profile'],
    },
    { clientId: 'ci', grantTypes: ['client_credentials'] },
  ],
  clientRoles: { shop: [{ name: 'seller' }, { name: 'buyer', composite: { roles: ['reader'] } }] },
  adminRoles: [{ name: 'keeper', permissions: ['clients:read'] }],
  serviceAccountRoles: [
    { clientId: 'ci', roles: ['reader'], clientRoles: { shop: ['seller'] }, adminRoles: ['keeper'] },
  ],
  groups: [
    { path: '/staff/ops', attributes: { floor: ['2'] } },
    { path: '/staff', roles: ['reader'] },
  ],
  webhooks: [
    {
      name: 'hook',
      url: 'https://hooks.example/in',
      eventTypes: 'LOGIN_SUCCESS, LOGIN_FAILURE',
      secret: placeholder('SVC_VAR_WEBHOOK_HOOK_SECRET'),
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
      attributes: { tier: ['gold'], 'a "quoted"\\name': ['tab\there', 'ünï'] },
      createdAt: 1_700_000_000_123,
    },
    { username: 'bob' },
  ],
};

/** What every write leaves a trace in. */
const traces = async () => {
  const { rows } = await server.pool.query(
    `select (select count(*) from event) events, (select max(last_applied_at) from manager) applied,
      (select sum(revision) from realm) revisions`,
  );
  return rows;
};

describe('a document', () => {
  test('seeds a realm that does not exist, and applied again plans, writes and audits nothing', async () => {
    const first = await admin.apply('acme', document, { manager: 'k8s:c/identity/Realm/acme' });
    expect(first.changes[0]).toMatchObject({ action: 'create', kind: 'realm', key: 'acme' });
    expect(first.changes.filter((c) => c.kind === 'user').map((c) => c.key)).toEqual(['ana', 'bob']);
    const before = await traces();
    const second = await admin.apply('acme', document, { manager: 'k8s:c/identity/Realm/acme' });
    expect(second).toMatchObject({ changes: [], ownership: [], conflicts: [], inSync: true, revision: first.revision });
    expect(await traces()).toEqual(before);
    const staged = async () =>
      (await server.pool.query(`select from pg_class where relname ~ '^import_user_' and relkind = 'r'`)).rowCount;
    await expect.poll(staged).toBe(0);
  });

  test('that was exported and imported elsewhere exports to the same bytes', async () => {
    const original = await admin.download('acme');
    expect(await admin.download('acme')).toBe(original);
    await admin.apply('copy', JSON.parse(original));
    expect(await admin.download('copy')).toBe(original);
    expect((await admin.apply('copy', JSON.parse(original))).inSync).toBe(true);
  });

  test('whose realm has lost a scope that every fresh one has still exports to the same bytes elsewhere', async () => {
    await admin.apply('less', { users: [{ username: 'ana' }] });
    const scopes: { id: string; name: string }[] = JSON.parse(
      await (await admin.fetch('/admin/realms/less/client-scopes')).text(),
    );
    const address = scopes.find(({ name }) => name === 'address');
    await admin.fetch(`/admin/realms/less/client-scopes/${address?.id}`, { method: 'DELETE' });
    const original = await admin.download('less');
    for (const realm of ['less-too', 'less-still']) {
      const dry = await admin.apply(realm, JSON.parse(original), { dryRun: 'true' });
      const plan = await admin.apply(realm, JSON.parse(original));
      expect(plan.changes).toEqual(dry.changes);
      expect(plan.changes).toContainEqual({ action: 'delete', kind: 'clientScope', key: 'address', fields: [] });
      expect(await admin.download(realm)).toBe(original);
      expect((await admin.apply(realm, JSON.parse(original))).inSync).toBe(true);
    }
    // A document that leaves a section out is no export: it adds to what is there.
    const { agents: _, ...partial } = JSON.parse(original);
    await admin.apply('less-partial', partial);
    expect(await admin.download('less-partial')).toContain('"name":"address"');
  });

  test('is exported with every key of the format, sorted, with placeholders for its secrets', async () => {
    const text = await admin.download('acme');
    const exported = JSON.parse(text);
    const holding = Object.keys(sections).filter((key) => !furtherSections.has(key) || key in exported);
    expect(Object.keys(exported)).toEqual(['formatVersion', 'requiredEnv', ...holding].sort());
    for (const key of furtherSections) expect(exported[key], key).not.toEqual([]);
    expect(exported.requiredEnv).toEqual(['SVC_VAR_CLIENT_SHOP_SECRET', 'SVC_VAR_WEBHOOK_HOOK_SECRET']);
    expect(text).not.toContain(SHOP_SECRET);
    expect(exported.users[0]).toMatchObject({
      username: 'ana',
      groups: ['/staff/ops'],
      clientRoles: { shop: ['buyer'] },
    });
  });

  test('leaves what it does not mention as people have set it', async () => {
    await admin.apply('partial', { clients: [{ clientId: 'app', name: 'App' }] });
    await server.pool.query(
      `update client set description = 'by hand' where realm_id = 'partial' and client_id = 'app'`,
    );
    expect((await admin.apply('partial', { clients: [{ clientId: 'app', name: 'App' }] })).inSync).toBe(true);
    const plan = await admin.apply('partial', { clients: [{ clientId: 'app', name: 'Other' }] });
    expect(plan.changes).toEqual([
      { action: 'update', kind: 'client', key: 'app', fields: [{ path: 'name', from: 'App', to: 'Other' }] },
    ]);
    const { clients } = JSON.parse(await admin.download('partial'));
    expect(clients[0]).toMatchObject({ name: 'Other', description: 'by hand' });
  });

  test('shows drift that somebody made, and repairs it', async () => {
    await server.pool.query(`update webhook set enabled = false where realm_id = 'acme'`);
    const manager = 'k8s:c/identity/Realm/acme';
    const dry = await admin.apply('acme', document, { manager, dryRun: 'true' });
    expect(dry.inSync).toBe(true); // `enabled` is not declared, so it is nobody's
    await server.pool.query(`update webhook set url = 'https://evil.example/' where realm_id = 'acme'`);
    const plan = await admin.apply('acme', document, { manager, dryRun: 'true' });
    expect(plan).toMatchObject({ inSync: false, summary: { create: 0, update: 1, delete: 0 } });
    expect((await admin.apply('acme', document, { manager })).changes).toHaveLength(1);
    expect((await admin.apply('acme', document, { manager })).inSync).toBe(true);
  });

  test('keeps the ids of a flow’s steps that stay the same', async () => {
    const ids = async () =>
      (
        await server.pool.query(
          `select authenticator_id, execution_id from flow_execution where realm_id = 'acme' and flow_alias = 'two-steps' order by 1`,
        )
      ).rows;
    const before = await ids();
    const [flow] = document.flows;
    const [first, second] = flow?.executions ?? [];
    const changed = [
      {
        alias: 'two-steps',
        executions: [
          { ...first, config: {} },
          { ...second, requirement: 'REQUIRED', executions: [{ authenticatorId: 'otp', requirement: 'REQUIRED' }] },
        ],
      },
    ];
    await admin.apply('acme', { flows: changed }, { manager: 'k8s:c/identity/Realm/acme' });
    const after = await ids();
    expect(after).toHaveLength(3);
    for (const row of after) expect(before).toContainEqual(row);
  });
});

describe('secrets', () => {
  test('show in a plan as ***, and rotate', async () => {
    const client = (secret: string) => ({ clients: [{ clientId: 'app', secret }] });
    await admin.apply('secrets', client(SHOP_SECRET));
    expect((await admin.apply('secrets', client(SHOP_SECRET))).inSync).toBe(true);
    const plan = await admin.apply('secrets', client('another-secret-with-many-characters-42'));
    expect(plan.changes).toEqual([
      { action: 'update', kind: 'client', key: 'app', fields: [{ path: 'secret', from: '***', to: '***' }] },
    ]);
    const slow = await admin.apply('secrets', client('chosen-by-people'));
    expect(slow.changes).toHaveLength(1);
    expect((await admin.apply('secrets', client('chosen-by-people'))).inSync).toBe(true);
  });

  test('of the server’s own environment cannot be read by a document', async () => {
    const refusal = await admin.refusal('acme', {
      clients: [{ clientId: 'x', secret: placeholder('SVC_MASTER_KEY') }],
      webhooks: [{ name: 'w', url: 'https://a.example', eventTypes: '*', secret: placeholder('DATABASE_URL') }],
    });
    expect(refusal.errors?.map((e) => e.path)).toEqual(['clients[0].secret', 'webhooks[0].secret']);
    const elsewhere = await admin.refusal('acme', {
      realm: { welcomeText: placeholder('SVC_VAR_CLIENT_SHOP_SECRET') },
    });
    expect(elsewhere).toMatchObject({ status: 400 });
  });

  test('whose placeholders are missing are all listed', async () => {
    const refusal = await admin.refusal('acme', {
      clients: [
        { clientId: 'x', secret: placeholder('SVC_VAR_B') },
        { clientId: 'y', secret: placeholder('SVC_VAR_A') },
      ],
    });
    expect(refusal).toMatchObject({ type: 'urn:svc:problem:missing-environment', missing: ['SVC_VAR_A', 'SVC_VAR_B'] });
  });
});

describe('export', () => {
  test('carries the revision as its tag, and answers 304 to it where users are left out', async () => {
    const first = await admin.fetch('/admin/realms/acme/export?users=false');
    const tag = first.headers.get('etag') ?? '';
    expect(tag).toMatch(/^"\d+"$/);
    expect(Object.keys(JSON.parse(await first.text()))).not.toContain('users');
    const headers = { 'if-none-match': tag };
    expect((await admin.fetch('/admin/realms/acme/export?users=false', { headers })).status).toBe(304);
    await admin.apply('acme', { realm: { rememberMe: true } });
    expect((await admin.fetch('/admin/realms/acme/export?users=false', { headers })).status).toBe(200);
  });

  test('of a realm that does not exist is 404', async () => {
    expect((await admin.fetch('/admin/realms/nowhere/export')).status).toBe(404);
  });
});
