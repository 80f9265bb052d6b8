// RP-initiated logout as the OpenID Foundation's suite asks for it, by its modules (oidcc-rp-initiated-logout…): by GET and POST,
// what ends the session, what asks the person, what is refused, and where the browser goes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deleteKey, rotateKeys } from '../../../server/contract/keys.ts';
import { claimsIn } from '../../support/clients.ts';
import { createPerson, decode, type ShownPage } from '../../support/person.ts';
import {
  freshTokens,
  makeProvider,
  makeRelyingParty,
  REALM,
  requestPath,
  responseParameters,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let offset = 0;
const BYE = 'https://rp.example/bye';
const LOGOUT = `/realms/${REALM}/oauth2/logout`;
beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(Date.now() + offset) });
  await makeProvider(server);
  await makeRelyingParty(server, 'queried', { postLogoutRedirectUris: [`${BYE}?tenant=1`] });
  await makeRelyingParty(server, 'retired', { enabled: false });
});
afterAll(async () => server?.stop());

type Person = ReturnType<typeof createPerson>;
const by: Record<string, (person: Person, query: Record<string, string>) => Promise<ShownPage>> = {
  GET: (person, query) => person.open(`${LOGOUT}?${new URLSearchParams(query)}`),
  POST: (person, query) => person.post(LOGOUT, query),
};
const isSignedIn = async (person: Person) =>
  !responseParameters(await person.open(requestPath({ prompt: 'none' })))?.error;

const [HER_OWN, TAMPERED, ACCESS_TOKEN] = ['HER ID TOKEN', 'TAMPERED WITH', 'AN ACCESS TOKEN'];
const [GONE, ASKED, REFUSED] = ['You are signed out', 'Sign out?', 'This request cannot go on'];
/** Where the browser ends up, or what the page says. */
const modules: [module: string, query: Record<string, string>, expected: string][] = [
  [
    'oidcc-rp-initiated-logout',
    { id_token_hint: HER_OWN, post_logout_redirect_uri: BYE, state: 'a b' },
    `${BYE}?state=a+b`,
  ],
  ['oidcc-rp-initiated-logout-no-state', { id_token_hint: HER_OWN, post_logout_redirect_uri: BYE }, BYE],
  ['oidcc-rp-initiated-logout-no-post-logout-redirect-uri', { id_token_hint: HER_OWN, state: 'x' }, GONE],
  ['with the client named, too', { id_token_hint: HER_OWN, client_id: 'rp', post_logout_redirect_uri: BYE }, BYE],
  ['with what is not understood', { id_token_hint: HER_OWN, logout_hint: 'x', ui_locales: 'se', extra: 'x' }, GONE],
  ['oidcc-rp-initiated-logout-no-params', {}, ASKED],
  ['oidcc-rp-initiated-logout-only-state', { state: 'x' }, ASKED],
  ['a client, without a hint', { client_id: 'rp', post_logout_redirect_uri: BYE }, ASKED],
  ['oidcc-rp-initiated-logout-no-id-token-hint: whose address is it?', { post_logout_redirect_uri: BYE }, REFUSED],
  ['oidcc-rp-initiated-logout-bad-id-token-hint', { id_token_hint: 'a.b.c', post_logout_redirect_uri: BYE }, REFUSED],
  [
    'oidcc-rp-initiated-logout-modified-id-token-hint',
    { id_token_hint: TAMPERED, post_logout_redirect_uri: BYE },
    REFUSED,
  ],
  ['another sort of token', { id_token_hint: ACCESS_TOKEN, post_logout_redirect_uri: BYE }, REFUSED],
  [
    'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri',
    { id_token_hint: HER_OWN, post_logout_redirect_uri: 'https://evil.example' },
    REFUSED,
  ],
  [
    'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri',
    { id_token_hint: HER_OWN, post_logout_redirect_uri: `${BYE}?x=1` },
    REFUSED,
  ],
  ['another client’s address', { id_token_hint: HER_OWN, post_logout_redirect_uri: `${BYE}?tenant=1` }, REFUSED],
  ['another client than the hint’s', { id_token_hint: HER_OWN, client_id: 'rp2' }, REFUSED],
  ['a client that is unknown', { client_id: 'nobody', post_logout_redirect_uri: BYE }, REFUSED],
  ['a client that is disabled', { client_id: 'retired', post_logout_redirect_uri: BYE }, REFUSED],
];

describe.each(['GET', 'POST'])('by %s', (method) => {
  const send = by[method] ?? expect.fail();

  test.each(modules)('%s', async (_, { id_token_hint: hint, ...query }, expected) => {
    const { person, body } = await freshTokens(server);
    const [header, , signature] = String(body.id_token).split('.');
    const claims = Buffer.from(JSON.stringify({ ...claimsIn(body.id_token), nonce: 'x' })).toString('base64url');
    const hints: Record<string, string> = {
      [HER_OWN]: String(body.id_token),
      [TAMPERED]: `${header}.${claims}.${signature}`,
      [ACCESS_TOKEN]: String(body.access_token),
    };
    const page = await send(person, hint === undefined ? query : { ...query, id_token_hint: hints[hint] ?? hint });
    expect(page.heading || page.url).toBe(expected);
    expect(page.status).toBe(expected === REFUSED ? 400 : page.heading ? 200 : 303);
    expect(await isSignedIn(person)).toBe(expected === ASKED || expected === REFUSED);
  });

  test('who is asked, and agrees, is signed out and sent where the client wants, with its state', async () => {
    const { person } = await freshTokens(server);
    const query = { client_id: 'queried', post_logout_redirect_uri: `${BYE}?tenant=1`, state: 'a b' };
    const page = await send(person, query);
    expect(page.heading).toBe(ASKED);
    expect((await person.post(`${LOGOUT}/confirm`, page.fields)).url).toBe(`${BYE}?tenant=1&state=a+b`);
    expect(await isSignedIn(person)).toBe(false);
  });

  test('twice is as once', async () => {
    const { person, body } = await freshTokens(server);
    const query = { id_token_hint: String(body.id_token), post_logout_redirect_uri: BYE };
    expect((await send(person, query)).url).toBe(BYE);
    expect((await send(person, query)).url).toBe(BYE);
    expect((await send(createPerson(server.baseUrl), query)).url).toBe(BYE);
  });
});

test.each([
  [{}, 'post_logout_redirect_uri needs an id_token_hint or a client_id'],
  [{ client_id: 'nobody' }, 'The post_logout_redirect_uri is not one that the application has registered'],
  [{ client_id: 'rp2' }, 'The post_logout_redirect_uri is not one that the application has registered'],
])('an address that can’t be taken is refused in words that name the fault: %j', async (query, words) => {
  const page = await createPerson(server.baseUrl).open(
    `${LOGOUT}?${new URLSearchParams({ ...query, post_logout_redirect_uri: `${BYE}/other` })}`,
  );
  expect([page.status, page.heading, decode(page.text).includes(words)]).toEqual([400, REFUSED, true]);
});

test('a hint that has expired, or was signed by the key before, still says which session; one of a deleted key doesn’t', async () => {
  const { person, body } = await freshTokens(server);
  const other = await freshTokens(server);
  const params = { realm: REALM };
  const before = JSON.parse(Buffer.from(String(body.id_token).split('.')[0] ?? '', 'base64url').toString()).kid;
  await server.admin.call(rotateKeys, { params });
  const hint = ({ id_token }: Record<string, unknown>) => ({ id_token_hint: String(id_token) });
  expect((await by.GET?.(person, hint(body)))?.heading).toBe(GONE);
  await server.admin.call(deleteKey, { params: { ...params, keyId: before } });
  expect((await by.GET?.(other.person, hint(other.body)))?.status).toBe(400);

  const late = await freshTokens(server, { scope: 'openid' });
  for (let seen = 0; seen < 3; seen += 1) {
    offset += 1_300_000;
    await late.person.open(`/realms/${REALM}/account`);
  }
  expect(await isSignedIn(late.person)).toBe(true);
  expect((await by.GET?.(late.person, hint(late.body)))?.heading).toBe(GONE);
  expect(await isSignedIn(late.person)).toBe(false);
});
