// MCP as its own SDK has it: a server of tools that a realm's token opens, and a client that is told nothing but its address.
import { auth, type OAuthClientProvider, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listClients } from '../../../server/contract/clients.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { PASSWORD } from '../../support/applications.ts';
import { claimsIn } from '../../support/clients.ts';
import { startTools } from '../../support/mcp-tools.ts';
import { createPerson } from '../../support/person.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { makeProvider, REALM } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REDIRECT = 'http://127.0.0.1:41234/callback';
const METADATA = {
  client_name: 'An assistant',
  redirect_uris: [REDIRECT],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
};
let server: TestServer;
let host: Receiver;
let issuer: string;
const params = { realm: REALM };

/** What a client may save of an OAuthClientProvider's. */
type Saved<Name extends 'clientInformation' | 'tokens'> = Awaited<ReturnType<OAuthClientProvider[Name]>>;

/** A program that keeps what it is given, and hands the person an address to open. */
function createProgram(document?: string) {
  const kept: {
    opened?: URL | undefined;
    verifier?: string;
    client?: Saved<'clientInformation'>;
    given?: Saved<'tokens'>;
  } = {};
  const provider: OAuthClientProvider = {
    redirectUrl: REDIRECT,
    clientMetadata: METADATA,
    ...(document !== undefined && { clientMetadataUrl: `${host.url}${document}` }),
    clientInformation: () => kept.client,
    tokens: () => kept.given,
    codeVerifier: () => kept.verifier ?? '',
    saveClientInformation: (client) => void Object.assign(kept, { client }),
    saveTokens: (given) => void Object.assign(kept, { given }),
    saveCodeVerifier: (verifier) => void Object.assign(kept, { verifier }),
    redirectToAuthorization: (opened) => void Object.assign(kept, { opened }),
  };
  return { provider, kept };
}
type Program = ReturnType<typeof createProgram>;

/** The person's part: signs in, agrees, and comes back with the address that holds the code. */
async function agreed({ kept }: Program): Promise<URL> {
  const { pathname = '', search = '' } = kept.opened ?? {};
  const person = createPerson(server.baseUrl);
  const consent = await person.fill(await person.open(pathname + search), { username: 'alice', password: PASSWORD });
  expect(consent.heading).toBe('Allow access?');
  const { url } = await person.post(`/realms/${REALM}/oauth2/consent`, { ...consent.fields, decision: 'allow' });
  expect(url.startsWith(`${REDIRECT}?`)).toBe(true);
  return new URL(url);
}
const connected = async (url: string, { provider }: Program) => {
  const client = new Client({ name: 'assistant', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  return { client, transport, connect: () => client.connect(transport) };
};
const settings = (body: object) => server.admin.call(putSettings, { params, body });

beforeAll(async () => {
  host = await startReceiver({ names: ['app.example'] });
  host.answer = ({ url }) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id: `${host.url}${url}`, ...METADATA }),
  });
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: host.caFile } });
  issuer = `${server.baseUrl}/realms/${REALM}`;
  await makeProvider(server);
});
afterAll(async () => {
  await server?.stop();
  await host?.stop();
});

test.each([
  ['by the address of its metadata', 'by itself'],
  ['by the address of its metadata', 'by the realm'],
  ['by registering itself', 'by itself'],
  ['by registering itself', 'by the realm'],
] as const)(
  'a client that is known %s gets from a 401 to a tool of a server that is described %s',
  async (known, described) => {
    const tools = await startTools(issuer, described);
    const lists = { resourceIndicators: [tools.url], clientRegistrationResources: [tools.url] };
    const byDocument = known === 'by the address of its metadata';
    const document = byDocument ? `/${described.replaceAll(' ', '-')}.json` : undefined;
    await settings({
      ...lists,
      clientIdMetadataDocuments: byDocument,
      clientRegistration: byDocument ? 'closed' : 'open',
    });
    const program = createProgram(document);
    const before = await connected(tools.url, program);
    await expect(before.connect()).rejects.toBeInstanceOf(UnauthorizedError);
    const opened = program.kept.opened?.searchParams;
    expect(opened?.get('resource')).toBe(tools.url);
    expect(opened?.get('code_challenge_method')).toBe('S256');
    const back = await agreed(program);
    expect(back.searchParams.get('iss')).toBe(issuer);
    await before.transport.finishAuth(back.searchParams.get('code') ?? '');
    const { client_id: clientId, aud, sub } = claimsIn(program.kept.given?.access_token ?? '');
    expect(aud).toBe(tools.url);
    expect(clientId).toBe(byDocument ? `${host.url}${document}` : program.kept.client?.client_id);
    const { body } = await server.admin.call(listClients, { params, query: { q: String(clientId) } });
    expect(body?.map((one) => one.clientId)).toEqual([clientId]);

    const after = await connected(tools.url, program);
    await after.connect();
    expect(await after.client.callTool({ name: 'whoami' })).toMatchObject({ content: [{ type: 'text', text: sub }] });
    await after.client.close();
    await tools.stop();
  },
);

test('a client whose access token is refused renews it by its refresh token, without the person', async () => {
  const tools = await startTools(issuer, 'by itself');
  const lists = { resourceIndicators: [tools.url], clientRegistrationResources: [tools.url] };
  await settings({ ...lists, clientIdMetadataDocuments: true });
  const program = createProgram('/renewing.json');
  expect(await auth(program.provider, { serverUrl: tools.url })).toBe('REDIRECT');
  const authorizationCode = (await agreed(program)).searchParams.get('code') ?? '';
  expect(await auth(program.provider, { serverUrl: tools.url, authorizationCode })).toBe('AUTHORIZED');
  const { given } = program.kept;
  expect(given?.refresh_token).toBeDefined();
  if (given) program.kept.given = { ...given, access_token: 'svc_of-another-time' };
  program.kept.opened = undefined;
  const { client, connect } = await connected(tools.url, program);
  await connect();
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['whoami']);
  expect(program.kept.opened).toBeUndefined();
  expect(program.kept.given?.refresh_token).not.toBe(given?.refresh_token);
  await client.close();
  await tools.stop();
});

test('a token for one server of tools opens no other, and a server that the realm does not list is given none', async () => {
  const [listed, other] = [await startTools(issuer, 'by itself'), await startTools(issuer, 'by itself')];
  const lists = { resourceIndicators: [listed.url], clientRegistrationResources: [listed.url] };
  await settings({ ...lists, clientIdMetadataDocuments: true });
  const program = createProgram('/listed.json');
  await auth(program.provider, { serverUrl: listed.url });
  const authorizationCode = (await agreed(program)).searchParams.get('code') ?? '';
  await auth(program.provider, { serverUrl: listed.url, authorizationCode });
  const authorization = `Bearer ${program.kept.given?.access_token}`;
  expect((await fetch(other.url, { headers: { authorization } })).status).toBe(401);
  const stranger = createProgram('/stranger.json');
  expect(await auth(stranger.provider, { serverUrl: other.url })).toBe('REDIRECT');
  const { pathname = '', search = '' } = stranger.kept.opened ?? {};
  const { url } = await createPerson(server.baseUrl).open(pathname + search);
  expect(new URL(url).searchParams.get('error')).toBe('invalid_target');
  await Promise.all([listed.stop(), other.stop()]);
});
