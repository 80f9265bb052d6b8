// Owns: the account API: who may ask, that changes take a proof of a moment ago, and what they do.
// Does not own: ways to sign in (account.api-credentials.test.ts), data and consents (gdpr.test.ts), the pages (account.test.ts).
// Implements: specification 4.11; RFC 9470; decisions "Single sign-on and freshness".
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { activateAgent, createAgent, getAgent } from '../../../server/contract/agents.ts';
import { listClients, putClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { listMessages } from '../../../server/contract/messages.ts';
import { putUserProfile } from '../../../server/contract/user-profile.ts';
import { createUser, getUser, putUser } from '../../../server/contract/users.ts';
import { createAccountCaller, NEXT } from '../../support/account-api.ts';
import { makeClient } from '../../support/clients.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { codeIn, linkIn, type MailingServer, startMailingServer } from '../../support/mail.ts';
import { createPerson } from '../../support/person.ts';

let site: MailingServer;
let realm = '';
let userId = '';
let account: ReturnType<typeof createAccountCaller>;
const { later } = freshRealms('api', startMailingServer, async (started, fresh) => {
  site = started;
  realm = fresh;
  account = createAccountCaller(site.server, realm);
  userId = await account.make({ email: address(), emailVerified: true });
  await site.sendsMail(realm);
});
const call: typeof site.server.admin.call = (route, input) => site.server.admin.call(route, input);
const address = (name = 'ada') => `${name}@${realm}.example`;
const stored = async () => (await call(getUser, { params: { realm, userId } })).body;
const errorsOf = ({ body }: { body: unknown }) => Object(body).errors?.map(({ path }: { path: string }) => path);

test('a token of an older sign-in reads and changes nothing; the answer says what to ask for', async () => {
  const old = await account.byToken();
  later(301_000);
  expect((await old('GET', 'profile')).status).toBe(200);
  const refused = await old('PUT', 'password', { password: NEXT });
  expect([refused.status, refused.body]).toMatchObject([401, { type: 'urn:svc:problem:reauthentication-required' }]);
  const challenge = refused.headers.get('www-authenticate');
  expect(challenge).toContain('error="insufficient_user_authentication", acr_values="1", max_age="300"');
  const fresh = await account.byToken({ max_age: '300' });
  expect((await fresh('PUT', 'password', { password: NEXT })).status).toBe(204);
});

test('a token of an application that was switched off since reads nothing', async () => {
  const me = await account.byToken();
  expect((await me('GET', 'profile')).status).toBe(200);
  const { body: [manager] = [] } = await call(listClients, { params: { realm }, query: { q: 'manager' } });
  const one = { params: { realm, id: manager?.id ?? '' } };
  await call(putClient, { ...one, body: { enabled: false } });
  for (const path of ['profile', 'activity', 'gdpr/export']) expect((await me('GET', path)).status).toBe(401);
  await call(putClient, { ...one, body: { enabled: true } });
  expect((await me('GET', 'profile')).status).toBe(200);
});

test('by the session of a browser a write needs its token, and a proof of a moment ago as well', async () => {
  const person = await account.bySession();
  expect((await person('PUT', 'profile', { firstName: 'Ada' })).status).toBe(200);
  expect((await person('PUT', 'profile', { firstName: 'Eve' }, { 'x-xsrf-token': 'made up' })).status).toBe(403);
  later(301_000);
  const refused = await person('PUT', 'profile', { firstName: 'Eve' });
  expect(refused.body).toMatchObject({ type: 'urn:svc:problem:reauthentication-required' });
  expect((await stored())?.firstName).toBe('Ada');
});

test('a profile is read and changed within what the realm lets people say, and that is told by mail', async () => {
  const own = { view: ['user', 'admin'], edit: ['user', 'admin'] } as const;
  const attributes = [
    { name: 'department', view: [...own.view], edit: [...own.edit] },
    { name: 'level', view: [...own.view], edit: ['admin' as const] },
  ];
  const hidden = { name: 'score', view: ['admin' as const], edit: ['admin' as const] };
  await call(putUserProfile, { params: { realm }, body: { attributes: [...attributes, hidden] } });
  const given = { level: ['7'], score: ['3'], note: ['undeclared'] };
  await call(putUser, { params: { realm, userId }, body: { username: 'ada', attributes: given } });
  const me = await account.byToken();
  expect((await me('GET', 'profile')).body).toMatchObject({
    username: 'ada',
    emailVerified: true,
    attributes: expect.toSatisfy((seen) => JSON.stringify(seen) === '{"level":["7"]}'),
    editable: ['email', 'firstName', 'lastName', 'attributes.department'],
  });
  const changed = await me('PUT', 'profile', { lastName: 'Lovelace', attributes: { department: ['Engines'] } });
  expect(changed.body).toMatchObject({ lastName: 'Lovelace', attributes: { department: ['Engines'], level: ['7'] } });
  await site.mailTo(address(), 'your profile was changed');
  const refused = await me('PUT', 'profile', { attributes: { level: ['9'] } });
  expect([refused.status, errorsOf(refused)]).toEqual([400, ['attributes.level']]);
});

test('a profile that says nothing new is answered as it is, and writes nothing', async () => {
  const me = await account.byToken();
  const { body: given } = await me('PUT', 'profile', { firstName: 'Ada' });
  const query = { type: 'USER_UPDATED' as const };
  const written = async () => [await stored(), (await call(listEvents, { params: { realm }, query })).body];
  const before = await written();
  const same = await me('PUT', 'profile', { firstName: 'Ada' });
  expect([same.status, same.body]).toEqual([200, given]);
  expect((await me('PUT', 'profile', {})).status).toBe(200);
  expect(await written()).toEqual(before);
});

test('a new password ends all other sessions, and one against the rules is refused with its reason', async () => {
  const elsewhere = await account.bySession();
  const me = await account.byToken();
  const refused = await me('PUT', 'password', { password: 'short' });
  expect([refused.status, errorsOf(refused)]).toEqual([400, ['password']]);
  expect((await me('PUT', 'password', { password: NEXT })).status).toBe(204);
  await site.mailTo(address(), 'your password was changed');
  expect((await elsewhere('GET', 'profile')).status).toBe(401);
  expect((await me('GET', 'sessions')).body).toMatchObject([{ current: true }]);
});

test('an address changes once a code proves the new one; a guessed code doesn’t, and guesses have an end', async () => {
  const me = await account.byToken();
  const { ticket } = Object((await me('POST', 'email', { email: address('new') })).body);
  const mail = await site.mailTo(address('new'), 'enter this code');
  const page = await createPerson(site.server.baseUrl).open(linkIn(mail));
  expect(page.text).toContain('If an application asked you for the code of the message, enter it there.');
  const code = codeIn(mail);
  const wrong = code === '12345678' ? '87654321' : '12345678';
  expect((await me('PUT', 'email', { ticket, code: wrong })).status).toBe(400);
  expect((await stored())?.email).toBe(address());
  expect((await me('PUT', 'email', { ticket, code })).status).toBe(204);
  expect(errorsOf(await me('PUT', 'email', { ticket, code }))).toEqual(['ticket']);
  expect(await stored()).toMatchObject({ email: address('new'), emailVerified: true });
  await site.mailTo(address(), 'your e-mail address was changed');

  later(31_000);
  const { ticket: next } = Object((await me('POST', 'email', { email: address('third') })).body);
  const right = codeIn(await site.mailTo(address('third'), 'enter this code'));
  for (let tries = 0; tries < 10; tries += 1)
    await me('PUT', 'email', { ticket: next, code: right === wrong ? code : wrong });
  expect((await me('PUT', 'email', { ticket: next, code: right })).status).toBe(400);
  expect((await stored())?.email).toBe(address('new'));
});

test('whose an address is already is told to them alone', async () => {
  const body = { username: 'bob', email: address('bob'), emailVerified: true };
  await call(createUser, { params: { realm }, body });
  const me = await account.byToken();
  const taken = await me('POST', 'email', { email: address('bob') });
  later(31_000);
  const free = await me('POST', 'email', { email: address('nobody') });
  expect([taken.status, Object.keys(Object(taken.body))]).toEqual([free.status, Object.keys(Object(free.body))]);
  await site.mailTo(address('bob'), 'There is one with it already');
});

test('somebody else’s ticket and one that is made up are refused', async () => {
  const bob = await account.make({ username: 'bob', email: address('bob'), emailVerified: true });
  expect(bob).not.toBe(userId);
  const [me, other] = [await account.byToken(), await account.byToken({}, 'bob')];
  const { ticket } = Object((await me('POST', 'email', { email: address('new') })).body);
  const code = codeIn(await site.mailTo(address('new'), 'enter this code'));
  for (const sent of [ticket, 'made-up'])
    expect(errorsOf(await other('PUT', 'email', { ticket: sent, code }))).toEqual(['ticket']);
});

test('sessions are listed with this one marked; one ends, the others end, and nobody else’s does', async () => {
  await account.make({ username: 'bob' });
  const [first, second, me, bob] = [
    await account.bySession(),
    await account.bySession(),
    await account.byToken(),
    await account.bySession('bob'),
  ];
  const listed = Object((await me('GET', 'sessions')).body) as { id: string; current: boolean }[];
  expect(listed.map(({ current }) => current)).toEqual([true, false, false]);
  const [bobs] = Object((await bob('GET', 'sessions')).body) as { id: string }[];
  expect((await me('DELETE', `sessions/${bobs?.id}`)).status).toBe(404);
  expect((await me('DELETE', `sessions/${listed[1]?.id}`)).status).toBe(204);
  expect([(await first('GET', 'profile')).status, (await second('GET', 'profile')).status].sort()).toEqual([200, 401]);
  expect((await me('DELETE', 'sessions')).status).toBe(204);
  expect((await me('GET', 'sessions')).body).toHaveLength(1);
  expect((await bob('GET', 'profile')).status).toBe(200);
});

test('one’s own agents are listed and stopped, and what happened is told', async () => {
  await makeClient(site.server, realm, {
    clientId: 'agent',
    grantTypes: ['client_credentials'],
    secret: 'secret of it, long',
  });
  const { body } = await call(createAgent, {
    params: { realm },
    body: { name: 'Butler', owner: 'ada', clientId: 'agent' },
  });
  const id = body?.id ?? '';
  await call(activateAgent, { params: { realm, id } });
  const me = await account.byToken();
  expect((await me('GET', 'agents')).body).toMatchObject([{ id, name: 'Butler', status: 'active' }]);
  expect((await me('POST', `agents/${id}/suspend`)).status).toBe(204);
  expect((await call(getAgent, { params: { realm, id } })).body?.status).toBe('suspended');
  expect((await me('POST', `agents/${id}/suspend`)).status).toBe(204);
  expect((await me('POST', `agents/${randomUUID()}/suspend`)).status).toBe(404);
  await call(activateAgent, { params: { realm, id } });
  await account.make({ username: 'bob' });
  const bob = await account.byToken({}, 'bob');
  expect((await bob('POST', `agents/${id}/suspend`)).status).toBe(404);
  expect((await call(getAgent, { params: { realm, id } })).body?.status).toBe('active');
  expect((await me('GET', 'activity')).body).toEqual(
    expect.arrayContaining([expect.objectContaining({ type: 'LOGIN_SUCCESS', byOther: false })]),
  );
});

test('an owner confirms an agent of theirs or ends it for good, after a sign-in of a moment ago; nobody else’s', async () => {
  const { body } = await call(createAgent, {
    params: { realm },
    body: { name: 'Butler', owner: 'ada', reviewIntervalDays: 30 },
  });
  const id = body?.id ?? '';
  await call(activateAgent, { params: { realm, id } });
  const stands = async () => (await call(getAgent, { params: { realm, id } })).body;
  await account.make({ username: 'bob' });
  const bob = await account.byToken({}, 'bob');
  for (const move of ['review', 'revoke']) expect((await bob('POST', `agents/${id}/${move}`)).status).toBe(404);

  const due = (await stands())?.reviewDueAt ?? 0;
  const old = await account.byToken();
  later(301_000);
  for (const move of ['review', 'revoke']) expect((await old('POST', `agents/${id}/${move}`)).status).toBe(401);
  expect(await stands()).toMatchObject({ status: 'active', reviewDueAt: due });
  const me = await account.byToken({ max_age: '300' });
  expect((await me('POST', `agents/${id}/review`)).status).toBe(204);
  const next = (await stands())?.reviewDueAt ?? 0;
  expect(next).toBeGreaterThanOrEqual(due + 300_000);
  const [listed] = Object((await me('GET', 'agents')).body) as { reviewDueAt: number }[];
  expect(Math.abs((listed?.reviewDueAt ?? 0) - next)).toBeLessThan(1000);

  expect((await me('POST', `agents/${id}/suspend`)).status).toBe(204);
  // Who is stopped is an administrator's to let act again.
  expect((await me('POST', `agents/${id}/review`)).status).toBe(409);
  expect((await me('POST', `agents/${id}/revoke`)).status).toBe(204);
  expect((await me('POST', `agents/${id}/revoke`)).status).toBe(409);
  expect((await stands())?.status).toBe('revoked');
  expect((await me('GET', 'agents')).body).toMatchObject([{ id, status: 'revoked', reviewDueAt: null }]);
  for (const type of ['AGENT_REVIEWED', 'AGENT_REVOKED'])
    expect((await call(listEvents, { params: { realm }, query: { type } })).body, type).toMatchObject([
      { subject: { id, name: 'Butler' }, actor: { type: 'user', id: userId } },
    ]);
});

test('an account is deleted by who names it, after a sign-in of a moment ago', async () => {
  const old = await account.byToken();
  later(301_000);
  expect((await old('DELETE', '?username=ada')).status).toBe(401);
  const me = await account.byToken({ max_age: '300' });
  expect((await me('DELETE', '?username=eve')).status).toBe(400);
  expect(await stored()).toMatchObject({ username: 'ada' });
  expect((await me('DELETE', '?username=ada')).status).toBe(204);
  await expect(stored()).rejects.toThrow('no such user');
  expect((await me('GET', 'profile')).status).toBe(401);
  const told = await site.mailTo(address(), 'your account was deleted');
  expect(told).toContain('Hello ada');
  await expect
    .poll(async () => (await call(listMessages, { params: { realm } })).body)
    .toMatchObject([{ status: 'sent', userId: null }]);
});

test('who deletes an account whose address was never confirmed sends nobody mail', async () => {
  await account.make({ username: 'bob', email: address('bob') });
  const bob = await account.byToken({}, 'bob');
  expect((await bob('DELETE', '?username=bob')).status).toBe(204);
  expect((await call(listMessages, { params: { realm } })).body).toEqual([]);
});

test('a new phone number isn’t confirmed, and nobody says of themselves that theirs is', async () => {
  const attributes = [{ name: 'phone_number' }, { name: 'phone_number_verified' }];
  await call(putUserProfile, { params: { realm }, body: { attributes } });
  const confirmed = { phone_number: ['+491'], phone_number_verified: ['true'] };
  const id = await account.make({ username: 'bob', attributes: confirmed });
  const bob = await account.byToken({}, 'bob');
  const own = async () => (await call(getUser, { params: { realm, userId: id } })).body?.attributes;
  const same = { firstName: 'Bob', attributes: { phone_number: ['+491'] } };
  expect((await bob('PUT', 'profile', same)).status).toBe(200);
  expect(await own()).toEqual(confirmed);
  expect((await bob('PUT', 'profile', { attributes: { phone_number: ['+492'] } })).status).toBe(200);
  expect(await own()).toEqual({ phone_number: ['+492'] });
  const refused = await bob('PUT', 'profile', { attributes: { phone_number_verified: ['true'] } });
  expect([refused.status, errorsOf(refused)]).toEqual([400, ['attributes.phone_number_verified']]);
  expect(await own()).toEqual({ phone_number: ['+492'] });
});
