// Owns: hosted CAPTCHAs: what the page loads, what the provider is asked, and that nothing but its word lets an account be made.
// Does not own: their keys as a resource (the tests of all kinds), the proof of work (self-registration.test.ts).
// Implements: specification 4.2; the providers' published `siteverify` request.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { captchas, type HostedCaptcha } from '../../../server/contract/captchas.ts';
import { getRealmHealth } from '../../../server/contract/realms.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { listUsers } from '../../../server/contract/users.ts';
import { PASSWORD } from '../../support/applications.ts';
import { makeRealm } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let verifier: Receiver;
let realm = '';
let made = 0;
let clock = new Date();
beforeAll(async () => {
  verifier = await startReceiver();
  const env = { USER_REGISTRATION_ENABLED: 'true', SVC_OUTBOUND_CA_FILE: verifier.caFile };
  server = await startTestServer({ env, now: () => clock });
});
afterAll(async () => {
  await server?.stop();
  await verifier?.stop();
});
beforeEach(async () => {
  made += 1;
  realm = `humans${made}`;
  clock = new Date(clock.getTime() + 61_000);
  verifier.received.length = 0;
  verifier.answer = ({ raw }) => ({
    body: JSON.stringify({ success: new URLSearchParams(raw.toString()).get('response') === 'solved' }),
  });
  await makeRealm(server, realm);
});

async function asks(provider: HostedCaptcha, more: { verifyUrl?: string } = {}) {
  const verifyUrl = `${verifier.url}/siteverify`;
  const body = { name: provider, provider, siteKey: 'site-key', secret: 'its secret', verifyUrl, ...more };
  await server.admin.call(captchas.routes.create, { params: { realm }, body });
  await server.admin.call(putSettings, { params: { realm }, body: { captchaProvider: provider } });
}
const people = async () => (await server.admin.call(listUsers, { params: { realm } })).body ?? [];
async function register(answer: Record<string, string>, forwarded = {}) {
  const who = createPerson(server.baseUrl, forwarded);
  const page = await who.open(`/realms/${realm}/register`);
  const fields = { email: `ada@${realm}.example`, password: PASSWORD, repeated: PASSWORD, ...answer };
  return { page, after: await who.fill(page, fields) };
}
const csp = (page: { headers: Headers }) => page.headers.get('content-security-policy') ?? '';

test.each([
  ['recaptcha', 'g-recaptcha', 'https://www.google.com/recaptcha/api.js', 'https://www.gstatic.com/recaptcha/'],
  ['hcaptcha', 'h-captcha', 'https://js.hcaptcha.com/1/api.js', 'https://*.hcaptcha.com'],
  [
    'turnstile',
    'cf-turnstile',
    'https://challenges.cloudflare.com/turnstile/v0/api.js',
    'https://challenges.cloudflare.com',
  ],
] as const)(
  '%s shows its widget on the page, and its provider has the last word',
  async (provider, name, script, source) => {
    await asks(provider);
    const { page, after } = await register({ [`${name}-response`]: 'solved' });
    expect(page.text).toContain(`class="field ${name}" data-sitekey="site-key"`);
    expect(page.text).toContain(`<script src="${script}" async></script>`);
    expect(csp(page)).toMatch(new RegExp(`script-src [^;]*${source.replaceAll('*', '\\*')}`));
    expect(after.url).toContain('/account');
    expect(await people()).toHaveLength(1);
    const [asked] = verifier.received;
    expect([asked?.method, asked?.url, asked?.headers['content-type']]).toEqual([
      'POST',
      '/siteverify',
      'application/x-www-form-urlencoded',
    ]);
    expect(Object.fromEntries(new URLSearchParams(asked?.raw.toString()))).toEqual({
      secret: 'its secret',
      response: 'solved',
      sitekey: 'site-key',
    });
  },
);

test('no answer, a wrong one and another provider’s make no account, and nobody is asked without one', async () => {
  await asks('turnstile');
  for (const answer of [{}, { 'cf-turnstile-response': '' }, { 'h-captcha-response': 'solved' }])
    expect((await register(answer)).after.heading).toBe('Create an account');
  expect(verifier.received).toEqual([]);
  const { after } = await register({ 'cf-turnstile-response': 'made up' });
  expect(after.text).toContain('It could not be confirmed that you are human.');
  expect(after.text).not.toContain('finished its work');
  expect(verifier.received).toHaveLength(1);
  expect(await people()).toEqual([]);
});

test.each([
  ['fails', { status: 500, body: '{"success": true}' }],
  ['answers nonsense', { body: 'true' }],
  ['redirects', { status: 302, headers: { location: 'https://elsewhere.example' } }],
])('where the provider %s, no account is made', async (_, answer) => {
  await asks('hcaptcha');
  verifier.answer = () => answer;
  const { after } = await register({ 'h-captcha-response': 'solved' });
  expect(after.heading).toBe('Create an account');
  expect(after.text).toContain('It could not be confirmed that you are human.');
  expect(await people()).toEqual([]);
});

test('where the realm has no keys for it, no account is made: the page says so, and so does the realm’s health', async () => {
  const health = async () => (await server.admin.call(getRealmHealth, { params: { realm } })).body?.components.captcha;
  expect(await health()).toEqual({ status: 'UP', details: { provider: 'none', ready: true } });
  await server.admin.call(putSettings, { params: { realm }, body: { captchaProvider: 'recaptcha' } });
  expect(await health()).toEqual({ status: 'DOWN', details: { provider: 'recaptcha', ready: false } });
  const form = await createPerson(server.baseUrl).open(`/realms/${realm}/register`);
  expect([form.text.includes('Accounts can’t be created here at the moment.'), 'email' in form.fields]).toEqual([
    true,
    false,
  ]);
  const { page, after } = await register({ 'g-recaptcha-response': 'solved' });
  expect([page.text.includes('g-recaptcha'), after.heading]).toEqual([false, 'Create an account']);
  expect(await people()).toEqual([]);
  await asks('recaptcha');
  expect(await health()).toEqual({ status: 'UP', details: { provider: 'recaptcha', ready: true } });
  expect('email' in (await createPerson(server.baseUrl).open(`/realms/${realm}/register`)).fields).toBe(true);
});

test('no other page lets the provider in, and an address inside is not asked', async () => {
  await asks('turnstile', { verifyUrl: 'https://10.0.0.1/siteverify' });
  const signIn = await createPerson(server.baseUrl).open(`/realms/${realm}/login?for=account`);
  expect([signIn.heading, csp(signIn).includes('cloudflare')]).toEqual(['Sign in', false]);
  expect((await register({ 'cf-turnstile-response': 'solved' })).after.heading).toBe('Create an account');
  expect(await people()).toEqual([]);
});
