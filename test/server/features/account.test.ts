// Owns: what people do on their account page beside ways to sign in: changing themselves, applications, agents, other sessions, data.
// Does not own: ways to sign in (passkeys, otp), the account API (gdpr.test.ts), the steps of a sign-in (verify-email.test.ts).
// Implements: specification 4.6, 4.11.
import { expect, test } from 'vitest';
import { activateAgent, createAgent, getAgent } from '../../../server/contract/agents.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { listSessions } from '../../../server/contract/sessions.ts';
import { putUserProfile } from '../../../server/contract/user-profile.ts';
import { createUser, getUser, putUser } from '../../../server/contract/users.ts';
import { authorizePath, makePeopledRealm, newVerifier, PASSWORD } from '../../support/applications.ts';
import { makeClient } from '../../support/clients.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { codeIn, type MailingServer, startMailingServer } from '../../support/mail.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';

const NEXT = 'four dry umbrellas';
let site: MailingServer;
let realm = '';
let userId = '';
const { later } = freshRealms('own', startMailingServer, async (started, fresh) => {
  site = started;
  realm = fresh;
  await makePeopledRealm(site.server, realm, []);
  const user = { username: 'ada', password: PASSWORD, email: address(), emailVerified: true };
  userId = (await call(createUser, { params: { realm }, body: user })).body?.id ?? '';
  await site.sendsMail(realm);
});

const call: typeof site.server.admin.call = (route, input) => site.server.admin.call(route, input);
const address = (name = 'ada') => `${name}@${realm}.example`;
const stored = async () => (await call(getUser, { params: { realm, userId } })).body;
async function signedIn(who = createPerson(site.server.baseUrl)) {
  const page = await who.open(`/realms/${realm}/login?for=account`);
  return { who, page: await who.fill(page, { username: 'ada', password: PASSWORD }) };
}
const view = (who: Person, name: string) => who.open(`/realms/${realm}/account?view=${name}`);
const csrfOf = ({ text }: ShownPage) => /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
const press = (who: Person, page: ShownPage, action: string, more: Record<string, string> = {}) =>
  who.post(`/realms/${realm}/account/${action}`, { csrf: csrfOf(page), ...more });

test('a password is changed after a proof of a moment ago, ends the other sessions, and is told by mail', async () => {
  await signedIn();
  const { who, page } = await signedIn();
  later(301_000);
  const proof = await press(who, page, 'change', { action: 'UPDATE_PASSWORD' });
  expect(proof.heading).toBe('Sign in');
  const choose = await who.fill(proof, { username: 'ada', password: PASSWORD });
  expect(choose.heading).toBe('Choose a new password');
  const done = await who.fill(choose, { password: NEXT, repeated: NEXT });
  expect(done.url).toContain('/account?view=security');
  expect(done.text).toContain('role="status">Your password is saved, and your other sessions have ended.');
  expect((await call(listSessions, { params: { realm } })).body).toHaveLength(1);
  await site.mailTo(address(), 'your password was changed');
});

test('a password that was not changed is not confirmed as saved', async () => {
  const { who, page } = await signedIn();
  const choose = await press(who, page, 'change', { action: 'UPDATE_PASSWORD' });
  const back = await who.fill(choose, { do: 'cancel' });
  expect(back.url).toContain('/account');
  expect(back.text).not.toContain('role="status"');
  later(301_000);
  const proof = await press(who, back, 'change', { action: 'UPDATE_PASSWORD' });
  const left = await who.fill(await who.fill(proof, { do: 'restart' }), { username: 'ada', password: PASSWORD });
  expect(left.url).toContain('/account');
  expect(left.text).not.toContain('Your password is saved');
});

test('an address is changed once the new one is proven, and the old one hears of it', async () => {
  const { who, page } = await signedIn();
  const which = await press(who, page, 'change', { action: 'VERIFY_EMAIL' });
  expect(which.heading).toBe('Your e-mail address');
  const waiting = await who.fill(which, { email: address('new') });
  expect((await stored())?.email).toBe(address());
  const done = await who.fill(waiting, { code: codeIn(await site.mailTo(address('new'), 'enter this code')) });
  expect(done.url).toContain('/account');
  expect(await stored()).toMatchObject({ email: address('new'), emailVerified: true });
  await site.mailTo(address(), 'your e-mail address was changed');
});

test.each([
  ['which they may change', ['user', 'admin'] as const],
  ['which only administrators change', ['admin'] as const],
])('an address %s is shown as not confirmed until they confirm it', async (_, edit) => {
  await call(putUserProfile, { params: { realm }, body: { attributes: [{ name: 'email', edit: [...edit] }] } });
  await call(putUser, { params: { realm, userId }, body: { username: 'ada', emailVerified: false } });
  const { who, page } = await signedIn();
  expect(page.text).toContain(`<dd>${address()} <span class="badge">not confirmed</span></dd>`);
  expect(page.text).toContain('Confirm e-mail');
  const asked = await press(who, page, 'change', { action: 'VERIFY_EMAIL' });
  const waiting = edit.length > 1 ? await who.fill(asked, { email: address() }) : asked;
  const done = await who.fill(waiting, { code: codeIn(await site.mailTo(address(), 'enter this code')) });
  expect(done.url).toContain('/account');
  expect(done.text).not.toContain('not confirmed');
  expect(done.text.includes('Change e-mail')).toBe(edit.length > 1);
  expect(await stored()).toMatchObject({ email: address(), emailVerified: true });
});

test('a profile is changed, and shows', async () => {
  const { who, page } = await signedIn();
  const form = await press(who, page, 'change', { action: 'UPDATE_PROFILE' });
  expect(form.heading).toBe('Your profile');
  const done = await who.fill(form, { firstName: 'Ada', lastName: 'Lovelace' });
  expect(done.heading).toBe('Ada Lovelace');
  await site.mailTo(address(), 'your profile was changed');
});

test('what only administrators change shows, where the realm lets people see it', async () => {
  const attributes = [
    { name: 'badge', displayName: 'Badge number', edit: ['admin' as const] },
    { name: 'score', view: ['admin' as const], edit: ['admin' as const] },
  ];
  await call(putUserProfile, { params: { realm }, body: { attributes } });
  const given = { badge: ['B-17'], score: ['Q-23'] };
  await call(putUser, { params: { realm, userId }, body: { username: 'ada', attributes: given } });
  const { who, page } = await signedIn();
  expect(page.text).toContain('<dt>Badge number</dt><dd>B-17</dd>');
  expect(page.text).not.toContain('Q-23');
  const form = await press(who, page, 'change', { action: 'UPDATE_PROFILE' });
  expect(form.text).not.toContain('Badge number');
});

test('what an application was allowed is listed, and withdrawn', async () => {
  const third = {
    clientId: 'third',
    name: 'Third & Co',
    tokenEndpointAuthMethod: 'none',
    consentRequired: true,
  } as const;
  await makeClient(site.server, realm, { ...third, redirectUris: ['http://127.0.0.1/callback'] });
  const { who } = await signedIn();
  const consent = await who.open(authorizePath(realm, 'third', newVerifier()));
  await who.post(`/realms/${realm}/oauth2/consent`, { ...consent.fields, decision: 'allow' });
  const page = await view(who, 'applications');
  expect(page.text).toContain('What applications may do');
  expect(page.text).toContain('<li>Your name and other profile details</li>');
  const after = await press(who, page, 'consents/third/withdraw');
  expect(after.text).toContain('The access was withdrawn');
  expect(after.text).not.toContain('What applications may do');
});

test('an agent of theirs is listed and stopped; somebody else’s is not theirs to stop', async () => {
  await call(createUser, { params: { realm }, body: { username: 'bob', password: PASSWORD } });
  const make = async (owner: string) => {
    const clientId = `agent-${owner}`;
    await makeClient(site.server, realm, {
      clientId,
      grantTypes: ['client_credentials'],
      secret: 'secret of an agent, long',
    });
    const { body } = await call(createAgent, {
      params: { realm },
      body: { name: `Agent of ${owner}`, owner, clientId },
    });
    const id = body?.id ?? '';
    await call(activateAgent, { params: { realm, id } });
    return id;
  };
  const [mine, other] = [await make('ada'), await make('bob')];
  const { who } = await signedIn();
  const page = await view(who, 'applications');
  expect([page.text.includes('Agent of ada'), page.text.includes('Agent of bob')]).toEqual([true, false]);
  await press(who, page, `agents/${other}/stop`);
  expect((await press(who, page, `agents/${mine}/stop`)).text).toContain('The agent has been stopped');
  const status = async (id: string) => (await call(getAgent, { params: { realm, id } })).body?.status;
  expect([await status(mine), await status(other)]).toEqual(['suspended', 'active']);
});

test('an agent whose review is near is confirmed, and one is ended for good, by who has signed in a moment ago', async () => {
  const make = async (name: string, owner: string, reviewIntervalDays: number) => {
    const { body } = await call(createAgent, { params: { realm }, body: { name, owner, reviewIntervalDays } });
    await call(activateAgent, { params: { realm, id: body?.id ?? '' } });
    return body?.id ?? '';
  };
  await call(createUser, { params: { realm }, body: { username: 'bob', password: PASSWORD } });
  const [near, far, other] = [
    await make('near', 'ada', 10),
    await make('far', 'ada', 60),
    await make('other', 'bob', 10),
  ];
  const stands = async (id: string) => (await call(getAgent, { params: { realm, id } })).body;
  const { who } = await signedIn();
  const page = await view(who, 'applications');
  expect([page.text.includes(`agents/${near}/confirm`), page.text.includes(`agents/${far}/confirm`)]).toEqual([
    true,
    false,
  ]);
  const due = (await stands(near))?.reviewDueAt ?? 0;
  const days = [due, (await stands(far))?.reviewDueAt ?? 0].map((at) =>
    new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format(at),
  );
  for (const day of days) expect(page.text).toMatch(new RegExp(`To be confirmed by <time [^>]+>${day}</time>`));
  later(301_000);
  const asked = await press(who, page, `agents/${near}/confirm`);
  expect((await press(who, page, `agents/${near}/end`)).text).not.toContain('for good');
  expect(await stands(near)).toMatchObject({ status: 'active', reviewDueAt: due });
  const back = await who.fill(asked, { password: PASSWORD });
  const confirmed = await press(who, back, `agents/${near}/confirm`);
  expect(confirmed.text).toContain('stays active until its next review');
  expect((await stands(near))?.reviewDueAt).toBeGreaterThan(due);
  const ended = await press(who, confirmed, `agents/${far}/end`);
  expect(ended.text).toContain('has been ended for good');
  expect(ended.text).not.toContain(`agents/${far}/`);
  expect((await press(who, ended, `agents/${other}/end`)).text).not.toContain('has been ended');
  expect([(await stands(far))?.status, (await stands(other))?.status]).toEqual(['revoked', 'active']);
});

test('somebody else’s agent that they let act is among their agents, and stops acting for them once they withdraw that', async () => {
  await call(createUser, { params: { realm }, body: { username: 'bob', password: PASSWORD } });
  const client = {
    clientId: 'clerk',
    name: 'Clerk’s client',
    tokenEndpointAuthMethod: 'none',
    consentRequired: true,
  } as const;
  await makeClient(site.server, realm, { ...client, redirectUris: ['http://127.0.0.1/callback'] });
  const { body } = await call(createAgent, {
    params: { realm },
    body: {
      name: 'Clerk of bob',
      owner: 'bob',
      clientId: 'clerk',
      scopes: ['openid', 'profile'],
      reviewIntervalDays: 10,
    },
  });
  const id = body?.id ?? '';
  await call(activateAgent, { params: { realm, id } });
  const { who } = await signedIn();
  expect((await view(who, 'applications')).text).not.toContain('Clerk of bob');
  const consent = await who.open(authorizePath(realm, 'clerk', newVerifier()));
  await who.post(`/realms/${realm}/oauth2/consent`, { ...consent.fields, decision: 'allow' });
  const listed = await who.once(`/realms/${realm}/account/agents`);
  expect(await listed.json()).toMatchObject([{ id, because: 'consent', clientId: 'clerk', reviewDueAt: null }]);
  const shown = await view(who, 'applications');
  expect(shown.text).toContain('Agents that act for you');
  expect(shown.text).toContain('Clerk of bob');
  expect(shown.text).toContain('<li>Your name and other profile details</li>');
  expect(shown.text).not.toContain('What applications may do');
  expect(shown.text).not.toContain(`agents/${id}/`);
  const after = await press(who, shown, 'consents/clerk/withdraw');
  expect(after.text).toContain('The access was withdrawn');
  expect(after.text).not.toContain('Clerk of bob');
  expect((await call(getAgent, { params: { realm, id } })).body?.status).toBe('active');
});

test('all other sessions end at once, and what happened is told in words', async () => {
  const elsewhere = await signedIn();
  const { who, page } = await signedIn();
  const after = await press(who, page, 'sessions/end-others');
  expect(after.text).toContain('You are signed out everywhere else.');
  expect((await elsewhere.who.open(`/realms/${realm}/account`)).heading).toBe('Sign in');
  const activity = await view(who, 'activity');
  expect(activity.text).toContain('A session ended');
  expect(activity.text).toContain('The account was created');
});

test('one’s data is a download after a proof of a moment ago, and is told in the account and by mail', async () => {
  const { who, page } = await signedIn();
  const path = `/realms/${realm}/account/gdpr/export`;
  later(301_000);
  expect((await who.once(path)).status).toBe(401);
  const proof = await press(who, page, 'export');
  expect(proof.heading).toBe('Sign in');
  const exports = async () => (await call(listEvents, { params: { realm }, query: { type: 'DATA_EXPORTED' } })).body;
  expect(await exports()).toEqual([]);
  const back = await who.fill(proof, { password: PASSWORD });
  const download = await press(who, back, 'export');
  expect([download.status, download.url.endsWith('/account/gdpr/export')]).toEqual([200, true]);
  expect(JSON.parse(download.text)).toMatchObject({ profile: { username: 'ada' } });
  expect((await who.once(path)).headers.get('content-disposition')).toContain('attachment');
  expect(await exports()).toMatchObject([
    { actor: { name: 'ada' } },
    { actor: { name: 'ada' }, subject: { id: userId } },
  ]);
  await site.mailTo(address(), 'your data was downloaded');
  expect((await view(who, 'activity')).text).toContain('The data of the account was downloaded');
});

test('no form without its token changes anything', async () => {
  const { who } = await signedIn();
  for (const action of ['change', 'export', 'sessions/end-others', 'consents/spa/withdraw', `agents/${userId}/stop`])
    expect((await who.post(`/realms/${realm}/account/${action}`, { action: 'UPDATE_PASSWORD' })).status, action).toBe(
      403,
    );
});
