// Owns: invitations by mail, to an organization or to the realm alone: for one use, for whom they were sent to, told to nobody else.
// Does not own: members (organizations.test.ts), registration without an invitation (self-registration.test.ts).
// Implements: specification 2.6 (invitation-email); decisions "Organization".
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { eraseUser } from '../../../server/contract/gdpr.ts';
import * as api from '../../../server/contract/invitations.ts';
import { putMessagingProvider } from '../../../server/contract/messaging.ts';
import * as organizations from '../../../server/contract/organizations.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { putUserProfile } from '../../../server/contract/user-profile.ts';
import { createUser, getUser, listUsers } from '../../../server/contract/users.ts';
import { administrator } from '../../support/administrators.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { linkIn, type MailingServer, startMailingServer } from '../../support/mail.ts';
import { eventually } from '../../support/operator.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';

let site: MailingServer;
let clock = new Date();
let realm = '';
let made = 0;
let organization = '';
const person = () => createPerson(site.server.baseUrl);
const call: typeof site.server.admin.call = (route, input) => site.server.admin.call(route, input);
const params = () => ({ realm });
const eve = () => `eve@${realm}.example`;

beforeAll(async () => {
  site = await startMailingServer({ env: { USER_REGISTRATION_ENABLED: 'false' }, now: () => clock });
});
afterAll(() => site?.stop());
beforeEach(async () => {
  made += 1;
  realm = `invitations${made}`;
  clock = new Date();
  await makePeopledRealm(site.server, realm, []);
  await call(createUser, {
    params: params(),
    body: { username: 'ada', password: PASSWORD, email: `ada@${realm}.example`, emailVerified: true },
  });
  const body = { name: 'acme', displayName: 'Acme Ltd' };
  organization = (await call(organizations.createOrganization, { params: params(), body })).body?.id ?? '';
  await call(putSettings, { params: params(), body: { registrationEmailAsUsername: false } });
  await site.sendsMail(realm);
});

const invite = (email: string, more: object = { organization: 'acme' }) =>
  call(api.createInvitation, { params: params(), body: { email, ...more } });
async function invited(email: string, more?: object): Promise<string> {
  await invite(email, more);
  return linkIn(await site.mailTo(email, 'Open this link to begin'));
}
const pending = async (query = {}) => (await call(api.listInvitations, { params: params(), query })).body ?? [];
const members = async () =>
  (await call(organizations.listMembers, { params: { realm, id: organization } })).body?.map(
    ({ username }) => username,
  );
const userNamed = async (q: string) => (await call(listUsers, { params: params(), query: { q } })).body?.[0];
const tokenIn = (link: string) => new URLSearchParams(link.split('?')[1]).get('token') ?? '';
const post = (who: Person, to: string, link: string, values: Record<string, string> = {}) =>
  who.post(`/realms/${realm}/login/invitation/${to}`, { token: tokenIn(link), ...values });
const newcomer = { username: 'eve', firstName: 'Eve', lastName: 'Evans', password: PASSWORD, repeated: PASSWORD };
async function signedInAs(username: string) {
  const who = person();
  await who.fill(await who.open(`/realms/${realm}/login`), { username, password: PASSWORD });
  return who;
}
const OVER = { status: 400, heading: 'This link does not work here' };

test('somebody new makes an account by the link, where registration is closed, and belongs to the organization', async () => {
  const link = await invited(eve());
  const who = person();
  const page = await who.open(link);
  expect(page.heading).toBe('You are invited to Acme Ltd');
  expect(page.text).toContain(eve());
  expect(await post(who, 'register', link, newcomer)).toMatchObject({ status: 200, heading: 'You are in' });
  expect(await userNamed('eve')).toMatchObject({ email: eve(), emailVerified: true, firstName: 'Eve' });
  expect(await members()).toEqual(['eve']);
  expect(await pending()).toEqual([]);
  const types = (await call(listEvents, { params: params(), query: { limit: 50 } })).body?.map(({ type }) => type);
  expect(types).toEqual(
    expect.arrayContaining(['INVITATION_SENT', 'INVITATION_ACCEPTED', 'ORGANIZATION_MEMBER_ADDED']),
  );
  await signedInAs('eve');
});

test('who has an account signs in with it and joins; nothing tells the administrator which it was', async () => {
  const [known, unknown] = [await invite(`ADA@${realm}.example`), await invite(eve())];
  expect(Object.keys(known.body ?? {})).toEqual(Object.keys(unknown.body ?? {}));
  expect(known.body).toMatchObject({ link: null, organization: 'acme' });
  const link = linkIn(await site.mailTo(`ADA@${realm}.example`, 'Open this link to begin'));
  const who = person();
  expect((await who.open(link)).text).toContain('If you are new');
  const signIn = await post(who, 'sign-in', link);
  const page = await who.fill(signIn, { username: 'ada', password: PASSWORD });
  expect(page.text).toContain('Join Acme Ltd');
  expect(await members()).toEqual([]);
  expect((await post(who, 'accept', link)).heading).toBe('You are in');
  expect(await members()).toEqual(['ada']);
  expect((await pending()).map(({ email }) => email)).toEqual([eve()]);
});

test('more people than a network address may mail are invited; what the realm’s limits keep back is refused', async () => {
  await call(putSettings, {
    params: params(),
    body: { maxMessagesPerAddressPerHour: 1, maxMessagesPerRecipientPerHour: 1 },
  });
  for (const name of ['one', 'two', 'three']) await invited(`${name}@${realm}.example`);
  await expect(invite(`one@${realm}.example`)).rejects.toMatchObject({ status: 429 });
  const all = await pending();
  expect(all.map(({ email }) => email.split('@')[0]).sort()).toEqual(['one', 'three', 'two']);
  // The link that was sent works on.
  const link = linkIn(await site.mailTo(`one@${realm}.example`, 'Open this link to begin'));
  expect((await person().open(link)).heading).toBe('You are invited to Acme Ltd');
});

test('a link works once, for its time, and opening it uses nothing up', async () => {
  const link = await invited(eve(), { organization: 'acme', expiresInSeconds: 3600 });
  for (let times = 0; times < 3; times += 1) expect((await person().open(link)).status).toBe(200);
  await post(person(), 'register', link, newcomer);
  expect(await person().open(link)).toMatchObject(OVER);
  expect(await post(person(), 'register', link, { ...newcomer, username: 'eve2' })).toMatchObject(OVER);
  expect(await userNamed('eve2')).toBeUndefined();
  const late = await invited(`late@${realm}.example`, { expiresInSeconds: 60 });
  clock = new Date(clock.getTime() + 61_000);
  expect(await post(person(), 'register', late, { ...newcomer, username: 'late' })).toMatchObject(OVER);
  expect(await pending()).toEqual([]);
});

test('two who use one link at the same moment make one account', async () => {
  const link = await invited(eve());
  const pages = await Promise.all(
    ['eve', 'eva'].map((username) => post(person(), 'register', link, { ...newcomer, username })),
  );
  expect(pages.filter(({ heading }) => heading === 'You are in')).toHaveLength(1);
  expect(await members()).toHaveLength(1);
  expect(await pending()).toEqual([]);
});

test('it is for the invited address alone, whoever has the link', async () => {
  const link = await invited(eve());
  const who = await signedInAs('ada');
  expect(await who.open(link)).toMatchObject({ status: 403 });
  expect(await post(who, 'accept', link)).toMatchObject(OVER);
  expect(await post(person(), 'accept', link)).toMatchObject(OVER);
  const forged = await post(person(), 'register', link, { ...newcomer, email: 'root@example.test' });
  expect(forged.status).toBe(200);
  expect(await userNamed('eve')).toMatchObject({ email: eve() });
});

test('a form of another site accepts nothing', async () => {
  const link = await invited(`ada@${realm}.example`);
  const who = await signedInAs('ada');
  const sent = await who.once(`/realms/${realm}/login/invitation/accept`, {
    method: 'POST',
    body: new URLSearchParams({ token: tokenIn(link) }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://evil.example' },
  });
  expect(sent.status).toBe(403);
  expect(await members()).toEqual([]);
});

test('what is wrong with a new account is said, and the invitation stays', async () => {
  const link = await invited(eve());
  const wrong: [Record<string, string>, string][] = [
    [{ username: 'ada' }, 'This username is taken.'],
    [{ username: 'a b\u200b' }, ''],
    [{ repeated: 'another one' }, ''],
    [{ password: 'short', repeated: 'short' }, ''],
  ];
  for (const [values, words] of wrong) {
    const page = await post(person(), 'register', link, { ...newcomer, ...values });
    expect(page.text).toContain('role="alert"');
    expect(page.text).toContain(words);
  }
  expect(await members()).toEqual([]);
  expect(await post(person(), 'register', link, newcomer)).toMatchObject({ heading: 'You are in' });
});

test('all that is wrong with a new account is said at once, each at its field', async () => {
  await call(putSettings, { params: params(), body: { termsVersion: '2' } });
  const link = await invited(eve());
  const page = await post(person(), 'register', link, { username: 'ada', password: 'short', repeated: 'shirt' });
  const at = [...page.text.matchAll(/role="alert" id="([a-z]+)-error"/gi)].map(([, field]) => field);
  expect(at).toEqual(['username', 'password', 'repeated', 'terms']);
  expect(page.text).toMatch(/id="username"[^>]* autofocus/);
});

test('a field that doesn’t fit is named, in the language of the page', async () => {
  const department = { name: 'department', displayName: 'Abteilung', required: ['user' as const] };
  await call(putUserProfile, { params: params(), body: { attributes: [department] } });
  await call(putSettings, { params: params(), body: { supportedLocales: ['en', 'de'] } });
  const link = await invited(eve());
  const hans = createPerson(site.server.baseUrl, { 'accept-language': 'de' });
  expect((await post(hans, 'register', link, newcomer)).text).toContain('Abteilung fehlt.');
  const nameless = { ...newcomer, 'attribute.department': 'IT', username: ' ' };
  expect((await post(hans, 'register', link, nameless)).text).toMatch(/role="alert"[^>]*><p>Benutzername /);
  const taken = await post(hans, 'register', link, { ...nameless, username: 'ada' });
  expect(taken.text).toContain('Dieser Benutzername ist vergeben.');
  expect(await pending()).toHaveLength(1);
});

test('the terms are accepted as the page showed them, and not unread where they changed meanwhile', async () => {
  const set = (termsVersion: string) => call(putSettings, { params: params(), body: { termsVersion } });
  await set('2');
  const link = await invited(eve());
  const who = person();
  const shownOn = ({ text }: ShownPage) => ({ accepted: /name="accepted" value="([^"]*)"/.exec(text)?.[1] ?? '' });
  const page = await who.open(link);
  expect(page.text).toContain('Version 2');
  const send = (values: Record<string, string>) => post(who, 'register', link, { ...newcomer, ...values });
  expect((await send(shownOn(page))).text).toContain('Accept the terms of use to go on.');
  await set('3');
  const changed = await send({ ...shownOn(page), terms: 'on' });
  expect(changed.text).toContain('The terms have changed in the meantime. Read them again.');
  expect(changed.text).toContain('Version 3');
  expect(changed.text).not.toMatch(/id="terms"[^>]* checked/);
  expect((await send({ terms: 'on' })).text).toContain('The terms have changed in the meantime');
  expect(await userNamed('eve')).toBeUndefined();
  const done = await send({ ...shownOn(changed), terms: 'on' });
  expect(done.heading).toBe('You are in');
  const { body } = await call(listEvents, { params: params(), query: { type: 'TERMS_ACCEPTED' } });
  expect(body?.map(({ data }) => data)).toEqual([{ termsUrl: null, termsVersion: '3' }]);
});

test('administrators list, send again and revoke: the older link is over each time', async () => {
  const first = await invited(eve());
  const [one] = await pending();
  expect(one).toMatchObject({ email: eve(), organization: 'acme' });
  expect(await pending({ organization: 'acme' })).toHaveLength(1);
  expect(await pending({ organization: 'other' })).toEqual([]);
  const { body } = await call(api.resendInvitation, { params: { realm, id: one?.id ?? '' }, body: { mail: false } });
  expect(await person().open(first)).toMatchObject(OVER);
  const second = linkIn(body?.link ?? '');
  expect((await person().open(second)).status).toBe(200);
  const third = (await invite(eve(), { organization: 'acme', mail: false })).body;
  expect(third?.id).toBe(one?.id);
  expect(await person().open(second)).toMatchObject(OVER);
  await call(api.revokeInvitation, { params: { realm, id: third?.id ?? '' } });
  expect(await person().open(linkIn(third?.link ?? ''))).toMatchObject(OVER);
  await expect(call(api.revokeInvitation, { params: { realm, id: third?.id ?? '' } })).rejects.toMatchObject({
    status: 404,
  });
});

test('to the realm alone; an address whose link was only shown counts as unverified', async () => {
  const { body } = await invite(eve(), { mail: false });
  expect(body).toMatchObject({ organization: null, mailStatus: 'none', mailError: null, mailedAt: null });
  expect(await pending()).toMatchObject([{ mailStatus: 'none', mailError: null, mailedAt: null }]);
  const link = linkIn(body?.link ?? '');
  expect((await person().open(link)).heading).toBe(`You are invited to ${realm}`);
  await call(putSettings, { params: params(), body: { registrationEmailAsUsername: true } });
  await post(person(), 'register', link, { ...newcomer, username: 'ignored' });
  expect(await userNamed(eve())).toMatchObject({ username: eve(), emailVerified: false });
  expect(await members()).toEqual([]);
});

test('who may write users but no organizations invites to none; without anybody who sends, only a link is made', async () => {
  const clerk = await administrator(site.server, { target: realm, permissions: ['users:read', 'users:write'] });
  const body = { email: eve(), mail: false };
  await expect(
    clerk.call(api.createInvitation, { params: params(), body: { ...body, organization: 'acme' } }),
  ).rejects.toMatchObject({ status: 403 });
  expect((await clerk.call(api.createInvitation, { params: params(), body })).status).toBe(201);
  const { body: given } = await invite(eve());
  for (const attempt of [
    () => clerk.call(api.revokeInvitation, { params: { realm, id: given?.id ?? '' } }),
    () => clerk.call(api.resendInvitation, { params: { realm, id: given?.id ?? '' } }),
  ])
    await expect(attempt()).rejects.toMatchObject({ status: 403 });
  await expect(invite(eve(), { organization: 'nope' })).rejects.toMatchObject({ status: 400 });
  await expect(
    call(api.createInvitation, { params: { realm: 'master' }, body: { email: eve() } }),
  ).rejects.toMatchObject({
    status: 409,
  });
});

test('a disabled organization takes nobody in; erasing a person takes invitations to their address along', async () => {
  const link = await invited(`ada@${realm}.example`);
  const at = { realm, id: organization };
  await call(organizations.putOrganization, { params: at, body: { enabled: false } });
  expect(await person().open(link)).toMatchObject(OVER);
  await call(organizations.putOrganization, { params: at, body: { enabled: true } });
  const userId = (await userNamed('ada'))?.id ?? '';
  await call(eraseUser, { params: { realm, userId } });
  expect(await pending()).toEqual([]);
  expect(await person().open(link)).toMatchObject(OVER);
  await expect(call(getUser, { params: { realm, userId } })).rejects.toMatchObject({ status: 404 });
});

test('counts as mailed when the mail server has taken its message, and says why where it has not', async () => {
  const { body: asked } = await invite(eve());
  expect(asked).toMatchObject({ mailStatus: 'queued', mailError: null, mailedAt: null });
  await site.mailTo(eve(), 'Open this link to begin');
  await eventually(async () =>
    expect(await pending()).toMatchObject([{ mailStatus: 'sent', mailError: null, mailedAt: expect.any(Number) }]),
  );
  // nothing listens there: the message is tried again, and given up in the end
  const config = { host: '127.0.0.1', port: 9 };
  await call(putMessagingProvider, { params: params(), body: { channel: 'EMAIL', driver: 'smtp', config } });
  const id = (await pending())[0]?.id ?? '';
  const { body: again } = await call(api.resendInvitation, { params: { realm, id } });
  expect(again).toMatchObject({ mailStatus: 'queued', mailedAt: null });
  const failed = { mailStatus: 'failed', mailError: expect.stringMatching(/\S/), mailedAt: null };
  await eventually(async () => expect(await pending()).toMatchObject([failed]));
  const permissions = ['users:read', 'users:write', 'organizations:write'] as const;
  const clerk = await administrator(site.server, { target: realm, permissions: [...permissions] });
  const { body: seen } = await clerk.call(api.listInvitations, { params: params() });
  expect(seen).toMatchObject([{ ...failed, mailError: null }]);
  await call(api.resendInvitation, { params: { realm, id }, body: { mail: false } });
  expect(await pending()).toMatchObject([{ mailStatus: 'none', mailError: null, mailedAt: null }]);
  await site.sendsMail(realm);
  await call(api.resendInvitation, { params: { realm, id } });
  await eventually(async () => expect(await pending()).toMatchObject([{ mailStatus: 'sent' }]));
  await site.server.pool.query('delete from message where realm_id = $1', [realm]);
  expect(await pending()).toMatchObject([{ mailStatus: 'unknown', mailError: null, mailedAt: null }]);
});
