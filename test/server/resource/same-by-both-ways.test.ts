// Owns: the same change by the admin API and by a realm document leaves the same rows and the same events, field by field.
// Does not own: users, whose rows are written in bulk (features/people/users.same-by-both-ways.test.ts).
// Implements: design "One write path for an object".
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  deleteAuthorizationService,
  listAuthorizationServices,
  putAuthorizationService,
} from '../../../server/contract/authorization-service-routes.ts';
import { createClient, listClients } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { createUser } from '../../../server/contract/users.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { declaredSamples } from './declared-samples.ts';
import { API, type Sample } from './sample.ts';

const DOCUMENT = 'by-document';

/** Of the client `app`, and of one that protects something, where the admin API is asked. */
let appId = '';
let guardedId = '';

const samples: readonly Sample[] = [
  ...declaredSamples,
  {
    section: 'authorizationServices',
    table: 'authorization_service',
    key: 'clientId',
    column: 'client_id',
    routes: {
      create: putAuthorizationService,
      put: putAuthorizationService,
      remove: deleteAuthorizationService,
      list: listAuthorizationServices,
    },
    keyOf: () => 'guarded',
    at: () => ({ realm: API, clientId: guardedId }),
    needed: {},
    fields: {
      settings: { enforcement: 'permissive' },
      resources: [
        { name: 'b', scopes: [] },
        { name: 'a', uris: ['/b', '/a', '/b'] },
      ],
      scopes: [{ name: 'view' }, { name: 'edit', displayName: 'Edit' }],
      policies: [{ name: 'ana', type: 'user', config: { users: ['bob', 'ana'] } }],
      permissions: [{ name: 'all', resourceType: 'album', decisionStrategy: 'consensus' }],
    },
  },
];

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  for (const realm of [API, DOCUMENT]) {
    await server.admin.call(createRealm, { body: { realm } });
    for (const clientId of ['app', 'jobs', 'guarded'])
      await server.admin.call(createClient, { params: { realm }, body: { clientId } });
    await server.admin.call(createUser, { params: { realm }, body: { username: 'ana' } });
    const named = [{ name: 'one' }, { name: 'two' }];
    const groups = named.map(({ name }) => ({ path: `/${name}` }));
    const body = { roles: named, groups, clientRoles: { app: [{ name: 'reader' }] } };
    await server.admin.call(importRealm, { params: { realm }, query: { manager: 'base' }, body });
  }
  const { body: clients = [] } = await server.admin.call(listClients, { params: { realm: API } });
  const idOf = (name: string) => clients.find(({ clientId }) => clientId === name)?.id ?? '';
  appId = idOf('app');
  guardedId = idOf('guarded');
});
afterAll(() => server?.stop());

type Way = (sample: Sample, object: Record<string, unknown>) => Promise<void>;
const paramsOf = ({ ofClient }: Sample) => ({ realm: API, ...(ofClient && { clientId: appId }) });
/** Which one the path names: by its id, or by its name where it lies below another one. */
const addressOf = async (sample: Sample, name: unknown): Promise<Record<string, string>> => {
  const params = paramsOf(sample);
  if (sample.at) return sample.at(String(name));
  if (sample.ofClient && sample.routes.put.path.endsWith('/:name')) return { ...params, name: String(name) };
  const { body } = await server.admin.call(sample.routes.list, { params, query: { limit: 1000 } });
  const found = (body as Record<string, unknown>[]).find((one) => one[sample.key] === name);
  return { ...params, id: String(found?.id), mapperId: String(found?.id), [sample.key]: String(name) };
};
const bodyOf = ({ body = (same) => same }: Sample, object: Record<string, unknown>) => body(object);
const byApi: Record<'create' | 'update' | 'remove', Way> = {
  create: async (sample, object) => {
    const body = bodyOf(sample, object);
    const params = sample.at?.(String(object[sample.key])) ?? paramsOf(sample);
    await server.admin.call(sample.routes.create, { params, body });
  },
  update: async (sample, object) => {
    const params = await addressOf(sample, object[sample.key]);
    await server.admin.call(sample.routes.put, { params, body: bodyOf(sample, object) });
  },
  remove: async (sample, object) => {
    const params = await addressOf(sample, object[sample.key]);
    await server.admin.call(sample.routes.remove, { params });
  },
};
const declare = async ({ section, sectionOf = (all) => all }: Sample, objects: readonly object[], manager: string) => {
  const query = { manager, prune: 'true' as const };
  const body = { [section]: sectionOf(objects) };
  await server.admin.call(importRealm, { params: { realm: DOCUMENT }, query, body });
};
const managerOf = ({ section, key }: Sample, object: Record<string, unknown>) =>
  `${section}-${String(object[key]).replaceAll('/', '')}`;
const byDocument: typeof byApi = {
  create: async (sample, object) => declare(sample, [object], managerOf(sample, object)),
  update: async (sample, object) => declare(sample, [object], managerOf(sample, object)),
  remove: async (sample, object) => declare(sample, [], managerOf(sample, object)),
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
  for (const name of ['realm_id', 'id', 'created_at', 'updated_at']) delete row[name];
  for (const name of random) row[name] = row[name] !== null;
  return { ...row, tied };
}
/** What was told of the object, without whose way it was. */
async function eventsOf(realm: string, name: string): Promise<unknown[]> {
  const { body = [] } = await server.admin.call(listEvents, {
    params: { realm },
    query: { limit: 1000, subject: name },
  });
  return body
    .filter(({ subject }) => subject?.name === name)
    .map(({ type, subject, clientId, outcome, data: { manager: _, ...data } }) => {
      expect(subject?.id).toMatch(/^[0-9a-f-]{36}$/);
      return { type, kind: subject?.type, clientId, outcome, data };
    });
}

describe.each(samples)('of $section', (sample) => {
  const { needed, fields, key } = sample;
  const named = (name: string) => (sample.ofClient ? name : (sample.keyOf?.(name) ?? name));
  const compare = async (name: string) => {
    const [row, other] = [await rowOf(sample, API, name), await rowOf(sample, DOCUMENT, name)];
    expect(other).toEqual(row);
    const subject = sample.ofClient ? (sample.keyOf?.(name) ?? name) : name;
    const [events, others] = [await eventsOf(API, subject), await eventsOf(DOCUMENT, subject)];
    expect(others).toEqual(events);
    return { row, events };
  };

  test.each(Object.keys(fields))('a change of %s leaves the same row and the same events', async (field) => {
    const name = named(`${sample.section}-${field}`);
    // what must be unique is each object's own
    const plain = {
      ...needed,
      ...sample.beside?.[field],
      [key]: name,
      ...('subject' in needed ? { subject: name } : {}),
    };
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
    const name = named(`whole-${sample.section}`);
    const whole = { ...needed, ...fields, ...sample.whole, [key]: name };
    for (const way of [byApi, byDocument]) await way.create(sample, whole);
    const { row, events } = await compare(name);
    expect(row).toBeDefined();
    expect(events).not.toEqual([]);
  });
});
