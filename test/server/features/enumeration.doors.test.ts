// Owns: that nobody learns who has an account at the doors beside sign-in, recovery and registration (enumeration.test.ts): links and codes
// by mail, passkeys, a first sign-in by a provider, the account's own address, administrators' sign-in, what devices ask.
// Does not own: what these do otherwise (message-factors.test.ts, brokering.first.test.ts, account.api.test.ts, devices.test.ts).
// Implements: specification 8; decisions "Single sign-on and freshness", "Guessed codes".
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ExecutionInput, putFlow } from '../../../server/contract/flows.ts';
import { createInvitation } from '../../../server/contract/invitations.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser, putUser } from '../../../server/contract/users.ts';
import { createAccountCaller } from '../../support/account-api.ts';
import { PASSWORD } from '../../support/applications.ts';
import { type Brokered, comeBy, makeProvider, oidcOf, startBrokered } from '../../support/brokering.ts';
import { deviceFor } from '../../support/devices.ts';
import { createPerson, decode, type Person, type ShownPage } from '../../support/person.ts';
import type { TestServer } from '../../support/server.ts';
import { createSoftPasskey } from '../../support/soft-passkey.ts';
import { headersSeen, watchWork } from '../../support/work-done.ts';

const realm = 'doors';
const OF_PEOPLE =
  /realm_user|credential|identity_link|sign_in|known_device|device_|lockout|code_guess|invitation|enrolment|insert into (?:message|event|password_reset) /;
let brokered: Brokered;
let server: TestServer;
let work: ReturnType<typeof watchWork>;
let account: ReturnType<typeof createAccountCaller>;
let network = 0;
let clock = 0;

beforeAll(async () => {
  work = watchWork((statement) => OF_PEOPLE.test(statement));
  brokered = await startBrokered({
    env: { USER_REGISTRATION_ENABLED: 'true', SVC_TRUST_PROXY: '127.0.0.1' },
    now: () => new Date(Date.now() + clock),
  });
  ({ server } = brokered);
  const { admin } = server;
  account = createAccountCaller(server, realm);
  await account.make({ username: 'me', email: `me@${realm}.example`, emailVerified: true });
  await brokered.mailing.sendsMail(realm);
  for (const username of ['ada', 'unconfirmed', 'disabled', 'bare']) {
    const email = username === 'bare' ? null : address(username);
    const body = { username, email, emailVerified: username !== 'unconfirmed' && email !== null, password: PASSWORD };
    const userId = (await admin.call(createUser, { params: { realm }, body })).body?.id ?? '';
    if (username === 'disabled') await admin.call(putUser, { params: { realm, userId }, body: { enabled: false } });
  }
  const settings = { registrationEnabled: true, registrationVerifyEmail: true, maxMessagesPerRecipientPerHour: 1000 };
  await admin.call(putSettings, { params: { realm }, body: settings });
  await makeProvider(server, realm, oidcOf(brokered.upstream));
});
afterAll(async () => {
  work?.stop();
  await brokered?.stop();
});

const address = (name: string) => `${name}@${realm}.example`;
const flow = (executions: ExecutionInput[]) =>
  server.admin.call(putFlow, { params: { realm, alias: 'browser' }, body: { executions } });
/** The limits of one address are another test's. */
const person = (): Person => {
  network += 1;
  return createPerson(server.baseUrl, { 'x-forwarded-for': `198.51.100.${network}` });
};
const wordsOf = (text: string, name: string) =>
  text
    .replaceAll(/value="[^"]*"/g, '')
    .replaceAll(name, '')
    .replaceAll(/data-(?:passkey|mark)="[^"]*"/g, '');

/** What somebody who watches sees of a page that was answered so, and what it cost. */
async function seen(name: string, act: () => Promise<ShownPage>) {
  const { result, ...cost } = await work.of(act);
  const { status, text, url, headers } = result;
  const path = new URL(url).pathname;
  return { seen: { status, path, words: wordsOf(text, name), headers: headersSeen(headers) }, ...cost, page: result };
}
/** The same of each name, all steps of it; the first is for what is kept in process from then on. */
async function same<T extends { seen: object; page?: ShownPage }>(
  names: readonly string[],
  look: (name: string) => Promise<T[]>,
) {
  await look(names[0] ?? '');
  const [first = '', ...others] = names;
  const strip = (steps: T[]) => steps.map(({ page: _, ...rest }) => rest);
  const expected = strip(await look(first));
  for (const name of others) expect({ name, steps: strip(await look(name)) }).toEqual({ name, steps: expected });
  return expected;
}

// First, while the two servers' clocks are one.
test('a code at a first sign-in by a provider is guessed alike where it would open the account that has the address', async () => {
  const { upstream } = brokered;
  upstream.claims = { email: '', preferred_username: 'somebody', given_name: 'Some', family_name: 'Body' };
  await flow([{ authenticatorId: 'username-password', requirement: 'REQUIRED' }]);
  const steps = await same(['new2', 'ada', 'unconfirmed', 'disabled'], async (name) => {
    const email = address(name);
    const { person: who, page } = await comeBy(server, realm, upstream, { person: person() });
    const asked = await seen(email, () => who.fill(page, { email }));
    const wrong = await seen(email, () => who.fill(asked.page, { code: '99999999' }));
    const more = await seen(email, () => who.fill(wrong.page, { code: '88888888' }));
    return [asked, wrong, more];
  });
  expect(steps.map(({ seen: { words } }) => words.includes('That code is not right.'))).toEqual([false, true, true]);
});

test('a link by mail is asked for, waited for and asked for again alike, whosever the name is', async () => {
  await flow([{ authenticatorId: 'magic-link', requirement: 'REQUIRED' }]);
  const steps = await same(
    ['nobody-at-all', 'ada', 'unconfirmed', 'disabled', 'bare', address('ada'), address('nobody')],
    async (username) => {
      const who = person();
      const page = await who.open(`/realms/${realm}/login`);
      const asked = await seen(username, () => who.fill(page, { username }));
      const waiting = await seen(username, () => who.open(`/realms/${realm}/login`));
      const early = await seen(username, () => who.fill(waiting.page, {}));
      clock += 31_000;
      const again = await seen(username, () => who.fill(waiting.page, {}));
      return [asked, waiting, early, again];
    },
  );
  expect(steps[0]?.seen).toMatchObject({ status: 200 });
  expect(steps[0]?.statements.filter((one) => one.startsWith('insert into message '))).toHaveLength(1);
});

test('a code for a new account is guessed and sent again alike, whether the address has an account or not', async () => {
  const steps = await same(['new', 'ada', 'unconfirmed', 'disabled'], async (name) => {
    const email = address(name);
    const who = person();
    const form = await who.open(`/realms/${realm}/register`);
    const page = await who.fill(form, { email, password: PASSWORD, repeated: PASSWORD });
    const wrong = await seen(email, () => who.fill(page, { code: '99999999' }));
    clock += 31_000;
    const again = await seen(email, () => who.fill(wrong.page, { resend: '1', code: '' }));
    const other = await seen(email, () => who.fill(again.page, { code: '88888888' }));
    return [wrong, again, other];
  });
  expect(steps[0]?.seen.words).toContain('That code is not right.');
});

test('one’s own address is changed alike to one that another has and to one that nobody has', async () => {
  await flow([{ authenticatorId: 'username-password', requirement: 'REQUIRED' }]);
  const me = await account.bySession('me');
  const ask = async (method: string, body: object) => {
    const { result, ...cost } = await work.of(() => me(method, 'email', body));
    const { ticket = '', expiresAt, ...rest } = Object(result.body) as Record<string, string>;
    const headers = headersSeen(result.headers);
    return { ticket, seen: { status: result.status, rest, length: ticket.length, headers }, ...cost };
  };
  // As long as each other, as the sealed ticket holds the address.
  for (const names of [
    ['eve', 'ada'],
    ['nobodyknows', 'unconfirmed'],
    ['nobodyis', 'disabled'],
  ])
    await same(names, async (name) => {
      // Not one right after the other.
      clock += 31_000;
      const { ticket, ...asked } = await ask('POST', { email: address(name) });
      const { ticket: _, ...wrong } = await ask('PUT', { ticket, code: '99999999' });
      expect([asked.seen.status, wrong.seen.status]).toEqual([202, 400]);
      return [asked, wrong];
    });
});

test('a passkey that is nobody’s is asked for and refused as somebody’s is that doesn’t prove itself', async () => {
  await flow([{ authenticatorId: 'username-password', requirement: 'REQUIRED' }]);
  const me = await account.bySession('me');
  const origin = new URL(server.baseUrl).origin;
  const { ticket, publicKey } = Object((await me('POST', 'credentials/webauthn/start')).body);
  const made = createSoftPasskey(origin).create(publicKey);
  expect((await me('POST', 'credentials/webauthn', { ticket, response: made })).status).toBe(201);
  await flow([{ authenticatorId: 'webauthn', requirement: 'REQUIRED' }]);
  const options = ({ text }: ShownPage) => JSON.parse(decode(/data-passkey="([^"]*)"/.exec(text)?.[1] ?? '{}'));
  const steps = await same(['nobody’s', 'somebody’s'], async (name) => {
    const who = person();
    const opened = await seen(name, () => who.open(`/realms/${realm}/login`));
    expect(options(opened.page).allowCredentials).toEqual([]);
    const stranger = createSoftPasskey(origin);
    const signed = stranger.get(options(opened.page), publicKey.user.id);
    const claimed = name === 'somebody’s' ? { ...signed, id: made.id, rawId: made.rawId } : signed;
    return [opened, await seen(claimed.id, () => who.fill(opened.page, { passkey: JSON.stringify(claimed) }))];
  });
  expect(steps[1]?.seen.words).toContain('This passkey can’t be used here');
});

test('administrators’ sign-in answers alike, and computes one hash, whosever the name is', async () => {
  await flow([{ authenticatorId: 'username-password', requirement: 'REQUIRED' }]);
  await same(['nobody', 'ada', 'disabled', 'bare', address('ada')], async (username) => {
    network += 1;
    const { result, ...cost } = await work.of(() =>
      fetch(`${server.baseUrl}/admin/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': `203.0.113.${network}` },
        body: JSON.stringify({ realm, username, password: 'not the right one' }),
      }),
    );
    expect(cost.hashes).toBe(1);
    return [
      { seen: { status: result.status, text: await result.text(), headers: headersSeen(result.headers) }, ...cost },
    ];
  });
});

test('a link of an invitation that is used up, and one that never was, lead to one page', async () => {
  const body = { email: address('guest'), mail: false };
  const link = (await server.admin.call(createInvitation, { params: { realm }, body })).body?.link ?? '';
  const token = new URL(link).searchParams.get('token') ?? '';
  const at = `/realms/${realm}/login/invitation`;
  const who = person();
  const page = await who.open(`${at}?token=${token}`);
  expect(page.status).toBe(200);
  const joined = await who.post(`${at}/register`, { token, password: PASSWORD, repeated: PASSWORD, username: 'guest' });
  expect(joined.status).toBe(200);
  await same([`${token.slice(0, -2)}AA`, token], async (sent) => [
    await seen(sent, () => person().open(`${at}?token=${sent}`)),
    await seen(sent, () => person().post(`${at}/register`, { token: sent, password: PASSWORD, repeated: PASSWORD })),
  ]);
});

test('a device learns as little of another person’s push, and of a stranger’s QR code, as of one that never was', async () => {
  const create = async (username: string) =>
    (await server.admin.call(createUser, { params: { realm }, body: { username, password: PASSWORD } })).body?.id ?? '';
  const clockOf = () => Math.floor((Date.now() + clock) / 1000);
  const [victim, curious] = [await create('victim'), await create('curious')];
  const theirs = await deviceFor(server, realm, victim, { clock: clockOf });
  const mine = await deviceFor(server, realm, curious, { clock: clockOf });
  await flow([
    { authenticatorId: 'username-password', requirement: 'REQUIRED' },
    { authenticatorId: 'push', requirement: 'REQUIRED' },
  ]);
  const who = person();
  await who.fill(await who.open(`/realms/${realm}/login`), { username: 'victim', password: PASSWORD });
  const [push] = (await theirs.waiting()).body;
  expect((await theirs.read(push.id)).status).toBe(200);

  const asked = async (...of: Parameters<typeof mine.ask>) => {
    const { result, ...cost } = await work.of(() => mine.ask(...of));
    const { instance, ...body } = result.body;
    return { seen: { status: result.status, body }, ...cost };
  };
  const steps = await same([randomUUID(), push.id], async (id) => [
    await asked('GET', `/push/${id}`),
    await asked('POST', `/push/${id}/approve`, { challenge: push.challenge, number: '11' }),
    await asked('POST', `/push/${id}/deny`, { challenge: push.challenge }),
    await asked('GET', `/qr/${id}?code=AAAA`),
    await asked('POST', `/qr/${id}/confirm?code=AAAA`, { challenge: push.challenge }),
  ]);
  expect(steps.map(({ seen: { status } }) => status)).toEqual([404, 404, 404, 404, 404]);
  expect((await theirs.read(push.id)).status).toBe(200);

  // Nor whether a device is one: another's is claimed by whoever doesn't hold its key.
  const at = `${server.baseUrl}/realms/${realm}/push`;
  await same([randomUUID(), theirs.id()], async (kid) => {
    const authorization = `Device ${await mine.sign({ aud: at }, { kid })}`;
    const { result, ...cost } = await work.of(() => fetch(at, { headers: { authorization } }));
    expect(result.status).toBe(401);
    return [{ seen: { text: await result.text(), headers: headersSeen(result.headers) }, ...cost }];
  });
});
