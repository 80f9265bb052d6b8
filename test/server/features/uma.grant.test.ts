// The grant of User-Managed Access 2.0: what tickets and permissions lead to, and what others try with them.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { activateAgent, createAgent } from '../../../server/contract/agents.ts';
import { putAuthorizationSettings } from '../../../server/contract/authorization-service-routes.ts';
import { putClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { ID_TOKEN_FORMAT, UMA_TICKET } from '../../../server/contract/uma-grant.ts';
import { putUser } from '../../../server/contract/users.ts';
import { basic, claimsIn, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { makeProofKey } from '../../support/dpop.ts';
import { makeRelyingParty, REALM } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { askUma, makeUma, protectionToken, ticketFor, tokensOf } from '../../support/uma.ts';

const params = { realm: REALM };
const ALBUMS = 'https://albums.example.com';
let server: TestServer;
let ids: Record<string, string>;
let now = Date.now();
let bob: Awaited<ReturnType<typeof tokensOf>>;
beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(now) });
  ids = await makeUma(server);
});
beforeEach(async () => {
  bob = await tokensOf(server, 'bob');
});
afterAll(() => server?.stop());

const viewed = { resource_id: 'catalogue', resource_scopes: ['view'] };
const ask = (form: Record<string, string | string[]>, of?: { clientId?: string; realm?: string }) =>
  askUma(server, form, of);
const refusal = async (form: Record<string, string | string[]>, of?: { clientId?: string; realm?: string }) => {
  const { status, body } = await ask(form, of);
  return [status, body.error];
};
const introspected = async (token: unknown, by = 'albums') =>
  (await post(server, REALM, 'introspect', { token: String(token) }, { authorization: basic(by) })).body;

describe('a ticket', () => {
  test('becomes a token for the resource server that says what is permitted, and nothing of who the person is', async () => {
    const ticket = await ticketFor(server, viewed);
    const { status, body } = await ask({ ticket, claim_token: bob.access });
    expect([status, body.token_type, body.refresh_token, body.scope]).toEqual([200, 'Bearer', undefined, undefined]);
    const claims = claimsIn(body.access_token);
    expect(claims).toMatchObject({
      aud: 'albums',
      sub: ids.bob,
      client_id: 'shop',
      authorization: { permissions: [{ rsid: 'catalogue', rsname: 'catalogue', scopes: ['view'] }] },
    });
    expect(Number(claims.exp)).toBeLessThanOrEqual(Number(claimsIn(bob.access).exp));
    for (const name of ['scope', 'realm_access', 'preferred_username']) expect(claims).not.toHaveProperty(name);
    const { body: events = [] } = await server.admin.call(listEvents, { params, query: { type: 'TOKEN_ISSUED' } });
    expect(events[0]).toMatchObject({
      clientId: 'shop',
      subject: { name: 'bob' },
      data: { grant: 'uma_ticket', resourceServer: 'albums', jti: claims.jti },
    });
  });

  test('is good once, whatever came of it', async () => {
    const ticket = await ticketFor(server, viewed);
    expect((await ask({ ticket, claim_token: bob.access })).status).toBe(200);
    expect(await refusal({ ticket, claim_token: bob.access })).toEqual([400, 'invalid_grant']);
    const edited = await ticketFor(server, { ...viewed, resource_scopes: ['edit'] });
    expect(await refusal({ ticket: edited, claim_token: bob.access })).toEqual([403, 'request_denied']);
    expect(await refusal({ ticket: edited, claim_token: bob.access })).toEqual([400, 'invalid_grant']);
  });

  test('asks for a person by a token that is bound to a key, where that key is proven alone', async () => {
    const [key, thiefs] = [await makeProofKey(), await makeProofKey()];
    const htu = `${server.baseUrl}/realms/${REALM}/oauth2/token`;
    const iat = () => ({ iat: Math.floor(now / 1000) });
    const { access } = await tokensOf(server, 'bob', {}, { dpop: await key.proof({ htu, claims: iat() }) });
    const by = async (one?: typeof key) => {
      const form = { grant_type: UMA_TICKET, ticket: await ticketFor(server, viewed), claim_token: access };
      const dpop = one && (await one.proof({ htu, claims: iat() }));
      return (await post(server, REALM, 'token', form, { authorization: basic('shop'), ...(dpop && { dpop }) })).body;
    };
    expect((await by()).error).toBe('invalid_grant');
    expect((await by(thiefs)).error).toBe('invalid_grant');
    expect(claimsIn((await by(key)).access_token).cnf).toEqual({ jkt: key.jkt });
  });

  test('presented twice at once gives one token', async () => {
    const ticket = await ticketFor(server, viewed);
    const answers = await Promise.all([1, 2, 3, 4].map(() => ask({ ticket, claim_token: bob.access })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
  });

  test('expires after five minutes', async () => {
    const ticket = await ticketFor(server, viewed);
    now += 301_000;
    expect(await refusal({ ticket, claim_token: bob.access })).toEqual([400, 'invalid_grant']);
  });

  test('of another resource server, of another realm, and made up is refused', async () => {
    const ticket = await ticketFor(server, viewed);
    expect(await refusal({ ticket, claim_token: bob.access, audience: 'other' })).toEqual([400, 'invalid_grant']);
    await makeRealm(server, 'elsewhere');
    await makeClient(server, 'elsewhere', {
      clientId: 'shop',
      secret: SECRET,
      grantTypes: [UMA_TICKET, 'client_credentials'],
    });
    expect(await refusal({ ticket }, { realm: 'elsewhere' })).toEqual([400, 'invalid_grant']);
    for (const made of [
      'x',
      `${ticket.slice(0, -1)}${ticket.endsWith('0') ? 1 : 0}`,
      `svc_pt_${'A'.repeat(43)}00000000`,
    ])
      expect(await refusal({ ticket: made, claim_token: bob.access })).toEqual([400, 'invalid_grant']);
    expect((await ask({ ticket, claim_token: bob.access, audience: 'albums' })).status).toBe(200);
  });

  test('gives what is permitted of it; a yes or no is about all of it', async () => {
    const both = { resource_id: 'catalogue', resource_scopes: ['view', 'edit'] };
    const { body } = await ask({ ticket: await ticketFor(server, both), claim_token: bob.access });
    expect(claimsIn(body.access_token).authorization).toEqual({
      permissions: [{ rsid: 'catalogue', rsname: 'catalogue', scopes: ['view'] }],
    });
    const decision = { claim_token: bob.access, response_mode: 'decision' };
    expect(await refusal({ ...decision, ticket: await ticketFor(server, both) })).toEqual([403, 'request_denied']);
    expect((await ask({ ...decision, ticket: await ticketFor(server, viewed) })).body).toEqual({ result: true });
  });

  test('without a person asks for who that is, with another ticket that is this client’s alone', async () => {
    const { status, body } = await ask({ ticket: await ticketFor(server, viewed) });
    expect([status, body.error, body.required_claims]).toEqual([
      403,
      'need_info',
      [{ claim_token_format: ['urn:ietf:params:oauth:token-type:access_token', ID_TOKEN_FORMAT] }],
    ]);
    const ticket = String(body.ticket);
    expect(await refusal({ ticket }, { clientId: 'other' })).toEqual([400, 'invalid_grant']);
    expect((await ask({ ticket, claim_token: bob.access })).status).toBe(200);
  });

  test('brings what the resource server says of the request to the policies; nobody else can', async () => {
    const press = { resource_id: 'press', resource_scopes: ['print'] };
    const office = await ticketFor(server, { ...press, claims: { network: ['office'] } });
    expect((await ask({ ticket: office, claim_token: bob.access })).status).toBe(200);
    const home = await ticketFor(server, press);
    expect(await refusal({ ticket: home, claim_token: bob.access })).toEqual([403, 'request_denied']);
  });
});

describe('permissions that are asked for by name', () => {
  const direct = (permission: string | string[], more: Record<string, string> = {}) => ({
    audience: 'albums',
    claim_token: bob.access,
    permission,
    ...more,
  });

  test('come as a token, a list, or a yes', async () => {
    const list = [{ rsid: 'catalogue', rsname: 'catalogue', scopes: ['view'] }];
    const { body } = await ask(direct('catalogue#view'));
    expect(claimsIn(body.access_token).authorization).toEqual({ permissions: list });
    const shown = await ask(direct(['catalogue', 'press#print'], { response_mode: 'permissions' }));
    expect(JSON.parse(shown.text)).toEqual(list);
    expect((await ask(direct('catalogue#view', { response_mode: 'decision' }))).body).toEqual({ result: true });
    await expect
      .poll(
        async () => (await server.admin.call(listEvents, { params, query: { type: 'PERMISSION_GRANTED' } })).body?.[0],
      )
      .toMatchObject({ subject: { name: 'bob' }, data: { resourceServer: 'albums', permissions: list } });
  });

  test('are denied by default: what no permission is about, what is not there, and another server’s', async () => {
    for (const permission of ['catalogue#print', 'catalogue#view,edit', 'gone', 'catalogue#gone', 'secret', 'holiday'])
      expect(await refusal(direct(permission, { response_mode: 'decision' }))).toEqual([403, 'access_denied']);
    expect(await refusal(direct(['press', 'gone']))).toEqual([403, 'access_denied']);
  });

  test('are all that is permitted where none is named', async () => {
    const all = async (username: string) => {
      const { access } = await tokensOf(server, username);
      const answer = await ask({ audience: 'albums', claim_token: access, response_mode: 'permissions' });
      return JSON.parse(answer.text);
    };
    expect(await all('bob')).toEqual([{ rsid: 'catalogue', rsname: 'catalogue', scopes: ['view'] }]);
    expect(await all('zoe')).toEqual([{ rsid: 'holiday', rsname: 'holiday', scopes: ['edit', 'view'] }]);
    expect(await all('alice')).toMatchObject({ error: 'access_denied' });
  });

  test('are the client’s own where it brings nobody, by the roles of its service account', async () => {
    const { body } = await ask({ audience: 'albums', permission: 'catalogue' });
    expect(claimsIn(body.access_token)).toMatchObject({
      sub: 'shop',
      aud: 'albums',
      authorization: { permissions: [{ rsid: 'catalogue', rsname: 'catalogue', scopes: ['edit'] }] },
    });
    expect(await introspected(body.access_token)).toMatchObject({ active: true, sub: 'shop' });
  });

  test('follow a change at once: a role that is taken away, a setting', async () => {
    const decision = direct('catalogue#view', { response_mode: 'decision' });
    const user = { params: { ...params, userId: ids.bob ?? '' } };
    await server.admin.call(putUser, { ...user, body: { username: 'bob', enabled: true, roles: [] } });
    expect(await refusal(decision)).toEqual([403, 'access_denied']);
    await server.admin.call(putUser, { ...user, body: { username: 'bob', enabled: true, roles: ['reader'] } });
    expect((await ask(decision)).status).toBe(200);
    const of = { params: { ...params, clientId: ids.albums ?? '' } };
    const open = direct('catalogue#print', { response_mode: 'decision' });
    await server.admin.call(putAuthorizationSettings, { ...of, body: { enforcement: 'permissive' } });
    expect((await ask(open)).status).toBe(200);
    await server.admin.call(putAuthorizationSettings, { ...of, body: { enforcement: 'enforcing' } });
    expect(await refusal(open)).toEqual([403, 'access_denied']);
  });

  test('are refused where the request is none', async () => {
    expect(await refusal({ claim_token: bob.access })).toEqual([400, 'invalid_request']);
    expect(await refusal(direct('catalogue', { response_mode: 'fragment' }))).toEqual([400, 'invalid_request']);
    expect(await refusal(direct('catalogue', { ticket: await ticketFor(server, viewed) }))).toEqual([
      400,
      'invalid_request',
    ]);
    expect(await refusal({ ...direct('catalogue'), audience: 'nobody' })).toEqual([400, 'invalid_target']);
    expect(await refusal({ ...direct('catalogue'), audience: 'rp' })).toEqual([403, 'access_denied']);
    expect(await refusal(direct(Array.from({ length: 101 }, () => 'catalogue')))).toEqual([400, 'invalid_request']);
  });
});

describe('who asks', () => {
  const direct = { audience: 'albums', permission: 'catalogue#view' };

  test('is said by an access token or an ID token that the client got itself', async () => {
    expect((await ask({ ...direct, claim_token: bob.id, claim_token_format: ID_TOKEN_FORMAT })).status).toBe(200);
    const theirs = await tokensOf(server, 'bob', { clientId: 'rp' });
    const own = await protectionToken(server, 'albums', '');
    for (const claim_token of [theirs.access, bob.id, own, 'x', ''])
      expect((await refusal({ ...direct, claim_token }))[1]).toBe(
        claim_token === '' ? 'access_denied' : 'invalid_grant',
      );
    const format = { claim_token_format: ID_TOKEN_FORMAT };
    for (const claim_token of [theirs.id, bob.access])
      expect(await refusal({ ...direct, ...format, claim_token })).toEqual([400, 'invalid_grant']);
    expect(await refusal({ ...direct, claim_token: bob.access, claim_token_format: 'pushed' })).toEqual([
      400,
      'invalid_request',
    ]);
  });

  test('is nobody any more after signing out, or once disabled, and neither is who has their token', async () => {
    const { person, access, id } = await tokensOf(server, 'bob');
    const given = await ask({ ...direct, claim_token: access });
    expect(await introspected(given.body.access_token)).toMatchObject({ active: true });
    await person.open(`/realms/${REALM}/oauth2/logout?id_token_hint=${id}`);
    expect(await introspected(given.body.access_token)).toEqual({ active: false });
    expect(await refusal({ ...direct, claim_token: access })).toEqual([400, 'invalid_grant']);
    const user = { params: { ...params, userId: ids.bob ?? '' } };
    await server.admin.call(putUser, { ...user, body: { username: 'bob', enabled: false, roles: ['reader'] } });
    expect(await refusal({ ...direct, claim_token: bob.access })).toEqual([400, 'invalid_grant']);
    await server.admin.call(putUser, { ...user, body: { username: 'bob', enabled: true, roles: ['reader'] } });
  });

  test('is a person alone for a client without a secret, and no client without the grant asks', async () => {
    await makeRelyingParty(server, 'page', {
      tokenEndpointAuthMethod: 'none',
      secret: undefined,
      requirePkce: true,
      grantTypes: [UMA_TICKET],
    });
    const open = { grant_type: UMA_TICKET, client_id: 'page', ...direct };
    const alone = await post(server, REALM, 'token', open);
    expect([alone.status, alone.body.error]).toEqual([400, 'unauthorized_client']);
    const stolen = await post(server, REALM, 'token', { ...open, claim_token: bob.access });
    expect([stolen.status, stolen.body.error]).toEqual([400, 'invalid_grant']);
    expect(await refusal({ ...direct, claim_token: bob.access }, { clientId: 'rp' })).toEqual([
      400,
      'unauthorized_client',
    ]);
  });

  test('has nothing by an agent or an application that needs consent, but by a token for the resource server', async () => {
    const allowedResources = [ALBUMS];
    await server.admin.call(putSettings, { params, body: { resourceIndicators: [ALBUMS] } });
    await server.admin.call(putClient, { params: { ...params, id: ids.albums ?? '' }, body: { allowedResources } });
    const grantTypes = [UMA_TICKET, 'authorization_code'] as (typeof UMA_TICKET)[];
    await makeRelyingParty(server, 'guest', { grantTypes, allowedResources, consentRequired: true });
    await makeRelyingParty(server, 'bot', { grantTypes, allowedResources });
    const agent = { name: 'bot', owner: 'zoe', clientId: 'bot', scopes: ['profile'] };
    const { body } = await server.admin.call(createAgent, { params, body: agent });
    await server.admin.call(activateAgent, { params: { ...params, id: body?.id ?? '' } });
    for (const clientId of ['guest', 'bot']) {
      const scope = 'openid profile';
      const any = await tokensOf(server, 'bob', { clientId, scope });
      expect(await refusal({ ...direct, claim_token: any.access }, { clientId })).toEqual([400, 'invalid_grant']);
      const format = { claim_token_format: ID_TOKEN_FORMAT };
      expect(await refusal({ ...direct, ...format, claim_token: any.id }, { clientId })).toEqual([
        400,
        'invalid_grant',
      ]);
      const meant = await tokensOf(server, 'bob', { clientId, scope, resource: ALBUMS });
      expect((await ask({ ...direct, claim_token: meant.access }, { clientId })).status).toBe(200);
    }
  });
});

describe('a token of the grant', () => {
  const direct = (permission: string) => ({ audience: 'albums', claim_token: bob.access, permission });

  test('is shown to its resource server as UMA has it, by secret or protection token, and to no other', async () => {
    const { body } = await ask(direct('catalogue#view'));
    const exp = claimsIn(body.access_token).exp;
    const permissions = [{ resource_id: 'catalogue', resource_scopes: ['view'], exp }];
    expect(await introspected(body.access_token)).toMatchObject({ active: true, permissions, username: 'bob' });
    const token = await protectionToken(server);
    const form = { token: String(body.access_token) };
    const shown = await post(server, REALM, 'introspect', form, { authorization: `Bearer ${token}` });
    expect(shown.body).toMatchObject({ active: true, permissions });
    expect(await introspected(body.access_token, 'other')).toEqual({ active: false });
    const theirs = await post(server, REALM, 'introspect', form, {
      authorization: `Bearer ${await protectionToken(server, 'other')}`,
    });
    expect(theirs.body).toEqual({ active: false });
    const bare = await post(server, REALM, 'introspect', form, { authorization: `Bearer ${bob.access}` });
    expect([bare.status, bare.body.error]).toEqual([403, 'insufficient_scope']);
  });

  test('is upgraded by a second request, and only by its own client’s for the same person', async () => {
    await server.admin.call(putUser, {
      params: { ...params, userId: ids.bob ?? '' },
      body: { username: 'bob', enabled: true, roles: ['reader', 'editor'] },
    });
    const first = String((await ask(direct('catalogue#view'))).body.access_token);
    const { body } = await ask({ ...direct('catalogue#edit'), rpt: first });
    expect(body.upgraded).toBe(true);
    expect(claimsIn(body.access_token).authorization).toEqual({
      permissions: [{ rsid: 'catalogue', rsname: 'catalogue', scopes: ['edit', 'view'] }],
    });
    const own = await ask({ audience: 'albums', permission: 'catalogue#edit', rpt: first });
    expect(own.body).not.toHaveProperty('upgraded');
    expect(JSON.stringify(claimsIn(own.body.access_token).authorization)).not.toContain('view');
    await server.admin.call(putUser, {
      params: { ...params, userId: ids.bob ?? '' },
      body: { username: 'bob', enabled: true, roles: ['reader'] },
    });
    const later = await ask({ ...direct('catalogue#view'), rpt: String(body.access_token) });
    expect(JSON.stringify(claimsIn(later.body.access_token).authorization)).not.toContain('edit');
  });

  test('opens nothing of the realm’s own', async () => {
    const { body } = await ask(direct('catalogue#view'));
    const headers = { authorization: `Bearer ${String(body.access_token)}` };
    for (const at of ['oauth2/userinfo', 'account/gdpr/export', 'authz/protection/resource_set'])
      expect((await fetch(`${server.baseUrl}/realms/${REALM}/${at}`, { headers })).status).toBe(401);
    const admin = await fetch(`${server.baseUrl}/admin/realms`, { headers });
    expect(admin.status).toBe(401);
  });
});

test('discovery of UMA names the endpoints, and the grant stands among the realm’s', async () => {
  const read = async (document: string) => {
    const answer = await fetch(`${server.baseUrl}/realms/${REALM}/.well-known/${document}`);
    return (await answer.json()) as Record<string, unknown>;
  };
  const base = `${server.baseUrl}/realms/${REALM}`;
  expect(await read('uma2-configuration')).toMatchObject({
    issuer: base,
    token_endpoint: `${base}/oauth2/token`,
    introspection_endpoint: `${base}/oauth2/introspect`,
    permission_endpoint: `${base}/authz/protection/permission`,
    resource_registration_endpoint: `${base}/authz/protection/resource_set`,
    grant_types_supported: expect.arrayContaining([UMA_TICKET]),
  });
  expect((await read('openid-configuration')).grant_types_supported).toContain(UMA_TICKET);
  expect((await fetch(`${server.baseUrl}/realms/nowhere/.well-known/uma2-configuration`)).status).toBe(404);
});
