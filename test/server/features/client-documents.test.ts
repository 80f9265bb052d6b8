// Clients whose id is the https address of their metadata, as MCP clients have it: fetched, shown, renewed, and refused.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listClients, putClient } from '../../../server/contract/clients.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { PASSWORD } from '../../support/applications.ts';
import { claimsIn, makeClient, post } from '../../support/clients.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { type Receiver, type Answer as Served, startReceiver } from '../../support/receiver.ts';
import { makeProvider, REALM, RP, responseParameters, STATE } from '../../support/relying-party.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let host: Receiver;
let now = new Date();
const params = { realm: REALM };
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';

const idOf = (path: string) => `${host.url}${path}`;
const documentAt = (path: string, more: Record<string, unknown> = {}) => ({
  client_id: idOf(path),
  client_name: 'An assistant',
  redirect_uris: [RP],
  grant_types: ['authorization_code', 'refresh_token', 'urn:example:another'],
  response_types: ['code'],
  scope: 'openid email files:read',
  token_endpoint_auth_method: 'none',
  ...more,
});
/** What the host has, by path. */
const served = new Map<string, Served>();
const serve = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  served.set(path, {
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const fetches = (path: string) => host.received.filter(({ url }) => url === path).length;
const pathOf = (clientId: string, more: Record<string, string> = {}) =>
  `/realms/${REALM}/oauth2/authorize?${new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    redirect_uri: RP,
    scope: 'openid email',
    state: STATE,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    ...more,
  })}`;
const visit = (clientId: string, more?: Record<string, string>): Promise<ShownPage> =>
  createPerson(server.baseUrl).open(pathOf(clientId, more));
/** Anew each time: the clock runs on, and sessions end. */
const admin = () => server.signIn({ username: 'admin', password: ADMIN_PASSWORD });
const agree = (person: Person, consent: ShownPage) =>
  person.post(`/realms/${REALM}/oauth2/consent`, { ...consent.fields, decision: 'allow' });
const settings = async (body: object) => (await admin()).call(putSettings, { params, body });
const registered = async () =>
  ((await (await admin()).call(listClients, { params, query: { q: 'https://', limit: 1000 } })).body ?? []).map(
    ({ clientId }) => clientId,
  );
const minutes = (count: number) => {
  now = new Date(now.getTime() + count * 60_000);
};

beforeAll(async () => {
  host = await startReceiver({ names: ['app.example'] });
  host.answer = ({ url }) => served.get(url) ?? { status: 404 };
  server = await startTestServer({ now: () => now, env: { SVC_OUTBOUND_CA_FILE: host.caFile } });
  await makeProvider(server);
  await settings({ clientIdMetadataDocuments: true });
});
afterAll(async () => {
  await server?.stop();
  await host?.stop();
});
// What one address may make the server fetch is counted by the minute.
beforeEach(() => minutes(2));

test('a realm takes none unless it is set to, and discovery says so', async () => {
  const path = '/closed.json';
  serve(path, documentAt(path));
  const discovery = async () =>
    Object(await (await fetch(`${server.baseUrl}/realms/${REALM}/.well-known/openid-configuration`)).json());
  await settings({ clientIdMetadataDocuments: false });
  expect(await discovery()).not.toHaveProperty('client_id_metadata_document_supported');
  expect((await visit(idOf(path))).status).toBe(400);
  expect(fetches(path)).toBe(0);
  await settings({ clientIdMetadataDocuments: true, clientIdMetadataHosts: ['other.example'] });
  expect((await visit(idOf(path))).status).toBe(400);
  expect(fetches(path)).toBe(0);
  await settings({ clientIdMetadataHosts: [] });
  expect(await discovery()).toHaveProperty('client_id_metadata_document_supported', true);
  expect((await visit(idOf(path))).heading).toBe('Sign in');
});

test('a person sees where it is from before they agree, and it gets what they agreed to', async () => {
  const path = '/assistant.json';
  serve(path, documentAt(path));
  const person = createPerson(server.baseUrl);
  const sign = await person.open(pathOf(idOf(path)));
  expect(sign.text).toContain(`An assistant (${new URL(host.url).host})`);
  const consent = await person.fill(sign, { username: 'alice', password: PASSWORD });
  expect(consent.heading).toBe('Allow access?');
  expect(consent.text).toContain(`Its name comes from <strong>${new URL(host.url).host}</strong>`);
  expect(consent.text).toContain(`you continue to <strong>${new URL(RP).host}</strong>`);
  const answer = responseParameters(await agree(person, consent)) ?? {};
  const form = { client_id: idOf(path), redirect_uri: RP, code: answer.code ?? '', code_verifier: VERIFIER };
  const { status, body } = await post(server, REALM, 'token', { grant_type: 'authorization_code', ...form });
  expect([status, body.error_description]).toEqual([200, undefined]);
  expect(body.scope).toBe('openid email');
  expect(claimsIn(body.access_token).client_id).toBe(idOf(path));
  const again = { grant_type: 'refresh_token', client_id: idOf(path), refresh_token: String(body.refresh_token) };
  expect((await post(server, REALM, 'token', again)).status).toBe(200);
  expect(fetches(path)).toBe(1);
});

test('one may push its requests', async () => {
  const path = '/pushing.json';
  serve(path, documentAt(path));
  const form = Object.fromEntries(new URLSearchParams(pathOf(idOf(path)).split('?')[1]));
  const pushed = await post(server, REALM, 'par', form);
  expect(pushed.status).toBe(201);
  expect((await visit(idOf(path), { request_uri: String(pushed.body.request_uri) })).heading).toBe('Sign in');
});

describe('is refused:', () => {
  const bad = (why: string, words: string, document: object | string | ((path: string) => object)) =>
    [why, words, document] as const;
  test.each([
    bad('another’s document', 'client_id is not its address', (path) =>
      documentAt(path, { client_id: 'https://other.example/client.json' }),
    ),
    bad('one without client_id', 'client_id:', (path) => documentAt(path, { client_id: undefined })),
    bad('one with a secret', 'client_secret:', (path) => documentAt(path, { client_secret: 'public' })),
    bad('one that proves itself by a secret', 'token_endpoint_auth_method:', (path) =>
      documentAt(path, { token_endpoint_auth_method: 'client_secret_post' }),
    ),
    bad('one without addresses', 'redirect_uris is needed', (path) => documentAt(path, { redirect_uris: [] })),
    bad('one that comes back by http', 'A redirect URI', (path) =>
      documentAt(path, { redirect_uris: ['http://rp.example/cb'] }),
    ),
    bad('what is no JSON', 'not JSON', '<html>'),
    bad('one that is nested too deeply', 'levels deep', (path) =>
      JSON.stringify(documentAt(path, { jwks: {} })).replace('{}', `{"keys":${'['.repeat(6_000)}${']'.repeat(6_000)}}`),
    ),
    bad('a list', 'not a JSON object', []),
    bad('one that is too long', 'cannot be fetched', (path) => documentAt(path, { padding: 'x'.repeat(20_000) })),
  ])('%s', async (why, words, document) => {
    const path = `/${why.replaceAll(/\W+/g, '-')}.json`;
    serve(path, typeof document === 'function' ? document(path) : document);
    const page = await visit(idOf(path));
    expect([page.status, responseParameters(page)]).toEqual([400, undefined]);
    expect(page.text).toContain(words);
    expect(fetches(path)).toBe(1);
    expect(await registered()).not.toContain(idOf(path));
  });

  test('a redirect, which is not followed', async () => {
    serve('/target.json', documentAt('/moved.json'));
    served.set('/moved.json', { status: 302, headers: { location: idOf('/target.json') } });
    expect((await visit(idOf('/moved.json'))).status).toBe(400);
    expect(fetches('/target.json')).toBe(0);
  });

  test('an address that could be written otherwise', async () => {
    serve('/a.json', documentAt('/a.json'));
    const { port } = host;
    const others = [
      `http://127.0.0.1:${port}/a.json`,
      `https://user@127.0.0.1:${port}/a.json`,
      `https://127.0.0.1:${port}/x/../a.json`,
      `https://127.0.0.1:${port}/a.json#`,
      `https://2130706433:${port}/a.json`,
      `https://127.0.0.1:${port}/`,
      `HTTPS://127.0.0.1:${port}/a.json`,
    ];
    for (const clientId of others) expect((await visit(clientId)).status).toBe(400);
    expect(fetches('/a.json') + fetches('/')).toBe(0);
  });

  test('an address of this server, or the realm’s issuer', async () => {
    await settings({ issuer: `${host.url}/login` });
    serve('/login', documentAt('/login'));
    const answers = [await visit(idOf('/login'))];
    await settings({ issuer: null });
    expect(answers.map(({ status }) => status)).toEqual([400]);
    expect(answers[0]?.text).toContain('its address is this server’s');
    expect(fetches('/login')).toBe(0);
  });

  test('another redirect_uri than the document’s', async () => {
    serve('/own.json', documentAt('/own.json'));
    const page = await visit(idOf('/own.json'), { redirect_uri: 'https://evil.example/cb' });
    expect([page.status, responseParameters(page)]).toEqual([400, undefined]);
  });
});

describe('nobody looks around by this server’s requests:', () => {
  let guarded: TestServer;
  beforeAll(async () => {
    guarded = await startTestServer({
      now: () => now,
      env: { SVC_OUTBOUND_CA_FILE: host.caFile, SVC_OUTBOUND_ALLOW: '192.0.2.1' },
    });
    await makeProvider(guarded);
    await guarded.admin.call(putSettings, { params, body: { clientIdMetadataDocuments: true } });
  });
  afterAll(async () => guarded?.stop());

  test('private, loopback and link-local addresses get one and the same answer as hosts that are not there', async () => {
    serve('/inside.json', documentAt('/inside.json'));
    const before = host.received.length;
    const addresses = [
      idOf('/inside.json'),
      `https://localhost:${host.port}/inside.json`,
      `https://[::1]:${host.port}/inside.json`,
      `https://[::ffff:7f00:1]:${host.port}/inside.json`,
      'https://169.254.169.254/latest/meta-data',
      'https://10.0.0.1/client.json',
      'https://nobody.invalid/client.json',
    ];
    const pages = await Promise.all(addresses.map((clientId) => createPerson(guarded.baseUrl).open(pathOf(clientId))));
    expect(pages.map(({ status }) => status)).toEqual(addresses.map(() => 400));
    const words = pages.map(({ text }) => /<details>[\s\S]*<\/details>/.exec(text)?.[0]);
    expect(new Set(words).size).toBe(1);
    expect(host.received.length).toBe(before);
  });
});

test('one address makes the server fetch a bounded number of documents', async () => {
  const pages = await Promise.all(Array.from({ length: 25 }, (_, n) => visit(idOf(`/flood-${n}.json`))));
  expect(pages.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(5);
});

describe('what was fetched', () => {
  test('is used as long as HTTP says, within a minute and a day, and asked for by its tag then', async () => {
    const path = '/cached.json';
    serve(path, documentAt(path), { 'cache-control': 'max-age=600', etag: '"one"' });
    await visit(idOf(path));
    minutes(9);
    await visit(idOf(path));
    expect(fetches(path)).toBe(1);
    minutes(2);
    served.set(path, { status: 304, headers: { 'cache-control': 'max-age=999999999' } });
    expect((await visit(idOf(path))).heading).toBe('Sign in');
    expect(host.received.findLast(({ url }) => url === path)?.headers['if-none-match']).toBe('"one"');
    minutes(23 * 60);
    await visit(idOf(path));
    expect(fetches(path)).toBe(2);
    serve(path, documentAt(path, { redirect_uris: ['https://rp.example/moved'] }), { 'cache-control': 'no-store' });
    minutes(61);
    expect((await visit(idOf(path))).status).toBe(400);
    expect((await visit(idOf(path), { redirect_uri: 'https://rp.example/moved' })).heading).toBe('Sign in');
    expect(fetches(path)).toBe(3);
  });

  test('serves for a day where its host does not answer, and no longer where it is gone', async () => {
    const path = '/away.json';
    serve(path, documentAt(path), { 'cache-control': 'max-age=60' });
    await visit(idOf(path));
    served.set(path, { status: 503 });
    minutes(23 * 60);
    expect((await visit(idOf(path))).heading).toBe('Sign in');
    served.set(path, { status: 404 });
    expect((await visit(idOf(path))).status).toBe(400);
    served.set(path, { status: 503 });
    minutes(2 * 60);
    expect((await visit(idOf(path))).status).toBe(400);
  });

  test('serves those whose document is known while somebody asks for too many others', async () => {
    const path = '/known.json';
    serve(path, documentAt(path), { 'cache-control': 'max-age=60' });
    await visit(idOf(path));
    minutes(2);
    const pages = await Promise.all(Array.from({ length: 25 }, (_, n) => visit(idOf(`/others-${n}.json`))));
    expect(pages.map(({ status }) => status)).toContain(429);
    expect((await visit(idOf(path))).heading).toBe('Sign in');
    expect(fetches(path)).toBe(1);
  });

  test('takes back nothing that an administrator demands of the client since', async () => {
    const path = '/demanded.json';
    serve(path, documentAt(path), { 'cache-control': 'max-age=60' });
    await visit(idOf(path));
    const api = await admin();
    const { body: [client] = [] } = await api.call(listClients, { params, query: { q: idOf(path) } });
    const demanded = { requirePushedAuthorizationRequests: true, dpopBoundAccessTokens: true };
    await api.call(putClient, { params: { ...params, id: client?.id ?? '' }, body: demanded });
    serve(path, documentAt(path, { client_name: 'Renamed' }));
    minutes(2);
    await visit(idOf(path));
    const { body: [renewed] = [] } = await (await admin()).call(listClients, { params, query: { q: idOf(path) } });
    expect(renewed).toMatchObject({ name: 'Renamed', ...demanded });
  });

  test('is fetched once by many at the same moment', async () => {
    const path = '/many.json';
    serve(path, documentAt(path));
    const pages = await Promise.all([1, 2, 3, 4].map(() => visit(idOf(path))));
    expect(pages.map(({ heading }) => heading)).toEqual(Array(4).fill('Sign in'));
    expect(fetches(path)).toBe(1);
  });

  test('gives way to others where nobody has agreed to it and there is no more room', async () => {
    const { length } = await registered();
    await settings({ mostRegisteredClients: length });
    serve('/newest.json', documentAt('/newest.json'));
    expect((await visit(idOf('/newest.json'))).heading).toBe('Sign in');
    const after = await registered();
    expect(after).toHaveLength(length);
    expect(after).toEqual(expect.arrayContaining([idOf('/newest.json'), idOf('/assistant.json')]));
    await settings({ mostRegisteredClients: 1000 });
  });

  test('is no client that an administrator has made by that name, nor one that they have switched off', async () => {
    const path = '/made.json';
    serve(path, documentAt(path));
    await makeClient({ ...server, admin: await admin() }, REALM, {
      clientId: idOf(path),
      tokenEndpointAuthMethod: 'none',
      redirectUris: [RP],
    });
    expect((await visit(idOf(path), { scope: 'openid' })).text).not.toContain(`(${new URL(host.url).host})`);
    expect(fetches(path)).toBe(0);
  });

  test('leaves a client alone that an administrator makes by that name while it is fetched', async () => {
    const path = '/meanwhile.json';
    serve(path, documentAt(path));
    const { answer } = host;
    host.answer = async (request) => {
      if (request.url === path)
        await makeClient({ ...server, admin: await admin() }, REALM, {
          clientId: idOf(path),
          name: 'Our own',
          tokenEndpointAuthMethod: 'none',
          redirectUris: [RP],
        });
      return answer(request);
    };
    await visit(idOf(path), { scope: 'openid' });
    host.answer = answer;
    expect(fetches(path)).toBe(1);
    const { body } = await (await admin()).call(listClients, { params, query: { q: path } });
    expect(body).toMatchObject([{ clientId: idOf(path), name: 'Our own' }]);
  });
});
