// Owns: holds over HTTP: who may place them and on what, what an import leaves, what the end brings back, what is audited.
// Does not own: the pure functions (holds.unit.test.ts), the operator's report (operator/holds.test.ts).
// Implements: decisions "Holds".
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../../server/contract/client.ts';
import { deleteClient, listClients, putClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { endHold, getHold, type HeldThing, listHolds, placeHold } from '../../../server/contract/holds.ts';
import { createRealm, deleteRealm, getRealm } from '../../../server/contract/realms.ts';
import { deleteRole, listRoles } from '../../../server/contract/roles.ts';
import { getSettings, putSettings } from '../../../server/contract/settings.ts';
import { listManagers, releaseManager } from '../../../server/contract/transfer.ts';
import { administrator } from '../../support/administrators.ts';
import { eventually } from '../../support/operator.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type Importer, importer } from '../../support/transfer.ts';

const HOUR = 3_600_000;
const GIT = 'k8s:prod/identity/Realm/held';
const owner = { manager: GIT, prune: 'true' };
let server: TestServer;
let admin: Client;
let api: Importer;
let realms = 0;
let realm = '';
let params = { realm };

beforeAll(async () => {
  server = await startTestServer();
  admin = server.admin;
  api = await importer(server);
});
afterAll(() => server?.stop());

const shop = (more: object = {}) => ({
  clientId: 'shop',
  name: 'Shop',
  redirectUris: ['https://shop.example.com/'],
  ...more,
});
const declared = {
  realm: { rememberMe: true, passwordMinLength: 14 },
  roles: [{ name: 'reader' }, { name: 'writer' }],
  clients: [shop(), { clientId: 'blog', name: 'Blog' }],
};
/** A realm of the test's own that Git manages. */
async function managed(document: object = declared): Promise<void> {
  realms += 1;
  realm = `held-${realms}`;
  params = { realm };
  await api.apply(realm, document, owner);
}
const place = (what: HeldThing[], { by = admin, until = Date.now() + HOUR, reason = 'the shop is down' } = {}) =>
  by.call(placeHold, { params, body: { what, reason, until } }).then(({ body }) => body!);
const unhold = (id: string) => admin.call(endHold, { params: { realm, id } });
const client = async (clientId: string) =>
  (await admin.call(listClients, { params })).body?.find((one) => one.clientId === clientId);
const edit = async (clientId: string, body: object) =>
  admin.call(putClient, { params: { realm, id: (await client(clientId))?.id ?? '' }, body });
const revision = async () => (await admin.call(getRealm, { params })).body?.revision;
/** The plan of a dry run, which applying the document must agree with. */
async function applied(document: object = declared, query: Record<string, string> = owner) {
  const { revision: planned, ...dry } = await api.apply(realm, document, { ...query, dryRun: 'true' });
  const { revision: _, ...done } = await api.apply(realm, document, query, { 'if-match': `"${planned}"` });
  const same = ({ changes, ownership, held, kept, inSync, summary }: typeof done) => ({
    changes,
    ownership,
    held,
    kept,
    inSync,
    summary,
  });
  expect(same(done)).toEqual(same({ ...dry }));
  return done;
}

test('an edit of a held object stays through imports, the rest is applied, and the end brings back what is declared', async () => {
  await managed();
  const hold = await place([{ kind: 'client', key: 'shop' }]);
  await edit('shop', { redirectUris: ['https://emergency.example.com/'] });
  const plan = await applied({
    ...declared,
    realm: { rememberMe: false },
    clients: [shop({ name: 'Shop 2' }), { clientId: 'blog', name: 'Blog 2' }],
  });
  expect(plan.changes.map(({ kind, key }) => `${kind} ${key}`)).toEqual([`settings ${realm}`, 'client blog']);
  expect(plan.held).toEqual([
    {
      action: 'update',
      kind: 'client',
      key: 'shop',
      fields: [
        { path: 'name', from: 'Shop', to: 'Shop 2' },
        { path: 'redirectUris', from: ['https://emergency.example.com/'], to: ['https://shop.example.com/'] },
      ],
      hold: { id: hold.id, reason: 'the shop is down', by: 'admin', until: hold.until },
    },
  ]);
  expect(plan.summary.text).toContain('1 held');
  expect(await client('shop')).toMatchObject({ name: 'Shop', redirectUris: ['https://emergency.example.com/'] });
  // at rest: what is held alone is no difference to apply
  const again = await applied({
    ...declared,
    realm: { rememberMe: false },
    clients: [shop({ name: 'Shop 2' }), { clientId: 'blog', name: 'Blog 2' }],
  });
  expect([again.inSync, again.held.length]).toEqual([true, 1]);
  const before = await revision();
  await unhold(hold.id);
  // the operator plans again where the revision has risen
  expect(await revision()).toBe((before ?? 0) + 1);
  const restored = await applied();
  expect(restored.held).toEqual([]);
  expect(await client('shop')).toMatchObject({ name: 'Shop', redirectUris: ['https://shop.example.com/'] });
});

test('settings are held by field', async () => {
  await managed();
  await place([{ kind: 'settings', key: 'passwordMinLength' }]);
  await admin.call(putSettings, { params, body: { passwordMinLength: 20, rememberMe: false } });
  const plan = await applied();
  expect(plan.held).toMatchObject([
    { kind: 'settings', key: realm, path: 'passwordMinLength', fields: [{ from: 20, to: 14 }] },
  ]);
  const { body } = await admin.call(getSettings, { params });
  expect(body).toMatchObject({ passwordMinLength: 20, rememberMe: true });
});

test('a whole kind is held: nothing of it is made, changed or deleted, and what needs an unmade object waits with it', async () => {
  await managed();
  await place([{ kind: 'role' }]);
  const plan = await applied({
    ...declared,
    roles: [{ name: 'reader', description: 'reads' }, { name: 'new' }],
    groups: [{ path: '/staff', roles: ['new'] }, { path: '/others' }],
  });
  const held = plan.held.map(({ action, kind, key }) => `${action} ${kind} ${key}`);
  expect(held.sort()).toEqual(['create group /staff', 'create role new', 'delete role writer', 'update role reader']);
  expect(plan.changes.map(({ kind, key }) => `${kind} ${key}`)).toEqual(['group /others']);
});

describe('deletion in Git', () => {
  test('waits until the hold ends, with what the held object needs', async () => {
    await managed({
      ...declared,
      groups: [{ path: '/staff', roles: ['writer'] }],
    });
    const hold = await place([
      { kind: 'client', key: 'shop' },
      { kind: 'group', key: '/staff' },
    ]);
    const without = {
      realm: declared.realm,
      roles: [{ name: 'reader' }],
      clients: [{ clientId: 'blog', name: 'Blog' }],
    };
    const plan = await applied(without);
    const held = plan.held.map(({ action, kind, key }) => `${action} ${kind} ${key}`);
    expect(held.sort()).toEqual(['delete client shop', 'delete group /staff', 'delete role writer']);
    expect(plan.kept).toEqual([]);
    expect(await client('shop')).toBeDefined();
    const { body: managers } = await admin.call(listManagers, { params });
    expect(managers?.[0]?.owns.map(({ key }) => key)).toContain('shop');
    await unhold(hold.id);
    await applied(without);
    expect(await client('shop')).toBeUndefined();
    const { body: roles } = await admin.call(listRoles, { params });
    expect(roles?.map(({ name }) => name)).not.toContain('writer');
  });

  test('of all that a manager owns is refused, in words; keeping the objects is not, nor is the realm’s deletion', async () => {
    await managed();
    await place([{ kind: 'client', key: 'shop' }]);
    const release = (objects: 'keep' | 'delete') =>
      admin.call(releaseManager, { params: { realm, manager: GIT }, query: { objects } });
    await expect(release('delete')).rejects.toMatchObject({
      status: 409,
      problem: {
        type: 'urn:svc:problem:held',
        detail: expect.stringMatching(/^client shop is held by admin until .*: the shop is down$/),
      },
    });
    expect(await client('shop')).toBeDefined();
    await release('keep');
    await admin.call(deleteRealm, { params });
  });
});

test('an object that is deleted or renamed by hand stays so', async () => {
  await managed({
    ...declared,
    workloadIdentity: [
      { name: 'ci', issuer: 'https://ci.example.com', subject: 'main', audience: 'x', clientId: 'blog' },
    ],
  });
  const hold = await place([
    { kind: 'client', key: 'shop' },
    { kind: 'client', key: 'blog' },
  ]);
  await edit('shop', { clientId: 'shop-2' });
  await admin.call(deleteClient, { params: { realm, id: (await client('blog'))?.id ?? '' } });
  const document = {
    ...declared,
    workloadIdentity: [
      { name: 'ci', issuer: 'https://ci.example.com', subject: 'main', audience: 'x', clientId: 'blog' },
    ],
  };
  const plan = await applied(document);
  const held = plan.held.map(({ action, kind, key }) => `${action} ${kind} ${key}`);
  expect(held.sort()).toEqual([
    'create client blog',
    'create client shop',
    'create workloadIdentity ci',
    'delete client shop-2',
  ]);
  expect([await client('shop-2'), await client('shop'), await client('blog')]).toMatchObject([
    { name: 'Shop' },
    undefined,
    undefined,
  ]);
  await unhold(hold.id);
  await applied(document);
  expect([await client('shop-2'), await client('shop'), await client('blog')]).toMatchObject([
    undefined,
    { name: 'Shop' },
    { name: 'Blog' },
  ]);
});

test('another manager takes nothing that is held, by force either', async () => {
  await managed();
  await place([{ kind: 'client', key: 'shop' }]);
  const theirs = { clients: [shop({ name: 'Theirs' })] };
  expect((await api.refusal(realm, theirs, { manager: 'cli:ben' })).type).toBe('urn:svc:problem:managed-by-another');
  const plan = await applied(theirs, { manager: 'cli:ben', force: 'true' });
  expect([plan.changes, plan.ownership, plan.held.length]).toEqual([[], [], 1]);
  expect(await client('shop')).toMatchObject({ name: 'Shop' });
});

test('a hold that is placed after a dry run: its plan is not applied, and an edit under the hold stays', async () => {
  await managed();
  const next = { ...declared, clients: [shop({ name: 'The new shop' }), { clientId: 'blog', name: 'The new blog' }] };
  const planned = await api.apply(realm, next, { ...owner, dryRun: 'true' });
  await place([{ kind: 'client', key: 'shop' }]);
  await edit('shop', { name: 'By hand' });
  const refusal = await api.refusal(realm, next, owner, { 'if-match': `"${planned.revision}"` });
  expect(refusal.status).toBe(412);
  const plan = await applied(next);
  expect(plan.held).toMatchObject([{ kind: 'client', key: 'shop' }]);
  expect([(await client('shop'))?.name, (await client('blog'))?.name]).toEqual(['By hand', 'The new blog']);
});

test('a hold ends by itself at its time, by a job, and the event says so', async () => {
  await managed();
  const hold = await place([{ kind: 'client', key: 'shop' }], { until: Date.now() + 1500 });
  await eventually(async () => expect((await admin.call(listHolds, { params })).body).toEqual([]));
  expect(Date.now()).toBeGreaterThanOrEqual(hold.until);
  const { body: events } = await admin.call(listEvents, { params, query: { type: 'HOLD_PLACED,HOLD_ENDED' } });
  const data = { what: [{ kind: 'client', key: 'shop' }], reason: 'the shop is down', until: hold.until };
  expect(events).toMatchObject([
    { type: 'HOLD_ENDED', actor: { type: 'system' }, subject: { id: hold.id }, data: { ...data, because: 'expired' } },
    { type: 'HOLD_PLACED', actor: { type: 'user', name: 'admin' }, subject: { id: hold.id }, data },
  ]);
  await expect(unhold(hold.id)).rejects.toMatchObject({ status: 404 });
});

test('holds are listed, page by page, and read', async () => {
  await managed();
  const holds = [
    await place([{ kind: 'client', key: 'shop' }]),
    await place([{ kind: 'client' }, { kind: 'role', key: 'reader' }]),
  ];
  expect((await admin.call(listHolds, { params })).body).toEqual(holds);
  const first = await admin.call(listHolds, { params, query: { limit: 1 } });
  expect(first.body).toEqual(holds.slice(0, 1));
  const second = await admin.call(listHolds, { params, query: { limit: 1, cursor: first.nextCursor } });
  expect([second.body, second.nextCursor]).toEqual([holds.slice(1), undefined]);
  expect((await admin.call(getHold, { params: { realm, id: holds[1]?.id ?? '' } })).body).toEqual(holds[1]);
  expect(holds[1]).toMatchObject({ placedBy: { type: 'user', name: 'admin' }, reason: 'the shop is down' });
});

describe('refused', () => {
  const unfit = (path: string, message: RegExp) => ({
    status: 400,
    problem: { errors: [{ path, message: expect.stringMatching(message) }] },
  });

  test('on what no manager owns, in words', async () => {
    await managed();
    await expect(
      place([
        { kind: 'client', key: 'shop' },
        { kind: 'client', key: 'none' },
      ]),
    ).rejects.toMatchObject(unfit('what[1]', /no manager owns the client none/));
    await expect(place([{ kind: 'webhook' }])).rejects.toMatchObject(
      unfit('what[0]', /a manager owns nothing of the kind webhook/),
    );
    await expect(place([{ kind: 'settings', key: 'requireMfa' }])).rejects.toMatchObject(
      unfit('what[0]', /requireMfa/),
    );
    await expect(place([{ kind: 'user', key: 'ana' }])).rejects.toMatchObject({ status: 400 });
  });

  test('beyond seven days, in the past, and without a reason', async () => {
    await managed();
    const what: HeldThing[] = [{ kind: 'client', key: 'shop' }];
    await expect(place(what, { until: Date.now() + 7 * 24 * HOUR + 60_000 })).rejects.toMatchObject(
      unfit('until', /seven days/),
    );
    await expect(place(what, { until: Date.now() - 1 })).rejects.toMatchObject(unfit('until', /future/));
    await expect(place(what, { reason: '' })).rejects.toMatchObject({ status: 400 });
    await expect(place([])).rejects.toMatchObject({ status: 400 });
  });

  test('an end without the write permission of each held kind, which sets the declared state back; it is audited', async () => {
    await managed();
    const holder = await administrator(server, { target: realm, permissions: ['holds:write', 'roles:write'] });
    const hold = await place([{ kind: 'role', key: 'reader' }, { kind: 'client' }]);
    const id = hold.id;
    await expect(holder.call(endHold, { params: { realm, id } })).rejects.toMatchObject({
      status: 403,
      problem: { detail: expect.stringContaining('clients:write') },
    });
    expect((await admin.call(getHold, { params: { realm, id } })).body).toEqual(hold);
    const { body: [denied] = [] } = await admin.call(listEvents, { params, query: { type: 'ACCESS_DENIED' } });
    expect(denied?.data).toMatchObject({ permission: 'clients:write', method: 'DELETE' });
    const own = await place([{ kind: 'role', key: 'reader' }]);
    await holder.call(endHold, { params: { realm, id: own.id } });
  });

  test('without holds:write, without the kind’s own write permission, and in another realm', async () => {
    await managed();
    const what: HeldThing[] = [{ kind: 'client', key: 'shop' }];
    const editor = await administrator(server, { target: realm, permissions: ['clients:write', 'holds:read'] });
    await expect(place(what, { by: editor })).rejects.toMatchObject({
      status: 403,
      problem: { detail: expect.stringContaining('holds:write') },
    });
    const holder = await administrator(server, { target: realm, permissions: ['holds:write', 'roles:write'] });
    await expect(place(what, { by: holder })).rejects.toMatchObject({
      status: 403,
      problem: { detail: expect.stringContaining('clients:write') },
    });
    const hold = await place([{ kind: 'role', key: 'reader' }], { by: holder });
    await expect(editor.call(endHold, { params: { realm, id: hold.id } })).rejects.toMatchObject({ status: 403 });
    expect((await editor.call(listHolds, { params })).body).toEqual([hold]);
    await expect(holder.call(listHolds, { params })).rejects.toMatchObject({ status: 403 });
    await admin.call(createRealm, { body: { realm: `${realm}-other` } });
    const elsewhere = { params: { realm: `${realm}-other`, id: hold.id } };
    await expect(admin.call(getHold, elsewhere)).rejects.toMatchObject({ status: 404 });
    await expect(admin.call(endHold, elsewhere)).rejects.toMatchObject({ status: 404 });
  });
});

test('a role that a held object names is not pruned beneath it', async () => {
  await managed({ ...declared, groups: [{ path: '/staff', roles: ['reader'] }] });
  await place([{ kind: 'group', key: '/staff' }]);
  // by hand the group gets the role that Git no longer declares
  const { body: roles = [] } = await admin.call(listRoles, { params });
  const groups = JSON.parse(await (await api.fetch(`/admin/realms/${realm}/groups`)).text());
  const body = JSON.stringify({ roles: ['writer'] });
  const headers = { 'content-type': 'application/json' };
  await api.fetch(`/admin/realms/${realm}/groups/${groups[0].id}`, { method: 'PUT', body, headers });
  const plan = await applied({
    ...declared,
    roles: [{ name: 'reader' }],
    groups: [{ path: '/staff', roles: ['reader'] }],
  });
  expect(plan.held.map(({ action, kind, key }) => `${action} ${kind} ${key}`).sort()).toEqual([
    'delete role writer',
    'update group /staff',
  ]);
  expect((await admin.call(listRoles, { params })).body).toHaveLength(roles.length);
  // a person who deletes it does so: holds keep documents away, not administrators
  const writer = roles.find(({ name }) => name === 'writer');
  await admin.call(deleteRole, { params: { realm, id: writer?.id ?? '' } });
});
