// Owns: what a report takes back of where a person is reached: whoever changed it, and however short the audit log is kept.
// Does not own: the rest of a report (new-device.test.ts), what is agreed to since (new-device.agreed.test.ts).
// Implements: decisions "New devices".
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { createUser, getUser, listUsers, putUser } from '../../../server/contract/users.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { createSeal } from '../../../server/crypto/seal.ts';
import { createTransact } from '../../../server/db/transact.ts';
import { createOutbox } from '../../../server/events/outbox.ts';
import { keepChanges } from '../../../server/features/authentication/new-device/store.ts';
import { sweepEvents } from '../../../server/jobs/janitor.ts';
import { createAccountCaller } from '../../support/account-api.ts';
import { CALLBACK, makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { comeBy, makeProvider, oidcOf } from '../../support/brokering.ts';
import { makeClient } from '../../support/clients.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { codeIn, linkIn, type MailingServer, startMailingServer } from '../../support/mail.ts';
import { createPerson, type Person } from '../../support/person.ts';
import { MASTER_KEY } from '../../support/server.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream?.stop());
let site: MailingServer;
let realm = '';
let userId = '';
const start = ({ now }: { now: () => Date }) => startMailingServer({ now, caFiles: [upstream.caFile] });
const { later, seconds } = freshRealms('reach', start, async (started, fresh) => {
  site = started;
  realm = fresh;
  await makePeopledRealm(site.server, realm, []);
  const app = { clientId: 'manager', tokenEndpointAuthMethod: 'none' as const, redirectUris: [CALLBACK] };
  await makeClient(site.server, realm, { ...app, optionalClientScopes: ['account'] });
  const user = { username: 'ada', password: PASSWORD, email: address(), emailVerified: true };
  userId = (await call(createUser, { params: { realm }, body: user })).body?.id ?? '';
  await site.sendsMail(realm);
});

const address = (name = 'ada') => `${name}@${realm}.example`;
const call: typeof site.server.admin.call = (route, input) => site.server.admin.call(route, input);
const browser = () => createPerson(site.server.baseUrl);
const signIn = async (who: Person) =>
  who.fill(await who.open(`/realms/${realm}/login`), { username: 'ada', password: PASSWORD });
const link = async (to = address()) => linkIn(await site.mailTo(to, 'have not seen before'));
async function report(at: string): Promise<void> {
  const home = browser();
  expect((await home.fill(await home.open(at), {})).heading).toBe('Everybody is signed out');
}
async function stranger(): Promise<Person> {
  await signIn(browser());
  later(60_000);
  const thief = browser();
  await signIn(thief);
  return thief;
}
/** By whoever is signed in. */
async function changeAddress(who: Person, email: string): Promise<void> {
  const account = await createAccountCaller(site.server, realm).bySession('ada', who);
  const { ticket } = Object((await account('POST', 'email', { email })).body);
  const code = codeIn(await site.mailTo(email, 'enter this code'));
  expect((await account('PUT', 'email', { ticket, code })).status).toBe(204);
}
const changes = async () =>
  (await call(listEvents, { params: { realm }, query: { type: 'USER_UPDATED' } })).body?.length ?? 0;
/** The janitor's work, as it would be in three days on a server that keeps events for one. */
async function forgetEvents(): Promise<void> {
  const { pool } = site.server;
  const outbox = createOutbox({ now: () => new Date(), newId, consumers: [], enqueue: async () => {} });
  const transact = createTransact({ pool, outbox, committed: () => {}, strict: true });
  const at = new Date(seconds() * 1000 + 3 * 86_400_000);
  await expect
    .poll(async () => {
      await sweepEvents({ transact, seal: createSeal([MASTER_KEY]), keep: keepChanges }, at, { eventRetentionDays: 1 });
      return changes();
    })
    .toBe(0);
}
const ada = async () => (await call(getUser, { params: { realm, userId } })).body;

test('an address that a stranger set is not confirmed after the report, though the audit log has forgotten it', async () => {
  const thief = await stranger();
  const at = await link();
  await changeAddress(thief, address('thief'));
  await forgetEvents();
  await report(at);
  expect(await ada()).toMatchObject({ email: address('thief'), emailVerified: false });
});

test('nothing is kept with the link of what was before the sign-in, nor of what an administrator set since', async () => {
  const home = browser();
  await signIn(home);
  await changeAddress(home, address('mine'));
  later(60_000);
  await signIn(browser());
  const at = await link(address('mine'));
  await call(putUser, { params: { realm, userId }, body: { email: address('set'), emailVerified: true } });
  await forgetEvents();
  await report(at);
  expect(await ada()).toMatchObject({ email: address('set'), emailVerified: true });
});

test('what a provider said of the address at the stranger’s sign-in is not confirmed, and told at the former address', async () => {
  const mappers = [{ name: 'mail', claim: 'email', to: 'property' as const, target: 'email' }];
  await makeProvider(site.server, realm, oidcOf(upstream, { mappers, syncMode: 'always' }));
  upstream.reset();
  upstream.claims = { preferred_username: 'grace', email: address('grace'), email_verified: true };
  await comeBy(site.server, realm, upstream);
  const people = (await call(listUsers, { params: { realm } })).body ?? [];
  userId = people.find(({ email }) => email === address('grace'))?.id ?? '';
  expect(await ada()).toMatchObject({ emailVerified: true });
  later(60_000);
  upstream.claims = { ...upstream.claims, email: address('thief') };
  await comeBy(site.server, realm, upstream);
  expect(await ada()).toMatchObject({ email: address('thief'), emailVerified: true });
  await report(await link(address('grace')));
  expect(await ada()).toMatchObject({ email: address('thief'), emailVerified: false });
});
