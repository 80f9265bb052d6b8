// Owns: who may send a domain's people to an identity provider, where its administrators would type their passwords.
// Does not own: where people are sent (home-realm.test.ts), who may change a provider that people are connected with (identity-providers.test.ts).
// Implements: decisions "Rights".
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import type { Client } from '../../../server/contract/client.ts';
import { createIdentityProvider, putIdentityProvider } from '../../../server/contract/identity-providers.ts';
import { createOrganization, putOrganization } from '../../../server/contract/organizations.ts';
import type { Permission } from '../../../server/contract/permissions.ts';
import { importRealm, type RealmDocument } from '../../../server/contract/transfer.ts';
import { createUser } from '../../../server/contract/users.ts';
import { administrator } from '../../support/administrators.ts';
import { makeRealm } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const realm = 'acme';
const params = { realm };
const held: Permission[] = [
  'identity-providers:read',
  'identity-providers:write',
  'organizations:read',
  'organizations:write',
];
let server: TestServer;
let clerk: Client;

beforeAll(async () => {
  server = await startTestServer({ jobs: false });
  await makeRealm(server, realm);
  const body = { username: 'boss', email: 'boss@staff.example' };
  const userId = (await server.admin.call(createUser, { params, body })).body?.id ?? '';
  const grants = [{ role: 'realm-admin', realm }];
  await server.admin.call(putUserAdminRoles, { params: { realm, userId }, body: { grants } });
  clerk = await administrator(server, { home: realm, target: realm, permissions: held });
});
afterAll(() => server?.stop());

const provider = (alias: string, domains: string[]) => ({
  alias,
  type: 'oidc' as const,
  clientId: 'x',
  config: { issuer: `https://${alias}.example` },
  domains,
});
const refused = {
  status: 403,
  problem: { type: 'urn:svc:problem:privilege-escalation', detail: expect.stringContaining('boss') },
};
const apply = (body: RealmDocument, dryRun: 'true' | 'false') =>
  clerk.call(importRealm, { params, query: { manager: 'theirs', dryRun }, body });

test('a provider takes the domain of a stronger administrator from nobody who holds less, anew or later', async () => {
  const theirs = provider(
    'evil',
    ['Staff.example', 'plain.example'].map((domain) => domain.toLowerCase()),
  );
  await expect(clerk.call(createIdentityProvider, { params, body: theirs })).rejects.toMatchObject(refused);
  for (const dryRun of ['true', 'false'] as const)
    await expect(apply({ identityProviders: [theirs] }, dryRun)).rejects.toMatchObject(refused);
  const { status } = await clerk.call(createIdentityProvider, { params, body: provider('plain', ['plain.example']) });
  expect(status).toBe(201);
  const at = { params: { realm, alias: 'plain' } };
  await expect(clerk.call(putIdentityProvider, { ...at, body: { domains: ['staff.example'] } })).rejects.toMatchObject(
    refused,
  );
  await server.admin.call(createIdentityProvider, { params, body: provider('staff', ['staff.example']) });
  const moved = { params: { realm, alias: 'staff' }, body: { config: { issuer: 'https://evil.example' } } };
  await expect(clerk.call(putIdentityProvider, moved)).rejects.toMatchObject(refused);
});

test('nor does an organization', async () => {
  await clerk.call(createIdentityProvider, { params, body: provider('corp', []) });
  const body = { name: 'Corp', identityProviders: ['corp'], domains: [{ name: 'staff.example', verified: true }] };
  await expect(clerk.call(createOrganization, { params, body })).rejects.toMatchObject(refused);
  const later = { name: 'Corp', domains: [{ name: 'staff.example', verified: true }] };
  const made = await clerk.call(createOrganization, { params, body: later });
  await expect(
    clerk.call(putOrganization, {
      params: { realm, id: made.body?.id ?? '' },
      body: { name: 'Corp', identityProviders: ['corp'] },
    }),
  ).rejects.toMatchObject(refused);
});
