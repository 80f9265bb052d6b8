// Codes and links that are sent: to whom, how often they may be guessed, what tells nobody from somebody, and recovery codes.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { type ExecutionInput, putFlow } from '../../../server/contract/flows.ts';
import { putMessagingProvider } from '../../../server/contract/messaging.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser, listCredentials, putRequiredActions, putUser } from '../../../server/contract/users.ts';
import { authorizePath, CALLBACK, makePeopledRealm, newVerifier, PASSWORD } from '../../support/applications.ts';
import { codeAt, secretOn } from '../../support/authenticator-app.ts';
import { type MailServer, startMailServer } from '../../support/gateways.ts';
import { eventually } from '../../support/operator.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let mail: MailServer;
let receiver: Receiver;
let folder = '';
let clock = new Date();
let realm = '';
let userId = '';
let made = 0;

beforeAll(async () => {
  [mail, receiver] = await Promise.all([startMailServer(), startReceiver()]);
  folder = await mkdtemp(path.join(os.tmpdir(), 'factors-'));
  const file = path.join(folder, 'ca.crt');
  await writeFile(file, [mail.ca, await readFile(receiver.caFile, 'utf8')].join('\n'));
  server = await startTestServer({
    env: { SVC_OUTBOUND_CA_FILE: file, SVC_TRUST_PROXY: '127.0.0.1' },
    retryDelaysSeconds: [0, 0],
    now: () => clock,
  });
});
afterAll(async () => {
  await server?.stop();
  await Promise.all([mail?.stop(), receiver?.stop()]);
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  made += 1;
  realm = `m${made}`;
  clock = new Date();
  mail.mails.length = 0;
  receiver.received.length = 0;
  receiver.answer = () => ({});
  await makePeopledRealm(server, realm, []);
  const { body } = await server.admin.call(createUser, {
    params: { realm },
    body: {
      username: 'ada',
      password: PASSWORD,
      email: `ada@example.com`,
      emailVerified: true,
      attributes: { phone_number: ['+491701234567'], phone_number_verified: ['true'] },
    },
  });
  userId = body?.id ?? '';
  for (const provider of [
    { channel: 'EMAIL' as const, driver: 'smtp' as const, config: { host: '127.0.0.1', port: mail.port } },
    { channel: 'SMS' as const, driver: 'http' as const, config: { url: receiver.url } },
  ])
    await server.admin.call(putMessagingProvider, { params: { realm }, body: provider });
});

const flow = (executions: ExecutionInput[]) =>
  server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });
const after = (authenticatorId: string): ExecutionInput[] => [
  { authenticatorId: 'username-password', requirement: 'REQUIRED' },
  { authenticatorId, requirement: 'REQUIRED' },
];
const open = (person: Person) => person.open(authorizePath(realm, 'spa', newVerifier()));
async function withPassword(person = createPerson(server.baseUrl)): Promise<{ ada: Person; page: ShownPage }> {
  const page = await person.fill(await open(person), { username: 'ada', password: PASSWORD });
  return { ada: person, page };
}
const inApplication = ({ url }: ShownPage) => url.startsWith(CALLBACK);
const textOf = (index: number): string => (mail.mails[index]?.raw ?? '').replaceAll('=\r\n', '').replaceAll('=3D', '=');
const mails = (count: number) => eventually(async () => expect(mail.mails).toHaveLength(count));
const failures = async () =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type: 'LOGIN_FAILURE' } })).body?.map(
    ({ data }) => data.reason,
  );
const wrongOf = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

test('a code by mail is a second factor, once, for the sign-in that it was sent for', async () => {
  await flow(after('email-otp'));
  const { ada, page } = await withPassword();
  expect(page.heading).toBe('Enter your code');
  await mails(1);
  expect(mail.mails[0]?.to).toEqual(['ada@example.com']);
  const [code = ''] = /\b\d{6}\b/.exec(textOf(0)) ?? [];
  const { page: elsewhere, ada: other } = await withPassword();
  await mails(2);
  expect((await other.fill(elsewhere, { code })).text).toContain('That code is not right');
  // Looked at again, no second one is sent.
  await ada.open(new URL(page.url).pathname);
  const wrong = await ada.fill(page, { code: wrongOf(code) });
  expect(wrong.text).toContain('That code is not right');
  const { url } = await ada.fill(wrong, { code });
  expect(url.startsWith(CALLBACK)).toBe(true);
  expect(mail.mails).toHaveLength(2);
  expect(await failures()).toEqual(['email-otp-wrong', 'email-otp-wrong']);
});

test('links for people who are not there take none of the mails that the realm may send', async () => {
  await flow([{ authenticatorId: 'magic-link', requirement: 'REQUIRED' }]);
  await server.admin.call(putSettings, { params: { realm }, body: { maxEmailsPerHour: 1 } });
  const askFor = async (username: string) => {
    const person = createPerson(server.baseUrl);
    return (await person.fill(await open(person), { username })).heading;
  };
  const headings = [];
  for (let n = 0; n < 3; n += 1) headings.push(await askFor(`nobody${n}`));
  headings.push(await askFor('ada'));
  expect(new Set(headings).size).toBe(1);
  await mails(1);
  expect(mail.mails[0]?.to).toEqual(['ada@example.com']);
});

test('where the realm sends nothing nobody is told that a code or a link was sent', async () => {
  for (const channel of ['EMAIL', 'SMS'] as const) {
    const driver = channel === 'EMAIL' ? 'smtp' : 'http';
    await server.admin.call(putMessagingProvider, { params: { realm }, body: { channel, driver, enabled: false } });
  }
  await flow(after('sms-otp'));
  expect((await withPassword()).page.heading).toBe('A second factor is needed');
  await flow([
    { authenticatorId: 'username-password', requirement: 'REQUIRED' },
    {
      requirement: 'REQUIRED',
      executions: [
        { authenticatorId: 'email-otp', requirement: 'ALTERNATIVE' },
        { authenticatorId: 'otp', requirement: 'ALTERNATIVE' },
      ],
    },
  ]);
  expect((await withPassword()).page.heading).toBe('Set up a second factor');
  await flow([{ authenticatorId: 'magic-link', requirement: 'REQUIRED' }]);
  expect((await open(createPerson(server.baseUrl))).text).toContain('No links can be sent from here');
});

test('a code is good for five tries and ten minutes; then another one is sent', async () => {
  await flow(after('email-otp'));
  const { ada, page } = await withPassword();
  await mails(1);
  const [code = ''] = /\b\d{6}\b/.exec(textOf(0)) ?? [];
  let shown = page;
  for (let tries = 0; tries < 5; tries += 1) shown = await ada.fill(shown, { code: wrongOf(code) });
  shown = await ada.fill(shown, { code });
  expect(shown.text).toContain('That code no longer works');
  expect((await ada.fill(shown, { resend: '1', code: '' })).text).toContain('A code was sent just now');
  clock = new Date(clock.getTime() + 31_000);
  shown = await ada.fill(shown, { resend: '1', code: '' });
  await mails(2);
  const [second = ''] = /\b\d{6}\b/.exec(textOf(1)) ?? [];
  clock = new Date(clock.getTime() + 601_000);
  expect((await ada.fill(shown, { code: second })).text).toContain('That code no longer works');
});

test('guesses are counted over all sign-ins of a person, until not even the right code does', async () => {
  await flow(after('email-otp'));
  for (let sent = 1; sent <= 2; sent += 1) {
    const { ada, page } = await withPassword();
    await mails(sent);
    const [code = ''] = /\b\d{6}\b/.exec(textOf(sent - 1)) ?? [];
    let shown = page;
    for (let tries = 0; tries < 5; tries += 1) shown = await ada.fill(shown, { code: wrongOf(code) });
  }
  const { ada, page } = await withPassword();
  await mails(3);
  const [code = ''] = /\b\d{6}\b/.exec(textOf(2)) ?? [];
  const locked = await ada.fill(page, { code });
  expect(inApplication(locked)).toBe(false);
  // The right code isn't called a wrong one.
  expect(locked.text).toContain('The sign-in did not work. Try again later.');
  expect(locked.text).not.toContain('That code is not right');
  expect((await failures())?.[0]).toBe('email-otp-locked');
});

/** A browser at another address; with what a browser holds already, the same one that has moved there. */
function from(address: string, before?: Person): Person {
  const person = createPerson(server.baseUrl, { 'x-forwarded-for': address });
  for (const [name, value] of before?.jar ?? []) person.jar.set(name, value);
  return person;
}

test('guesses from many addresses are one person’s guesses, and close nobody else’s codes', async () => {
  await flow(after('email-otp'));
  const other = { username: 'bob', password: PASSWORD, email: 'bob@example.com', emailVerified: true };
  await server.admin.call(createUser, { params: { realm }, body: other });
  let guesses = 0;
  const guessing = async (sent: number) => {
    guesses += 1;
    const { ada, page } = await withPassword(from(`198.51.100.${guesses}`));
    await mails(sent);
    const [code = ''] = /\b\d{6}\b/.exec(textOf(sent - 1)) ?? [];
    return { ada, page, code };
  };
  for (let sent = 1; sent <= 2; sent += 1) {
    const { ada, page, code } = await guessing(sent);
    let shown = page;
    for (let tries = 0; tries < 5; tries += 1) {
      guesses += 1;
      shown = await from(`198.51.100.${guesses}`, ada).fill(shown, { code: wrongOf(code) });
      expect(shown.text).toContain('That code is not right');
    }
  }
  const { ada, page, code } = await guessing(3);
  expect(inApplication(await from('203.0.113.9', ada).fill(page, { code }))).toBe(false);
  const reasons = await failures();
  expect(reasons?.[0]).toBe('email-otp-locked');
  expect(reasons?.filter((reason) => reason === 'email-otp-wrong')).toHaveLength(10);

  const bob = from('198.51.100.1');
  const asked = await bob.fill(await open(bob), { username: 'bob', password: PASSWORD });
  await mails(4);
  const [theirs = ''] = /\b\d{6}\b/.exec(textOf(3)) ?? [];
  expect(inApplication(await bob.fill(asked, { code: theirs }))).toBe(true);
});

test('one address guesses at the codes of many people no oftener than at one’s, and they sign in elsewhere', async () => {
  await flow(after('email-otp'));
  const names = ['bob', 'cleo', 'dan', 'eve', 'fay'];
  const signedIn: { name: string; who: Person; page: ShownPage }[] = [];
  for (const username of names) {
    const body = { username, password: PASSWORD, email: `${username}@example.com`, emailVerified: true };
    await server.admin.call(createUser, { params: { realm }, body });
    const who = from('198.51.100.7');
    signedIn.push({ name: username, who, page: await who.fill(await open(who), { username, password: PASSWORD }) });
  }
  await mails(names.length);
  const codeOf = (name: string): string => {
    const at = mail.mails.findIndex(({ to }) => to.includes(`${name}@example.com`));
    return /\b\d{6}\b/.exec(textOf(at))?.[0] ?? '';
  };
  for (const { name, who, page } of signedIn.slice(0, 4)) {
    let shown = page;
    for (let tries = 0; tries < 5; tries += 1) shown = await who.fill(shown, { code: wrongOf(codeOf(name)) });
    expect(shown.text).toContain('That code is not right');
  }
  const [last] = signedIn.slice(-1);
  if (!last) throw new Error('nobody has signed in');
  const refused = await last.who.fill(last.page, { code: codeOf(last.name) });
  expect(inApplication(refused)).toBe(false);
  const moved = from('203.0.113.9', last.who);
  expect(inApplication(await moved.fill(last.page, { code: codeOf(last.name) }))).toBe(true);
});

test('and where the realm locks people, the password in between forgives no guess; a whole sign-in does', async () => {
  await server.admin.call(putSettings, { params: { realm }, body: { lockoutEnabled: true, maxLoginFailures: 3 } });
  await flow(after('email-otp'));
  const guessed = async (sent: number, guesses: number) => {
    const { ada, page } = await withPassword();
    if (page.heading !== 'Enter your code') return page;
    await mails(sent);
    const [code = ''] = /\b\d{6}\b/.exec(textOf(sent - 1)) ?? [];
    let shown = page;
    for (let tries = 0; tries < guesses; tries += 1) shown = await ada.fill(shown, { code: wrongOf(code) });
    return ada.fill(shown, { code });
  };
  expect(inApplication(await guessed(1, 2))).toBe(true);
  expect(inApplication(await guessed(2, 2))).toBe(true);
  const { ada, page } = await withPassword();
  await mails(3);
  await ada.fill(await ada.fill(page, { code: '000000' }), { code: '111111' });
  expect(inApplication(await guessed(4, 1))).toBe(false);
  expect((await withPassword()).page.heading).toBe('Sign in');
});

test('a code by SMS goes to a verified number, and who has none is told to ask', async () => {
  await flow(after('sms-otp'));
  const { ada, page } = await withPassword();
  await eventually(async () => expect(receiver.received).toHaveLength(1));
  const [code = ''] = /\b\d{6}\b/.exec(String(receiver.received[0]?.raw)) ?? [];
  expect(inApplication(await ada.fill(page, { code }))).toBe(true);
  await server.admin.call(createUser, { params: { realm }, body: { username: 'bob', password: PASSWORD } });
  const bob = createPerson(server.baseUrl);
  const refused = await bob.fill(await open(bob), { username: 'bob', password: PASSWORD });
  expect(refused.heading).toBe('A second factor is needed');
});

const byLink: ExecutionInput[] = [{ authenticatorId: 'magic-link', requirement: 'REQUIRED' }];
const linkIn = (index: number): string => {
  const [link = ''] = /http\S+\/login\/link\?token=[\w-]+/.exec(textOf(index)) ?? [];
  const { pathname, search } = new URL(link);
  return pathname + search;
};

test('a link signs in the browser that asked, once, and only by its button', async () => {
  await flow(byLink);
  const ada = createPerson(server.baseUrl);
  const waiting = await ada.fill(await open(ada), { username: 'ada' });
  expect(waiting.heading).toBe('Check your e-mail');
  expect(waiting.text).toContain('<noscript><meta http-equiv="refresh" content="5"></noscript>');
  await mails(1);
  const link = linkIn(0);
  // A mail scanner, and whoever else reads the mail.
  const scanner = createPerson(server.baseUrl);
  const elsewhere = await scanner.open(link);
  expect(elsewhere.status).toBe(400);
  expect(elsewhere.heading).toBe('This link does not work here');
  expect((await scanner.open(`${link}x`)).text).toBe(elsewhere.text);
  const stolen = await open(scanner);
  const token = new URL(link, server.baseUrl).searchParams.get('token') ?? '';
  expect(inApplication(await scanner.fill(stolen, { username: 'ada', link: token }))).toBe(false);
  const page = await ada.open(link);
  expect(page.heading).toBe('Sign in');
  const done = await ada.post(`/realms/${realm}/login`, page.fields);
  expect(inApplication(done)).toBe(true);
  expect((await ada.open(link)).status).toBe(400);
  expect(inApplication(await ada.post(`/realms/${realm}/login`, page.fields))).toBe(false);
});

test('a link that was the first of two steps is used up, also for who kept its form and cookie', async () => {
  await flow([
    { authenticatorId: 'magic-link', requirement: 'REQUIRED' },
    { authenticatorId: 'username-password', requirement: 'REQUIRED' },
  ]);
  const ada = createPerson(server.baseUrl);
  await ada.fill(await open(ada), { username: 'ada' });
  await mails(1);
  const page = await ada.open(linkIn(0));
  const kept = createPerson(server.baseUrl);
  for (const [name, value] of ada.jar) kept.jar.set(name, value);
  const next = await ada.post(`/realms/${realm}/login`, page.fields);
  expect(next.fields).toHaveProperty('password');
  // Another form than the one that was sent: it is no second click.
  const again = await kept.post(`/realms/${realm}/login`, { ...page.fields, more: '1' });
  expect(again.fields).not.toHaveProperty('password');
  expect(inApplication(await ada.fill(next, { username: 'ada', password: PASSWORD }))).toBe(true);
});

test('neither a code nor a link proves an address that is theirs no more', async () => {
  const moves = (email: string) =>
    server.admin.call(putUser, { params: { realm, userId }, body: { email, emailVerified: true } });
  await flow(after('email-otp'));
  const { ada, page } = await withPassword();
  await mails(1);
  const [code = ''] = /\b\d{6}\b/.exec(textOf(0)) ?? [];
  await moves('new@example.com');
  expect((await ada.fill(page, { code })).text).toContain('That code is not right');
  await flow(byLink);
  const again = createPerson(server.baseUrl);
  await again.fill(await open(again), { username: 'ada' });
  await mails(2);
  const link = await again.open(linkIn(1));
  await moves('newest@example.com');
  expect(inApplication(await again.post(`/realms/${realm}/login`, link.fields))).toBe(false);
  await moves('new@example.com');
  expect(inApplication(await again.post(`/realms/${realm}/login`, link.fields))).toBe(true);
});

test('nobody, somebody without a verified address and somebody look the same, and only the last gets mail', async () => {
  await flow(byLink);
  const body = { username: 'bob', email: 'bob@example.com', password: PASSWORD };
  await server.admin.call(createUser, { params: { realm }, body });
  const pages: string[] = [];
  for (const username of ['nobody', 'bob', 'ada']) {
    const person = createPerson(server.baseUrl);
    const { text, status } = await person.fill(await open(person), { username });
    expect(status).toBe(200);
    pages.push(text.replaceAll(/(?:value|data-mark)="[^"]*"/g, ''));
  }
  expect(new Set(pages).size).toBe(1);
  await mails(1);
  expect(mail.mails[0]?.to).toEqual(['ada@example.com']);
});

test('an old link does nothing', async () => {
  await flow(byLink);
  const ada = createPerson(server.baseUrl);
  await ada.fill(await open(ada), { username: 'ada' });
  await mails(1);
  const page = await ada.open(linkIn(0));
  clock = new Date(clock.getTime() + 901_000);
  const late = await ada.post(`/realms/${realm}/login`, page.fields);
  expect(late.text).toContain('This link no longer works');
});

test('recovery codes are shown once, work once each, and are made anew before they run out', async () => {
  await flow([
    { authenticatorId: 'username-password', requirement: 'REQUIRED' },
    {
      requirement: 'CONDITIONAL',
      executions: [
        { authenticatorId: 'mfa-enabled', requirement: 'REQUIRED' },
        { authenticatorId: 'otp', requirement: 'ALTERNATIVE' },
        { authenticatorId: 'recovery-codes', requirement: 'ALTERNATIVE' },
      ],
    },
  ]);
  const requiredActions = ['CONFIGURE_OTP' as const, 'CONFIGURE_RECOVERY_CODES' as const];
  await server.admin.call(putRequiredActions, { params: { realm, userId }, body: { requiredActions } });
  const { ada, page: app } = await withPassword();
  const page = await ada.fill(app, { code: codeAt(secretOn(app), clock.getTime()) });
  expect(page.heading).toBe('Keep your recovery codes');
  const codesOn = ({ text }: ShownPage) => [...text.matchAll(/<li><code>([^<]+)</g)].map(([, code = '']) => code);
  const codes = codesOn(page);
  expect(new Set(codes).size).toBe(10);
  const unsaved = await ada.fill(page, {});
  expect(unsaved.text).toContain('Keep the codes first');
  expect(codesOn(unsaved)).toEqual(codes);
  expect(inApplication(await ada.fill(unsaved, { saved: 'on' }))).toBe(true);
  const { rows } = await server.pool.query('select secret::text from credential where realm_id = $1', [realm]);
  for (const code of codes) expect(JSON.stringify(rows)).not.toContain(code);

  const withoutApp = async () => {
    const { ada: person, page: asked } = await withPassword();
    expect(asked.heading).toBe('Enter your code');
    const [, execution = ''] = /name="execution" value="([^"]+)"/.exec(asked.text) ?? [];
    const { csrf = '' } = asked.fields;
    const chosen = await person.post(`/realms/${realm}/login`, { csrf, do: 'choose', execution });
    expect(chosen.heading).toBe('Use a recovery code');
    return { person, chosen };
  };
  for (const [used, code] of codes.slice(0, 8).entries()) {
    const { person, chosen } = await withoutApp();
    const sloppy = code.replaceAll('-', ' ').toUpperCase();
    const done = await person.fill(chosen, { code: sloppy });
    if (used < 7) expect(inApplication(done)).toBe(true);
    else {
      expect(done.heading).toBe('Keep your recovery codes');
      expect(inApplication(await person.fill(done, { saved: 'on' }))).toBe(true);
    }
  }
  const last = await withoutApp();
  const [first = '', ninth = ''] = [codes[0], codes[8]];
  expect((await last.person.fill(last.chosen, { code: first })).text).toContain('not one of your codes');
  expect((await last.person.fill(last.chosen, { code: ninth })).text).toContain('not one of your codes');
  const held = (await server.admin.call(listCredentials, { params: { realm, userId } })).body;
  expect(held?.find(({ type }) => type === 'recovery-codes')).toMatchObject({ codesLeft: 10 });
  const { body: used } = await server.admin.call(listEvents, {
    params: { realm },
    query: { type: 'RECOVERY_CODE_USED' },
  });
  expect(used?.map(({ data }) => data.left)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
});
