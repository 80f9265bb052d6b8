// Owns: that no request of a stranger stalls the server for others: each address that takes a body, each parameter that is parsed.
// Does not own: messages of SAML (worst-inputs.saml.test.ts), how often a stranger may ask (rate limits of the features).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putProvisioning } from '../../../server/contract/provisioning.ts';
import { makePeopledRealm } from '../../support/applications.ts';
import { makeClient, SECRET } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import { mostOfARequest, processorTime } from '../../support/processor-time.ts';
import { samlKeyPair } from '../../support/saml.ts';
import { makeSamlProvider } from '../../support/saml-provider.ts';
import { scimToken } from '../../support/scim.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { type BodyKind, repeatedTo, worstBodies, worstTokens } from '../../support/worst-inputs.ts';

const REALM = 'worst';
const AT = `/realms/${REALM}`;
const types = { form: 'application/x-www-form-urlencoded', json: 'application/json' } as const;
let server: TestServer;
let most = 0;
beforeAll(async () => {
  server = await startTestServer({ jobs: false, failureMs: 20, env: { USER_REGISTRATION_ENABLED: 'true' } });
  await makePeopledRealm(server, REALM);
  const jwk = (await import('node:crypto')).createPublicKey(samlKeyPair().certificate).export({ format: 'jwk' });
  const jwks = { keys: Array.from({ length: 10 }, (_, i) => ({ ...jwk, kid: `k${i}` })) };
  const redirectUris = ['https://app.example/cb'];
  await makeClient(server, REALM, { clientId: 'app', secret: SECRET, redirectUris });
  await makeClient(server, REALM, {
    clientId: 'signer',
    tokenEndpointAuthMethod: 'private_key_jwt',
    jwks,
    redirectUris,
  });
  await makeSamlProvider({ server, realm: REALM });
  await server.admin.call(putProvisioning, { params: { realm: REALM }, body: { registration: 'open' } });
  most = await mostOfARequest();
});
afterAll(() => server?.stop());

interface Sent {
  status: number;
  took: number;
}
let sent = 0;
/** Each time from another address, so that no limit of an address takes it off. */
async function take(options: { method?: string; url: string; headers?: object; payload?: string }): Promise<Sent> {
  let status = 0;
  const took = await processorTime(async () => {
    sent += 1;
    const remoteAddress = `10.${(sent >> 16) & 255}.${(sent >> 8) & 255}.${sent & 255}`;
    status = (await server.app.http.inject({ ...options, remoteAddress } as object)).statusCode;
  }, most);
  if (process.env.WORST && took > 15)
    console.log(took.toFixed(0).padStart(4), status, options.method ?? 'GET', options.url.slice(0, 80));
  return { status, took };
}
const faultOf = (what: string, { status, took }: Sent): string[] =>
  took > most || status >= 500 ? [`${what}: ${took.toFixed(0)} ms, status ${status}`] : [];

/** Every address of the server that takes a body, as its own router knows it. */
async function addressesWithBody(): Promise<[method: string, url: string][]> {
  const found: [string, string][] = [];
  const path: string[] = [];
  const applications = [server.app.http, await server.app.later()];
  for (const line of applications.flatMap((app) => app.printRoutes({ commonPrefix: false }).split('\n'))) {
    const [, indent, part = '', methods = ''] = /^((?:[│ ] {3})*)[├└]── (.*?)(?: \(([A-Z, ]+)\))?$/.exec(line) ?? [];
    if (indent === undefined) continue;
    path.splice(indent.length / 4, path.length, part);
    const url = path.join('').replace(':realm', REALM).replaceAll(':alias', 'corp').replaceAll(/:\w+/g, 'x');
    for (const method of methods.split(', ')) if (/^(POST|PUT|PATCH)$/.test(method)) found.push([method, url]);
  }
  return [...found, ['POST', '/admin/login'], ['POST', '/admin/login/form'], ['POST', '/admin/realms']];
}

/** What an address refuses as too large costs nothing; some of OAuth's do so by 400. */
const SIZES = [1024 * 1024, 256 * 1024, 64 * 1024].map((bytes) => bytes - 16);

test.each(['form', 'json'] as const)(
  'the worst %s that an address takes, at every address that takes a body',
  async (kind: BodyKind) => {
    const faults: string[] = [];
    const addresses = await addressesWithBody();
    const sizes = SIZES.map((bytes) => ({ bytes, inputs: worstBodies(kind, bytes) }));
    expect(addresses.length).toBeGreaterThan(60);
    for (const [method, url] of addresses)
      for (const { bytes, inputs } of sizes) {
        const send = (payload: string) => take({ method, url, payload, headers: { 'content-type': types[kind] } });
        const [[, probe = ''] = []] = inputs;
        const { status } = await send(probe);
        if (status === 415) break;
        if (status === 413) continue;
        for (const [what, payload] of inputs)
          faults.push(...faultOf(`${method} ${url} ${bytes} ${what}`, await send(payload)));
      }
    expect(faults).toEqual([]);
  },
);

const LONG = 60 * 1024;
/** Of a request line or of all headers: node:http takes no more. */
const HEADER = 15 * 1024;
const field = (fields: Record<string, string>): string => new URLSearchParams(fields).toString();
const words = (count: number): string => Array.from({ length: count }, (_, i) => (i + 46_656).toString(36)).join(' ');

/** What the parameters of OAuth's endpoints may hold at worst. */
const parameters = (): [string, Record<string, string>][] => [
  ['very many scopes', { scope: words(LONG / 5) }],
  ['a scope of spaces', { scope: `a${repeatedTo(' ', LONG)}"` }],
  ['a scope that is nearly one', { scope: `${repeatedTo('a ', LONG)}"` }],
  [
    'claims of very many names',
    {
      claims: JSON.stringify({
        userinfo: Object.fromEntries(
          words(5_000)
            .split(' ')
            .map((w) => [w, null]),
        ),
      }),
    },
  ],
  ['claims of very many values', { claims: `{"id_token":{"acr":{"values":[${repeatedTo('"a",', 50_000)}"a"]}}}` }],
  ['claims very deep', { claims: repeatedTo('{"userinfo":', LONG) }],
  ['very many resources', {}],
  ['authorization details', { authorization_details: `[${repeatedTo('{"type":"a"},', 50_000)}{}]` }],
  ['very many languages', { ui_locales: words(LONG / 5) }],
  ['very many prompts', { prompt: words(LONG / 5) }],
  ['very many levels', { acr_values: words(LONG / 5) }],
  ['a very long redirect URI', { redirect_uri: `http://127.0.0.1:1/${repeatedTo('a/../', LONG)}` }],
  ['a redirect URI of many labels', { redirect_uri: `https://${repeatedTo('a.', LONG)}` }],
  ['a redirect URI of broken percent signs', { redirect_uri: `https://a/${repeatedTo('%', 20_000)}` }],
  ['a redirect URI of letters that punycode', { redirect_uri: `https://${repeatedTo('ü', 6_000)}.example/` }],
  ['a very long verifier', { code_verifier: repeatedTo('a', LONG), code: repeatedTo('b', 100) }],
  ['a very long login hint', { login_hint: `${repeatedTo('a@', LONG)}` }],
  ['a very long state', { state: repeatedTo('<&', LONG / 3) }],
  ['a very long age', { max_age: repeatedTo('9', LONG) }],
];
const basics = { response_type: 'code', client_id: 'app', redirect_uri: 'https://app.example/cb', scope: 'openid' };
const manyResources = repeatedTo('&resource=https://api.example/a', LONG);

test('parameters of the endpoints of OAuth', async () => {
  const faults: string[] = [];
  for (const [what, more] of parameters()) {
    for (const endpoint of ['authorize', 'par', 'device_authorization', 'token', 'revoke', 'introspect', 'logout'])
      for (const grant_type of endpoint === 'token'
        ? ['authorization_code', 'client_credentials', 'refresh_token']
        : ['']) {
        const own = endpoint === 'authorize' || endpoint === 'logout' ? {} : { client_secret: SECRET };
        const body =
          field({ ...basics, ...own, grant_type, ...more }) + (Object.keys(more).length === 0 ? manyResources : '');
        const payload = body.slice(0, 64 * 1024 - 1).replace(/%[\dA-F]?$/, '');
        const options = {
          method: 'POST',
          url: `${AT}/oauth2/${endpoint}`,
          headers: { 'content-type': types.form },
          payload,
        };
        faults.push(...faultOf(`${endpoint} ${grant_type} ${what}`, await take(options)));
      }
    const query = field({ ...basics, ...more })
      .slice(0, HEADER)
      .replace(/%[\dA-F]?$/, '');
    faults.push(...faultOf(`authorize by GET ${what}`, await take({ url: `${AT}/oauth2/authorize?${query}` })));
  }
  expect(faults).toEqual([]);
});

test('tokens, wherever one is taken', async () => {
  const faults: string[] = [];
  const issuer = `${server.baseUrl}${AT}`;
  const exp = Math.floor(Date.now() / 1000) + 300;
  const claims = { iss: 'signer', sub: 'signer', aud: issuer, exp, jti: 'a', ...basics, client_id: 'signer' };
  const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange';
  const access = 'urn:ietf:params:oauth:token-type:access_token';
  const jwt = 'urn:ietf:params:oauth:token-type:jwt';
  const app = { client_id: 'app', client_secret: SECRET };
  const places: [string, string, (token: string) => Record<string, string>][] = [
    [
      'a client assertion',
      'oauth2/token',
      (token) => ({
        grant_type: 'client_credentials',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: token,
      }),
    ],
    ['a request object', 'oauth2/authorize', (token) => ({ ...basics, client_id: 'signer', request: token })],
    ['a pushed request object', 'oauth2/par', (token) => ({ ...app, request: token })],
    ['an ID token hint', 'oauth2/logout', (token) => ({ id_token_hint: token, client_id: 'app' })],
    [
      'an ID token hint of a sign-in',
      'oauth2/authorize',
      (token) => ({ ...basics, id_token_hint: token, prompt: 'none' }),
    ],
    [
      'a subject token',
      'oauth2/token',
      (token) => ({ ...app, grant_type: exchange, subject_token: token, subject_token_type: access }),
    ],
    ['a refresh token', 'oauth2/token', (token) => ({ ...app, grant_type: 'refresh_token', refresh_token: token })],
    ['a token to revoke', 'oauth2/revoke', (token) => ({ ...app, token })],
    ['a token to introspect', 'oauth2/introspect', (token) => ({ ...app, token })],
    [
      'a workload token',
      'workload-identity/token',
      (token) => ({ grant_type: exchange, subject_token: token, subject_token_type: jwt }),
    ],
    [
      'an agent token',
      'agent/delegation/token',
      (token) => ({ ...app, grant_type: exchange, subject_token: token, subject_token_type: access }),
    ],
    ['a logout token', 'broker/corp/endpoint/backchannel-logout', (token) => ({ logout_token: token })],
  ];
  for (const [where, path, fields] of places)
    for (const [what, token] of worstTokens(LONG, claims)) {
      const options = {
        method: 'POST',
        url: `${AT}/${path}`,
        headers: { 'content-type': types.form },
        payload: field(fields(token)),
      };
      faults.push(...faultOf(`${where}, ${what}`, await take(options)));
    }
  const dpop = { htm: 'GET', htu: `${issuer}/oauth2/userinfo`, iat: exp - 300, jti: 'b', ath: 'c' };
  for (const [what, token] of [...worstTokens(HEADER, claims), ...worstTokens(HEADER, dpop)])
    for (const [url, headers] of [
      [`${AT}/oauth2/userinfo`, { authorization: `Bearer ${token}` }],
      [`${AT}/oauth2/userinfo`, { authorization: 'DPoP a', dpop: token }],
      [`${AT}/account/profile`, { authorization: `DPoP ${token}`, dpop: token.slice(0, 500) }],
      [`${AT}/scim/v2/Me`, { authorization: `Bearer ${token}` }],
      [`${AT}/push`, { authorization: `Bearer ${token}` }],
      ['/admin/realms', { authorization: `Bearer ${token}` }],
    ] as const)
      faults.push(...faultOf(`${url}, ${what}`, await take({ url, headers })));
  expect(faults).toEqual([]);
});

test('headers, cookies, queries and paths', async () => {
  const faults: string[] = [];
  const agents = ['Mozilla/5.0 (', 'Version/1 Safari ', 'rv:1 ', 'Android 1 Mobile ', ' ', '(', 'Chrome/1.'];
  const headers: [string, object][] = [
    ...agents.map((unit): [string, object] => [
      `a user agent of “${unit}”`,
      { 'user-agent': repeatedTo(unit, HEADER) },
    ]),
    ['very many languages', { 'accept-language': repeatedTo('a,', HEADER) }],
    ['very many parameters of a language', { 'accept-language': `a${repeatedTo(';q=1', HEADER)}` }],
    ['very many cookies', { cookie: repeatedTo('a=;', HEADER) }],
    ['very many different cookies', { cookie: words(HEADER / 6).replaceAll(' ', '=;') }],
    ['cookies of percent signs', { cookie: `a=${repeatedTo('%41', HEADER)}` }],
    ['a very long Basic header', { authorization: `Basic ${repeatedTo('AAAA', HEADER)}` }],
    ['spaces behind a scheme', { authorization: `Bearer${repeatedTo(' ', HEADER)}a b` }],
    ['very many hosts', { 'x-forwarded-for': repeatedTo('1.1.1.1,', HEADER), forwarded: repeatedTo('for=a;', 1000) }],
    ['a very long host', { host: repeatedTo('a.', HEADER) }],
    ['very many tags', { 'if-none-match': repeatedTo('"a",', HEADER), 'if-match': repeatedTo('"a",', 1000) }],
    ['very many types', { accept: repeatedTo('a/b,', HEADER) }],
  ];
  const pages = [
    'login',
    'register',
    'account',
    'oauth2/userinfo',
    '.well-known/openid-configuration',
    'saml/idp/metadata',
    'scim/v2/Users',
  ];
  for (const [what, sent] of headers)
    for (const url of [...pages.map((page) => `${AT}/${page}`), '/admin/realms', '/admin/login', '/v3/api-docs'])
      faults.push(...faultOf(`${url}, ${what}`, await take({ url, headers: sent })));
  const queries = [
    repeatedTo('a=&', HEADER),
    words(HEADER / 6).replaceAll(' ', '=&'),
    `a=${repeatedTo('%41', HEADER)}`,
    repeatedTo('%', HEADER),
    repeatedTo('a[]=', HEADER),
  ];
  for (const query of queries)
    for (const page of [...pages, 'broker/corp/endpoint', 'oauth2/authorize', 'saml/idp/sso', 'saml/idp/slo'])
      faults.push(...faultOf(`${page}?${query.slice(0, 9)}`, await take({ url: `${AT}/${page}?${query}` })));
  for (const path of [
    repeatedTo('/a', HEADER),
    repeatedTo('/%61', HEADER),
    repeatedTo('/..', HEADER),
    `${AT}/${repeatedTo('x', 2_000)}`,
  ])
    faults.push(...faultOf(path.slice(0, 9), await take({ url: path })));
  expect(faults).toEqual([]);
});

test('fields of a sign-in, and of an account that is made', async () => {
  const faults: string[] = [];
  const values = [
    ['a long name', repeatedTo('a', 12_000)],
    ['a long address', `${repeatedTo('a.', 5_900)}@${repeatedTo('a.', 5_900)}`.slice(0, 12_000)],
    ['an address of at signs', repeatedTo('@', 12_000)],
    ['an address of dots', `a@${repeatedTo('.', 11_000)}`],
    ['a phone of spaces', `+${repeatedTo('1 ', 5_900)}x`],
    ['combining marks', repeatedTo('a\u0301\u0323', 4_000)],
    ['letters that grow', repeatedTo('\ufdfa', 4_000)],
    ['an array very deep', repeatedTo('[', 12_000)],
    ['objects very deep', repeatedTo('{"a":', 12_000)],
  ] as const;
  for (const path of ['login', 'register', 'login/forgot', 'login/reset']) {
    const person = createPerson(server.baseUrl);
    const { fields } = await person.open(`${AT}/${path}`);
    const cookie = [...person.jar].map(([name, value]) => `${name}=${value}`).join('; ');
    for (const [what, value] of values) {
      const filledIn = {
        ...fields,
        do: 'next',
        username: value,
        email: value.slice(0, 3_000),
        phone: value.slice(0, 500),
      };
      const payload = field({
        ...filledIn,
        passkey: value.slice(0, 3_000),
        code: value.slice(0, 500),
        password: value.slice(0, 500),
      });
      const headers = { 'content-type': types.form, cookie };
      const options = {
        method: 'POST',
        url: `${AT}/${path}`,
        headers,
        payload: payload.slice(0, 32 * 1024 - 1).replace(/%[\dA-F]?$/, ''),
      };
      faults.push(...faultOf(`${path}, ${what}`, await take(options)));
    }
  }
  expect(faults).toEqual([]);
});

test('metadata of a client that registers itself', async () => {
  const faults: string[] = [];
  const uris = Array.from({ length: 200 }, (_, i) => `https://app.example/${i}/${'a'.repeat(250)}`);
  const bodies: [string, object][] = [
    ['very many redirect URIs', { redirect_uris: uris }],
    ['more redirect URIs than are taken', { redirect_uris: words(6_000).split(' ') }],
    ['redirect URIs of many labels', { redirect_uris: Array(25).fill(`https://${repeatedTo('a.', 2_000)}`) }],
    [
      'very many keys',
      { redirect_uris: uris.slice(0, 1), jwks: { keys: Array(600).fill({ kty: 'RSA', n: 'AAAA', e: 'AQAB' }) } },
    ],
    [
      'a key of very many bits',
      { redirect_uris: uris.slice(0, 1), jwks: { keys: [{ kty: 'RSA', n: repeatedTo('_', 50_000), e: 'AQAB' }] } },
    ],
    ['very many scopes', { redirect_uris: uris.slice(0, 1), scope: words(10_000) }],
    [
      'very many members',
      Object.fromEntries(
        words(6_000)
          .split(' ')
          .map((word) => [word, null]),
      ),
    ],
    [
      'very many languages',
      Object.fromEntries(
        words(4_000)
          .split(' ')
          .map((word) => [`client_name#${word}`, 'a']),
      ),
    ],
  ];
  for (const [what, body] of bodies) {
    const options = {
      method: 'POST',
      url: `${AT}/connect/register`,
      headers: { 'content-type': types.json },
      payload: JSON.stringify(body),
    };
    faults.push(...faultOf(what, await take(options)));
  }
  expect(faults).toEqual([]);
});

test('filters and paths of SCIM, though a token is needed', async () => {
  const faults: string[] = [];
  const authorization = `Bearer ${await scimToken(server, REALM)}`;
  const filters = [
    repeatedTo('(', 14_000),
    `${'('.repeat(400)}userName eq "a"${')'.repeat(400)}`,
    `${repeatedTo('not (', 2_000)}userName pr${repeatedTo(')', 400)}`,
    `userName eq "a"${repeatedTo(' or userName eq "a"', 14_000)}`,
    `userName eq "a"${repeatedTo(' or userName co "a"', 190 * 19)}`,
    `emails[${repeatedTo('type eq "a" and ', 13_000)}type eq "a"]`,
    `userName eq "${repeatedTo('\\u0041', 13_000)}"`,
    `userName co "${repeatedTo('%_', 13_000)}"`,
    repeatedTo('a.', 14_000),
    repeatedTo(' ', 14_000),
    repeatedTo('"', 14_000),
  ];
  for (const filter of filters) {
    const what = filter.slice(0, 30);
    const headers = { authorization, 'content-type': 'application/scim+json' };
    const url = `${AT}/scim/v2/Users`;
    const search = { schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'], filter };
    const patch = {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'remove', path: filter }],
    };
    const attributes = encodeURIComponent(filter)
      .slice(0, HEADER)
      .replace(/%[\dA-F]?$/, '');
    faults.push(
      ...faultOf(what, await take({ method: 'POST', url: `${url}/.search`, headers, payload: JSON.stringify(search) })),
    );
    faults.push(
      ...faultOf(
        `PATCH ${what}`,
        await take({ method: 'PATCH', url: `${url}/x`, headers, payload: JSON.stringify(patch) }),
      ),
    );
    faults.push(...faultOf(`attributes ${what}`, await take({ url: `${url}?attributes=${attributes}`, headers })));
  }
  expect(faults).toEqual([]);
});
