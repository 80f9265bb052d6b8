// The authorization endpoint as the OpenID Foundation's suite asks it: the modules of "Basic OP" and "Form Post Basic OP" by
// their names (oidcc-…), and what RFC 6749, 7636, 9207 and 9700 add. Each by both response modes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PASSWORD } from '../../support/applications.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import {
  exchange,
  makeProvider,
  makeRelyingParty,
  REALM,
  RP,
  RP_WITH_QUERY,
  requestPath,
  responseParameters,
  STANDARD_SCOPES,
  STATE,
  signedIn,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let alice: Person;
let idToken = '';
beforeAll(async () => {
  server = await startTestServer();
  await makeProvider(server);
  await makeRelyingParty(server, 'strict', { requirePkce: true });
  await makeRelyingParty(server, 'robot', { grantTypes: ['client_credentials'] });
  await makeRelyingParty(server, 'retired', { enabled: false });
  const first = await signedIn(server);
  alice = first.person;
  idToken = String((await exchange(server, first.answer)).body.id_token);
});
afterAll(async () => server?.stop());

/** `code`; an error that the relying party is told; the heading of a page that asks the person; or a page of refusal. */
const REFUSED = 'a page of refusal';
function outcomeOf(page: ShownPage): string {
  const answer = responseParameters(page);
  if (!answer) return page.status === 400 && page.text.includes('invalid_request') ? REFUSED : page.heading;
  expect(answer).toMatchObject({ state: STATE, iss: `${server.baseUrl}/realms/${REALM}` });
  expect('code' in answer).toBe(!('error' in answer));
  return answer.error ?? 'code';
}

type Modules = [module: string, parameters: Record<string, string>, expected: string][];

const signedInAlready: Modules = [
  ['oidcc-server', { nonce: 'n' }, 'code'],
  ['oidcc-ensure-request-without-nonce-succeeds-for-code-flow', {}, 'code'],
  ['oidcc-ensure-request-with-unknown-parameter-succeeds', { extra: 'foobar' }, 'code'],
  ['oidcc-ensure-other-scope-order-succeeds', { scope: 'email openid' }, 'code'],
  ['oidcc-scope-all', { scope: ['openid', ...STANDARD_SCOPES].join(' ') }, 'code'],
  ['a scope that is not understood', { scope: 'openid orders:read' }, 'code'],
  ['oidcc-display-page', { display: 'page' }, 'code'],
  ['oidcc-display-popup', { display: 'popup' }, 'code'],
  ['oidcc-ui-locales', { ui_locales: 'se' }, 'code'],
  ['oidcc-claims-locales', { claims_locales: 'se' }, 'code'],
  ['oidcc-login-hint', { login_hint: 'bob@example.com' }, 'code'],
  ['oidcc-claims-essential', { claims: '{"userinfo":{"name":{"essential":true}}}' }, 'code'],
  ['oidcc-ensure-request-with-acr-values-succeeds', { acr_values: '1 2' }, 'code'],
  ['acr_values of another system', { acr_values: 'urn:mace:incommon:iap:silver' }, 'code'],
  ['oidcc-prompt-none-logged-in', { prompt: 'none' }, 'code'],
  ['oidcc-id-token-hint', { prompt: 'none', id_token_hint: 'HER OWN' }, 'code'],
  ['oidcc-prompt-login', { prompt: 'login' }, 'Sign in'],
  ['prompt=select_account', { prompt: 'select_account' }, 'Sign in'],
  ['prompt=consent', { prompt: 'consent' }, 'Allow access?'],
  ['oidcc-max-age-1, a moment later', { max_age: '0' }, 'Sign in'],
  ['max_age without asking', { max_age: '0', prompt: 'none' }, 'login_required'],
  ['oidcc-max-age-10000', { max_age: '10000' }, 'code'],
  ['oidcc-redirect-uri-query-OK', { redirect_uri: RP_WITH_QUERY }, 'code'],
  [
    'oidcc-ensure-request-with-valid-pkce-succeeds',
    { code_challenge: 'a'.repeat(43), code_challenge_method: 'S256' },
    'code',
  ],
];

const notSignedIn: Modules = [
  ['oidcc-prompt-none-not-logged-in', { prompt: 'none' }, 'login_required'],
  ['the same, with a hint', { prompt: 'none', id_token_hint: 'HER OWN' }, 'login_required'],
  ['oidcc-login-hint', { login_hint: 'bob' }, 'Sign in'],
  ['oidcc-display-popup', { display: 'popup' }, 'Sign in'],
  ['acr_values that nothing reaches', { acr_values: '9' }, 'Sign in'],
];

const refusals: Modules = [
  ['oidcc-response-type-missing', { response_type: '' }, 'invalid_request'],
  ['implicit flow', { response_type: 'id_token' }, 'unsupported_response_type'],
  ['hybrid flow', { response_type: 'code id_token' }, 'unsupported_response_type'],
  ['implicit grant', { response_type: 'token' }, 'unsupported_response_type'],
  ['response_type=none', { response_type: 'none' }, 'unsupported_response_type'],
  ['RFC 6749 §4.1.2.1: a client without this grant', { client_id: 'robot' }, 'unauthorized_client'],
  [
    'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported',
    { request: 'eyJhbGciOiJub25lIn0.e30.' },
    'request_not_supported',
  ],
  [
    'oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported',
    { request_uri: 'https://rp.example/r' },
    'request_uri_not_supported',
  ],
  ['registration', { registration: '{}' }, 'registration_not_supported'],
  ['prompt=none and another', { prompt: 'none consent' }, 'invalid_request'],
  ['an id_token_hint that is none', { id_token_hint: 'a.b.c' }, 'invalid_request'],
  ['a scope that other clients have', { scope: 'openid groups' }, 'invalid_scope'],
  ['a scope that is not understood, by OAuth alone', { scope: 'orders:read' }, 'invalid_scope'],
  ['a malformed scope', { scope: 'openid "' }, 'invalid_scope'],
  ['a resource off the list', { resource: 'https://api.example' }, 'invalid_target'],
  ['RFC 9700 §2.1.1: no challenge where one is needed', { client_id: 'strict' }, 'invalid_request'],
  ['RFC 7636 §4.3: no method means plain', { code_challenge: 'a'.repeat(43) }, 'invalid_request'],
  ['plain', { code_challenge: 'a'.repeat(43), code_challenge_method: 'plain' }, 'invalid_request'],
  ['a method without a challenge', { code_challenge_method: 'S256' }, 'invalid_request'],
  ['oidcc-ensure-redirect-uri-in-authorization-request', { redirect_uri: '' }, REFUSED],
  ['oidcc-ensure-registered-redirect-uri', { redirect_uri: 'https://rp.example/other' }, REFUSED],
  ['oidcc-redirect-uri-query-mismatch', { redirect_uri: `${RP}?tenant=2` }, REFUSED],
  ['oidcc-redirect-uri-query-added', { redirect_uri: `${RP}?foo=bar` }, REFUSED],
  ['a fragment', { redirect_uri: `${RP}#` }, REFUSED],
  ['a request_uri of RFC 9126 that nobody pushed', { request_uri: 'urn:ietf:params:oauth:request_uri:x' }, REFUSED],
  ['no client_id', { client_id: '' }, REFUSED],
  ['an unknown client', { client_id: 'nobody' }, REFUSED],
  ['a disabled client', { client_id: 'retired' }, REFUSED],
];

describe.each(['query', 'form_post'])('by response_mode=%s', (mode) => {
  const open = (person: Person, { id_token_hint: hint, ...parameters }: Record<string, string>) => {
    const hinted = hint === undefined ? {} : { id_token_hint: hint === 'HER OWN' ? idToken : hint };
    return person.open(requestPath({ response_mode: mode, ...parameters, ...hinted }));
  };

  test.each(signedInAlready)('with a session, %s', async (_, parameters, expected) => {
    expect(outcomeOf(await open(alice, parameters))).toBe(expected);
  });
  test.each(notSignedIn)('without a session, %s', async (_, parameters, expected) => {
    expect(outcomeOf(await open(createPerson(server.baseUrl), parameters))).toBe(expected);
  });
  test.each(refusals)('whoever asks, %s', async (_, parameters, expected) => {
    expect(outcomeOf(await open(alice, parameters))).toBe(expected);
    expect(outcomeOf(await open(createPerson(server.baseUrl), parameters))).toBe(expected);
  });

  test('after signing in, and after what the person answers', async () => {
    const person = createPerson(server.baseUrl);
    const page = await open(person, {});
    expect(outcomeOf(page)).toBe('Sign in');
    expect(outcomeOf(await person.fill(page, { username: 'alice', password: PASSWORD }))).toBe('code');
    for (const [decision, expected] of [
      ['deny', 'access_denied'],
      ['allow', 'code'],
    ] as const) {
      const { fields } = await open(person, { prompt: 'consent' });
      expect(outcomeOf(await person.post(`/realms/${REALM}/oauth2/consent`, { ...fields, decision }))).toBe(expected);
    }
  });

  test('oidcc-ensure-post-request-succeeds, with a session and without', async () => {
    const { pathname, searchParams } = new URL(requestPath({ response_mode: mode }), server.baseUrl);
    const form = Object.fromEntries(searchParams);
    expect(outcomeOf(await alice.post(pathname, form))).toBe('code');
    expect(outcomeOf(await createPerson(server.baseUrl).post(pathname, form))).toBe('Sign in');
  });

  test('the answer is for nobody else: not stored, not framed, no referrer, and what was registered stays as it is', async () => {
    const page = await open(alice, { redirect_uri: RP_WITH_QUERY });
    expect(page.headers.get('cache-control')).toBe('no-store');
    if (mode === 'query') {
      expect(page.status).toBe(303);
      expect(page.url).toMatch(/^https:\/\/rp\.example\/cb\?tenant=1&code=/);
      return;
    }
    expect(page.text).toContain(`action="${RP_WITH_QUERY}"`);
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });
});

test.each(['client_id', 'redirect_uri', 'response_type', 'scope', 'state', 'nonce', 'code_challenge', 'extra'])(
  'RFC 6749 §3.1: %s must not come twice',
  async (name) => {
    const path = requestPath({ nonce: 'n', extra: 'x', code_challenge: 'a'.repeat(43), code_challenge_method: 'S256' });
    const once = new URLSearchParams(path.split('?')[1]).get(name) ?? '';
    expect(outcomeOf(await alice.open(path))).toBe('code');
    expect(outcomeOf(await alice.open(`${path}&${new URLSearchParams({ [name]: once })}`))).toBe(REFUSED);
  },
);

test('the login_hint stands in the form', async () => {
  const page = await createPerson(server.baseUrl).open(requestPath({ login_hint: 'bob@example.com' }));
  expect(page.fields.username).toBe('bob@example.com');
});

test('the endpoint is for browsers alone: no origin may read it', async () => {
  const origin = 'https://rp.example';
  const response = await alice.once(requestPath(), { headers: { origin } });
  expect(response.headers.get('access-control-allow-origin')).toBeNull();
});

test('a request that is not a form, or not of a realm, gets a page', async () => {
  const path = `/realms/${REALM}/oauth2/authorize`;
  const json = await alice.once(path, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
  expect([json.status, json.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
  const nowhere = await alice.once(requestPath().replace(REALM, 'nowhere'));
  expect([nowhere.status, nowhere.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
});
