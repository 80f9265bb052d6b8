// What the pages do with passkeys beside using them: related origins, signals to the browser, passkeys that a browser creates on
// its own, and steps that only a device-bound passkey passes.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { type ExecutionInput, putFlow } from '../../../server/contract/flows.ts';
import { putSettings, type SettingsInput } from '../../../server/contract/settings.ts';
import { listCredentials } from '../../../server/contract/users.ts';
import { boundedOrigins } from '../../../server/features/people/credentials/related-origins.ts';
import { createAccountCaller } from '../../support/account-api.ts';
import { administrator } from '../../support/administrators.ts';
import { PASSWORD } from '../../support/applications.ts';
import { codeAt } from '../../support/authenticator-app.ts';
import { createPerson, decode, type ShownPage } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { answerByPasskey, createSoftPasskey } from '../../support/soft-passkey.ts';

const OWN = 'https://login.acme.example';
let server: TestServer;
let realm = '';
let userId = '';
let account: ReturnType<typeof createAccountCaller>;
let made = 0;
beforeAll(async () => {
  const env = { SVC_OTHER_ADDRESSES: OWN, SVC_RELATED_ORIGINS: 'https://www.shared.example' };
  server = await startTestServer({ env });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  realm = `pages${made}`;
  account = createAccountCaller(server, realm);
  userId = await account.make();
  await flow(either());
});

const either = (config = {}): ExecutionInput[] => [
  { authenticatorId: 'username-password', requirement: 'ALTERNATIVE' },
  { authenticatorId: 'webauthn', requirement: 'ALTERNATIVE', config },
];
const flow = (executions: ExecutionInput[]) =>
  server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });
const set = (body: SettingsInput, admin = server.admin) => admin.call(putSettings, { params: { realm }, body });
const passkeys = async () =>
  ((await server.admin.call(listCredentials, { params: { realm, userId } })).body ?? []).filter(
    ({ type }) => type === 'webauthn',
  );
const reasons = async () =>
  ((await server.admin.call(listEvents, { params: { realm }, query: { type: 'LOGIN_FAILURE' } })).body ?? []).map(
    ({ data }) => data?.reason,
  );
const origin = () => new URL(server.baseUrl).origin;
const login = (of = realm) => `/realms/${of}/login?for=account`;
async function setUp(key: ReturnType<typeof createSoftPasskey>) {
  const me = await account.byToken();
  const { ticket, publicKey } = Object((await me('POST', 'credentials/webauthn/start')).body);
  const { status } = await me('POST', 'credentials/webauthn', { ticket, response: key.create(publicKey) });
  return { status, handle: String(publicKey.user.id), publicKey };
}
const attribute = ({ text }: ShownPage, name: string) => decode(new RegExp(`${name}="([^"]*)"`).exec(text)?.[1] ?? '');
async function byPassword(more: Record<string, string> = {}) {
  const person = createPerson(server.baseUrl);
  const page = await person.fill(await person.open(login()), { username: 'ada', password: PASSWORD, ...more });
  return { person, page };
}

test('a signature made at a related origin counts for the realm that lists it, and for no other', async () => {
  const elsewhere = createSoftPasskey('https://www.acme.example');
  expect((await setUp(elsewhere)).status).toBe(400);
  await set({ passkeyRelatedOrigins: ['https://www.acme.example'] });
  const { status, handle } = await setUp(elsewhere);
  expect(status).toBe(201);
  const person = createPerson(server.baseUrl);
  const page = await person.open(login());
  expect((await person.fill(page, answerByPasskey(elsewhere, page, handle))).url).toContain('/account');
  await set({ passkeyRelatedOrigins: [] });
  const again = createPerson(server.baseUrl);
  const asked = await again.open(login());
  expect((await again.fill(asked, answerByPasskey(elsewhere, asked, handle))).url).toContain('/login');
  expect(await reasons()).toEqual(['passkey-wrong']);
});

test('/.well-known/webauthn lists a realm’s origins at its own address, and the operator’s at the shared one', async () => {
  const issuer = `${OWN}/${realm}`;
  await set({ issuer, passkeyRelatedOrigins: ['https://www.acme.example', 'https://acme.shop.example'] });
  const at = async (host?: string) => {
    const answer = await server.app.http.inject({ url: '/.well-known/webauthn', headers: { host: host ?? '' } });
    return { type: answer.headers['content-type'], origins: answer.json().origins };
  };
  const { host } = new URL(server.baseUrl);
  expect((await at(host)).origins).toEqual(['https://www.shared.example']);
  expect(await at('login.acme.example')).toEqual({
    type: expect.stringContaining('application/json'),
    origins: ['https://www.acme.example', 'https://acme.shop.example'],
  });
  expect((await at('login.other.example')).origins).toEqual([]);
});

test('a realm that is made later does not displace the origins of another one at their common address', async () => {
  await set({ issuer: `${OWN}/${realm}`, passkeyRelatedOrigins: ['https://www.earlier.example'] });
  realm = `a-${realm}`;
  await createAccountCaller(server, realm).make();
  const many = [1, 2, 3, 4, 5].map((n) => `https://www.later${n}.example`);
  await set({ issuer: `${OWN}/${realm}`, passkeyRelatedOrigins: many });
  const headers = { host: new URL(OWN).host };
  const answer = await server.app.http.inject({ url: '/.well-known/webauthn', headers });
  expect(answer.json().origins).toContain('https://www.earlier.example');
});

test('five domains are listed at most, each with all its origins', () => {
  const listed = [1, 2, 3, 4, 5, 6].flatMap((n) => [`https://a.site${n}.example`, `https://b.site${n}.example`]);
  expect(boundedOrigins([...listed, 'https://c.site1.example'])).toEqual([
    ...listed.slice(0, 10),
    'https://c.site1.example',
  ]);
});

test('related origins and the RP ID need the permission for managers, and have to be what browsers accept', async () => {
  const some = await administrator(server, { target: realm, permissions: ['settings:read', 'settings:write'] });
  for (const body of [{ passkeyRelatedOrigins: ['https://www.acme.example'] }, { passkeyRpId: 'localhost' }])
    await expect(set(body, some)).rejects.toMatchObject({
      problem: { detail: expect.stringContaining('managers:write') },
    });
  await set({ passkeyBinding: 'device-bound' }, some);
  const faults = (settings: SettingsInput) =>
    set(settings).then(
      () => 'accepted',
      (error: unknown) => String(error),
    );
  expect(await faults({ passkeyRelatedOrigins: ['https://www.acme.example/path'] })).toContain('must be an origin');
  expect(await faults({ passkeyRelatedOrigins: ['http://www.acme.example'] })).toContain('must be an origin');
  const six = [1, 2, 3, 4, 5, 6].map((n) => `https://www.site${n}.example`);
  expect(await faults({ passkeyRelatedOrigins: six })).toContain('more than 5 domains');
  expect(await faults({ passkeyRpId: 'elsewhere.example' })).toContain('passkeyRpId');
  expect(await faults({ passkeyMinimumCertification: 'L1' })).toContain('passkeyAttestation');
});

test('the page names a passkey unless its sender proves the key of one that a realm knows', async () => {
  const stranger = createSoftPasskey(origin());
  const person = createPerson(server.baseUrl);
  const page = await person.open(login());
  const refused = await person.fill(page, answerByPasskey(stranger, page, 'AAAA'));
  const id = stranger.get({ rpId: 'localhost', challenge: '' }).id;
  expect(attribute(refused, 'data-unknown')).toBe(id);

  const key = createSoftPasskey(origin());
  const { handle } = await setUp(key);
  const own = realm;
  realm = `${realm}-other`;
  await createAccountCaller(server, realm).make();
  await flow(either());
  const visitor = createPerson(server.baseUrl);
  const shown = await visitor.open(login());
  const answer = await visitor.fill(shown, answerByPasskey(key, shown, handle));
  expect([answer.text.includes('can’t be used here'), attribute(answer, 'data-unknown')]).toEqual([true, '']);

  // Without the key, a known id is answered as an unknown one.
  const forged = createPerson(server.baseUrl);
  const again = await forged.open(login());
  const { passkey: claimed = '', ...rest } = answerByPasskey(stranger, again, handle);
  const known = key.get({ rpId: 'localhost', challenge: '' }).id;
  const told = await forged.fill(again, {
    ...rest,
    passkey: JSON.stringify({ ...JSON.parse(claimed), id: known, rawId: known }),
  });
  expect(attribute(told, 'data-unknown')).toBe(known);
  realm = own;
});

test('the account page tells the browser the user’s passkeys and name', async () => {
  const key = createSoftPasskey(origin());
  const { handle } = await setUp(key);
  const person = createPerson(server.baseUrl);
  const page = await person.open(login());
  const home = await person.fill(page, answerByPasskey(key, page, handle));
  const signals = JSON.parse(attribute(home, 'data-passkeys'));
  const { id } = key.get({ rpId: 'localhost', challenge: '' });
  expect(signals).toEqual({ rpId: 'localhost', userId: handle, name: 'ada', displayName: 'ada', accepted: [id] });
});

test('after a password the browser may create a passkey, which proves nothing in this sign-in', async () => {
  await flow(either({ createAfterPassword: true }));
  const { person, page } = await byPassword();
  expect(page.heading).toBe('Signing you in');
  const options = JSON.parse(attribute(page, 'data-offer'));
  const key = createSoftPasskey(origin(), { present: false, verifies: false, make: { synced: true } });
  const home = await person.fill(page, { passkey: JSON.stringify(key.create(options)) });
  expect(home.url).toContain('/account');
  expect(await passkeys()).toMatchObject([{ backedUp: true }]);
  const success = await server.admin.call(listEvents, { params: { realm }, query: { type: 'LOGIN_SUCCESS' } });
  expect(success.body?.[0]?.data).toMatchObject({ methods: ['pwd'], levelOfAssurance: 1 });
  // The user has one now.
  expect((await byPassword()).page.heading).not.toBe('Signing you in');
});

test('a browser that creates none ends the sign-in as before, and a wrong answer does too', async () => {
  await flow(either({ createAfterPassword: true }));
  const first = await byPassword();
  expect((await first.person.fill(first.page, {})).url).toContain('/account');
  const second = await byPassword();
  const elsewhere = createSoftPasskey('https://evil.example', { present: false });
  const options = JSON.parse(attribute(second.page, 'data-offer'));
  const sent = { passkey: JSON.stringify(elsewhere.create(options)) };
  expect((await second.person.fill(second.page, sent)).url).toContain('/account');
  expect(await passkeys()).toEqual([]);
});

test('a user with a second factor is offered a passkey only once the sign-in has proven that factor', async () => {
  const me = await account.byToken();
  const { ticket, secret } = Object((await me('POST', 'credentials/otp/start')).body);
  await me('POST', 'credentials/otp', { ticket, code: codeAt(secret, Date.now()) });
  await flow(either({ createAfterPassword: true }));
  const { page } = await byPassword();
  expect(page.url).toContain('/account');
  await flow([
    { requirement: 'REQUIRED', executions: either({ createAfterPassword: true }) },
    { authenticatorId: 'otp', requirement: 'REQUIRED' },
  ]);
  const { person, page: asked } = await byPassword();
  const offered = await person.fill(asked, { code: codeAt(secret, Date.now() + 30_000) });
  expect(offered.heading).toBe('Signing you in');
});

test('nothing is offered where the realm demands a proof of make or a device-bound passkey', async () => {
  await flow(either({ createAfterPassword: true }));
  for (const settings of [{ passkeyAttestation: 'direct' }, { passkeyBinding: 'device-bound' }] as SettingsInput[]) {
    await set({ passkeyAttestation: 'none', passkeyBinding: 'any', ...settings });
    expect((await byPassword()).page.url).toContain('/account');
  }
});

test('a step for device-bound passkeys refuses a synced one, at its use and as it is set up', async () => {
  const key = createSoftPasskey(origin(), { make: { synced: true } });
  const { handle } = await setUp(key);
  await flow(either({ deviceBound: true }));
  const person = createPerson(server.baseUrl);
  const page = await person.open(login());
  const refused = await person.fill(page, answerByPasskey(key, page, handle));
  expect(refused.text).toContain('can’t be used here');
  expect(await reasons()).toEqual(['passkey-synced']);
});

test('a step for device-bound passkeys sets up no synced one, also where the realm wants synced ones', async () => {
  await set({ passkeyBinding: 'synced' });
  await flow([
    { authenticatorId: 'username-password', requirement: 'REQUIRED' },
    { authenticatorId: 'webauthn', requirement: 'REQUIRED', config: { deviceBound: true } },
  ]);
  const { person, page } = await byPassword();
  const key = createSoftPasskey(origin(), { make: { synced: true } });
  const made = key.create(JSON.parse(attribute(page, 'data-passkey')));
  const refused = await person.fill(page, { passkey: JSON.stringify(made) });
  expect(refused.text).toContain('does not accept this kind of passkey');
  expect(await passkeys()).toEqual([]);
});
