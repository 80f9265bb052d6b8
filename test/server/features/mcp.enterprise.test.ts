// MCP's enterprise-managed authorization by its own SDK: the company's realm decides which server of tools the assistant may use for
// whom, and the person sees no page of that server's realm. SEP-990; draft-ietf-oauth-identity-assertion-authz-grant.
import { auth, discoverOAuthServerInfo, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listCrossDomainPolicies, putCrossDomainPolicy } from '../../../server/contract/cross-domain-policies.ts';
import { JWT_BEARER } from '../../../server/contract/oauth.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { ID_JAG_PROFILE } from '../../../server/contract/token-types.ts';
import { claimsIn, SECRET } from '../../support/clients.ts';
import { ask, CHAT, issuerOf, makeChat, makeHome, signIn, THERE } from '../../support/cross-domain.ts';
import { startTools } from '../../support/mcp-tools.ts';
import { REALM } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let company: TestServer;
let vendor: TestServer;
let tools: Awaited<ReturnType<typeof startTools>>;
beforeAll(async () => {
  [company, vendor] = [await startTestServer(), await startTestServer()];
  await makeHome(company, issuerOf(vendor, CHAT));
  await makeChat(vendor, issuerOf(company, REALM));
  tools = await startTools(issuerOf(vendor, CHAT), 'by itself', ['chat.read']);
  await vendor.admin.call(putSettings, { params: { realm: CHAT }, body: { resourceIndicators: [tools.url] } });
  await permit([tools.url]);
}, 120_000);
afterAll(async () => {
  await tools?.stop();
  await company?.stop();
  await vendor?.stop();
});

/** The company's policy: the resources for which the assistant gets grants. */
async function permit(resources: string[]) {
  const { body = [] } = await company.admin.call(listCrossDomainPolicies, { params: { realm: REALM } });
  const params = { realm: REALM, id: body[0]?.id ?? '' };
  await company.admin.call(putCrossDomainPolicy, { params, body: { resources } });
}

/** The assistant is known to both realms, and has the ID token of the sign-in to it. */
function assistant(idToken: string) {
  const kept: { given?: Awaited<ReturnType<OAuthClientProvider['tokens']>>; refusal?: unknown } = {};
  const provider: OAuthClientProvider = {
    redirectUrl: undefined,
    clientMetadata: {
      scope: 'chat.read',
      redirect_uris: [],
      grant_types: [JWT_BEARER],
      token_endpoint_auth_method: 'client_secret_basic',
    },
    clientInformation: () => ({ client_id: THERE, client_secret: SECRET }),
    tokens: () => kept.given,
    saveTokens: (given) => void Object.assign(kept, { given }),
    codeVerifier: () => '',
    saveCodeVerifier: () => {},
    redirectToAuthorization: () => {
      throw new Error('the person is asked for nothing');
    },
    async prepareTokenRequest(scope) {
      const { authorizationServerMetadata } = await discoverOAuthServerInfo(tools.url);
      expect(authorizationServerMetadata).toMatchObject({ authorization_grant_profiles_supported: [ID_JAG_PROFILE] });
      const audience = authorizationServerMetadata?.issuer ?? '';
      const form = { audience, resource: tools.url, ...(scope !== undefined && { scope }) };
      const { status, body } = await ask(company, { subject_token: idToken, ...form });
      if (status !== 200) throw new Error(String(body.error));
      return new URLSearchParams({ grant_type: JWT_BEARER, assertion: String(body.access_token) });
    },
  };
  return { provider, kept };
}

test('the SDK’s client comes from a sign-in at the company to a tool of the vendor, without a page', async () => {
  const { provider, kept } = assistant(String((await signIn(company)).body.id_token));
  expect(await auth(provider, { serverUrl: tools.url })).toBe('AUTHORIZED');
  const { aud, scope, sub, client_id } = claimsIn(kept.given?.access_token ?? '');
  expect({ aud, scope, client_id }).toEqual({ aud: tools.url, scope: 'chat.read', client_id: THERE });
  const client = new Client({ name: 'assistant', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(tools.url), { authProvider: provider }));
  expect(await client.callTool({ name: 'whoami' })).toMatchObject({ content: [{ type: 'text', text: sub }] });
  await client.close();
});

test('the SDK’s client gets nothing for a server of tools that the company does not permit', async () => {
  await permit(['https://other.example']);
  const { provider, kept } = assistant(String((await signIn(company)).body.id_token));
  await expect(auth(provider, { serverUrl: tools.url })).rejects.toThrow('invalid_target');
  expect(kept.given).toBeUndefined();
  await permit([tools.url]);
});
