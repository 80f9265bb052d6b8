// Owns: an application that has sent a person through the code flow, for tests of what comes after.
// Does not own: the person's clicks (person.ts), clients (clients.ts).
// Implements: tests of grants, revocation, introspection and logout on tokens that were got in the ordinary way.
import { hash, randomBytes } from 'node:crypto';
import { createUser } from '../../server/contract/users.ts';
import { type Answer, makeClient, makeRealm, post } from './clients.ts';
import { createPerson, type Person } from './person.ts';
import type { TestServer } from './server.ts';

export const PASSWORD = 'three wet umbrellas';
export const CALLBACK = 'http://127.0.0.1/callback';

export interface CodeGrant {
  person: Person;
  code: string;
  verifier: string;
}

/** The authorization request of a public client with PKCE. */
export function authorizePath(realm: string, clientId: string, verifier: string, more: Record<string, string> = {}) {
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'openid',
    state: 'state',
    code_challenge: hash('sha256', verifier, 'base64url'),
    code_challenge_method: 'S256',
    ...more,
  });
  return `/realms/${realm}/oauth2/authorize?${query}`;
}

/** A realm with the public application `spa`, and people for it. @returns their ids */
export async function makePeopledRealm(server: TestServer, realm: string, usernames = ['alice']): Promise<string[]> {
  await makeRealm(server, realm);
  await makeClient(server, realm, { clientId: 'spa', tokenEndpointAuthMethod: 'none', redirectUris: [CALLBACK] });
  const ids: string[] = [];
  for (const username of usernames) {
    const { body } = await server.admin.call(createUser, { params: { realm }, body: { username, password: PASSWORD } });
    ids.push(body?.id ?? '');
  }
  return ids;
}

export const newVerifier = (): string => randomBytes(32).toString('base64url');

/** Sends a person through the browser's part and gives what the application then has. */
export async function getCode(
  server: TestServer,
  realm: string,
  clientId: string,
  {
    person = createPerson(server.baseUrl),
    username = 'alice',
    ...more
  }: { person?: Person; username?: string } & {
    parameters?: Record<string, string>;
  } = {},
): Promise<CodeGrant> {
  const verifier = newVerifier();
  let page = await person.open(authorizePath(realm, clientId, verifier, more.parameters));
  if (page.heading === 'Sign in') page = await person.fill(page, { username, password: PASSWORD });
  // Every application with the scope account asks for consent, even if its client needs none.
  const agrees = page.heading === 'Allow access?' && (more.parameters?.scope ?? '').split(' ').includes('account');
  if (agrees) page = await person.post(`/realms/${realm}/oauth2/consent`, { ...page.fields, decision: 'allow' });
  const code = new URL(page.url).searchParams.get('code');
  if (!code) throw new Error(`no code: ${page.status} ${page.url} ${page.heading}`);
  return { person, code, verifier };
}

export const redeem = (
  server: TestServer,
  realm: string,
  clientId: string,
  { code, verifier }: { code: string; verifier: string },
  more: Record<string, string> = {},
): Promise<Answer> =>
  post(server, realm, 'token', {
    grant_type: 'authorization_code',
    client_id: clientId,
    redirect_uri: CALLBACK,
    code,
    code_verifier: verifier,
    ...more,
  });

export const refresh = (
  server: TestServer,
  realm: string,
  clientId: string,
  token: unknown,
  more: Record<string, string> = {},
): Promise<Answer> =>
  post(server, realm, 'token', {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: String(token),
    ...more,
  });
