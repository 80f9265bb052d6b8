// Owns: agents that prove who they are by what isn't a secret: the token of a workload, a key.
// Does not own: agents' moves (agents.test.ts), what a workload's token must be (workload-identity.exchange.test.ts).
// Implements: specification 1, 4.7; decisions "Agent".
import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { activateAgent, createAgent, getAgent, suspendAgent } from '../../../server/contract/agents.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { createUser } from '../../../server/contract/users.ts';
import { createWorkloadIdentity } from '../../../server/contract/workload-identity.ts';
import { makeClient, makeRealm } from '../../support/clients.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REALM = 'acme';
const SUBJECT = 'system:serviceaccount:shop:bot';
const params = { realm: REALM };
let server: TestServer;
let issuer: Receiver;
let key: Awaited<ReturnType<typeof generateKeyPair>>;
beforeAll(async () => {
  [issuer, key] = await Promise.all([startReceiver(), generateKeyPair('RS256', { extractable: true })]);
  const jwks = { keys: [{ ...(await exportJWK(key.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }] };
  issuer.answer = () => ({ body: JSON.stringify(jwks) });
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: issuer.caFile } });
  await makeRealm(server, REALM);
  await server.admin.call(createUser, { params, body: { username: 'owner' } });
  const own = {
    grantTypes: ['client_credentials'] as ['client_credentials'],
    defaultClientScopes: ['email', 'profile'],
  };
  await makeClient(server, REALM, { ...own, clientId: 'workload' });
  await makeClient(server, REALM, { ...own, clientId: 'key', tokenEndpointAuthMethod: 'private_key_jwt', jwks });
  const trusted = { issuer: issuer.url, jwksUri: `${issuer.url}/keys`, subject: SUBJECT, audience: 'realmkeeper' };
  const body = { ...trusted, name: 'bot', clientId: 'workload', scopes: 'email profile', enabled: true };
  await server.admin.call(createWorkloadIdentity, { params, body });
});
afterAll(async () => {
  await server?.stop();
  await issuer?.stop();
});

const sign = (claims: { iss: string; sub: string; aud: string }) =>
  new SignJWT({ ...claims, jti: randomUUID() })
    .setProtectedHeader({ alg: 'RS256', kid: 'one' })
    .setIssuedAt()
    .setExpirationTime('10m')
    .sign(key.privateKey);
async function ask(path: string, form: Record<string, string>) {
  const url = `${server.baseUrl}/realms/${REALM}/${path}`;
  const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(form) });
  return { status: answer.status, scope: Object(await answer.json()).scope };
}
const ways = {
  workload: async () =>
    ask('workload-identity/token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: await sign({ iss: issuer.url, sub: SUBJECT, aud: 'realmkeeper' }),
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    }),
  key: async () =>
    ask('oauth2/token', {
      grant_type: 'client_credentials',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await sign({ iss: 'key', sub: 'key', aud: `${server.baseUrl}/realms/${REALM}` }),
    }),
};

test.each([
  ['workload', 'WORKLOAD_TOKEN_ISSUED'],
  ['key', 'TOKEN_ISSUED'],
] as const)(
  'by a %s an agent gets its scopes alone while it is active, and is told of by its own name',
  async (clientId, type) => {
    const body = { name: `Agent by ${clientId}`, owner: 'owner', clientId, scopes: ['email'] };
    const made = (await server.admin.call(createAgent, { params, body })).body;
    const agent = { params: { ...params, id: made?.id ?? '' } };
    expect((await ways[clientId]()).status).toBe(401);
    await server.admin.call(activateAgent, agent);
    expect((await server.admin.call(getAgent, agent)).body?.lastUsedAt).toBeNull();
    expect(await ways[clientId]()).toEqual({ status: 200, scope: 'email' });
    const events = async () =>
      (await server.admin.call(listEvents, { params, query: { type } })).body?.filter(
        (event) => event.clientId === clientId,
      );
    await expect.poll(events).toMatchObject([{ actor: { type: 'agent', id: made?.id, name: body.name }, clientId }]);
    expect((await server.admin.call(getAgent, agent)).body?.lastUsedAt).toEqual(expect.any(Number));
    await server.admin.call(suspendAgent, agent);
    expect((await ways[clientId]()).status).toBe(401);
  },
);
