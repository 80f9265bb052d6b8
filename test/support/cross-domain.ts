// Owns: two servers of two domains: one where users sign in to an application, one with an API that the application calls for them.
// Does not own: the servers (server.ts), the application's tokens (relying-party.ts).
import { createClientScope } from '../../server/contract/client-scopes.ts';
import { createCrossDomainPolicy } from '../../server/contract/cross-domain-policies.ts';
import { createCrossDomainTrust } from '../../server/contract/cross-domain-trusts.ts';
import { JWT_BEARER, TOKEN_EXCHANGE } from '../../server/contract/oauth.ts';
import { putSettings } from '../../server/contract/settings.ts';
import { ID_JAG_TYPE, ID_TOKEN_TYPE } from '../../server/contract/token-types.ts';
import { createUser } from '../../server/contract/users.ts';
import { PASSWORD } from './applications.ts';
import { basic, makeClient, makeRealm, post, SECRET } from './clients.ts';
import { exchange, makeProvider, makeRelyingParty, REALM, signedIn } from './relying-party.ts';
import type { TestServer } from './server.ts';

export const CHAT = 'chat';
export const CHAT_API = 'https://api.chat.example';
export const FILES_API = 'https://files.chat.example';
/** The application’s id at the chat’s authorization server. */
export const THERE = 'wiki-at-chat';

export const issuerOf = (server: TestServer, realm: string): string => `${server.baseUrl}/realms/${realm}`;

/** The domain where users sign in: `wiki` may act for them at the chat. */
export async function makeHome(server: TestServer, audience: string): Promise<void> {
  await makeProvider(server);
  const grantTypes = ['authorization_code' as const, 'refresh_token' as const, TOKEN_EXCHANGE as typeof TOKEN_EXCHANGE];
  await makeRelyingParty(server, 'wiki', { grantTypes });
  await makeRelyingParty(server, 'notes', { grantTypes });
  await server.admin.call(createCrossDomainPolicy, {
    params: { realm: REALM },
    body: {
      name: 'wiki-to-chat',
      clientId: 'wiki',
      audience,
      targetClientId: THERE,
      scopes: ['chat.read', 'chat.history'],
      resources: [CHAT_API, FILES_API],
      email: true,
    },
  });
}

/** The domain of the API: it knows alice by her address, and trusts the other domain for addresses of example.com. */
export async function makeChat(server: TestServer, issuer: string, realm = CHAT): Promise<void> {
  const params = { realm };
  await makeRealm(server, realm);
  await server.admin.call(putSettings, { params, body: { resourceIndicators: [CHAT_API, FILES_API] } });
  for (const name of ['chat.read', 'chat.history', 'chat.admin'])
    await server.admin.call(createClientScope, { params, body: { name } });
  const optionalClientScopes = ['chat.read', 'chat.history', 'chat.admin', 'account', 'offline_access'];
  const client = { secret: SECRET, grantTypes: [], defaultClientScopes: [], optionalClientScopes };
  for (const clientId of [THERE, 'other']) await makeClient(server, realm, { ...client, clientId });
  const body = { username: 'alice', email: 'alice@example.com', emailVerified: true, password: PASSWORD };
  await server.admin.call(createUser, { params, body });
  await server.admin.call(createCrossDomainTrust, {
    params,
    body: {
      name: 'home',
      issuer,
      clientId: THERE,
      scopes: ['chat.read', 'chat.history', 'account', 'offline_access'],
      emailDomains: ['example.com'],
    },
  });
}

/** The tokens of alice, who has just signed in to the application. */
export async function signIn(server: TestServer, more: Record<string, string> = {}, clientId = 'wiki') {
  const { person, answer } = await signedIn(server, { client_id: clientId, ...more });
  return { person, body: (await exchange(server, answer, {}, clientId)).body };
}

/** The application asks its own domain for a grant. */
export const ask = (
  server: TestServer,
  form: Record<string, string>,
  { clientId = 'wiki', headers = {} }: { clientId?: string; headers?: Record<string, string> } = {},
) =>
  post(
    server,
    REALM,
    'token',
    {
      grant_type: TOKEN_EXCHANGE,
      requested_token_type: ID_JAG_TYPE,
      subject_token_type: ID_TOKEN_TYPE,
      ...form,
    },
    { authorization: basic(clientId), ...headers },
  );

/** The application presents the grant to the other domain. */
export const redeem = (
  server: TestServer,
  assertion: unknown,
  form: Record<string, string> = {},
  {
    clientId = THERE,
    realm = CHAT,
    headers = {},
  }: { clientId?: string; realm?: string; headers?: Record<string, string> } = {},
) =>
  post(
    server,
    realm,
    'token',
    { grant_type: JWT_BEARER, assertion: String(assertion), ...form },
    { authorization: basic(clientId), ...headers },
  );
