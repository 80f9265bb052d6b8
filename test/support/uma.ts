// Owns: a realm with a resource server, an application and people, as User-Managed Access has them, and what each of them asks.
// Does not own: signing in (relying-party.ts), the rules (authorization-services.evaluate.test.ts).
// Implements: tests of the UMA grant, the protection API and sharing.

import type { AuthorizationServiceDocument } from '../../server/contract/authorization-services.ts';
import { importRealm } from '../../server/contract/transfer.ts';
import { UMA_TICKET } from '../../server/contract/uma-grant.ts';
import { createUser } from '../../server/contract/users.ts';
import { PASSWORD } from './applications.ts';
import { type Answer, basic, makeClient, post, SECRET } from './clients.ts';
import { createPerson } from './person.ts';
import { exchange, makeProvider, makeRelyingParty, REALM, requestPath, responseParameters } from './relying-party.ts';
import type { TestServer } from './server.ts';

export const albums: AuthorizationServiceDocument = {
  clientId: 'albums',
  settings: { remoteResources: true },
  scopes: [{ name: 'view' }, { name: 'edit' }, { name: 'print' }],
  resources: [
    { name: 'holiday', type: 'album', scopes: ['view', 'edit'], owner: 'zoe', ownerManaged: true },
    { name: 'catalogue', scopes: ['view', 'edit', 'print'] },
    { name: 'press', scopes: ['print'] },
  ],
  policies: [
    { name: 'readers', type: 'role', config: { roles: ['reader'] } },
    { name: 'editors', type: 'role', config: { roles: ['editor'] } },
    { name: 'at-work', type: 'attribute', config: { attribute: 'network', source: 'context', values: ['office'] } },
  ],
  permissions: [
    { name: 'view-catalogue', resources: ['catalogue'], scopes: ['view'], policies: ['readers'] },
    { name: 'edit-catalogue', resources: ['catalogue'], scopes: ['edit'], policies: ['editors'] },
    { name: 'press', resources: ['press'], policies: ['at-work'] },
  ],
};

const service = { secret: SECRET, defaultClientScopes: [] as string[], optionalClientScopes: ['uma_protection'] };

/** The realm with the resource servers `albums` and `other`, the application `shop`, and alice, zoe and bob. */
export async function makeUma(server: TestServer): Promise<Record<string, string>> {
  await makeProvider(server);
  const grants = [UMA_TICKET, 'client_credentials', 'authorization_code'] as (typeof UMA_TICKET)[];
  const ids: Record<string, string> = {};
  for (const clientId of ['albums', 'other'])
    ids[clientId] = await makeClient(server, REALM, {
      ...service,
      clientId,
      grantTypes: [...grants],
      requirePkce: false,
      redirectUris: ['https://rp.example/cb'],
    });
  await makeRelyingParty(server, 'shop', { grantTypes: [...grants] });
  await server.admin.call(importRealm, {
    params: { realm: REALM },
    body: {
      roles: [{ name: 'reader' }, { name: 'editor' }],
      serviceAccountRoles: [{ clientId: 'shop', roles: ['editor'] }],
      authorizationServices: [albums, { clientId: 'other', resources: [{ name: 'secret' }] }],
    },
  });
  for (const [username, roles] of [
    ['zoe', []],
    ['bob', ['reader']],
  ] as const) {
    const body = { username, password: PASSWORD, roles: [...roles] };
    const { body: made } = await server.admin.call(createUser, { params: { realm: REALM }, body });
    ids[username] = made?.id ?? '';
  }
  return ids;
}

/** The tokens of a person at a client, by a sign-in of their own. */
export async function tokensOf(
  server: TestServer,
  username: string,
  more: Record<string, string> = {},
  headers: Record<string, string> = {},
) {
  const { clientId = 'shop', ...request } = more;
  const person = createPerson(server.baseUrl);
  const page = await person.open(requestPath({ client_id: clientId, ...request }));
  let shown = await person.fill(page, { username, password: PASSWORD });
  if (shown.heading === 'Allow access?')
    shown = await person.post(`/realms/${REALM}/oauth2/consent`, { ...shown.fields, decision: 'allow' });
  const answer = responseParameters(shown);
  const { body } = await exchange(server, answer ?? {}, {}, clientId, headers);
  return { person, access: String(body.access_token), id: String(body.id_token) };
}

/** A client's own token for the protection API. */
export async function protectionToken(server: TestServer, clientId = 'albums', scope = 'uma_protection') {
  const form = { grant_type: 'client_credentials', scope };
  return String((await post(server, REALM, 'token', form, { authorization: basic(clientId) })).body.access_token);
}

/** Asks the protection API. */
export async function protection(
  server: TestServer,
  token: string,
  { path, method = 'POST', body, realm = REALM }: { path: string; method?: string; body?: unknown; realm?: string },
) {
  const response = await fetch(`${server.baseUrl}/realms/${realm}/authz/protection/${path}`, {
    method,
    headers: {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

/** A ticket of a resource server's. */
export async function ticketFor(server: TestServer, wanted: unknown, clientId = 'albums'): Promise<string> {
  const token = await protectionToken(server, clientId);
  return String((await protection(server, token, { path: 'permission', body: wanted })).body.ticket);
}

/** Requests the grant, as the client `shop` unless another one is named. */
export function askUma(
  server: TestServer,
  form: Record<string, string | string[]>,
  { clientId = 'shop', realm = REALM } = {},
): Promise<Answer> {
  const all = new URLSearchParams({ grant_type: UMA_TICKET });
  for (const [name, value] of Object.entries(form)) for (const one of [value].flat()) all.append(name, one);
  return post(server, realm, 'token', all, { authorization: basic(clientId) });
}
