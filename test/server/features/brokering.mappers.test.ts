// Owns: mappers of an identity provider to the properties of a user: username and address, once or at each sign-in, and whose they are.
// Does not own: attributes, roles and groups (brokering.first.test.ts), the steps of a first sign-in (brokering.first-steps.test.ts).
// Implements: decisions "Identity provider"; docs/brokering.md.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { putIdentityProvider } from '../../../server/contract/identity-providers.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { putUserProfile } from '../../../server/contract/user-profile.ts';
import { createUser, getUser, listUsers } from '../../../server/contract/users.ts';
import { type Brokered, comeBy, makeProvider, oidcOf, startBrokered } from '../../support/brokering.ts';
import type { TestServer } from '../../support/server.ts';
import type { Upstream } from '../../support/upstream.ts';

let brokered: Brokered;
let server: TestServer;
let upstream: Upstream;
let realm = '';
beforeAll(async () => {
  brokered = await startBrokered();
  ({ server, upstream } = brokered);
});
afterAll(() => brokered?.stop());
beforeEach(async () => {
  realm = brokered.another('mappers');
  upstream.claims = { email: 'ada@corp.example', email_verified: true, staff_id: 'E1', mail2: 'ada@second.example' };
  await server.admin.call(createRealm, { body: { realm } });
  const body = { registrationEmailAsUsername: false, registrationVerifyEmail: false };
  await server.admin.call(putSettings, { params: { realm }, body });
  const mappers = [{ name: 'id', claim: 'staff_id', to: 'property' as const, target: 'username' }];
  await makeProvider(server, realm, oidcOf(upstream, { mappers, syncMode: 'always' }));
});
const provider = (body: object) => server.admin.call(putIdentityProvider, { params: { realm, alias: 'corp' }, body });
const people = async () => (await server.admin.call(listUsers, { params: { realm } })).body ?? [];
const come = () => comeBy(server, realm, upstream);

test('a username by a mapper is theirs, and follows the provider where it says so each time', async () => {
  await come();
  const [ada] = await people();
  expect(ada).toMatchObject({ username: 'E1', email: 'ada@corp.example' });
  upstream.claims = { ...upstream.claims, staff_id: 'E2' };
  await come();
  expect(await people()).toMatchObject([{ id: ada?.id, username: 'E2' }]);
  await provider({ syncMode: 'import' });
  upstream.claims = { ...upstream.claims, staff_id: 'E3' };
  await come();
  expect(await people()).toMatchObject([{ id: ada?.id, username: 'E2' }]);
});

test('somebody else’s username or address is not taken, whatever the provider says', async () => {
  await come();
  const [ada] = await people();
  const params = { realm, userId: ada?.id ?? '' };
  const body = { username: 'E9', email: 'eve@corp.example' };
  await server.admin.call(createUser, { params: { realm }, body });
  upstream.claims = { ...upstream.claims, staff_id: 'e9', email: 'eve@corp.example' };
  await provider({
    mappers: [
      { name: 'id', claim: 'staff_id', to: 'property', target: 'username' },
      { name: 'mail', claim: 'email', to: 'property', target: 'email' },
    ],
  });
  await come();
  expect((await server.admin.call(getUser, { params })).body).toMatchObject({
    username: 'E1',
    email: 'ada@corp.example',
    emailVerified: true,
  });
});

test('an address by a mapper is confirmed by nobody but whom the provider is trusted for', async () => {
  const mappers = [{ name: 'mail', claim: 'mail2', to: 'property' as const, target: 'email' }];
  await provider({ mappers });
  upstream.claims = { ...upstream.claims, preferred_username: 'ada' };
  await come();
  expect(await people()).toMatchObject([{ email: 'ada@second.example', emailVerified: false }]);
});

test('what the realm’s user profile doesn’t allow is left as it was', async () => {
  await come();
  const rule = {
    name: 'username',
    view: ['admin' as const],
    edit: ['admin' as const],
    validation: { pattern: '^E\\d$' },
  };
  await server.admin.call(putUserProfile, { params: { realm }, body: { attributes: [rule] } });
  upstream.claims = { ...upstream.claims, staff_id: 'not like that' };
  await come();
  expect(await people()).toMatchObject([{ username: 'E1' }]);
});
