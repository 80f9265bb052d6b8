import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, ServerProblem } from '../../../server/contract/client.ts';
import { type Permission, permissions } from '../../../server/contract/permissions.ts';
import { importRealm, type RealmDocument, releaseManager } from '../../../server/contract/transfer.ts';
import { administrator } from '../../support/administrators.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

let server: TestServer;
let admin: Importer;

beforeAll(async () => {
  server = await startTestServer({ env: { SVC_RESERVED_MANAGERS: 'pipeline:' } });
  admin = await importer(server);
  await admin.apply('acme', {
    adminRoles: [
      { name: 'keys', permissions: ['keys:write'] },
      { name: 'reading', permissions: ['roles:read'] },
    ],
    clients: [
      { clientId: 'powerful', grantTypes: ['client_credentials'] },
      { clientId: 'plain', grantTypes: ['client_credentials'] },
    ],
    serviceAccountRoles: [{ clientId: 'powerful', adminRoles: ['keys'] }],
    users: [{ username: 'chief' }],
  });
  // Ownership is another test's: here only rights are to stand in the way.
  await admin.fetch('/admin/realms/acme/managers/import', { method: 'DELETE' });
  await server.pool.query(
    `insert into admin_grant (realm_id, role_id, user_id, target_realm)
     select 'acme', r.id, u.id, 'acme' from admin_role r, realm_user u
     where r.realm_id = 'acme' and r.name = 'keys' and u.realm_id = 'acme' and u.username = 'chief'`,
  );
});
afterAll(() => server?.stop());

const holding = (...held: Permission[]) => administrator(server, { target: 'acme', permissions: held });

async function outcome(client: Client, body: RealmDocument, realm = 'acme'): Promise<string> {
  try {
    const answer = await client.call(importRealm, { params: { realm }, query: { manager: 'me' }, body });
    return answer.body?.summary.text ?? '';
  } catch (error) {
    if (error instanceof ServerProblem)
      return `${error.status} ${error.problem?.type.split(':').at(-1)}: ${error.message}`;
    throw error;
  }
}

describe('section by section', () => {
  test('a section that changes needs its write permission, one that is declared its read permission', async () => {
    const reader = await holding('roles:read', 'clients:read');
    expect(await outcome(reader, { roles: [{ name: 'r' }] })).toMatch(/^403 forbidden: .*roles:write/);
    expect(await outcome(reader, { webhooks: [] })).toMatch(/^403 forbidden: .*webhooks:read/);
    const writer = await holding('roles:read', 'roles:write');
    expect(await outcome(writer, { roles: [{ name: 'r' }] })).toMatch('1 to create');
    expect(await outcome(writer, { roles: [{ name: 'r' }], realm: { rememberMe: true } })).toMatch(/^403/);
    expect(await outcome(writer, { users: [{ username: 'x' }] })).toMatch(/^403 forbidden: .*users:read/);
    const looker = await holding('users:read');
    expect(await outcome(looker, { users: [{ username: 'x' }] })).toMatch(/^403 forbidden: .*users:write/);
  });

  test.each<[string, string, RealmDocument]>([
    ['realm', 'settings', { realm: { rememberMe: true } }],
    ['userProfile', 'settings', { userProfile: { unmanagedAttributes: 'adminEdit' } }],
    ['resourceIndicators', 'settings', { resourceIndicators: ['urn:x:y'] }],
    ['clientScopes', 'client-scopes', { clientScopes: [{ name: 'x' }] }],
    ['roles', 'roles', { roles: [{ name: 'x' }] }],
    ['flows', 'flows', { flows: [{ alias: 'x' }] }],
    ['clients', 'clients', { clients: [{ clientId: 'x' }] }],
    ['clientRoles', 'roles', { clientRoles: { plain: [{ name: 'x' }] } }],
    ['clientProtocolMappers', 'clients', { clientProtocolMappers: [{ clientId: 'plain', mappers: [{ name: 'x' }] }] }],
    ['adminRoles', 'admin-roles', { adminRoles: [{ name: 'x', permissions: ['roles:read'] }] }],
    ['serviceAccountRoles', 'clients', { serviceAccountRoles: [{ clientId: 'plain', adminRoles: ['reading'] }] }],
    ['groups', 'groups', { groups: [{ path: '/x' }] }],
    ['webhooks', 'webhooks', { webhooks: [{ name: 'x', url: 'https://x.example', eventTypes: '*' }] }],
    [
      'workloadIdentity',
      'workload-identity',
      {
        workloadIdentity: [{ name: 'x', issuer: 'https://i.example', subject: 's', audience: 'a', clientId: 'plain' }],
      },
    ],
    ['users', 'users', { users: [{ username: 'x' }] }],
  ])('%s needs %s:read and %s:write, and no other permission lets anybody in', async (_, area, document) => {
    await admin.apply('acme', { users: [] }, { manager: 'me', prune: 'true' });
    const before = await admin.download('acme');
    for (const verb of ['read', 'write']) {
      const lacking = permissions.filter((p) => p !== `${area}:${verb}`);
      const refused = await outcome(await holding(...lacking), document);
      expect(refused).toMatch(new RegExp(`^403 forbidden: .*${area}:${verb}`));
    }
    expect(await admin.download('acme')).toBe(before);
    expect(await outcome(await holding(...permissions), document)).not.toMatch(/^4/);
    await admin.apply('acme', { users: [] }, { manager: 'me', prune: 'true' });
    expect(await admin.download('acme')).toBe(before);
  });

  test('who may not write what another manager’s pruning would take learns nothing of what hangs on it', async () => {
    const body = { roles: [{ name: 'held' }] };
    await admin.apply('acme', body, { manager: 'owner' });
    await admin.apply('acme', { groups: [{ path: '/holding', roles: ['held'] }] }, { manager: 'team' });
    const reader = await holding('users:read');
    for (const dryRun of ['true', 'false'] as const) {
      const query = { manager: 'owner', prune: 'true', dryRun } as const;
      const refused = await reader.call(importRealm, { params: { realm: 'acme' }, query, body: {} }).catch((e) => e);
      const permission = dryRun === 'true' ? 'roles:read' : 'roles:write';
      expect(refused).toMatchObject({ status: 403, problem: { permission } });
      expect(JSON.stringify(refused.problem)).not.toMatch(/held|holding/);
    }
    for (const manager of ['team', 'owner'])
      await admin.fetch(`/admin/realms/acme/managers/${manager}?objects=delete`, { method: 'DELETE' });
  });

  test('a reader learns by a plan neither whether they guessed a secret nor which names the environment has', async () => {
    const secret = 'a-secret-that-somebody-guesses';
    await server.admin.call(importRealm, {
      params: { realm: 'acme' },
      query: { manager: 'me' },
      body: { clients: [{ clientId: 'guessed', secret }] },
    });
    const reader = await holding('clients:read');
    for (const guess of [secret, 'another-secret-altogether', `\${SVC_VAR_NO_SUCH_NAME}`])
      expect(await outcome(reader, { clients: [{ clientId: 'guessed', secret: guess }] })).toMatch(
        /^403 forbidden: .*clients:write/,
      );
  });

  test.each(['a-secret-that-somebody-guesses', 'another-secret-altogether'])(
    'who may write clients learns nothing of the secret of one that holds more than they do: %s',
    async (secret) => {
      await admin.apply('acme', { clients: [{ clientId: 'powerful', secret: 'a-secret-that-somebody-guesses' }] });
      await admin.fetch('/admin/realms/acme/managers/import', { method: 'DELETE' });
      const writer = await holding('clients:read', 'clients:write');
      expect(await outcome(writer, { clients: [{ clientId: 'powerful', secret }] })).toBe(
        '403 privilege-escalation: The client powerful, by its admin role keys, carries more than your own permissions',
      );
    },
  );

  test('who may only read users is refused at the thousand-and-first, whatever follows', async () => {
    const reader = await holding('users:read');
    const users = (n: number) => Array.from({ length: n }, (_, i) => ({ username: `staged-${i}` }));
    const faulty = { username: '' };
    expect(await outcome(reader, { users: [...users(999), faulty] })).toMatch(/^400/);
    expect(await outcome(reader, { users: [...users(1_001), faulty] })).toMatch(/^403 forbidden: .*users:write/);
  });

  test('a realm’s own administrator can have no placeholder resolved: the environment is shared by all realms', async () => {
    const own = await administrator(server, { home: 'acme', target: 'acme', permissions });
    const webhook = { name: 'w', url: 'https://hooks.example.com/', eventTypes: '*', secret: `\${SVC_VAR_ANOTHERS}` };
    expect(await outcome(own, { webhooks: [webhook] })).toMatch(/^403 forbidden: webhooks\[0\]\.secret: .*master/);
  });

  test('a realm is made only by who may make realms, and who holds nothing there learns nothing', async () => {
    const all = await administrator(server, { target: 'acme', permissions });
    expect(await outcome(all, { roles: [] }, 'brand-new')).toMatch(/^403 forbidden: You hold no permission/);
    expect(await outcome(all, { roles: [] }, 'master')).toMatch(/^403 forbidden: You hold no permission/);
  });

  test('a refusal is in the audit log', async () => {
    const { rows } = await server.pool.query(
      `select count(*)::int as n from event where realm_id = 'acme' and type = 'ACCESS_DENIED' and data->>'path' like '%/import'`,
    );
    expect(rows[0].n).toBeGreaterThan(0);
  });
});

describe('nobody gives or takes over what they do not hold:', () => {
  const clients: Permission[] = ['clients:read', 'clients:write', 'workload-identity:read', 'workload-identity:write'];
  const workload = { issuer: 'https://i.example', subject: 's', audience: 'a' };
  test.each<[string, Permission[], RealmDocument, string]>([
    [
      'a secret of a client with admin roles',
      clients,
      { clients: [{ clientId: 'powerful', secret: 'a-secret-of-mine-0123456789' }] },
      'powerful',
    ],
    [
      'its redirect addresses',
      clients,
      { clients: [{ clientId: 'powerful', redirectUris: ['https://evil.example'] }] },
      'powerful',
    ],
    [
      'an admin role for a client',
      clients,
      { serviceAccountRoles: [{ clientId: 'plain', adminRoles: ['keys'] }] },
      'keys',
    ],
    ['a built-in one', clients, { serviceAccountRoles: [{ clientId: 'plain', adminRoles: ['realm-admin'] }] }, 'plain'],
    [
      'a workload that acts for such a client',
      clients,
      { workloadIdentity: [{ name: 'w', ...workload, clientId: 'powerful' }] },
      'powerful',
    ],
    [
      'a person with admin roles',
      ['users:read', 'users:write'],
      { users: [{ username: 'chief', email: 'me@evil.example' }] },
      'chief',
    ],
    [
      'permissions for an admin role',
      ['admin-roles:read', 'admin-roles:write'],
      { adminRoles: [{ name: 'reading', permissions: ['keys:write'] }] },
      'reading',
    ],
    [
      'an admin role that carries more',
      ['admin-roles:read', 'admin-roles:write'],
      { adminRoles: [{ name: 'keys', permissions: [] }] },
      'keys',
    ],
  ])('%s', async (_, held, document, named) => {
    const refused = await outcome(await holding(...held), document);
    expect(refused).toMatch(/^403 privilege-escalation/);
    expect(refused).toContain(named);
    expect(await outcome(await holding(...permissions), document)).not.toMatch(/^403/);
    await admin.fetch('/admin/realms/acme/managers/me', { method: 'DELETE' });
  });
});

test('releasing with its objects needs their permissions', async () => {
  await admin.apply(
    'acme',
    { webhooks: [{ name: 'w', url: 'https://a.example', eventTypes: '*' }] },
    { manager: 'hooks' },
  );
  const client = await holding('managers:write', 'managers:read');
  const params = { realm: 'acme', manager: 'hooks' };
  const refused = client.call(releaseManager, { params, query: { objects: 'delete' } });
  await expect(refused).rejects.toMatchObject({ status: 403 });
});

describe('managers’ names', () => {
  const body: RealmDocument = { roles: [{ name: 'declared-by-the-operator' }] };
  const apply = async (client: Client, manager: string, dryRun = false) => {
    try {
      return (
        await client.call(importRealm, {
          params: { realm: 'acme' },
          query: { manager, ...(dryRun && { dryRun: 'true' }) },
          body,
        })
      ).status;
    } catch (error) {
      if (error instanceof ServerProblem) return `${error.status} ${error.message}`;
      throw error;
    }
  };

  test('the operator’s are for who manages every realm; whoever administers one can look, not apply', async () => {
    const tenant = await holding('roles:read', 'roles:write', 'managers:read', 'managers:write');
    for (const manager of [
      'k8s:prod/identity/Realm/acme',
      'k8s:',
      'pipeline:main',
      'K8s:prod/identity/Realm/acme',
      'PIPELINE:x',
    ])
      expect(await apply(tenant, manager), manager).toMatch(/^403 .*managers:write over every realm/);
    expect(await apply(tenant, 'k8s:prod/identity/Realm/acme', true)).toBe(200);
    expect(await apply(tenant, 'cli:k8s:me')).toBe(200);
    await admin.fetch('/admin/realms/acme/managers/cli:k8s:me', { method: 'DELETE' });
    const everywhere = await administrator(server, {
      target: '*',
      permissions: ['roles:read', 'roles:write', 'managers:write'],
    });
    expect(await apply(everywhere, 'k8s:prod/identity/Realm/acme')).toBe(200);
  });
});
