// Applications in other languages, by libraries that we didn't write (Authlib; go-oidc and x/oauth2): people sign in to them with a browser,
// or by a code that a command line shows (RFC 8628).
import { exportJWK } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PASSWORD } from '../../support/applications.ts';
import { BANK, makeBankClient, makeKeys } from '../../support/bank.ts';
import { SECRET } from '../../support/clients.ts';
import type { Conversation } from '../../support/conversation.ts';
import { runGoClient } from '../../support/go-client.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { runPythonClient } from '../../support/python-client.ts';
import { makeProvider, makeRelyingParty, REALM, RP } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
let server: TestServer;
let issuer: string;

beforeAll(async () => {
  server = await startTestServer();
  issuer = `${server.baseUrl}/realms/${REALM}`;
  await makeProvider(server);
  await makeRelyingParty(server, 'web', {
    grantTypes: ['authorization_code', 'refresh_token', EXCHANGE],
    requirePkce: true,
    allowedResources: [issuer],
  });
  await makeRelyingParty(server, 'cli', {
    tokenEndpointAuthMethod: 'none',
    secret: undefined,
    requirePkce: true,
    grantTypes: [DEVICE],
  });
});
afterAll(() => server?.stop());

async function conversing<T>(program: Conversation, work: (program: Conversation) => Promise<T>): Promise<T> {
  try {
    return await work(program);
  } finally {
    await program.stop();
  }
}
/** alice opens what the program shows, and signs in where she is asked to. */
async function signedIn(address: string) {
  const person = createPerson(server.baseUrl);
  const { pathname, search } = new URL(address);
  const page = await person.open(pathname + search);
  expect(page.heading).toBe('Sign in');
  return { person, page: await person.fill(page, { username: 'alice', password: PASSWORD }) };
}
const typed = (person: Person, page: ShownPage, code: string) =>
  person.post(`/realms/${REALM}/device`, { ...page.fields, user_code: code });

describe.each([
  ['Python', runPythonClient, { revoked: 'invalid_grant' }],
  ['Go', runGoClient, { reused: 'invalid_grant', same: true }],
] as const)('a client in %s', (_, run, more) => {
  test('signs people in with PKCE and a nonce, refreshes, asks for them, and exchanges its token', async () => {
    await conversing(run('code', issuer, 'web', SECRET, RP), async (program) => {
      const { open } = await program.hear();
      const { page } = await signedIn(String(open));
      program.tell(page.url);
      const said = await program.hear();
      expect(said).toEqual({
        sub: expect.stringMatching(/^[0-9a-f-]{36}$/),
        userinfo: expect.objectContaining({ email: 'alice@example.com', sub: said.sub }),
        changed: true,
        exchanged: 'urn:ietf:params:oauth:token-type:access_token',
        ...more,
      });
    });
  });

  test('gets its tokens as a command line, by a code that a person types elsewhere', async () => {
    await conversing(run('device', issuer, 'cli'), async (program) => {
      const { open, code } = await program.hear();
      const { person, page } = await signedIn(String(open));
      const asked = await typed(person, page, String(code));
      expect(asked.text).toContain('cli');
      await person.post(`/realms/${REALM}/device/decision`, { ...asked.fields, decision: 'allow' });
      let said = await program.hear();
      if (said.waits !== undefined) said = await program.hear();
      expect(said).toMatchObject({ userinfo: { email: 'alice@example.com', sub: said.sub } });
    });
  });

  test('is told where the person says no', async () => {
    await conversing(run('device', issuer, 'cli'), async (program) => {
      const { complete, code } = await program.hear();
      const { person, page } = await signedIn(String(complete));
      expect(page.fields.user_code).toBe(code);
      const asked = await typed(person, page, String(code));
      await person.post(`/realms/${REALM}/device/decision`, { ...asked.fields, decision: 'deny' });
      let said = await program.hear();
      while (said.waits === 'authorization_pending') said = await program.hear();
      expect(JSON.stringify(said)).toContain('access_denied');
    });
  });
});

test('a bank’s application in Python is held to FAPI 2.0: pushed, by its key, and bound to another one by DPoP', async () => {
  const keys = await makeKeys('ES256');
  await makeBankClient(server, REALM, { clientId: 'bank', keys: [keys], profile: 'fapi2-security' });
  const own = JSON.stringify({ ...(await exportJWK(keys.privateKey)), kid: keys.kid });
  await conversing(runPythonClient('bank', issuer, 'bank', own, BANK), async (program) => {
    const { open } = await program.hear();
    const { page } = await signedIn(String(open));
    program.tell(page.url);
    expect(await program.hear()).toEqual({
      sub: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: 'DPoP',
      email: 'alice@example.com',
      stolen: 401,
      rotated: false,
      again: 'DPoP',
    });
  });
});
