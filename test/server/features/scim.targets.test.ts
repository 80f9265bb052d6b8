// People and groups provisioned outward: from one realm to our own SCIM server in another, over HTTPS, and to receivers that fail.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eraseUser } from '../../../server/contract/gdpr.ts';
import { createGroup, deleteGroup, listGroups, putGroup } from '../../../server/contract/groups.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import {
  createScimTarget,
  deleteScimTarget,
  getScimTarget,
  listScimTargetObjects,
  putScimTarget,
  reconcileScimTarget,
} from '../../../server/contract/scim-targets.ts';
import { createScimToken } from '../../../server/contract/scim-tokens.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { createUser, deleteUser, listUsers, putUser } from '../../../server/contract/users.ts';
import { administrator } from '../../support/administrators.ts';
import { type Answer, type Received, type Receiver, startReceiver } from '../../support/receiver.ts';
import { passOn, scimWith } from '../../support/scim.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const FROM = { realm: 'staff' };
const TO = { realm: 'wiki' };
let server: TestServer;
let receiver: Receiver;
let token: string;
let targetId: string;

const onwards = (request: Received) => passOn(server, request);
const requests = (method: string, path: RegExp) =>
  receiver.received.filter((one) => one.method === method && path.test(one.url));

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: receiver.caFile } });
  receiver.answer = onwards;
  for (const body of [FROM, TO]) await server.admin.call(createRealm, { body });
  const { body } = await server.admin.call(createScimToken, {
    params: TO,
    body: { name: 'staff', permissions: ['read', 'write'] },
  });
  token = body?.token ?? '';
  // Somebody and a group are there before the target is.
  await person('ana', { email: 'ana@staff.example', firstName: 'Ana' });
  await server.admin.call(createGroup, { params: FROM, body: { name: 'engineering' } });
  targetId = await makeTarget({ name: 'wiki', url: `${receiver.url}/realms/${TO.realm}/scim/v2`, secret: token });
});
afterAll(async () => {
  // what is still sent while the server stops finds nobody there
  if (receiver) receiver.answer = () => ({ status: 503 });
  await server?.stop();
  await receiver?.stop();
});

const person = async (username: string, more: object = {}) =>
  (await server.admin.call(createUser, { params: FROM, body: { username, ...more } })).body?.id ?? '';
const makeTarget = async (body: {
  name: string;
  url: string;
  secret?: string;
  users?: boolean;
  groups?: boolean;
  filter?: string;
  mappings?: Record<string, string>;
}) => (await server.admin.call(createScimTarget, { params: FROM, body })).body?.id ?? '';
const change = (userId: string, body: object) => server.admin.call(putUser, { params: { ...FROM, userId }, body });
const status = async (id = targetId) =>
  (await server.admin.call(getScimTarget, { params: { ...FROM, id } })).body?.status;
const objects = async (id = targetId, state?: 'inStep' | 'waiting' | 'failed') =>
  (await server.admin.call(listScimTargetObjects, { params: { ...FROM, id }, query: state ? { state } : {} })).body ??
  [];
const there = async (username: string) =>
  (await server.admin.call(listUsers, { params: TO, query: { q: username } })).body?.find(
    (u) => u.username === username,
  );
const soon = { timeout: 60_000 };
const inStep = (id = targetId) =>
  expect.poll(async () => (await status(id)) ?? {}, soon).toMatchObject({ waiting: 0, failed: 0, lastError: null });

test('who was there before goes there, and whoever comes, changes, is disabled and leaves', async () => {
  await expect.poll(() => there('ana'), soon).toMatchObject({ email: 'ana@staff.example', firstName: 'Ana' });
  const bo = await person('bo', { lastName: 'First', attributes: { department: ['sales'] } });
  await expect
    .poll(() => there('bo'), soon)
    .toMatchObject({ lastName: 'First', attributes: { department: ['sales'] } });
  for (const lastName of ['Second', 'Third', 'Last']) await change(bo, { username: 'bo', lastName });
  await expect.poll(async () => (await there('bo'))?.lastName, soon).toBe('Last');
  await change(bo, { username: 'robert', enabled: false });
  await expect.poll(() => there('robert'), soon).toMatchObject({ enabled: false, lastName: 'Last' });
  await inStep();
  expect(await objects()).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: 'user', id: bo, name: 'robert', state: 'inStep', error: null, nextTryAt: null }),
    ]),
  );
  await server.admin.call(deleteUser, { params: { ...FROM, userId: bo } });
  await expect.poll(() => there('robert'), soon).toBeUndefined();
  expect((await objects()).filter(({ id }) => id === bo)).toEqual([]);
  const eve = await person('eve');
  await expect.poll(() => there('eve'), soon).toBeDefined();
  await inStep();
  const others = (await objects()).length - 1;
  await server.admin.call(eraseUser, { params: { ...FROM, userId: eve } });
  await expect.poll(() => there('eve'), soon).toBeUndefined();
  await expect.poll(async () => (await objects()).length, soon).toBe(others);
});

test('groups go there with their members, and follow them', async () => {
  const group = async (path: string) =>
    (await server.admin.call(listGroups, { params: TO, query: { limit: 100 } })).body?.find((g) => g.path === path);
  await expect.poll(() => group('/engineering'), soon).toBeDefined();
  const cy = await person('cy', { groups: ['/engineering'] });
  await expect.poll(async () => (await there('cy'))?.groups, soon).toEqual(['/engineering']);
  await change(cy, { username: 'cy', groups: [] });
  await expect.poll(async () => (await there('cy'))?.groups, soon).toEqual([]);
  const { body: made } = await server.admin.call(createGroup, { params: FROM, body: { name: 'ops' } });
  const id = made?.id ?? '';
  await change(cy, { username: 'cy', groups: ['/ops'] });
  await expect.poll(async () => (await there('cy'))?.groups, soon).toEqual(['/ops']);
  await server.admin.call(putGroup, { params: { ...FROM, id }, body: { name: 'operations' } });
  await expect.poll(async () => (await there('cy'))?.groups, soon).toEqual(['/operations']);
  await server.admin.call(deleteGroup, { params: { ...FROM, id } });
  await expect.poll(() => group('/operations'), soon).toBeUndefined();
  await inStep();
});

test('what others changed there is put back when it is reconciled; a dry run says what would be done', async () => {
  const ana = await there('ana');
  await server.admin.call(putUser, {
    params: { ...TO, userId: ana?.id ?? '' },
    body: { username: 'ana', firstName: 'Eve' },
  });
  const { body: nothing } = await server.admin.call(reconcileScimTarget, {
    params: { ...FROM, id: targetId },
    query: { dryRun: 'true' },
  });
  expect(nothing).toMatchObject({ dryRun: true, create: 0, update: 0, delete: 0, examples: [] });
  expect(nothing?.unchanged).toBeGreaterThanOrEqual(2);
  await server.admin.call(reconcileScimTarget, { params: { ...FROM, id: targetId }, query: {} });
  await expect.poll(async () => (await there('ana'))?.firstName, soon).toBe('Ana');
  // Removed there, it is made again.
  await server.admin.call(deleteUser, { params: { ...TO, userId: ana?.id ?? '' } });
  await server.admin.call(reconcileScimTarget, { params: { ...FROM, id: targetId }, query: {} });
  await expect.poll(() => there('ana'), soon).toMatchObject({ firstName: 'Ana' });
  await inStep();
});

test('a receiver that is away, slow and asks for time gets everybody once it answers, each in their last state', async () => {
  const answers: Answer[] = [
    { status: 429, headers: { 'retry-after': '1' } },
    { status: 503, headers: { 'retry-after': '1' } },
    { status: 201, body: 'no JSON' },
  ];
  const asked: number[] = [];
  receiver.answer = async (request) => {
    if (!/\/Users/.test(request.url) || answers.length === 0) return onwards(request);
    asked.push(request.at);
    const answer = answers.shift() ?? {};
    // It took it, and nobody heard of it.
    if (answer.status === 201) await onwards(request);
    return answer;
  };
  const di = await person('di', { lastName: 'One' });
  await change(di, { username: 'di', lastName: 'Two' });
  await expect.poll(async () => (await status())?.lastError, soon).toMatch(/^answered (429|503)/);
  await expect.poll(() => answers.length, soon).toBe(0);
  expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThan(900);
  await expect
    .poll(async () => (await objects(targetId, 'failed')).map(({ name, attempts }) => ({ name, attempts })), soon)
    .toEqual([{ name: 'di', attempts: 1 }]);
  expect((await objects(targetId, 'failed'))[0]?.error).toContain('without an id');
  // Its next change is another try; it takes up who is there already.
  await change(di, { username: 'di', lastName: 'Three' });
  await expect.poll(async () => (await there('di'))?.lastName, soon).toBe('Three');
  await inStep();
  receiver.answer = onwards;
});

test('who is refused is named with the reason, and holds nobody else up', async () => {
  receiver.answer = (request) =>
    request.raw.includes('"refused-one"')
      ? { status: 400, body: JSON.stringify({ detail: 'userName is not to our taste' }) }
      : onwards(request);
  await person('refused-one');
  await person('taken-one');
  await expect.poll(() => there('taken-one'), soon).toBeDefined();
  await expect
    .poll(() => objects(targetId, 'failed'), soon)
    .toEqual([
      expect.objectContaining({
        name: 'refused-one',
        error: 'answered 400: userName is not to our taste',
        attempts: 1,
      }),
    ]);
  expect(await status()).toMatchObject({ failed: 1 });
  receiver.answer = onwards;
});

test('who has the name there and is somebody else is neither changed nor deleted, until they are said to be the same', async () => {
  const to = scimWith(server, TO.realm, token);
  const theirs = { emails: [{ value: 'boss@wiki.example', primary: true }], externalId: 'hr-1' };
  const { body: boss } = await to('POST', '/Users', { userName: 'Boss', ...theirs });
  const { body: board } = await to('POST', '/Groups', { displayName: 'board', externalId: 'hr-2' });
  const wasThere = async () =>
    (await Promise.all([`/Users/${boss.id}`, `/Groups/${board.id}`].map((path) => to('GET', path)))).map(
      ({ body }) => body,
    );
  const before = await wasThere();
  const userId = await person('boss', { email: 'mallory@staff.example' });
  const groupId = (await server.admin.call(createGroup, { params: FROM, body: { name: 'board' } })).body?.id ?? '';
  const failed = async () => (await objects(targetId, 'failed')).filter(({ id }) => [userId, groupId].includes(id));
  const taken = { remoteId: null, error: 'another object of the target has its name', nextTryAt: expect.any(Number) };
  await expect
    .poll(failed, soon)
    .toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: userId, ...taken }),
        expect.objectContaining({ id: groupId, ...taken }),
      ]),
    );
  expect(await wasThere()).toEqual(before);
  // Its id here is said there: it is the same.
  await to('PUT', `/Users/${boss.id}`, { userName: 'Boss', ...theirs, externalId: userId });
  await change(userId, { username: 'boss', lastName: 'Moe' });
  await expect
    .poll(() => there('boss'), soon)
    .toMatchObject({ id: boss.id, lastName: 'Moe', email: 'mallory@staff.example' });
  await server.admin.call(deleteGroup, { params: { ...FROM, id: groupId } });
  await expect.poll(failed, soon).toEqual([]);
  expect((await wasThere())[1]).toEqual(before[1]);
});

test('what a target answers for another name than the one asked for is nobody to take up', async () => {
  let id = '';
  receiver.answer = ({ method, url }) => {
    if (!url.startsWith('/deaf/')) return { status: 204 };
    if (method === 'POST') return { status: 409, body: '{"detail":"uniqueness"}' };
    return {
      status: 200,
      body: JSON.stringify({ Resources: [{ id: 'first', userName: 'first-of-all', externalId: id }] }),
    };
  };
  const deaf = await makeTarget({
    name: 'deaf',
    url: `${receiver.url}/deaf`,
    groups: false,
    filter: 'userName eq "fay"',
  });
  receiver.received.length = 0;
  id = await person('fay');
  await expect
    .poll(async () => (await objects(deaf, 'failed')).map(({ error }) => error), soon)
    .toEqual(['answered 409: uniqueness']);
  expect(requests('PUT', /^\/deaf\//)).toEqual([]);
  await server.admin.call(deleteScimTarget, { params: { ...FROM, id: deaf } });
  receiver.answer = onwards;
});

test('filter and mappings say who goes there and as what; who falls out of the filter is removed there', async () => {
  receiver.answer = (request) =>
    request.method === 'POST'
      ? { status: 201, body: JSON.stringify({ id: `there-${receiver.received.length}` }) }
      : { status: 204 };
  receiver.received.length = 0;
  const id = await makeTarget({
    name: 'sales only',
    url: `${receiver.url}/other`,
    groups: false,
    filter: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "sales"',
    mappings: { userName: 'email', title: '"Agent"', nickName: 'attributes.alias', 'name.givenName': '' },
  });
  const ed = await person('ed', {
    email: 'ed@staff.example',
    firstName: 'Ed',
    lastName: 'Moe',
    attributes: { department: ['sales'], alias: ['eddie'] },
  });
  await expect.poll(() => requests('POST', /^\/other\/Users$/).length, soon).toBe(1);
  const [sent] = requests('POST', /^\/other\/Users$/);
  expect(JSON.parse(String(sent?.raw))).toEqual({
    schemas: [
      'urn:ietf:params:scim:schemas:core:2.0:User',
      'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
    ],
    externalId: ed,
    userName: 'ed@staff.example',
    name: { familyName: 'Moe' },
    active: true,
    emails: [{ value: 'ed@staff.example', type: 'work', primary: true }],
    title: 'Agent',
    nickName: 'eddie',
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'sales' },
  });
  expect(sent?.headers.authorization).toBeUndefined();
  await change(ed, { username: 'ed', email: 'ed@staff.example', attributes: { department: ['legal'] } });
  await expect.poll(() => requests('DELETE', /^\/other\/Users\/there-\d+$/).length, soon).toBe(1);
  await server.admin.call(deleteScimTarget, { params: { ...FROM, id } });
  receiver.answer = onwards;
});

test('a disabled target gets nothing, and everything when it is enabled again', async () => {
  const name = { name: 'wiki' };
  await server.admin.call(putScimTarget, { params: { ...FROM, id: targetId }, body: { ...name, enabled: false } });
  await person('late');
  await expect(
    server.admin.call(reconcileScimTarget, { params: { ...FROM, id: targetId }, query: {} }),
  ).rejects.toMatchObject({ status: 409 });
  receiver.received.length = 0;
  await server.admin.call(putScimTarget, { params: { ...FROM, id: targetId }, body: { ...name, enabled: true } });
  await expect.poll(() => there('late'), soon).toBeDefined();
});

test('who may not read people can’t have them sent somewhere', async () => {
  const local = await administrator(server, {
    target: FROM.realm,
    permissions: ['scim-targets:write', 'scim-targets:read'],
  });
  const body = { name: 'mine', url: 'https://evil.example/scim', groups: false };
  await expect(local.call(createScimTarget, { params: FROM, body })).rejects.toMatchObject({ status: 403 });
  await local.call(createScimTarget, { params: FROM, body: { ...body, users: false } });
});

test('who is there, and what a dry run would do, is told to those alone who may read people and groups', async () => {
  const at = { params: { ...FROM, id: targetId }, query: {} };
  const own = ['scim-targets:read', 'scim-targets:write'] as const;
  for (const more of [[], ['users:read'], ['groups:read']] as const) {
    const keeper = await administrator(server, { target: FROM.realm, permissions: [...own, ...more] });
    for (const ask of [
      () => keeper.call(listScimTargetObjects, at),
      () => keeper.call(reconcileScimTarget, { ...at, query: { dryRun: 'true' } }),
    ])
      await expect(ask()).rejects.toMatchObject({ status: 403 });
    expect((await keeper.call(reconcileScimTarget, at)).body).toMatchObject({ dryRun: false, examples: [] });
  }
  const reader = await administrator(server, {
    target: FROM.realm,
    permissions: [...own, 'users:read', 'groups:read'],
  });
  expect((await reader.call(listScimTargetObjects, at)).body).not.toEqual([]);
  expect((await reader.call(reconcileScimTarget, { ...at, query: { dryRun: 'true' } })).body?.dryRun).toBe(true);
});

test('a mapping sends nothing that the user profile hides from administrators', async () => {
  receiver.answer = (request) =>
    request.method === 'POST' ? { status: 201, body: JSON.stringify({ id: 'there' }) } : { status: 204 };
  receiver.received.length = 0;
  const attributes = [{ name: 'pin', view: ['user' as const], edit: ['user' as const] }];
  await server.admin.call(importRealm, {
    params: FROM,
    body: { userProfile: { attributes }, users: [{ username: 'pia', attributes: { pin: ['1234'], alias: ['pi'] } }] },
  });
  await makeTarget({
    name: 'curious',
    url: `${receiver.url}/curious`,
    groups: false,
    filter: 'userName eq "pia"',
    mappings: { nickName: 'attributes.pin', title: 'attributes.alias' },
  });
  await expect.poll(() => requests('POST', /^\/curious\/Users$/).length, soon).toBe(1);
  const [sent] = requests('POST', /^\/curious\/Users$/);
  expect(JSON.parse(String(sent?.raw))).toMatchObject({ userName: 'pia', title: 'pi' });
  expect(String(sent?.raw)).not.toContain('1234');
  await server.admin.call(importRealm, { params: FROM, body: { userProfile: { attributes: [] } } });
  receiver.answer = onwards;
});
