// Owns: the same change by the admin API and by a realm document leaves the same rows and the same events, field by field.
// Does not own: users, whose rows are written in bulk (features/users.same-by-both-ways.test.ts).
// Implements: design "One write path for an object".
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminRoleRoutes } from '../../../server/contract/admin-access.ts';
import { clientScopeRoutes } from '../../../server/contract/client-scopes.ts';
import { clientRoutes, createClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { organizationRoutes } from '../../../server/contract/organizations.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import type { Route } from '../../../server/contract/route.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { webhookRoutes } from '../../../server/contract/webhooks.ts';
import { workloadIdentityRoutes } from '../../../server/contract/workload-identity.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

interface Sample {
  section: string;
  table: string;
  key: string;
  routes: { create: Route; put: Route; remove: Route; list: Route };
  /** What every object of the kind must have. */
  needed: Record<string, unknown>;
  /** A value for each field that isn't the plainest one. */
  fields: Record<string, unknown>;
  /** Columns that are different each time, by nature. */
  random?: readonly string[];
  /** The natural key's column, where it has another name. */
  column?: string;
  /** Of the fields, where all of them together need others. */
  whole?: Record<string, unknown>;
  /** What other tables hold of the row `t`. */
  links?: string;
}

const samples: readonly Sample[] = [
  {
    section: 'webhooks',
    table: 'webhook',
    key: 'name',
    routes: webhookRoutes,
    needed: { url: 'https://hooks.example.com/a', eventTypes: 'LOGOUT', enabled: true },
    fields: {
      url: 'https://hooks.example.com/b',
      eventTypes: 'LOGOUT,LOGIN_SUCCESS',
      enabled: false,
      secret: 'at least sixteen characters',
    },
    random: ['secret'],
  },
  {
    section: 'workloadIdentity',
    table: 'workload_identity',
    key: 'name',
    routes: workloadIdentityRoutes,
    needed: { issuer: 'https://issuer.example', subject: 'a', audience: 'here', clientId: 'app' },
    fields: {
      issuer: 'https://other.example',
      jwksUri: 'https://issuer.example/keys',
      subject: 'b',
      audience: 'there',
      clientId: 'jobs',
      scopes: 'email profile',
      enabled: false,
      adminAccess: false,
    },
  },
  {
    section: 'clientScopes',
    table: 'client_scope',
    key: 'name',
    routes: clientScopeRoutes,
    needed: {},
    fields: {
      description: 'What for',
      includeInTokenScope: false,
      claims: [{ name: 'tier', source: 'attribute', value: 'tier', accessToken: true }],
    },
  },
  {
    section: 'clients',
    table: 'client',
    key: 'clientId',
    column: 'client_id',
    routes: clientRoutes,
    needed: {},
    fields: {
      name: 'The shop',
      description: 'Sells',
      enabled: false,
      tokenEndpointAuthMethod: 'none',
      redirectUris: ['https://b.example/cb', 'https://a.example/cb', 'https://b.example/cb'],
      postLogoutRedirectUris: ['https://a.example/'],
      webOrigins: ['+'],
      grantTypes: ['client_credentials'],
      defaultClientScopes: ['openid', 'groups'],
      optionalClientScopes: ['phone'],
      consentRequired: true,
      requirePkce: false,
      flowOverride: 'browser',
      accessTokenTtlSeconds: 60,
      refreshTokenTtlSeconds: 600,
      jwks: { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'x' }] },
      jwksUri: 'https://a.example/keys',
      allowedResources: ['https://api.example/b', 'https://api.example/a'],
      secret: 'q8Zr1vXkT0bN5mJ2cWyH7gLpD4sFa9Ue',
    },
    // they go only together
    whole: { tokenEndpointAuthMethod: 'client_secret_post', jwksUri: null },
    links: `select array(
      select jsonb_build_array(s.name, l.optional) from client_scope_link l
      join client_scope s on s.realm_id = l.realm_id and s.id = l.scope_id
      where l.realm_id = t.realm_id and l.client = t.id order by 1)`,
  },
  {
    section: 'organizations',
    table: 'organization',
    key: 'name',
    routes: organizationRoutes,
    needed: {},
    fields: {
      displayName: 'Acme Ltd',
      enabled: false,
      domains: [{ name: 'b.example' }, { name: 'a.example', verified: false }],
      attributes: { plan: ['gold'] },
    },
    links: `select array(select jsonb_build_array(d.name, d.verified) from organization_domain d
      where d.realm_id = t.realm_id and d.organization_id = t.id order by 1)`,
  },
  {
    section: 'adminRoles',
    table: 'admin_role',
    key: 'name',
    routes: adminRoleRoutes,
    needed: { permissions: ['users:read'] },
    fields: { permissions: ['users:write', 'groups:read', 'users:write'] },
  },
];

let server: TestServer;
const [API, DOCUMENT] = ['by-api', 'by-document'];

beforeAll(async () => {
  server = await startTestServer();
  for (const realm of [API, DOCUMENT]) {
    await server.admin.call(createRealm, { body: { realm } });
    for (const clientId of ['app', 'jobs'])
      await server.admin.call(createClient, { params: { realm }, body: { clientId } });
  }
});
afterAll(() => server?.stop());

type Way = (sample: Sample, object: Record<string, unknown>) => Promise<void>;
const idOf = async ({ routes, key }: Sample, name: unknown): Promise<string> => {
  const { body } = await server.admin.call(routes.list, { params: { realm: API }, query: { limit: 1000 } });
  const found = (body as Record<string, unknown>[]).find((one) => one[key] === name);
  return String(found?.id);
};
const byApi: Record<'create' | 'update' | 'remove', Way> = {
  create: async ({ routes }, body) => void (await server.admin.call(routes.create, { params: { realm: API }, body })),
  update: async (sample, body) => {
    const params = { realm: API, id: await idOf(sample, body[sample.key]) };
    await server.admin.call(sample.routes.put, { params, body });
  },
  remove: async (sample, object) => {
    const params = { realm: API, id: await idOf(sample, object[sample.key]) };
    await server.admin.call(sample.routes.remove, { params });
  },
};
const declare = async (section: string, objects: readonly object[], manager: string) => {
  const query = { manager, prune: 'true' as const };
  await server.admin.call(importRealm, { params: { realm: DOCUMENT }, query, body: { [section]: objects } });
};
const managerOf = ({ section, key }: Sample, object: Record<string, unknown>) => `${section}-${object[key]}`;
const byDocument: typeof byApi = {
  create: async (sample, object) => declare(sample.section, [object], managerOf(sample, object)),
  update: async (sample, object) => declare(sample.section, [object], managerOf(sample, object)),
  remove: async (sample, object) => declare(sample.section, [], managerOf(sample, object)),
};

/** The object's row, without what is an id or a time. */
async function rowOf(
  { table, key, column = key, random = [], links = 'select null' }: Sample,
  realm: string,
  name: string,
): Promise<unknown> {
  const { rows } = await server.pool.query(
    `select to_jsonb(t) as row, (${links}) as links from ${table} t where realm_id = $1 and ${column} = $2`,
    [realm, name],
  );
  const { row, links: tied } = rows[0] ?? {};
  if (!row) return undefined;
  for (const name of ['realm_id', 'id', 'created_at']) delete row[name];
  for (const name of random) row[name] = row[name] !== null;
  return { ...row, tied };
}
/** What was told of the object, without whose way it was. */
async function eventsOf(realm: string, name: string): Promise<unknown[]> {
  const { body = [] } = await server.admin.call(listEvents, { params: { realm }, query: { limit: 200 } });
  return body
    .filter(({ subject }) => subject?.name === name)
    .map(({ type, subject, clientId, outcome, data: { manager: _, ...data } }) => {
      expect(subject?.id).toMatch(/^[0-9a-f-]{36}$/);
      return { type, kind: subject?.type, clientId, outcome, data };
    });
}

describe.each(samples)('of $section', (sample) => {
  const { needed, fields, key } = sample;
  const compare = async (name: string) => {
    const [row, other] = [await rowOf(sample, API, name), await rowOf(sample, DOCUMENT, name)];
    expect(other).toEqual(row);
    const [events, others] = [await eventsOf(API, name), await eventsOf(DOCUMENT, name)];
    expect(others).toEqual(events);
    return { row, events };
  };

  test.each(Object.keys(fields))('a change of %s leaves the same row and the same events', async (field) => {
    const name = `${sample.section}-${field}`;
    // what must be unique is each object's own
    const plain = { ...needed, [key]: name, ...('subject' in needed ? { subject: name } : {}) };
    for (const way of [byApi, byDocument]) await way.create(sample, plain);
    const { row: before } = await compare(name);
    for (const way of [byApi, byDocument]) await way.update(sample, { ...plain, [field]: fields[field] });
    const { row, events } = await compare(name);
    expect(row).not.toEqual(before);
    expect(events[0]).toMatchObject({ data: { action: 'update', fields: [field] } });
    for (const way of [byApi, byDocument]) await way.remove(sample, plain);
    expect((await compare(name)).row).toBeUndefined();
  });

  test('one made with every field has the same row and the same events', async () => {
    const whole = { ...needed, ...fields, ...sample.whole, [key]: `${sample.section}-whole` };
    for (const way of [byApi, byDocument]) await way.create(sample, whole);
    await compare(`${sample.section}-whole`);
  });
});
