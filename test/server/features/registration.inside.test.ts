// Whoever may register clients makes this server fetch nothing from inside its network, by none of the addresses that they may
// give, and learns nothing of what is there.
import { randomUUID } from 'node:crypto';
import { generateKeyPair, SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { putProvisioning } from '../../../server/contract/provisioning.ts';
import { createUser, putUser } from '../../../server/contract/users.ts';
import { authorizePath, CALLBACK, getCode, newVerifier, PASSWORD, redeem } from '../../support/applications.ts';
import { makeRealm, post } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let realm = '';
let made = 0;
let alice = '';
let server: TestServer;
let inside: Receiver;
let addresses: string[] = [];
beforeAll(async () => {
  inside = await startReceiver();
  const env = { SVC_OUTBOUND_CA_FILE: inside.caFile, SVC_OUTBOUND_ALLOW: '192.0.2.1' };
  server = await startTestServer({ env, retryDelaysSeconds: [] });
  addresses = [
    inside.url,
    `https://localhost:${inside.port}`,
    `https://[::1]:${inside.port}`,
    `https://[::ffff:7f00:1]:${inside.port}`,
    `https://2130706433:${inside.port}`,
    'https://169.254.169.254',
    'https://10.0.0.1',
    // nobody is there, which must look the same
    'https://nobody.invalid',
  ];
});
afterAll(async () => {
  await server?.stop();
  await inside?.stop();
});
beforeEach(async () => {
  // an address has so many registrations a minute in each realm
  made += 1;
  realm = `acme${made}`;
  const params = { realm };
  await makeRealm(server, realm);
  await server.admin.call(putProvisioning, { params, body: { registration: 'open', requireConsent: true } });
  const { body } = await server.admin.call(createUser, { params, body: { username: 'alice', password: PASSWORD } });
  alice = body?.id ?? '';
});
afterEach(() => expect(inside.received).toEqual([]));

async function register(metadata: object) {
  const answer = await fetch(`${server.baseUrl}/realms/${realm}/connect/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none', ...metadata }),
  });
  return { status: answer.status, text: await answer.text() };
}
const registered = async (metadata: object): Promise<string> => {
  const { status, text } = await register(metadata);
  expect([status, text]).toEqual([201, expect.any(String)]);
  return String(JSON.parse(text).client_id);
};
/** Each address' answer is the one of the address at which nobody is. */
const alike = (answers: readonly unknown[]) => expect(answers).toEqual(answers.map(() => answers.at(-1)));

describe('by', () => {
  test('sector_identifier_uri', async () => {
    const answers = [];
    for (const address of addresses) answers.push(await register({ sector_identifier_uri: `${address}/sector.json` }));
    expect(answers[0]).toMatchObject({ status: 400, text: expect.stringContaining('invalid_client_metadata') });
    const said = answers.map(({ status, text }) => [status, JSON.parse(text).error]);
    alike(said);
  });

  test('jwks_uri, neither for who a client is nor for what it signs', async () => {
    const { privateKey } = await generateKeyPair('ES256');
    const issuer = `${server.baseUrl}/realms/${realm}`;
    const signed = (clientId: string, claims: object) =>
      new SignJWT({ ...claims, iss: clientId, jti: randomUUID() })
        .setProtectedHeader({ alg: 'ES256', kid: 'k' })
        .setAudience(issuer)
        .setIssuedAt()
        .setExpirationTime('5m')
        .sign(privateKey);
    const answers = [];
    for (const address of addresses) {
      const jwks_uri = `${address}/jwks`;
      const clientId = await registered({ token_endpoint_auth_method: 'private_key_jwt', jwks_uri });
      const form = {
        grant_type: 'refresh_token',
        refresh_token: 'x',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: await signed(clientId, { sub: clientId }),
      };
      const { status, text } = await post(server, realm, 'token', form);
      const request = await signed(clientId, { client_id: clientId, response_type: 'code', redirect_uri: CALLBACK });
      const query = new URLSearchParams({ client_id: clientId, request });
      const page = await createPerson(server.baseUrl).open(`/realms/${realm}/oauth2/authorize?${query}`);
      answers.push([status, text, page.status, page.text.replaceAll(clientId, 'client')]);
    }
    expect(answers[0]?.slice(0, 2)).toEqual([401, expect.stringContaining('invalid_client')]);
    alike(answers);
  });

  test('request_uris, whatever is there', async () => {
    const answers = [];
    for (const address of addresses) {
      const request_uri = `${address}/request`;
      const clientId = await registered({ request_uris: [request_uri] });
      const query = new URLSearchParams({ client_id: clientId, request_uri, redirect_uri: CALLBACK });
      const page = await createPerson(server.baseUrl).open(`/realms/${realm}/oauth2/authorize?${query}`);
      answers.push([page.status, page.text.replaceAll(clientId, 'client')]);
    }
    expect(answers[0]).toEqual([400, expect.stringContaining('invalid_request_uri')]);
    alike(answers);
  });

  test('backchannel_logout_uri', async () => {
    await server.admin.call(putProvisioning, { params: { realm }, body: { requireConsent: false } });
    const clients = [];
    for (const address of addresses) clients.push(await registered({ backchannel_logout_uri: `${address}/logout` }));
    const person = createPerson(server.baseUrl);
    for (const clientId of clients) {
      const grant = await getCode(server, realm, clientId, { person });
      expect((await redeem(server, realm, clientId, grant)).status).toBe(200);
    }
    await server.admin.call(putUser, { params: { realm, userId: alice }, body: { enabled: false } });
    const failed = async () =>
      (await server.admin.call(listEvents, { params: { realm }, query: { type: 'BACKCHANNEL_LOGOUT_FAILED' } })).body ??
      [];
    await expect
      .poll(async () => (await failed()).map(({ clientId }) => clientId).toSorted())
      .toEqual(clients.toSorted());
  });

  // By their browser, which their own network guards: pages say where to, and load a picture from that one origin.
  test('what only people may look at: it is fetched by nobody here', async () => {
    const uri = (name: string) => `${inside.url}/${name}`;
    const clientId = await registered({
      logo_uri: uri('logo'),
      client_uri: uri('client'),
      policy_uri: uri('policy'),
      tos_uri: uri('tos'),
      initiate_login_uri: uri('login'),
      software_statement: 'x',
    });
    const person = createPerson(server.baseUrl);
    let page = await person.open(authorizePath(realm, clientId, newVerifier(), { scope: 'openid' }));
    page = await person.fill(page, { username: 'alice', password: PASSWORD });
    expect(page.heading).toBe('Allow access?');
    expect(page.text).toContain(`href="${uri('policy')}"`);
    expect(page.text).not.toContain(uri('login'));
  });
});
