// Owns: which claims come where: by scopes, by the `claims` parameter, by a client's setting; and what has no scope.
// Does not own: claims as objects (claims.test.ts), the other modules of the certification (conformance.*.test.ts).
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClaim } from '../../../server/contract/claims.ts';
import { createClientScope } from '../../../server/contract/client-scopes.ts';
import { createUser, listUsers, putUser } from '../../../server/contract/users.ts';
import { PASSWORD } from '../../support/applications.ts';
import { basic, post } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import {
  exchange,
  freshTokens,
  makeProvider,
  makeRelyingParty,
  REALM,
  RP,
  requestPath,
  responseParameters,
  STANDARD_SCOPES,
  STATE,
  signedIn,
  signInAt,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const params = { realm: REALM };
const optionalClientScopes = [...STANDARD_SCOPES, 'staff'];
beforeAll(async () => {
  server = await startTestServer();
  await makeProvider(server);
  const claims = [
    { name: 'cost_centre', source: 'attribute', attribute: 'cost', jsonType: 'number', in: ['userinfo'] },
    { name: 'clearance', source: 'constant', value: 'x', in: ['accessToken', 'introspection'] },
  ] as const;
  for (const body of claims) await server.admin.call(createClaim, { params, body: { ...body, in: [...body.in] } });
  const staff = { name: 'staff', description: 'Your place of work', claims: claims.map(({ name }) => name) };
  await server.admin.call(createClientScope, { params, body: staff });
  await makeRelyingParty(server, 'staffed', { optionalClientScopes });
  await makeRelyingParty(server, 'old', { optionalClientScopes, idTokenUserinfoClaims: true });
  await makeRelyingParty(server, 'polite', { optionalClientScopes, consentRequired: true });
  await makeRelyingParty(server, 'bare', { optionalClientScopes: [], grantTypes: ['client_credentials'] });
  const body = { username: 'bob', password: PASSWORD, attributes: { cost: ['4711'] } };
  await server.admin.call(createUser, { params, body });
});
afterAll(async () => server?.stop());

const claims = (of: object) => ({ claims: JSON.stringify(of) });
async function userinfo(body: Record<string, unknown>): Promise<Record<string, unknown>> {
  const answer = await fetch(`${server.baseUrl}/realms/${REALM}/oauth2/userinfo`, {
    headers: { authorization: `Bearer ${body.access_token}` },
  });
  return Object(await answer.json());
}
/** What both places say of alice. */
async function said(more: Record<string, string>) {
  const { body } = await freshTokens(server, more);
  return { idToken: decodeJwt(String(body.id_token)), userinfo: await userinfo(body), body };
}
const ofHers = { name: 'Alice Ames', email: 'alice@example.com' };

test('what profile and email say is userinfo’s, since there is an access token to ask with', async () => {
  const { idToken, userinfo: shown } = await said({ scope: 'openid profile email' });
  expect(shown).toMatchObject({ ...ofHers, preferred_username: 'alice', updated_at: expect.any(Number) });
  for (const name of ['name', 'given_name', 'preferred_username', 'email', 'updated_at'])
    expect(idToken).not.toHaveProperty(name);
});

test('a client may have it in the ID token all the same', async () => {
  const person = createPerson(server.baseUrl);
  const answer = await signInAt(person, requestPath({ client_id: 'old', scope: 'openid profile email' }));
  const { body } = await exchange(server, answer, {}, 'old');
  expect(decodeJwt(String(body.id_token))).toMatchObject({ ...ofHers, updated_at: expect.any(Number) });
  expect(await userinfo(body)).toMatchObject(ofHers);
});

test('updated_at moves when what is known of the person changes, and with nothing else', async () => {
  const [alice] = (await server.admin.call(listUsers, { params, query: { q: 'alice' } })).body ?? [];
  const at = async () => (await said({ scope: 'openid profile' })).userinfo.updated_at;
  const before = await at();
  await new Promise((resolve) => setTimeout(resolve, 1100));
  const change = (body: object) => server.admin.call(putUser, { params: { ...params, userId: alice?.id ?? '' }, body });
  await change({ requiredActions: [] });
  expect(await at()).toBe(before);
  await change({ attributes: { ...alice?.attributes, nickname: ['Ally'] } });
  expect(await at()).toBeGreaterThan(Number(before));
});

test('single claims come where they are asked for, whatever the scopes are', async () => {
  const asked = { userinfo: { name: { essential: true }, address: null }, id_token: { email: null, auth_time: null } };
  const { idToken, userinfo: shown, body } = await said(claims(asked));
  expect(shown).toEqual({ sub: shown.sub, name: ofHers.name, address: { locality: 'Bern', country: 'CH' } });
  expect(idToken).toMatchObject({ email: ofHers.email });
  expect(idToken).not.toHaveProperty('name');
  expect(body.scope).toBe('openid');
});

test('they come again with each refresh', async () => {
  const asked = { ...claims({ userinfo: { name: null }, id_token: { email: null } }), scope: 'openid offline_access' };
  const { body: first } = await freshTokens(server, asked);
  const form = { grant_type: 'refresh_token', refresh_token: String(first.refresh_token) };
  const { body } = await post(server, REALM, 'token', form, { authorization: basic('rp') });
  expect(decodeJwt(String(body.id_token))).toMatchObject({ email: ofHers.email });
  expect(await userinfo(body)).toMatchObject({ name: ofHers.name });
});

test('what nobody has, or isn’t for applications, is left out, essential or not', async () => {
  const names = ['nobody_has_this', 'cost_centre', 'clearance', 'realm_access', 'iss', 'svc_person'];
  const asked = Object.fromEntries(names.map((name) => [name, { essential: true }]));
  const { idToken, userinfo: shown } = await said(claims({ userinfo: asked, id_token: asked, more: 1 }));
  expect(shown).toEqual({ sub: shown.sub });
  for (const name of names.filter((one) => one !== 'iss')) expect(idToken).not.toHaveProperty(name);
  expect(idToken.iss).toBe(`${server.baseUrl}/realms/${REALM}`);
});

test('an attribute comes as what its claim says it is', async () => {
  const person = createPerson(server.baseUrl);
  const path = requestPath({ client_id: 'staffed', ...claims({ userinfo: { cost_centre: null, clearance: null } }) });
  const page = await person.open(path);
  const answer = responseParameters(await person.fill(page, { username: 'bob', password: PASSWORD })) ?? {};
  const { body } = await exchange(server, answer, {}, 'staffed');
  expect(await userinfo(body)).toEqual({ sub: expect.any(String), cost_centre: 4711 });
});

test.each(['x', '[]', '1', '{"userinfo":[]}', '{"userinfo":{"name":1}}', '{"id_token":{"acr":{"values":"2"}}}'])(
  'what is no claims parameter is refused: %s',
  async (text) => {
    expect(responseParameters(await createPerson(server.baseUrl).open(requestPath({ claims: text })))).toMatchObject({
      error: 'invalid_request',
      state: STATE,
    });
  },
);

test('who is asked for consent sees the scope that a claim stands in, and is asked once', async () => {
  const person = createPerson(server.baseUrl);
  const path = requestPath({ client_id: 'polite', ...claims({ userinfo: { cost_centre: null } }) });
  const page = await person.fill(await person.open(path), { username: 'alice', password: PASSWORD });
  expect(page.heading).toBe('Allow access?');
  expect(page.text).toContain('Your place of work');
  const allowed = await person.post(`/realms/${REALM}/oauth2/consent`, {
    ...page.fields,
    decision: 'allow',
  });
  expect(responseParameters(allowed)).toHaveProperty('code');
  expect(responseParameters(await person.open(path))).toHaveProperty('code');
  const more = requestPath({ client_id: 'polite', ...claims({ userinfo: { email: null } }) });
  expect((await person.open(more)).heading).toBe('Allow access?');
});

test('a subject that is asked for is the session’s, or nobody is', async () => {
  const { person, answer } = await signedIn(server);
  const { sub } = decodeJwt(String((await exchange(server, answer)).body.id_token));
  const outcome = async (value: unknown, more: object = {}) =>
    responseParameters(
      await person.open(requestPath({ prompt: 'none', ...claims({ id_token: { sub: { value } } }), ...more })),
    );
  expect(await outcome(sub)).toHaveProperty('code');
  expect(await outcome('somebody-else')).toMatchObject({ error: 'login_required' });
});

test('an essential acr is reached or refused, a voluntary one is a wish', async () => {
  const { person } = await signedIn(server);
  const outcome = async (acr: object) =>
    responseParameters(await person.open(requestPath({ prompt: 'none', ...claims({ id_token: { acr } }) })));
  expect(await outcome({ essential: true, value: '1' })).toHaveProperty('code');
  expect(await outcome({ essential: true })).toHaveProperty('code');
  expect(await outcome({ values: ['urn:x', '9'] })).toHaveProperty('code');
  expect(await outcome({ essential: true, values: ['urn:x', '2'] })).toMatchObject({ error: 'login_required' });
  expect(await outcome({ essential: true, values: ['urn:x', '9'] })).toMatchObject({
    error: 'unmet_authentication_requirements',
    state: STATE,
  });
});

/** As a suite sends it: unsigned, and what OAuth needs outside, too. */
const unsigned = (payload: object) =>
  `${[{ alg: 'none' }, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`;

test('a refused request object is answered as it says: by its response mode, with its state', async () => {
  const person = createPerson(server.baseUrl);
  const inside = { state: 'inside', response_mode: 'form_post', redirect_uri: RP };
  const page = await person.open(requestPath({ state: '', request: unsigned(inside) }));
  expect(page.text).toContain(`action="${RP}"`);
  expect(responseParameters(page)).toMatchObject({ error: 'request_not_supported', state: 'inside' });
  const alone = await person.open(requestPath({ state: '', redirect_uri: '', request: unsigned(inside) }));
  expect(responseParameters(alone)).toMatchObject({ error: 'request_not_supported', state: 'inside' });
  const foreign = unsigned({ ...inside, redirect_uri: 'https://evil.example/' });
  expect((await person.open(requestPath({ redirect_uri: '', request: foreign }))).heading).toBe(
    'This request cannot go on',
  );
  for (const request of ['x', 'a.b.c', `${'e30'}.${Buffer.from('null').toString('base64url')}.`])
    expect(responseParameters(await person.open(requestPath({ request })))).toMatchObject({
      error: 'request_not_supported',
      state: STATE,
    });
});

test('where a client has no scope, neither answer nor token names one', async () => {
  const { body } = await post(
    server,
    REALM,
    'token',
    { grant_type: 'client_credentials' },
    { authorization: basic('bare') },
  );
  expect(body).not.toHaveProperty('scope');
  expect(decodeJwt(String(body.access_token))).not.toHaveProperty('scope');
  const answer = await post(
    server,
    REALM,
    'introspect',
    { token: String(body.access_token) },
    { authorization: basic('bare') },
  );
  expect([answer.body.client_id, 'scope' in answer.body]).toEqual(['bare', false]);
});

test('discovery says that claims may be asked for', async () => {
  const at = `${server.baseUrl}/realms/${REALM}/.well-known/openid-configuration`;
  const document = Object(await (await fetch(at)).json());
  expect(document).toMatchObject({ claims_parameter_supported: true, request_parameter_supported: true });
  expect(document.claims_supported).toContain('updated_at');
});
