// Owns: rich authorization requests over HTTP: who may ask for which details, how people are asked, and what becomes of the grant.
// Does not own: transactions (authorization-details.transactions.test.ts), bounds, comparison and schemas
// (domain/authorization-details.unit.test.ts), the consent page's words (consent-details.unit.test.ts).
// Implements: RFC 9396, its security considerations included; decisions "Authorization detail type".
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  authorizationDetailTypes,
  createAuthorizationDetailType,
  deleteAuthorizationDetailType,
  listAuthorizationDetailTypes,
  putAuthorizationDetailType,
} from '../../../server/contract/authorization-detail-types.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { ACCESS_TOKEN_TYPE, DEVICE_CODE, TOKEN_EXCHANGE } from '../../../server/contract/oauth.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { PASSWORD } from '../../support/applications.ts';
import { basic, post } from '../../support/clients.ts';
import { createPerson, type Person } from '../../support/person.ts';
import {
  exchange,
  makeProvider,
  makeRelyingParty,
  REALM,
  RP,
  requestPath,
  responseParameters,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const params = { realm: REALM };
const FILES = 'https://files.example.com';
const OTHER = 'https://other.example.com';
const payment = { type: 'payment', amount: '12.50', currency: 'EUR', creditor: 'Example Ltd' };
const files = { type: 'files', actions: ['read', 'write'], locations: [FILES] };
const keys = await generateKeyPair('ES256', { extractable: true });

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await makeProvider(server);
  await server.admin.call(putSettings, { params, body: { resourceIndicators: [FILES, OTHER] } });
  const types = [
    { ...authorizationDetailTypes.example, type: 'payment' },
    {
      type: 'files',
      schema: { type: 'object', properties: { actions: { type: 'array', items: { enum: ['read', 'write'] } } } },
      words: { en: 'Do this to your files: {actions}' },
      locations: [FILES, OTHER],
      clientCredentials: true,
      openToRegistration: true,
    },
    { type: 'off', enabled: false, schema: { type: 'object' }, words: { en: 'Nothing' } },
  ];
  for (const body of types) await server.admin.call(createAuthorizationDetailType, { params, body });
  const authorizationDetailsTypes = ['payment', 'files', 'off'];
  const grantTypes = [
    'authorization_code',
    'refresh_token',
    'client_credentials',
    DEVICE_CODE,
    TOKEN_EXCHANGE,
  ] as const;
  const shared = { authorizationDetailsTypes, grantTypes: [...grantTypes] };
  await makeRelyingParty(server, 'bank', shared);
  await makeRelyingParty(server, 'api', {
    ...shared,
    authorizationDetailsTypes: ['files'],
    allowedResources: [FILES, OTHER],
  });
  await makeRelyingParty(server, 'polite', { ...shared, consentRequired: true, allowedResources: [FILES] });
  await makeRelyingParty(server, 'signer', {
    authorizationDetailsTypes,
    jwks: { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }] },
  });
});
afterAll(async () => server?.stop());

const asked = (...details: readonly object[]) => ({ authorization_details: JSON.stringify(details) });
const pathOf = (details: readonly object[], more: Record<string, string> = {}) =>
  requestPath({ client_id: 'bank', ...asked(...details), ...more });

async function signIn(at: string, person: Person = createPerson(server.baseUrl)) {
  let page = await person.open(at);
  if (page.heading === 'Sign in') page = await person.fill(page, { username: 'alice', password: PASSWORD });
  return { person, page };
}
const allow = ({ person, page }: Awaited<ReturnType<typeof signIn>>) =>
  person.post(`/realms/${REALM}/oauth2/consent`, { ...page.fields, decision: 'allow' });
async function code(details: readonly object[], more: Record<string, string> = {}) {
  const answer = responseParameters(await allow(await signIn(pathOf(details, more))));
  return { code: answer?.code ?? '' };
}
const tokens = async (details: readonly object[], more: Record<string, string> = {}) =>
  (await exchange(server, await code(details, more), {}, 'bank')).body;
const refresh = (token: unknown, more: Record<string, string> = {}) =>
  post(
    server,
    REALM,
    'token',
    { grant_type: 'refresh_token', refresh_token: String(token), ...more },
    { authorization: basic('bank') },
  );
const detailsOf = (token: unknown) => decodeJwt(String(token)).authorization_details;
const introspect = async (token: unknown, by = 'bank') =>
  (await post(server, REALM, 'introspect', { token: String(token) }, { authorization: basic(by) })).body;

describe('people are asked', () => {
  test('in the words of the type, even by a client that asks for no consent otherwise, and each time', async () => {
    const { person, page } = await signIn(pathOf([payment]));
    expect(page.heading).toBe('Allow access?');
    const words = page.text.replace(/<[^>]+>/g, '');
    expect(words).toContain('Pay 12.50 EUR to Example Ltd');
    await allow({ person, page });
    expect((await person.open(pathOf([payment]))).heading).toBe('Allow access?');
    const silent = responseParameters(await person.open(pathOf([payment], { prompt: 'none' })));
    expect(silent?.error).toBe('consent_required');
  });

  test('and a refusal gives nothing', async () => {
    const { person, page } = await signIn(pathOf([payment]));
    const answer = await person.post(`/realms/${REALM}/oauth2/consent`, { ...page.fields, decision: 'deny' });
    expect(responseParameters(answer)).toMatchObject({ error: 'access_denied' });
  });

  test('about the details that they were shown, and no others', async () => {
    const { person, page } = await signIn(pathOf([payment]));
    const { request = '' } = page.fields;
    const changed = new URLSearchParams(request);
    changed.set('authorization_details', JSON.stringify([{ ...payment, amount: '9999.00' }]));
    const answer = await person.post(`/realms/${REALM}/oauth2/consent`, {
      ...page.fields,
      request: changed.toString(),
      decision: 'allow',
    });
    expect(answer.status).toBe(400);
    expect(responseParameters(answer)).toBeUndefined();
  });

  test('on a device’s page too', async () => {
    const form = { client_id: 'bank', ...asked(payment) };
    const started = await post(server, REALM, 'device_authorization', form, { authorization: basic('bank') });
    const { person, page } = await signIn(`/realms/${REALM}/device?user_code=${started.body.user_code}`);
    const question = await person.post(`/realms/${REALM}/device`, page.fields);
    expect(question.text.replace(/<[^>]+>/g, '')).toContain('Pay 12.50 EUR to Example Ltd');
    await person.post(`/realms/${REALM}/device/decision`, { ...question.fields, decision: 'allow' });
    const { body } = await post(
      server,
      REALM,
      'token',
      { grant_type: DEVICE_CODE, device_code: String(started.body.device_code) },
      { authorization: basic('bank') },
    );
    expect(body.authorization_details).toEqual([payment]);
  });
});

describe('a request is refused', () => {
  test.each<[string, string]>([
    ['for an unknown type', JSON.stringify([{ type: 'unknown' }])],
    ['for a type that is switched off', JSON.stringify([{ type: 'off' }])],
    ['for a detail that does not conform', JSON.stringify([{ ...payment, amount: 'all' }])],
    ['for a field that the type does not have', JSON.stringify([{ ...payment, tip: '5.00' }])],
    ['for a location that the type does not have', JSON.stringify([{ ...files, locations: ['https://evil.example'] }])],
    ['where one of several is wrong', JSON.stringify([payment, { type: 'unknown' }])],
    ['for a text that runs backwards', JSON.stringify([{ ...payment, creditor: 'dtL\u202e' }])],
    ['for what is no list', '{}'],
  ])('%s, at every endpoint', async (_, authorization_details) => {
    const person = createPerson(server.baseUrl);
    const answer = responseParameters(await person.open(requestPath({ client_id: 'bank', authorization_details })));
    expect(answer).toMatchObject({ error: 'invalid_authorization_details', state: expect.any(String) });
    const by = { authorization: basic('bank') };
    const push = { response_type: 'code', redirect_uri: RP, scope: 'openid', authorization_details };
    const device = { client_id: 'bank', authorization_details };
    const own = { grant_type: 'client_credentials', authorization_details };
    for (const [endpoint, form] of [
      ['par', push],
      ['device_authorization', device],
      ['token', own],
    ] as const) {
      const { status, body } = await post(server, REALM, endpoint, form, by);
      expect([endpoint, status, body.error]).toEqual([endpoint, 400, 'invalid_authorization_details']);
    }
  });

  test('of a client that may not use the type, in the words for a type that does not exist', async () => {
    const person = createPerson(server.baseUrl);
    const of = async (type: string) =>
      responseParameters(await person.open(requestPath({ client_id: 'rp', ...asked({ ...payment, type }) })));
    const [known, unknown] = [await of('payment'), await of('payment2')];
    expect(known?.error).toBe('invalid_authorization_details');
    expect(known?.error_description?.replace('payment', 'payment2')).toBe(unknown?.error_description);
  });

  test('for a client alone, unless the type allows it', async () => {
    const own = (details: object) =>
      post(
        server,
        REALM,
        'token',
        { grant_type: 'client_credentials', ...asked(details) },
        { authorization: basic('bank') },
      );
    expect((await own(payment)).body.error).toBe('invalid_authorization_details');
    const { body } = await own(files);
    expect(body.authorization_details).toEqual([files]);
    expect(detailsOf(body.access_token)).toEqual([files]);
  });
});

describe('a signed request', () => {
  const sign = (details: unknown) =>
    new SignJWT({
      client_id: 'signer',
      response_type: 'code',
      redirect_uri: RP,
      scope: 'openid',
      authorization_details: details,
    })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .setIssuer('signer')
      .setAudience(`${server.baseUrl}/realms/${REALM}`)
      .setExpirationTime('5m')
      .sign(keys.privateKey);

  test('holds the list as JSON, by value and pushed, and nothing beside it counts', async () => {
    const request = await sign([payment]);
    const beside = asked({ ...payment, amount: '9999.00' });
    const { page } = await signIn(requestPath({ client_id: 'signer', request, ...beside }));
    expect(page.text.replace(/<[^>]+>/g, '')).toContain('Pay 12.50 EUR');
    const pushed = await post(server, REALM, 'par', { request, ...beside }, { authorization: basic('signer') });
    expect(pushed.status).toBe(201);
    const uri = String(pushed.body.request_uri);
    const shown = await signIn(requestPath({ client_id: 'signer', request_uri: uri, ...beside }));
    expect(shown.page.text.replace(/<[^>]+>/g, '')).toContain('Pay 12.50 EUR');
    const answer = responseParameters(await allow(shown)) ?? {};
    const { body } = await exchange(server, answer, {}, 'signer');
    expect(body.authorization_details).toEqual([payment]);
  });
});

describe('a grant', () => {
  test('has its details in the answer, the access token and introspection, not in the ID token', async () => {
    const body = await tokens([payment, files]);
    expect(body.authorization_details).toEqual([payment, files]);
    expect(detailsOf(body.access_token)).toEqual([payment, files]);
    expect(decodeJwt(String(body.id_token))).not.toHaveProperty('authorization_details');
    expect((await introspect(body.access_token)).authorization_details).toEqual([payment, files]);
    expect((await introspect(body.refresh_token)).authorization_details).toEqual([payment, files]);
  });

  test('has none where none were asked for', async () => {
    const { person, page } = await signIn(requestPath({ client_id: 'bank' }));
    expect(person).toBeDefined();
    const { body } = await exchange(server, responseParameters(page) ?? {}, {}, 'bank');
    expect(body).not.toHaveProperty('authorization_details');
    expect(decodeJwt(String(body.access_token))).not.toHaveProperty('authorization_details');
    const wider = await refresh(body.refresh_token, asked(payment));
    expect([wider.status, wider.body.error]).toEqual([400, 'invalid_authorization_details']);
  });

  test('gives fewer to the code’s own request, and never others', async () => {
    const one = await code([files]);
    const wider = await exchange(server, one, asked({ ...files, locations: [OTHER] }), 'bank');
    expect(wider.body.error).toBe('invalid_authorization_details');
    const { body } = await exchange(server, one, asked({ ...files, actions: ['read'] }), 'bank');
    expect(body.authorization_details).toEqual([{ ...files, actions: ['read'] }]);
    // The grant itself stays whole.
    expect((await refresh(body.refresh_token)).body.authorization_details).toEqual([files]);
  });

  test('is narrowed at refresh, and not widened', async () => {
    const first = await tokens([payment, { ...files, actions: ['read'] }]);
    for (const wider of [
      [files],
      [{ ...payment, amount: '12.51' }],
      [{ type: 'files', locations: [FILES] }],
      [payment, { ...payment, creditor: 'Mallory' }],
    ]) {
      const { status, body } = await refresh(first.refresh_token, asked(...wider));
      expect([status, body.error]).toEqual([400, 'invalid_authorization_details']);
    }
    const { body } = await refresh(first.refresh_token, asked(payment));
    expect(detailsOf(body.access_token)).toEqual([payment]);
  });

  test('gives a token for one resource only the details for it', async () => {
    const there = { ...files, locations: [OTHER] };
    const form = { resource: FILES };
    const { page, person } = await signIn(`${pathOf([payment, files, there])}&resource=${FILES}&resource=${OTHER}`);
    const answer = responseParameters(await allow({ page, person })) ?? {};
    const { body } = await exchange(server, answer, form, 'bank');
    expect(body.authorization_details).toEqual([payment, files]);
    expect((await introspect(body.access_token, 'api')).authorization_details).toEqual([payment, files]);
  });

  test('loses details whose type the realm no longer has on', async () => {
    const first = await tokens([payment, files]);
    const [type] =
      (await server.admin.call(listAuthorizationDetailTypes, { params, query: { q: 'payment' } })).body ?? [];
    const at = { ...params, id: type?.id ?? '' };
    await server.admin.call(putAuthorizationDetailType, { params: at, body: { enabled: false } });
    const { body } = await refresh(first.refresh_token);
    expect(body.authorization_details).toEqual([files]);
    await server.admin.call(putAuthorizationDetailType, { params: at, body: { enabled: true } });
  });

  test('loses the locations that its type no longer has', async () => {
    const first = await tokens([{ ...files, locations: [FILES, OTHER] }]);
    const [type] =
      (await server.admin.call(listAuthorizationDetailTypes, { params, query: { q: 'files' } })).body ?? [];
    const set = (locations: string[]) =>
      server.admin.call(putAuthorizationDetailType, {
        params: { ...params, id: type?.id ?? '' },
        body: { locations },
      });
    await set([FILES]);
    const narrower = await refresh(first.refresh_token);
    expect(narrower.body.authorization_details).toEqual([files]);
    await set([]);
    const without = await refresh(narrower.body.refresh_token);
    expect(without.body).not.toHaveProperty('authorization_details');
    await set([FILES, OTHER]);
  });

  test('names the types in events, not the values', async () => {
    await tokens([payment]);
    const { body: events = [] } = await server.admin.call(listEvents, {
      params,
      query: { type: 'CODE_ISSUED', limit: 1 },
    });
    expect(events).toMatchObject([{ data: { authorizationDetailsTypes: ['payment'] } }]);
    expect(JSON.stringify(events)).not.toContain('Example Ltd');
  });
});

describe('token exchange', () => {
  const exchanged = async (token: unknown, by: string, more: Record<string, string> = {}) =>
    post(
      server,
      REALM,
      'token',
      {
        grant_type: TOKEN_EXCHANGE,
        subject_token: String(token),
        subject_token_type: ACCESS_TOKEN_TYPE,
        resource: FILES,
        ...more,
      },
      { authorization: basic(by) },
    );
  const subject = async () => {
    const { page, person } = await signIn(`${pathOf([payment, files])}&resource=${FILES}`);
    const answer = responseParameters(await allow({ page, person })) ?? {};
    return (await exchange(server, answer, {}, 'bank')).body.access_token;
  };

  test('passes on what the other client may have, or less', async () => {
    const token = await subject();
    expect((await exchanged(token, 'api')).body.authorization_details).toEqual([files]);
    const less = { ...files, actions: ['read'] };
    expect((await exchanged(token, 'api', asked(less))).body.authorization_details).toEqual([less]);
  });

  test('gives no details that the token lacks, or the client may not have', async () => {
    const token = await subject();
    for (const more of [{ ...files, locations: [FILES, OTHER] }, payment]) {
      const { status, body } = await exchanged(token, 'api', asked(more));
      expect([status, body.error]).toEqual([400, 'invalid_authorization_details']);
    }
  });

  test('gives none to a client that the person has to agree to', async () => {
    const { page, person } = await signIn(requestPath({ client_id: 'polite', scope: 'email', resource: FILES }));
    await allow({ page, person });
    const plain = await signIn(`${pathOf([files], { scope: 'email' })}&resource=${FILES}`, person);
    const { body } = await exchange(server, responseParameters(await allow(plain)) ?? {}, {}, 'bank');
    const onward = await exchanged(body.access_token, 'polite');
    expect(onward.status).toBe(200);
    expect(onward.body).not.toHaveProperty('authorization_details');
    const wanted = await exchanged(body.access_token, 'polite', asked(files));
    expect(wanted.body.error).toBe('invalid_authorization_details');
  });
});

describe('the types', () => {
  test('are in discovery, without those that are off', async () => {
    const answer = await fetch(`${server.baseUrl}/realms/${REALM}/.well-known/openid-configuration`);
    expect(await answer.json()).toMatchObject({
      authorization_details_types_supported: ['files', 'payment'],
    });
  });

  test('are refused with words for a field that they do not have, and with a schema that cannot be bounded', async () => {
    const create = (body: object) =>
      server.admin.call(createAuthorizationDetailType, {
        params,
        body: { type: 'wrong', schema: { type: 'object' }, words: { en: 'Yes' }, ...body },
      });
    await expect(create({ words: { en: 'Pay {amount}' } })).rejects.toMatchObject({
      status: 400,
      problem: { errors: [{ path: 'words.en', message: expect.stringContaining('{amount}') }] },
    });
    await expect(create({ schema: { type: 'object', properties: { a: { $ref: '#' } } } })).rejects.toMatchObject({
      status: 400,
      problem: { errors: [{ path: 'schema.properties.a.$ref', message: expect.stringContaining('keyword') }] },
    });
    await expect(create({ words: { en: 'Pay \u202e' } })).rejects.toMatchObject({ status: 400 });
    await expect(create({ words: {} })).rejects.toMatchObject({ status: 400 });
  });

  test('stay while a client has them', async () => {
    const [type] =
      (await server.admin.call(listAuthorizationDetailTypes, { params, query: { q: 'files' } })).body ?? [];
    await expect(
      server.admin.call(deleteAuthorizationDetailType, { params: { ...params, id: type?.id ?? '' } }),
    ).rejects.toMatchObject({ status: 409, problem: { type: 'urn:svc:problem:in-use' } });
  });

  test('are for clients that register themselves only where they are open to them', async () => {
    await server.admin.call(putSettings, { params, body: { clientRegistration: 'open' } });
    const register = async (authorization_details_types: string[]) => {
      const answer = await fetch(`${server.baseUrl}/realms/${REALM}/connect/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ redirect_uris: [RP], authorization_details_types }),
      });
      return { status: answer.status, body: Object(await answer.json()) };
    };
    expect(await register(['payment'])).toMatchObject({ status: 400, body: { error: 'invalid_client_metadata' } });
    expect(await register(['files'])).toMatchObject({ status: 201, body: { authorization_details_types: ['files'] } });
  });
});
