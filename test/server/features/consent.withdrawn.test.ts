// Owns: what an application has left of a person once they take back what they agreed to.
// Does not own: the list of applications (account.test.ts), asking for consent (authorize.consent.test.ts).
// Implements: specification 4.6; decisions "Consent record".
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import { activateAgent, createAgent } from '../../../server/contract/agents.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { listUserConsents, revokeUserConsent } from '../../../server/contract/gdpr.ts';
import { DEVICE_CODE, TOKEN_EXCHANGE } from '../../../server/contract/oauth.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser, listUsers } from '../../../server/contract/users.ts';
import { sqlOver } from '../../../server/db/sql.ts';
import { sweep } from '../../../server/jobs/janitor.ts';
import { administrator } from '../../support/administrators.ts';
import { PASSWORD } from '../../support/applications.ts';
import { basic, post } from '../../support/clients.ts';
import { createPerson, type Person } from '../../support/person.ts';
import {
  makeProvider,
  makeRelyingParty,
  REALM,
  RP,
  requestPath,
  responseParameters,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const params = { realm: REALM };
const authorization = basic('visitor');
let server: TestServer;
let clock = Date.now();
let person: Person;
beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(clock), jobs: false });
  await makeProvider(server);
  const longer = { accessTokenTtlSeconds: 10_000, ssoSessionIdleTimeoutSeconds: 20_000 };
  await server.admin.call(putSettings, { params, body: longer });
  // It gets no refresh tokens, and so no refresh family stands for what it was given.
  const grantTypes: ('authorization_code' | typeof DEVICE_CODE)[] = ['authorization_code', DEVICE_CODE];
  await makeRelyingParty(server, 'visitor', { consentRequired: true, grantTypes });
  await server.admin.call(createUser, { params, body: { username: 'owner' } });
  const body = { name: 'visitor', owner: 'owner', clientId: 'visitor', scopes: ['email'] };
  const made = await server.admin.call(createAgent, { params, body });
  await server.admin.call(activateAgent, { params: { ...params, id: made.body?.id ?? '' } });
  person = createPerson(server.baseUrl);
});
afterAll(() => server?.stop());

async function code(): Promise<string> {
  let page = await person.open(requestPath({ client_id: 'visitor', scope: 'email' }));
  if (page.heading === 'Sign in') page = await person.fill(page, { username: 'alice', password: PASSWORD });
  if (page.heading === 'Allow access?')
    page = await person.post(`/realms/${REALM}/oauth2/consent`, { ...page.fields, decision: 'allow' });
  return responseParameters(page)?.code ?? '';
}
const redeem = async (one: string) => {
  const form = { grant_type: 'authorization_code', code: one, redirect_uri: RP };
  return (await post(server, REALM, 'token', form, { authorization })).body;
};
async function delegated(token: unknown): Promise<unknown> {
  const answer = await fetch(`${server.baseUrl}/realms/${REALM}/agent/delegation/token`, {
    method: 'POST',
    headers: { authorization },
    body: new URLSearchParams({
      grant_type: TOKEN_EXCHANGE,
      subject_token: String(token),
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    }),
  });
  return Object(await answer.json()).access_token;
}
const active = async (token: unknown) =>
  (await post(server, REALM, 'introspect', { token: String(token) }, { authorization })).body.active;
async function withdraw() {
  const { text } = await person.open(`/realms/${REALM}/account`);
  const csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
  return person.post(`/realms/${REALM}/account/consents/visitor/withdraw`, { csrf });
}

test('an administrator takes a consent back, with the tokens of it; the application asks anew', async () => {
  const { access_token: token } = await redeem(await code());
  expect(await active(token)).toBe(true);
  const users = (await server.admin.call(listUsers, { params, query: { q: 'alice' } })).body ?? [];
  const of = { ...params, userId: users[0]?.id ?? '', clientId: 'visitor' };
  const reader = await administrator(server, { target: REALM, permissions: ['users:read'] });
  await expect(reader.call(revokeUserConsent, { params: of })).rejects.toMatchObject({ status: 403 });
  await expect(server.admin.call(revokeUserConsent, { params: { ...of, realm: 'master' } })).rejects.toMatchObject({
    status: 404,
  });
  expect(await active(token)).toBe(true);
  expect((await server.admin.call(revokeUserConsent, { params: of })).status).toBe(204);
  expect(await active(token)).toBe(false);
  expect((await server.admin.call(listUserConsents, { params: { ...params, userId: of.userId } })).body).toEqual([]);
  await expect(server.admin.call(revokeUserConsent, { params: of })).rejects.toMatchObject({ status: 404 });
  const { body: events } = await server.admin.call(listEvents, {
    params,
    query: { type: 'CONSENT_REVOKED', limit: 1 },
  });
  expect(events).toMatchObject([{ actor: { name: 'admin' }, clientId: 'visitor', subject: { id: of.userId } }]);
  const asked = await person.open(requestPath({ client_id: 'visitor', scope: 'email' }));
  expect(asked.heading).toBe('Allow access?');
});

test('an administrator takes no consent of a stronger administrator back', async () => {
  await redeem(await code());
  const [alice] = (await server.admin.call(listUsers, { params, query: { q: 'alice' } })).body ?? [];
  const of = { ...params, userId: alice?.id ?? '' };
  const grants = [{ role: 'realm-admin', realm: REALM }];
  await server.admin.call(putUserAdminRoles, { params: of, body: { grants } });
  const weaker = await administrator(server, { target: REALM, permissions: ['users:read', 'users:write'] });
  await expect(weaker.call(revokeUserConsent, { params: { ...of, clientId: 'visitor' } })).rejects.toMatchObject({
    status: 403,
    problem: { type: 'urn:svc:problem:privilege-escalation' },
  });
});

test('nothing of what a client without refresh tokens got is left, however old its code, nor of what hangs on it', async () => {
  const { access_token: token } = await redeem(await code());
  const onward = await delegated(token);
  clock += 5_400_000;
  await sweep(sqlOver(server.pool), new Date(clock));
  expect([await active(token), await active(onward)]).toEqual([true, true]);
  const unused = await code();
  expect((await withdraw()).text).toContain('The access was withdrawn');
  expect([await active(token), await active(onward)]).toEqual([false, false]);
  expect((await redeem(unused)).error).toBe('invalid_grant');
});

test('a device that was allowed has no token left, and one that has not asked yet gets none', async () => {
  const asked = async () =>
    (await post(server, REALM, 'device_authorization', { scope: 'email' }, { authorization })).body;
  const allow = async ({ user_code: typed }: Record<string, unknown>) => {
    const { fields } = await person.open(`/realms/${REALM}/device`);
    const page = await person.post(`/realms/${REALM}/device`, { ...fields, user_code: String(typed) });
    return person.post(`/realms/${REALM}/device/decision`, { ...page.fields, decision: 'allow' });
  };
  const poll = async ({ device_code: one }: Record<string, unknown>) =>
    (await post(server, REALM, 'token', { grant_type: DEVICE_CODE, device_code: String(one) }, { authorization })).body;
  const [first, second] = [await asked(), await asked()];
  await allow(first);
  await allow(second);
  const { access_token: token } = await poll(first);
  expect(await active(token)).toBe(true);
  await withdraw();
  expect(await active(token)).toBe(false);
  expect((await poll(second)).error).toBe('access_denied');
});
