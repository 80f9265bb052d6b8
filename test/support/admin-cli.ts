// Owns: an administrator who signs realmctl in on the pages of a realm, up to the answer for its loopback address.
// Does not own: realmctl itself (test/cli), the pages (person.ts).
// Implements: tests of a person's token for the admin API.
import { hash, randomBytes } from 'node:crypto';
import { ADMIN_CLI } from '../../server/contract/admin-access.ts';
import { type Answer, post } from './clients.ts';
import { createPerson, type Person } from './person.ts';
import { ADMIN_PASSWORD, type TestServer } from './server.ts';

export const LOOPBACK = 'http://127.0.0.1:54321/callback';
export const CONSENT = 'Allow access?';

export const authorizePath = (
  server: TestServer,
  verifier: string,
  more: Record<string, string> = {},
  realm = 'master',
) =>
  `/realms/${realm}/oauth2/authorize?${new URLSearchParams({
    client_id: ADMIN_CLI,
    redirect_uri: LOOPBACK,
    response_type: 'code',
    state: 'state',
    resource: `${server.baseUrl}/admin`,
    code_challenge: hash('sha256', verifier, 'base64url'),
    code_challenge_method: 'S256',
    ...more,
  })}`;

/** Signs in where asked, agrees where asked; gives where the browser is sent in the end. */
export async function walk(
  person: Person,
  path: string,
  { username = 'admin', password = ADMIN_PASSWORD, decision = 'allow' } = {},
): Promise<URL> {
  let page = await person.open(path);
  if (page.heading === 'Sign in') page = await person.fill(page, { username, password });
  if (page.heading === CONSENT) {
    const { pathname } = new URL(page.url);
    page = await person.post(pathname.replace(/authorize.*/, 'consent'), { ...page.fields, decision });
  }
  return new URL(page.url);
}

/** Signs in by `realmctl login`. @returns its result */
export async function signInCli(
  server: TestServer,
  {
    person = createPerson(server.baseUrl),
    more,
    realm = 'master',
    ...credentials
  }: {
    person?: Person;
    more?: Record<string, string>;
    realm?: string;
    username?: string;
    password?: string;
  } = {},
): Promise<Answer> {
  const verifier = randomBytes(32).toString('base64url');
  const url = await walk(person, authorizePath(server, verifier, more, realm), credentials);
  const code = url.searchParams.get('code');
  if (!code) throw new Error(`no code: ${url}`);
  return post(server, realm, 'token', {
    grant_type: 'authorization_code',
    client_id: ADMIN_CLI,
    redirect_uri: LOOPBACK,
    code,
    code_verifier: verifier,
  });
}
