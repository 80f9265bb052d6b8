// Owns: what people must do before they are signed in: said on the admin API, done on pages.
// Does not own: setting up one-time codes in detail (sign-in.test.ts), single sign-on (single-sign-on.test.ts).
// Implements: specification 4.10 (required-actions); decisions "User".
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import type { RequiredAction } from '../../../server/contract/required-actions.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { putUserProfile } from '../../../server/contract/user-profile.ts';
import { getRequiredActions, getUser, putRequiredActions } from '../../../server/contract/users.ts';
import { administrator } from '../../support/administrators.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let realm = '';
let userId = '';
let made = 0;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  realm = `actions${made}`;
  [userId = ''] = await makePeopledRealm(server, realm);
});

const put = (requiredActions: RequiredAction[], headers: Record<string, string> = {}) =>
  server.admin.call(putRequiredActions, { params: { realm, userId }, body: { requiredActions }, headers });
const get = () => server.admin.call(getRequiredActions, { params: { realm, userId } });
const events = async (type: string) =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type } })).body ?? [];
async function enter() {
  const alice = createPerson(server.baseUrl);
  const page = await alice.open(`/realms/${realm}/login`);
  return { alice, page: await alice.fill(page, { username: 'alice', password: PASSWORD }) };
}

test('what a user must do is a set: said once, read again, audited as a change of the user', async () => {
  expect((await get()).body).toEqual({ requiredActions: [] });
  const answer = await put(['UPDATE_PROFILE', 'CONFIGURE_OTP', 'UPDATE_PROFILE']);
  expect(answer.body).toEqual({ requiredActions: ['CONFIGURE_OTP', 'UPDATE_PROFILE'] });
  expect((await get()).body).toEqual(answer.body);
  expect((await server.admin.call(getUser, { params: { realm, userId } })).body).toMatchObject(answer.body ?? {});
  await put(['UPDATE_PROFILE', 'CONFIGURE_OTP']);
  expect((await events('USER_UPDATED')).map(({ data }) => data)).toEqual([{ fields: ['requiredActions'] }]);
  await put([]);
  expect((await get()).body).toEqual({ requiredActions: [] });
});

test('a write that rests on what was read before is refused once that has changed', async () => {
  const etag = (await get()).etag ?? '';
  await put(['TERMS'], { 'if-match': etag });
  await expect(put([], { 'if-match': etag })).rejects.toMatchObject({ status: 412 });
  expect((await get()).body).toEqual({ requiredActions: ['TERMS'] });
});

test('a word that is no action is refused with those that are', async () => {
  await expect(put(['DANCE' as RequiredAction])).rejects.toMatchObject({
    status: 400,
    problem: {
      errors: [
        {
          message:
            'must be one of UPDATE_PASSWORD, CONFIGURE_OTP, CONFIGURE_PASSKEY, CONFIGURE_DEVICE, CONFIGURE_RECOVERY_CODES, VERIFY_EMAIL, VERIFY_PHONE, UPDATE_PROFILE, TERMS',
        },
      ],
    },
  });
});

test('nobody who may only read says what others must do, and a user who isn’t there must do nothing', async () => {
  const viewer = await administrator(server, { target: realm, permissions: ['users:read'] });
  const params = { realm, userId };
  expect((await viewer.call(getRequiredActions, { params })).body).toEqual({ requiredActions: [] });
  const body = { requiredActions: ['TERMS' as const] };
  await expect(viewer.call(putRequiredActions, { params, body })).rejects.toMatchObject({ status: 403 });
  const nobody = { realm, userId: '0190a000-0000-7000-8000-000000000000' };
  await expect(server.admin.call(getRequiredActions, { params: nobody })).rejects.toMatchObject({ status: 404 });
  await expect(server.admin.call(putRequiredActions, { params: nobody, body })).rejects.toMatchObject({ status: 404 });
});

test('one action comes after the other, in their order, before the person is signed in', async () => {
  await server.admin.call(putSettings, { params: { realm }, body: { termsUrl: 'https://acme.example/terms' } });
  await put(['TERMS', 'UPDATE_PROFILE', 'UPDATE_PASSWORD']);
  const { alice, page } = await enter();
  expect(page.heading).toBe('Choose a new password');
  const next = 'four dry umbrellas';
  const profile = await alice.fill(page, { password: next, repeated: next });
  expect(profile.heading).toBe('Your profile');
  const empty = await alice.fill(profile, { firstName: ' ', lastName: '' });
  expect(empty.text).toContain('Enter your name.');
  const terms = await alice.fill(empty, { firstName: ' Alice ', lastName: 'Liddell & "Co"' });
  expect(terms.heading).toBe('Terms of use');
  expect(terms.text).toContain('href="https://acme.example/terms"');
  expect((await alice.open(`/realms/${realm}/account`)).heading).toBe('Terms of use');
  expect((await alice.fill(terms, {})).url).toContain('/account');
  const { body } = await server.admin.call(getUser, { params: { realm, userId } });
  expect(body).toMatchObject({ firstName: 'Alice', lastName: 'Liddell & "Co"', requiredActions: [] });
  expect(await events('TERMS_ACCEPTED')).toMatchObject([
    { actor: { name: 'alice' }, subject: { name: 'alice' }, data: { termsUrl: 'https://acme.example/terms' } },
  ]);
  expect((await events('USER_UPDATED'))[0]).toMatchObject({
    actor: { name: 'alice' },
    data: { fields: ['firstName', 'lastName', 'requiredActions'] },
  });
});

test('terms that changed while they lay on the table are not accepted unread', async () => {
  await put(['TERMS']);
  const { alice, page } = await enter();
  await server.admin.call(putSettings, { params: { realm }, body: { termsUrl: 'https://acme.example/new-terms' } });
  const again = await alice.fill(page, {});
  expect([again.heading, again.text.includes('The terms have changed in the meantime')]).toEqual([
    'Terms of use',
    true,
  ]);
  expect(await events('TERMS_ACCEPTED')).toEqual([]);
  expect((await alice.fill(again, {})).url).toContain('/account');
});

test('a password that is changed meanwhile leaves the profile as it was', async () => {
  await put(['UPDATE_PROFILE']);
  const { alice, page } = await enter();
  await server.pool.query(`delete from credential where realm_id = $1`, [realm]);
  const after = await alice.fill(page, { firstName: 'Mallory' });
  expect(after.text).toContain('has changed in the meantime');
  expect((await server.admin.call(getUser, { params: { realm, userId } })).body).toMatchObject({
    firstName: null,
    requiredActions: ['UPDATE_PROFILE'],
  });
});

test('a new version of the terms is accepted by everybody once, and by nobody twice', async () => {
  const version = (termsVersion: string) =>
    server.admin.call(putSettings, { params: { realm }, body: { termsVersion } });
  await version('2026-11');
  const { alice, page } = await enter();
  expect([page.heading, page.text.includes('Version 2026-11')]).toEqual(['Terms of use', true]);
  expect((await alice.fill(page, {})).url).toContain('/account');
  expect((await enter()).page.url).toContain('/account');
  await version('2026-12');
  expect((await enter()).page.heading).toBe('Terms of use');
  expect((await events('TERMS_ACCEPTED')).map(({ data }) => data)).toEqual([
    { termsUrl: null, termsVersion: '2026-11' },
  ]);
});

test('the profile asks for what the realm lets people say, each in its form, and says what does not fit', async () => {
  await server.admin.call(putUserProfile, {
    params: { realm },
    body: {
      attributes: [
        {
          name: 'department',
          displayName: 'Department',
          required: ['user'],
          validation: { options: ['Sales', 'Ops & IT'] },
        },
        { name: 'languages', displayName: 'Languages', multivalued: true, validation: { options: ['de', 'en', 'fr'] } },
        { name: 'sites', displayName: 'Sites', multivalued: true },
        { name: 'badge', displayName: 'Badge', edit: ['admin'] },
        { name: 'note', displayName: 'Note', view: ['admin'] },
      ],
    },
  });
  await put(['UPDATE_PROFILE']);
  const { alice, page } = await enter();
  expect(page.text).toContain('<select id="attribute.department"');
  expect(page.text).not.toMatch(/Badge|Note/);
  const named = { firstName: 'Alice', 'attribute.department': '' };
  const missing = await alice.fill(page, named);
  expect(missing.text).toContain('Department is required.');
  const strange = await alice.fill(missing, { ...named, 'attribute.department': 'Board' });
  expect(strange.text).toContain('Department must be one of Sales, Ops &amp; IT.');
  const filled = {
    'attribute.department': 'Ops & IT',
    'attribute.languages=de': 'on',
    'attribute.languages=fr': 'on',
    'attribute.sites': 'Bern\r\n Genf ',
    'attribute.badge': '7',
  };
  expect((await alice.fill(strange, { ...named, ...filled })).url).toContain('/account');
  expect((await server.admin.call(getUser, { params: { realm, userId } })).body).toMatchObject({
    firstName: 'Alice',
    attributes: { department: ['Ops & IT'], languages: ['de', 'fr'], sites: ['Bern', 'Genf'] },
    requiredActions: [],
  });
});
