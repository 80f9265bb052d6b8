import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ServerProblem } from '../../../server/contract/client.ts';
import { listEvents } from '../../../server/contract/events.ts';
import * as api from '../../../server/contract/organizations.ts';
import { unknownName } from '../../../server/contract/problem.ts';
import { createRealm, listRealms } from '../../../server/contract/realms.ts';
import { exportRealm, importRealm, type RealmDocument } from '../../../server/contract/transfer.ts';
import { createUser, deleteUser } from '../../../server/contract/users.ts';
import { startNameServer } from '../../support/name-server.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let names: Awaited<ReturnType<typeof startNameServer>>;
const params = { realm: 'acme' };
/** What the name servers say; an error is what they answer with. */
const records = new Map<string, string[][] | Error>();
const users: Record<string, string> = {};

beforeAll(async () => {
  names = await startNameServer(records);
  server = await startTestServer({ resolveTxt: names.resolveTxt });
  for (const realm of ['acme', 'other']) await server.admin.call(createRealm, { body: { realm } });
  for (const username of ['Ana', 'ben', 'cem'])
    users[username] = (await server.admin.call(createUser, { params, body: { username } })).body!.id;
});
afterAll(async () => {
  await server?.stop();
  await names?.stop();
});

const create = async (name: string, more: object = {}) =>
  (await server.admin.call(api.createOrganization, { params, body: { name, ...more } })).body!;
const put = async (id: string, body: object) =>
  (await server.admin.call(api.putOrganization, { params: { ...params, id }, body })).body!;
const apply = (body: RealmDocument, query: object = {}) => server.admin.call(importRealm, { params, body, query });
const problem = (work: Promise<unknown>): Promise<ServerProblem> =>
  work.then(
    () => Promise.reject(new Error('it was not refused')),
    (error: ServerProblem) => error,
  );
const verify = async (id: string, domain: string) =>
  (await server.admin.call(api.verifyDomain, { params: { ...params, id, domain } })).body!;
const membersOf = async (id: string, query: object = {}) => {
  const answer = await server.admin.call(api.listMembers, { params: { ...params, id }, query });
  return { names: answer.body!.map((m) => m.username), next: answer.nextCursor };
};
const join = (id: string, username: string) =>
  server.admin.call(api.addMember, { params: { ...params, id, userId: users[username]! } });
const revision = async () => (await server.admin.call(listRealms)).body!.find((r) => r.realm === 'acme')!.revision;

describe('an organization', () => {
  test('has the plainest values where they are left out, and put back as it was read changes nothing', async () => {
    const made = await create('plain');
    expect(made).toEqual({
      id: made.id,
      name: 'plain',
      displayName: null,
      enabled: true,
      domains: [],
      identityProviders: [],
      attributes: {},
      createdAt: made.createdAt,
    });
    const before = await revision();
    expect(await put(made.id, made)).toEqual(made);
    expect(await revision()).toBe(before);
    expect(await put(made.id, { enabled: false })).toEqual({ ...made, enabled: false });
  });

  test.each([
    ['domains[0].name', { domains: [{ name: 'Acme.example' }] }],
    ['domains[0].name', { domains: [{ name: 'acme' }] }],
    ['domains', { domains: [{ name: 'a.example' }, { name: 'a.example' }] }],
    ['members', { members: ['Ana'] }],
    ['identityProviders', { identityProviders: ['nobody'] }],
  ])('with a wrong %s is refused by its name', async (path, more) => {
    const refused = await problem(create('wrong', more));
    expect([refused.status, refused.problem?.errors?.map((e) => e.path)]).toEqual([400, [path]]);
  });

  test('is found by a part of either of its names', async () => {
    await create('needle', { displayName: 'Of Steel' });
    for (const q of ['eedl', 'of st'])
      expect((await server.admin.call(api.listOrganizations, { params, query: { q } as object })).body).toMatchObject([
        { name: 'needle' },
      ]);
  });
});

describe('a domain', () => {
  test('that is verified belongs to one organization; others can only claim it', async () => {
    const first = await create('first', { domains: [{ name: 'one.example', verified: true }] });
    const second = await create('second', { domains: [{ name: 'one.example' }] });
    expect(second.domains).toEqual([{ name: 'one.example', verified: false }]);
    const refused = await problem(put(second.id, { domains: [{ name: 'one.example', verified: true }] }));
    expect([refused.status, refused.message]).toEqual([
      409,
      'The organization first has the verified domain one.example already',
    ]);
    await put(first.id, { domains: [] });
    expect((await put(second.id, { domains: [{ name: 'one.example', verified: true }] })).domains).toEqual([
      { name: 'one.example', verified: true },
    ]);
  });

  test('can go from one to another in one document', async () => {
    const owned = (domains: { name: string; verified: boolean }[]) => domains;
    const domain = { name: 'moves.example', verified: true };
    await apply({ organizations: [{ name: 'from', domains: owned([domain]) }, { name: 'to' }] });
    await apply({
      organizations: [
        { name: 'from', domains: [] },
        { name: 'to', domains: owned([domain]) },
      ],
    });
    const { body } = await server.admin.call(api.listOrganizations, { params, query: { q: 'to' } as object });
    expect(body?.find(({ name }) => name === 'to')?.domains).toEqual([domain]);
    const twice = {
      organizations: ['x', 'y'].map((name) => ({ name, domains: [{ ...domain, name: 'two.example' }] })),
    };
    expect(await problem(apply(twice))).toMatchObject({ status: 409 });
  });

  test('is verified by the record that the answer asks for, and by no other', async () => {
    const { id } = await create('proving', { domains: [{ name: 'dns.example' }, { name: 'else.example' }] });
    const asked = await verify(id, 'dns.example');
    expect(asked).toEqual({
      name: 'dns.example',
      verified: false,
      record: {
        type: 'TXT',
        name: 'dns.example',
        value: expect.stringMatching(/^realmkeeper-verification=[\w-]{43}$/),
      },
      problem: 'dns.example has no such TXT record yet',
    });
    const other = await create('thief', { domains: [{ name: 'dns.example' }] });
    records.set('dns.example', [['v=spf1 -all'], [(await verify(other.id, 'dns.example')).record.value]]);
    expect(await verify(id, 'dns.example')).toEqual(asked);
    records.set('dns.example', [[asked.record.value.slice(0, 20), asked.record.value.slice(20)]]);
    expect(await verify(id, 'dns.example')).toEqual({ ...asked, verified: true, problem: null });
    const { body } = await server.admin.call(api.getOrganization, { params: { ...params, id } });
    expect(body?.domains).toEqual([
      { name: 'dns.example', verified: true },
      { name: 'else.example', verified: false },
    ]);
    const events = await server.admin.call(listEvents, { params, query: { type: 'ORGANIZATION_UPDATED', limit: 1 } });
    expect(events.body).toMatchObject([{ subject: { id }, data: { fields: ['domains'] } }]);
  });

  test('whose name servers keep silent says so, and one that is not there is 404', async () => {
    const { id } = await create('silent', { domains: [{ name: 'silent.example' }] });
    records.set('silent.example', Object.assign(new Error('timeout'), { code: 'ETIMEOUT' }));
    expect((await verify(id, 'silent.example')).problem).toBe(
      'the name servers of silent.example gave no answer; try again later',
    );
    expect(await problem(verify(id, 'nowhere.example'))).toMatchObject({ status: 404 });
  });
});

describe('members', () => {
  test('come and go, are listed page by page, and the audit log has each of it once', async () => {
    const { id } = await create('with members');
    const before = await revision();
    for (const username of ['cem', 'Ana', 'ben', 'ben']) await join(id, username);
    const { names, next } = await membersOf(id, { limit: 2 });
    expect(names).toEqual(['Ana', 'ben']);
    expect((await membersOf(id, { limit: 2, cursor: next })).names).toEqual(['cem']);
    const at = { params: { ...params, id, userId: users.ben! } };
    for (let i = 0; i < 2; i += 1) await server.admin.call(api.removeMember, at);
    expect((await membersOf(id)).names).toEqual(['Ana', 'cem']);
    expect(await revision()).toBe(before);
    const query = { userId: users.ben!, type: 'ORGANIZATION_MEMBER_ADDED,ORGANIZATION_MEMBER_REMOVED' };
    const { body } = await server.admin.call(listEvents, { params, query });
    expect(body?.map((e) => [e.type, e.data.organization])).toEqual([
      ['ORGANIZATION_MEMBER_REMOVED', 'with members'],
      ['ORGANIZATION_MEMBER_ADDED', 'with members'],
    ]);
  });

  test('are users of the realm', async () => {
    const { id } = await create('strangers');
    const stranger = (await server.admin.call(createUser, { params: { realm: 'other' }, body: { username: 'eve' } }))
      .body!;
    for (const path of [
      { ...params, id, userId: stranger.id },
      { realm: 'other', id, userId: stranger.id },
    ])
      expect(await problem(server.admin.call(api.addMember, { params: path }))).toMatchObject({ status: 404 });
  });

  test('who are deleted are no members any more, and stay users when the organization goes', async () => {
    const { id } = await create('short');
    users.dee = (await server.admin.call(createUser, { params, body: { username: 'dee' } })).body!.id;
    for (const username of ['dee', 'cem']) await join(id, username);
    await server.admin.call(deleteUser, { params: { ...params, userId: users.dee } });
    expect((await membersOf(id)).names).toEqual(['cem']);
    await server.admin.call(api.deleteOrganization, { params: { ...params, id } });
    expect(await problem(membersOf(id))).toMatchObject({ status: 404 });
  });

  test('stand in a document with users, who may be new there, and in none without', async () => {
    const document: RealmDocument = {
      organizations: [{ name: 'declared', members: ['Ana', 'new one'] }],
      users: [{ username: 'new one' }],
    };
    expect((await apply(document, { dryRun: true })).body?.changes).toContainEqual({
      action: 'create',
      kind: 'organization',
      key: 'declared',
      fields: [{ path: 'members', from: null, to: ['Ana', 'new one'] }],
    });
    await apply(document);
    expect((await apply(document)).body?.inSync).toBe(true);
    const exported = async (query: object) => {
      const { body } = await server.admin.call(exportRealm, { params, query });
      return body?.organizations?.find(({ name }) => name === 'declared')?.members;
    };
    expect([await exported({}), await exported({ users: 'false' })]).toEqual([['Ana', 'new one'], undefined]);
    await apply({ organizations: [{ name: 'declared', members: ['ben'] }] });
    expect(await exported({})).toEqual(['ben']);
  });

  test('who are nobody are refused, in a dry run too', async () => {
    const wrong = { organizations: [{ name: 'nobodies', members: ['Ana', 'nobody', 'ana'] }] };
    for (const query of [{ dryRun: true }, {}])
      expect((await problem(apply(wrong, query))).problem?.errors).toEqual(
        ['nobody', 'ana'].toSorted().map((name) => unknownName('organizations[0].members', 'user', name)),
      );
  });
});
