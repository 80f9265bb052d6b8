// Owns: browsers that are remembered as a person's where the realm asks first, and those that they forget.
// Does not own: what a known browser is good for (flow-conditions.test.ts, sign-in.test.ts), the notice of a new one (new-device.test.ts).
// Implements: specification 1 "Adaptive authentication"; decisions "Session".
import { expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
const BOX = 'This is my own device';
let server: TestServer;
let realm = '';
const start = (options: { now: () => Date }) => startTestServer({ ...options, jobs: false });
const { later } = freshRealms('browsers', start, async (started, fresh) => {
  server = started;
  realm = fresh;
  await makePeopledRealm(server, realm, []);
  await put({ riskPolicyEnabled: true, riskMediumThreshold: 30, riskHighThreshold: 100, deviceRemembering: 'ask' });
  await put({ riskMediumAction: 'deny' });
  await server.admin.call(createUser, { params: { realm }, body: { username: 'alice', password: PASSWORD } });
});

const put = (body: object) => server.admin.call(putSettings, { params: { realm }, body });
const browser = () => createPerson(server.baseUrl, { 'user-agent': CHROME });
const open = (who: Person) => who.open(`/realms/${realm}/login`);
const send = (who: Person, page: ShownPage, more: object = {}, username = 'alice') =>
  who.fill(page, { username, password: PASSWORD, ...more });
const signIn = async (who: Person, more: object = {}) => send(who, await open(who), more);
const remembers = (who: Person) => [...who.jar.keys()].some((name) => name.includes('DEVICE'));
const account = (who: Person, at = '') =>
  who.once(`/realms/${realm}/account/${at}`, { headers: { accept: 'application/json' } });
const known = async (who: Person) =>
  (await (await account(who, 'browsers')).json()) as { id: string; userAgent: string }[];
async function forget(who: Person, id: string): Promise<number> {
  const token = (await account(who, 'browsers')).headers.get('x-xsrf-token') ?? '';
  return (
    await who.once(`/realms/${realm}/account/browsers/${id}`, { method: 'DELETE', headers: { 'x-xsrf-token': token } })
  ).status;
}

test('a browser is remembered where its person ticks the box, and not asked about again', async () => {
  const mine = browser();
  const page = await open(mine);
  expect(page.text).toContain(BOX);
  expect((await send(mine, page, { device: 'on' })).url).toContain('/account');
  expect(remembers(mine)).toBe(true);
  expect(await known(mine)).toMatchObject([{ userAgent: CHROME }]);
  expect((await mine.open(`/realms/${realm}/account?view=devices`)).text).toContain('Known browser');
  mine.jar.delete([...mine.jar.keys()].find((name) => name.includes('SESSION')) ?? '');
  const again = await open(mine);
  expect(again.text).not.toContain(BOX);
  expect((await send(mine, again)).url).toContain('/account');
  expect((await signIn(browser())).heading).toBe('This sign-in was refused');
});

test('without the tick no cookie is set, and nothing is kept of the browser', async () => {
  const other = browser();
  expect((await signIn(other)).url).toContain('/account');
  expect(remembers(other)).toBe(false);
  expect(await known(other)).toEqual([]);
  expect((await other.open(`/realms/${realm}/account?view=devices`)).text).not.toContain('Known browser');
});

test('the tick outlives a wrong password, and can be taken back', async () => {
  const who = browser();
  const wrong = await signIn(who, { device: 'on', password: 'wrong umbrellas' });
  expect(wrong.text).toMatch(/name="device" value="on" checked/);
  expect((await send(who, wrong)).url).toContain('/account');
  expect(remembers(who)).toBe(false);
});

test('a realm that does not ask shows no box, nor does one in which nothing looks at browsers', async () => {
  await put({ deviceRemembering: 'always' });
  const who = browser();
  expect((await open(who)).text).not.toContain(BOX);
  await signIn(who);
  expect(remembers(who)).toBe(true);
  await put({ deviceRemembering: 'ask', riskPolicyEnabled: false });
  expect((await open(browser())).text).not.toContain(BOX);
});

test('a browser that its person forgets is new to them, and each sees and forgets their own alone', async () => {
  const mine = browser();
  await signIn(mine, { device: 'on' });
  const [{ id } = { id: '' }] = await known(mine);
  await server.admin.call(createUser, { params: { realm }, body: { username: 'eve', password: PASSWORD } });
  const eve = browser();
  await send(eve, await open(eve), {}, 'eve');
  expect(await known(eve)).toEqual([]);
  expect(await forget(eve, id)).toBe(404);
  expect(await forget(mine, 'f'.repeat(64))).toBe(404);
  expect(await forget(mine, 'none')).toBe(400);
  expect(await forget(mine, id)).toBe(204);
  expect(await known(mine)).toEqual([]);
  const { body } = await server.admin.call(listEvents, { params: { realm }, query: { type: 'BROWSER_FORGOTTEN' } });
  expect(body).toMatchObject([{ actor: { name: 'alice' }, subject: { name: 'alice' } }]);
});

test('the account page forgets a browser by its button, and a second click is harmless', async () => {
  const mine = browser();
  await signIn(mine, { device: 'on' });
  const page = await mine.open(`/realms/${realm}/account?view=devices`);
  expect(page.text).toContain('<strong>Chrome on Linux</strong>');
  const [, action = ''] = /action="([^"]*\/browsers\/[^"]*)"/.exec(page.text) ?? [];
  const form = { csrf: page.fields.csrf ?? '' };
  expect((await mine.post(action, { csrf: 'forged' })).status).toBe(403);
  expect(await known(mine)).toHaveLength(1);
  expect((await mine.post(action, form)).text).toContain('The browser has been forgotten');
  expect((await mine.post(action, form)).status).toBe(200);
  expect(await known(mine)).toEqual([]);
});

test('a browser is forgotten by who has signed in a moment ago, by the API and on the page', async () => {
  const mine = browser();
  await signIn(mine, { device: 'on' });
  const page = await mine.open(`/realms/${realm}/account?view=devices`);
  const [{ id } = { id: '' }] = await known(mine);
  later(301_000);
  expect(await forget(mine, id)).toBe(401);
  const [, action = ''] = /action="([^"]*\/browsers\/[^"]*)"/.exec(page.text) ?? [];
  const proof = await mine.post(action, { csrf: page.fields.csrf ?? '' });
  expect([proof.heading, await known(mine)]).toMatchObject(['Sign in', [{ id }]]);
  const back = await mine.fill(proof, { password: PASSWORD });
  expect(back.url).toContain('/account?view=devices');
  const forgotten = await mine.post(action, { csrf: back.fields.csrf ?? '' });
  expect(forgotten.text).toContain('The browser has been forgotten');
  const { text: activity } = await mine.open(`/realms/${realm}/account?view=activity`);
  expect(activity).toContain('A known browser was forgotten');
  expect(await known(mine)).toEqual([]);
});

test('what a person downloads of themselves names the browsers that are known', async () => {
  const mine = browser();
  await signIn(mine, { device: 'on' });
  const text = await (await account(mine, 'gdpr/export')).text();
  expect(text).toContain('KNOWN_BROWSER');
});
