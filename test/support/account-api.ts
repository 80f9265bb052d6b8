// Owns: how a test asks the account API: by a token with the scope account, or by the session of a browser.
// Does not own: signing in (applications.ts, person.ts).
// Implements: tests of specification 4.11.
import { createUser, type UserInput } from '../../server/contract/users.ts';
import { authorizePath, CALLBACK, getCode, newVerifier, PASSWORD, redeem } from './applications.ts';
import { makeClient, makeRealm } from './clients.ts';
import { createPerson, type Person } from './person.ts';
import type { TestServer } from './server.ts';

export const NEXT = 'four dry umbrellas';

export interface AccountAnswer {
  status: number;
  body: unknown;
  headers: Headers;
}
export type AccountCall = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<AccountAnswer>;

export function createAccountCaller(server: TestServer, realm: string) {
  const send = async (
    fetched: (path: string, init: RequestInit) => Promise<Response>,
    [method, path, body, headers]: Parameters<AccountCall>,
    own: Record<string, string>,
  ): Promise<AccountAnswer> => {
    const at = `/realms/${realm}/account${path.startsWith('?') || path === '' ? path : `/${path}`}`;
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await fetched(at, {
      method,
      headers: { ...own, ...json, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text), headers: answer.headers };
  };
  let isMade = false;
  return {
    /** A person; with the first, the realm and the application `manager`. */
    async make(more: Partial<UserInput> = {}): Promise<string> {
      if (!isMade) {
        isMade = true;
        await makeRealm(server, realm);
        const app = { tokenEndpointAuthMethod: 'none' as const, redirectUris: [CALLBACK] };
        await makeClient(server, realm, { ...app, clientId: 'manager', optionalClientScopes: ['account'] });
      }
      const body = { username: 'ada', password: PASSWORD, ...more };
      return (await server.admin.call(createUser, { params: { realm }, body })).body?.id ?? '';
    },

    /** @param parameters of the authorization request */
    async byToken(
      parameters: Record<string, string> = {},
      username = 'ada',
      person: Person = createPerson(server.baseUrl),
    ): Promise<AccountCall> {
      const wanted = { scope: 'openid account', ...parameters };
      const { body } = await redeem(
        server,
        realm,
        'manager',
        await getCode(server, realm, 'manager', { person, username, parameters: wanted }),
      );
      const authorization = `Bearer ${Object(body).access_token}`;
      return (...asked) => send((path, init) => fetch(new URL(path, server.baseUrl), init), asked, { authorization });
    },

    async bySession(username = 'ada', person: Person = createPerson(server.baseUrl)): Promise<AccountCall> {
      const page = await person.open(authorizePath(realm, 'manager', newVerifier()));
      if (page.heading === 'Sign in') await person.fill(page, { username, password: PASSWORD });
      const read = await send(person.once, ['GET', 'sessions'], {});
      const csrf = read.headers.get('x-xsrf-token') ?? '';
      return (...asked) => send(person.once, asked, { 'x-xsrf-token': csrf });
    },
  };
}
