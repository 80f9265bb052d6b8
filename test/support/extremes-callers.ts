// Owns: the realm `people` with callers of the account API, SCIM and the protocol endpoints, and the credentials of each.
// Does not own: the requests (extremes-tests.ts).
// Implements: tests that no input makes the server fail, also after authentication.
import { createInitialAccessToken } from '../../server/contract/provisioning.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { createAccountCaller } from './account-api.ts';
import { CALLBACK, getCode, redeem } from './applications.ts';
import { basic, makeClient, post, SECRET } from './clients.ts';
import { createPerson } from './person.ts';
import { scimToken, scimWith } from './scim.ts';
import type { TestServer } from './server.ts';

export const PEOPLE = 'people';

export interface Callers {
  /** Headers that authenticate a caller of this address. */
  headersFor(url: string): Record<string, string>;
  /** Values of path parameters, by the first word behind the realm. */
  ids: Record<string, Record<string, string>>;
}

export async function extremesCallers(server: TestServer): Promise<Callers> {
  const account = createAccountCaller(server, PEOPLE);
  const userId = await account.make();
  const params = { realm: PEOPLE };
  await makeClient(server, PEOPLE, {
    clientId: 'machine',
    secret: SECRET,
    grantTypes: ['client_credentials', 'authorization_code', 'refresh_token'],
    redirectUris: [CALLBACK],
    requirePkce: false,
    defaultClientScopes: [],
    optionalClientScopes: ['uma_protection'],
  });
  const service = {
    clientId: 'machine',
    settings: { remoteResources: true },
    scopes: [{ name: 'view' }, { name: 'edit' }],
  };
  await server.admin.call(importRealm, { params, body: { authorizationServices: [service] } });
  const credentials = { grant_type: 'client_credentials', scope: 'uma_protection' };
  const { body: pat } = await post(server, PEOPLE, 'token', credentials, { authorization: basic('machine') });
  const { body: initial } = await server.admin.call(createInitialAccessToken, { params, body: { uses: 10_000 } });
  const scim = await scimToken(server, PEOPLE);
  const group = await scimWith(server, PEOPLE, scim)('POST', '/Groups', { displayName: 'staff' });
  const ada = createPerson(server.baseUrl);
  const me = await account.bySession('ada', ada);
  const csrf = (await me('GET', 'sessions')).headers.get('x-xsrf-token') ?? '';
  const cookie = [...ada.jar].map(([name, value]) => `${name}=${value}`).join('; ');
  const person = await redeem(server, PEOPLE, 'manager', await getCode(server, PEOPLE, 'manager', { username: 'ada' }));
  const bearer = (token: unknown) => ({ authorization: `Bearer ${token}` });
  const callers: [part: string, headers: Record<string, string>][] = [
    ['/scim/', bearer(scim)],
    ['/account', { cookie, 'x-xsrf-token': csrf }],
    ['/connect/register', bearer(initial?.token)],
    ['/authz/', bearer(pat.access_token)],
    ['/oauth2/userinfo', bearer(Object(person.body).access_token)],
    ['/oauth2/', { authorization: basic('machine') }],
  ];
  return {
    headersFor: (url) => callers.find(([part]) => url.includes(part))?.[1] ?? {},
    ids: { scim: { id: userId, userId, groupId: String(group.body?.id) } },
  };
}
