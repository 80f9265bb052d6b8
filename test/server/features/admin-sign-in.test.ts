// Owns: what a realm asks of its administrators who sign in: its flow and its risk policy, at the page and by JSON.
// Does not own: admin sessions and rights (admin-access.test.ts), the realm's pages (sign-in.test.ts).
// Implements: decisions "Admin authentication": both ways ask for no less than the realm does.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { getAdminSession, putUserAdminRoles } from '../../../server/contract/admin-access.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { getBrowserFlow, putBrowserFlow } from '../../../server/contract/flows.ts';
import { ProblemDetails, problemType } from '../../../server/contract/problem.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser } from '../../../server/contract/users.ts';
import { codeAt, secretOn } from '../../support/authenticator-app.ts';
import { createPerson, type Person } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const password = 'a perfectly good password';
let server: TestServer;
let realm = '';
let realms = 0;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_TRUST_PROXY: '127.0.0.1' } });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  realms += 1;
  realm = `acme-${realms}`;
  await server.admin.call(createRealm, { body: { realm } });
  await newUser('boss', [{ role: 'realm-admin', realm }]);
});

async function newUser(username: string, grants: { role: string; realm: string }[] = []): Promise<void> {
  const { body } = await server.admin.call(createUser, { params: { realm }, body: { username, password } });
  const params = { realm, userId: body?.id ?? '' };
  if (grants.length > 0) await server.admin.call(putUserAdminRoles, { params, body: { grants } });
}
const json = (more: object = {}, address = '192.0.2.1') =>
  fetch(`${server.baseUrl}/admin/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
    body: JSON.stringify({ realm, username: 'boss', password, ...more }),
  });
const person = (address = '192.0.2.1') => createPerson(server.baseUrl, { 'x-forwarded-for': address });
/** As far as the realm's sign-in page. */
async function toRealm(who: Person) {
  const page = await who.open('/admin/login');
  return who.post('/admin/login/form', { ...page.fields, realm });
}
const withPassword = async (who: Person, username = 'boss') => who.fill(await toRealm(who), { username, password });
const asksForCode = async () => {
  const flow = (await server.admin.call(getBrowserFlow, { params: { realm } })).body;
  if (!flow) throw new Error('the realm has no flow');
  const executions = [
    { authenticatorId: 'username-password', requirement: 'REQUIRED' as const },
    { authenticatorId: 'otp', requirement: 'REQUIRED' as const },
  ];
  await server.admin.call(putBrowserFlow, { params: { realm }, body: { ...flow, executions } });
};
const reasons = async () => {
  const query = { type: 'ADMIN_LOGIN_FAILURE' };
  const { body = [] } = await server.admin.call(listEvents, { params: { realm }, query });
  return body.map(({ data }) => data?.reason);
};
const careful = { riskPolicyEnabled: true, riskLowAction: 'deny' as const };

describe('at the page', () => {
  test('an administrator names the realm, walks its sign-in, and has a session of the admin API and no other', async () => {
    const who = person();
    const done = await withPassword(who);
    expect(new URL(done.url).pathname).toBe('/admin/console/');
    expect(done.headers.get('content-security-policy')).toMatch(/default-src 'none'/);
    const plain = await who.open('/admin/login?page=plain');
    expect(plain.heading).toBe('Signed in');
    expect(plain.text).toContain('<strong>boss</strong>');
    expect((await who.once('/admin/session')).status).toBe(200);
    expect(who.jar.has('SVC_SESSION')).toBe(false);
    await who.post('/admin/logout/form', (await who.open('/admin/login?page=plain')).fields);
    expect((await who.once('/admin/session')).status).toBe(401);
  });

  test('the flow that the realm has bound is what is asked for', async () => {
    await asksForCode();
    const who = person();
    const enrolment = await withPassword(who);
    expect(enrolment.heading).toBe('Set up a second factor');
    const code = codeAt(secretOn(enrolment), Date.now());
    expect(new URL((await who.fill(enrolment, { code })).url).pathname).toBe('/admin/console/');
  });

  test('who has a second factor proves it, although the flow would not ask for it', async () => {
    await server.admin.call(putSettings, { params: { realm }, body: { requireMfa: true } });
    const before = person();
    const enrolment = await withPassword(before);
    const secret = secretOn(enrolment);
    await before.fill(enrolment, { code: codeAt(secret, Date.now()) });
    await server.admin.call(putSettings, { params: { realm }, body: { requireMfa: false } });
    const flow = (await server.admin.call(getBrowserFlow, { params: { realm } })).body;
    if (!flow) throw new Error('the realm has no flow');
    const executions = [{ authenticatorId: 'username-password', requirement: 'REQUIRED' as const }];
    await server.admin.call(putBrowserFlow, { params: { realm }, body: { ...flow, executions } });
    const who = person();
    const asked = await withPassword(who);
    expect(asked.heading).toBe('Enter your code');
    expect((await who.once('/admin/session')).status).toBe(401);
    const later = codeAt(secret, Date.now() + 30_000);
    expect(new URL((await who.fill(asked, { code: later })).url).pathname).toBe('/admin/console/');
  });

  test('the risk policy of the realm refuses here too', async () => {
    await server.admin.call(putSettings, { params: { realm }, body: careful });
    const who = person();
    expect(await withPassword(who)).toMatchObject({ status: 403, heading: 'This sign-in was refused' });
    expect((await who.once('/admin/session')).status).toBe(401);
  });

  test('whoever holds no admin role is told so after signing in, and it is audited', async () => {
    await newUser('clerk');
    const who = person();
    const refused = await withPassword(who, 'clerk');
    expect(refused).toMatchObject({ status: 403, heading: 'You could not be signed in' });
    expect(who.jar.has('SVC_ADMIN_SESSION')).toBe(false);
    expect(who.jar.has('SVC_SESSION')).toBe(false);
    expect(await reasons()).toEqual(['no-admin-role']);
  });

  test('a session of the realm is asked for its proof again, and goes on afterwards', async () => {
    const who = person();
    await who.fill(await who.open(`/realms/${realm}/login`), { username: 'boss', password });
    expect((await toRealm(who)).heading).toBe('Sign in');
    expect(new URL((await withPassword(who)).url).pathname).toBe('/admin/console/');
    expect(new URL((await who.open(`/realms/${realm}/account`)).url).pathname).toBe(`/realms/${realm}/account`);
  });

  test('a sign-in that was begun for something else leads to no admin session', async () => {
    const who = person();
    await who.fill(await who.open(`/realms/${realm}/login`), { username: 'boss', password });
    expect((await who.open(`/realms/${realm}/login/admin`)).heading).toBe('Administration');
    expect(who.jar.has('SVC_ADMIN_SESSION')).toBe(false);
  });

  test('accepts no form without its own token, and no realm that is not there', async () => {
    const who = person();
    const { fields } = await who.open('/admin/login');
    const forged = await who.post('/admin/login/form', { ...fields, realm, csrf: 'guess' });
    expect(forged.status).toBe(403);
    const unknown = await who.post('/admin/login/form', { ...forged.fields, realm: 'nowhere"><b>' });
    expect(unknown.status).toBe(400);
    expect(unknown.text).toContain('role="alert"');
    expect(unknown.text).not.toContain('<b>');
  });
});

describe('by JSON', () => {
  test('a flow that demands a second factor lets nobody in by a password', async () => {
    expect((await json()).status).toBe(204);
    await asksForCode();
    const refused = await json();
    expect(refused.status).toBe(401);
    expect(ProblemDetails.parse(await refused.json()).detail).toContain(`/realms/${realm}/login`);
    expect(refused.headers.getSetCookie()).toEqual([]);
    expect(await reasons()).toEqual(['mfa-required']);
    const who = person();
    const enrolment = await withPassword(who);
    const secret = secretOn(enrolment);
    await who.fill(enrolment, { code: codeAt(secret, Date.now()) });
    expect(await (await json()).json()).toMatchObject({ type: problemType('otp-required') });
    expect((await json({ otp: codeAt(secret, Date.now() + 30_000) })).status).toBe(204);
  });

  test('the risk policy of the realm refuses, and says no more than it does at the page', async () => {
    await server.admin.call(putSettings, { params: { realm }, body: careful });
    expect((await json()).status).toBe(401);
    expect(await reasons()).toEqual(['risk']);
  });

  test('wrong passwords count for the risk policy', async () => {
    const policy = { riskPolicyEnabled: true, riskMediumThreshold: 10, riskMediumAction: 'deny' as const };
    await server.admin.call(putSettings, { params: { realm }, body: policy });
    expect((await json()).status).toBe(204);
    for (let i = 0; i < 4; i += 1) await json({ password: 'wrong' });
    expect((await json()).status).toBe(401);
    expect((await reasons())[0]).toBe('risk');
  });

  test('who may sign in has a client that works', async () => {
    const client = await server.signIn({ realm, username: 'boss', password });
    expect((await client.call(getAdminSession)).body?.realm).toBe(realm);
  });
});
