// What people share of what is theirs: asked for by others, granted, denied and ended, on the account API.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { putAuthorizationResource } from '../../../server/contract/authorization-service-routes.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { eraseUser } from '../../../server/contract/gdpr.ts';
import { createUser, putUser } from '../../../server/contract/users.ts';
import { PASSWORD } from '../../support/applications.ts';
import { basic, post } from '../../support/clients.ts';
import { REALM } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { askUma, makeUma, protection, protectionToken, ticketFor, tokensOf } from '../../support/uma.ts';

const params = { realm: REALM };
let server: TestServer;
let ids: Record<string, string>;
let photo = '';
type Signed = Awaited<ReturnType<typeof tokensOf>> & { csrf: string };
let zoe: Signed;
let bob: Signed;
let alice: Signed;
const signIn = async (username: string): Promise<Signed> => {
  const signed = await tokensOf(server, username);
  const answer = await signed.person.once(`/realms/${REALM}/account/resources`);
  return { ...signed, csrf: answer.headers.get('x-xsrf-token') ?? '' };
};
beforeAll(async () => {
  server = await startTestServer();
  ids = await makeUma(server);
  zoe = await signIn('zoe');
  bob = await signIn('bob');
  alice = await signIn('alice');
});
beforeEach(async () => {
  const body = { name: 'Beach', type: 'photo', resource_scopes: ['view', 'edit'], owner: 'zoe' };
  const token = await protectionToken(server);
  photo = String((await protection(server, token, { path: 'resource_set', body })).body._id);
});
afterAll(() => server?.stop());

/** The account API by the person's session. */
async function account({ person, csrf }: Signed, method: string, path: string, body?: unknown) {
  const answer = await person.once(`/realms/${REALM}/account/${path}`, {
    method,
    headers: { 'x-xsrf-token': csrf, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
}
const share = (who: Signed, body: object) =>
  account(who, 'POST', 'shares', { clientId: 'albums', resource: photo, username: 'bob', scopes: ['view'], ...body });
const sharesOf = async (who: Signed, resource = photo) => {
  const { body } = await account(who, 'GET', 'resources');
  return body.find((one: { resource: string }) => one.resource === resource)?.shares;
};
const decide = async ({ access }: Signed, permission = `${photo}#view`) => {
  const form = { audience: 'albums', claim_token: access, permission, response_mode: 'decision' };
  return (await askUma(server, form)).status;
};
const asked = async ({ access }: Signed, scopes: string[], resource = photo) => {
  const ticket = await ticketFor(server, { resource_id: resource, resource_scopes: scopes });
  return askUma(server, { ticket, claim_token: access, submit_request: 'true' });
};

describe('the owner', () => {
  test('sees what is theirs, registered and configured, and nobody else’s', async () => {
    const { status, body } = await account(zoe, 'GET', 'resources');
    expect(status).toBe(200);
    const mine = { clientId: 'albums', clientName: 'albums', shares: [] };
    expect(body).toEqual(
      expect.arrayContaining([
        { ...mine, resource: photo, name: 'Beach', type: 'photo', scopes: ['edit', 'view'] },
        { ...mine, resource: 'holiday', name: 'holiday', type: 'album', scopes: ['edit', 'view'] },
      ]),
    );
    expect((await account(bob, 'GET', 'resources')).body).toEqual([]);
  });

  test('cannot tell by spellings of a name whether a user has it', async () => {
    const spellings = async (...names: string[]) => {
      const made = [];
      for (const username of names) made.push((await share(zoe, { username })).body.id);
      return new Set(made).size;
    };
    expect(await spellings('\uff42ob', 'bob', 'BO\uff22')).toBe(1);
    expect(await spellings('\uff54om', 'tom', 'TO\uff2d')).toBe(1);
    expect((await sharesOf(zoe)).map(({ username }: { username: string }) => username).sort()).toEqual(['bob', 'tom']);
    expect((await share(zoe, { username: '\uff5aoe' })).status).toBe(400);
    for (const { id } of await sharesOf(zoe)) await account(zoe, 'DELETE', `shares/${id}`);
  });

  test('shares it with somebody, who is permitted that and no more, until it ends', async () => {
    expect(await decide(bob)).toBe(403);
    const { status, body } = await share(zoe, {});
    expect([status, body]).toMatchObject([201, { username: 'bob', scopes: ['view'], requested: [], denied: [] }]);
    expect([await decide(bob), await decide(bob, `${photo}#edit`), await decide(alice)]).toEqual([200, 403, 403]);
    expect((await account(bob, 'GET', 'shares')).body).toMatchObject([
      { id: body.id, owner: 'zoe', name: 'Beach', scopes: ['view'] },
    ]);
    const all = await askUma(server, { audience: 'albums', claim_token: bob.access, response_mode: 'permissions' });
    expect(JSON.parse(all.text)).toContainEqual({ rsid: photo, rsname: 'Beach', scopes: ['view'], shared: ['view'] });
    expect((await share(zoe, { scopes: ['edit', 'view'] })).body.id).toBe(body.id);
    expect(await decide(bob, `${photo}#edit`)).toBe(200);
    expect((await account(zoe, 'DELETE', `shares/${body.id}`)).status).toBe(204);
    expect(await decide(bob)).toBe(403);
    for (const [type, data] of [
      ['RESOURCE_SHARED', { resource: photo, with: 'bob', scopes: ['edit', 'view'] }],
      ['RESOURCE_SHARE_ENDED', { resource: photo, because: 'owner' }],
    ] as const) {
      const { body: events = [] } = await server.admin.call(listEvents, { params, query: { type } });
      expect(events[0]).toMatchObject({ actor: { name: 'zoe' }, clientId: 'albums', data });
    }
  });

  test('ends what tokens of before permit, where the resource server asks', async () => {
    const { body } = await share(zoe, {});
    const form = { audience: 'albums', claim_token: bob.access, permission: [`${photo}#view`, 'catalogue#view'] };
    const token = String((await askUma(server, form)).body.access_token);
    const shown = async () =>
      (await post(server, REALM, 'introspect', { token }, { authorization: basic('albums') })).body.permissions;
    const catalogue = expect.objectContaining({ resource_id: 'catalogue' });
    expect(await shown()).toEqual([
      expect.objectContaining({ resource_id: photo, resource_scopes: ['view'] }),
      catalogue,
    ]);
    await account(zoe, 'PUT', `shares/${body.id}`, { scopes: [] });
    expect(await shown()).toEqual([catalogue]);
    const alone = await share(zoe, {});
    const only = await askUma(server, { ...form, permission: `${photo}#view` });
    await account(zoe, 'DELETE', `shares/${alone.body.id}`);
    const after = { token: String(only.body.access_token) };
    expect((await post(server, REALM, 'introspect', after, { authorization: basic('albums') })).body).toEqual({
      active: false,
    });
  });

  test('is told nothing of who there is: a name that nobody has is shared with all the same', async () => {
    const [real, made] = [await share(zoe, { username: 'bob' }), await share(zoe, { username: 'nobody-here' })];
    const shape = ({ status, body }: typeof real) => [status, Object.keys(body), body.scopes];
    expect(shape(made)).toEqual(shape(real));
    expect((await share(zoe, { username: 'NOBODY-here', scopes: ['edit'] })).body.id).toBe(made.body.id);
    expect((await sharesOf(zoe)).map(({ username }: { username: string }) => username)).toEqual(['bob', 'nobody-here']);
    const later = { username: 'nobody-here', password: PASSWORD };
    await server.admin.call(createUser, { params, body: later });
    expect(await decide(await signIn('nobody-here'))).toBe(403);
  });

  test('shares nothing that is not theirs, that is not there, and with themselves', async () => {
    for (const body of [{ resource: 'catalogue' }, { resource: 'gone' }, { clientId: 'other' }])
      expect((await share(zoe, body)).status).toBe(404);
    expect((await share(bob, { username: 'alice' })).status).toBe(404);
    for (const body of [{ scopes: ['print'] }, { scopes: [] }, { username: 'ZOE' }])
      expect((await share(zoe, body)).status).toBe(400);
    const { body } = await share(zoe, {});
    for (const who of [alice, bob])
      expect((await account(who, 'PUT', `shares/${body.id}`, { scopes: ['view', 'edit'] })).status).toBe(404);
    expect((await account(alice, 'DELETE', `shares/${body.id}`)).status).toBe(404);
    expect((await account({ ...zoe, csrf: '' }, 'DELETE', `shares/${body.id}`)).status).toBe(403);
    expect((await account(bob, 'DELETE', `shares/${body.id}`)).status).toBe(204);
  });

  test('of before has shared nothing of what is somebody else’s now', async () => {
    await share(zoe, { resource: 'holiday' });
    expect(await decide(bob, 'holiday#view')).toBe(200);
    const of = { ...params, clientId: ids.albums ?? '', name: 'holiday' };
    await server.admin.call(putAuthorizationResource, { params: of, body: { owner: 'alice' } });
    expect(await decide(bob, 'holiday#view')).toBe(403);
    await server.admin.call(putAuthorizationResource, { params: of, body: { owner: 'zoe' } });
  });

  test('who is disabled shares nothing meanwhile', async () => {
    await share(zoe, {});
    const user = { params: { ...params, userId: ids.zoe ?? '' } };
    await server.admin.call(putUser, { ...user, body: { username: 'zoe', enabled: false } });
    expect(await decide(bob)).toBe(403);
    await server.admin.call(putUser, { ...user, body: { username: 'zoe', enabled: true } });
    expect(await decide(bob)).toBe(200);
    zoe = await signIn('zoe');
  });
});

describe('somebody who is refused', () => {
  test('asks the owner, who says yes to some of it', async () => {
    const { status, body } = await asked(bob, ['view', 'edit']);
    expect([status, body.error, body.interval]).toEqual([403, 'request_submitted', 30]);
    const [waiting] = await sharesOf(zoe);
    expect(waiting).toMatchObject({ username: 'bob', scopes: [], requested: ['edit', 'view'] });
    const ticket = String(body.ticket);
    const again = await askUma(server, { ticket, claim_token: bob.access, submit_request: 'true' });
    expect(again.body.error).toBe('request_submitted');
    const answer = await account(zoe, 'PUT', `shares/${waiting.id}`, { scopes: ['view'] });
    expect(answer.body).toMatchObject({ scopes: ['view'], requested: [], denied: ['edit'] });
    const given = await askUma(server, { ticket: String(again.body.ticket), claim_token: bob.access });
    expect([given.status, given.body.token_type]).toEqual([200, 'Bearer']);
    const { body: events = [] } = await server.admin.call(listEvents, {
      params,
      query: { type: 'RESOURCE_REQUESTED' },
    });
    expect(events[0]).toMatchObject({ subject: { name: 'bob' }, data: { resource: photo, owner: 'zoe' } });
  });

  test('is told no for good: what was denied is not asked again', async () => {
    await asked(bob, ['edit']);
    const [waiting] = await sharesOf(zoe);
    await account(zoe, 'PUT', `shares/${waiting.id}`, { scopes: [] });
    expect((await asked(bob, ['edit'])).body.error).toBe('request_denied');
    expect(await sharesOf(zoe)).toMatchObject([{ requested: [], denied: ['edit'] }]);
    expect((await asked(bob, ['edit', 'view'])).body.error).toBe('request_submitted');
    expect(await sharesOf(zoe)).toMatchObject([{ requested: ['view'], denied: ['edit'] }]);
  });

  test('has a ticket that is nobody else’s', async () => {
    const { body } = await asked(bob, ['view']);
    const stolen = await askUma(server, { ticket: String(body.ticket), claim_token: alice.access });
    expect([stolen.status, stolen.body.error]).toEqual([400, 'invalid_grant']);
  });

  test('asks nobody without saying so, for what nobody owns, or without being somebody', async () => {
    const ticket = await ticketFor(server, { resource_id: photo, resource_scopes: ['view'] });
    expect((await askUma(server, { ticket, claim_token: bob.access })).body.error).toBe('request_denied');
    expect((await asked(bob, ['edit'], 'catalogue')).body.error).toBe('request_denied');
    const other = await ticketFor(server, { resource_id: photo, resource_scopes: ['view'] });
    expect((await askUma(server, { ticket: other, submit_request: 'true' })).body.error).toBe('need_info');
    expect(await sharesOf(zoe)).toEqual([]);
  });

  test('takes it back', async () => {
    await asked(bob, ['view']);
    const [waiting] = await sharesOf(zoe);
    expect((await account(bob, 'DELETE', `shares/${waiting.id}`)).status).toBe(204);
    expect(await sharesOf(zoe)).toEqual([]);
  });
});

test('an erased person owns, shares and is shared with no more', async () => {
  const { body } = await server.admin.call(createUser, { params, body: { username: 'gone', password: PASSWORD } });
  await share(zoe, { username: 'gone' });
  await server.admin.call(eraseUser, { params: { ...params, userId: body?.id ?? '' } });
  expect(await sharesOf(zoe)).toEqual([]);
  const { body: events } = await server.admin.call(listEvents, {
    params,
    query: { type: 'RESOURCE_SHARED', limit: 5 },
  });
  expect(JSON.stringify(events)).not.toContain('"gone"');
});
