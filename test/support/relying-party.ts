// Owns: a realm with a relying party as a certification suite registers it, and what comes back to its redirect URI.
// Does not own: the person (person.ts), clients (clients.ts).
// Implements: the tests of conformance, which ask the same things by every response mode.
import type { ClientInput } from '../../server/contract/clients.ts';
import { createUser } from '../../server/contract/users.ts';
import { PASSWORD } from './applications.ts';
import { type Answer, basic, makeClient, makeRealm, post, SECRET } from './clients.ts';
import { createPerson, type Person, type ShownPage } from './person.ts';
import type { TestServer } from './server.ts';

export const REALM = 'op';
export const RP = 'https://rp.example/cb';
/** Registered with a query of its own, which stays. */
export const RP_WITH_QUERY = `${RP}?tenant=1`;
export const STATE = 's t&ä="<';
export const STANDARD_SCOPES = ['profile', 'email', 'address', 'phone', 'offline_access'];

/** A user with data in each of the standard's scopes. */
export const alice = {
  username: 'alice',
  email: 'alice@example.com',
  emailVerified: true,
  firstName: 'Alice',
  lastName: 'Ames',
  password: PASSWORD,
  attributes: {
    phone_number: ['+41 1'],
    phone_number_verified: ['true'],
    locality: ['Bern'],
    country: ['CH'],
    nickname: ['Al'],
    zoneinfo: ['Europe/Zurich'],
  },
};

export async function makeRelyingParty(server: TestServer, clientId: string, more: Partial<ClientInput> = {}) {
  await makeClient(server, REALM, {
    clientId,
    secret: SECRET,
    requirePkce: false,
    redirectUris: [RP, RP_WITH_QUERY],
    postLogoutRedirectUris: ['https://rp.example/bye'],
    defaultClientScopes: [],
    optionalClientScopes: STANDARD_SCOPES,
    ...more,
  });
}

/** The realm with `rp` and `rp2`, and alice. */
export async function makeProvider(server: TestServer): Promise<void> {
  await makeRealm(server, REALM);
  await makeRelyingParty(server, 'rp');
  await makeRelyingParty(server, 'rp2');
  await server.admin.call(createUser, { params: { realm: REALM }, body: alice });
}

/** An authorization request of `rp`; what is empty is left out. */
export function requestPath(more: Record<string, string> = {}): string {
  const all = { client_id: 'rp', redirect_uri: RP, response_type: 'code', scope: 'openid', state: STATE, ...more };
  const query = new URLSearchParams(Object.entries(all).filter(([, value]) => value !== ''));
  return `/realms/${REALM}/oauth2/authorize?${query}`;
}

/** The parameters that the relying party gets, by its URL or by the self-posting form; undefined if it gets none. */
export function responseParameters({ url, text, fields }: ShownPage): Record<string, string> | undefined {
  const { origin, searchParams } = new URL(url);
  if (origin === new URL(RP).origin) return Object.fromEntries(searchParams);
  return text.includes(`action="${RP}`) && text.includes('document.forms[0].submit()') ? fields : undefined;
}

/** A new user, who signs in. */
export async function signedIn(server: TestServer, more: Record<string, string> = {}) {
  const person = createPerson(server.baseUrl);
  return { person, answer: await signInAt(person, requestPath(more)) };
}
export async function signInAt(person: Person, path: string): Promise<Record<string, string>> {
  let page = await person.open(path);
  if (page.heading === 'Sign in') page = await person.fill(page, { username: 'alice', password: PASSWORD });
  const asksForAccount = (new URL(path, page.url).searchParams.get('scope') ?? '').split(' ').includes('account');
  if (page.heading === 'Allow access?' && asksForAccount)
    page = await person.post(`/realms/${REALM}/oauth2/consent`, { ...page.fields, decision: 'allow' });
  const answer = responseParameters(page);
  if (!answer) throw new Error(`the relying party was told nothing: ${page.status} ${page.url} ${page.heading}`);
  return answer;
}

export const exchange = (
  server: TestServer,
  { code = '' }: Record<string, string>,
  more: Record<string, string> = {},
  clientId = 'rp',
  headers: Record<string, string> = {},
): Promise<Answer> =>
  post(
    server,
    REALM,
    'token',
    { grant_type: 'authorization_code', code, redirect_uri: RP, ...more },
    { authorization: basic(clientId), ...headers },
  );

/** The tokens of a user who has just signed in. */
export async function freshTokens(server: TestServer, more: Record<string, string> = {}) {
  const { person, answer } = await signedIn(server, more);
  const { body } = await exchange(server, answer);
  return { person, code: answer.code ?? '', body };
}
