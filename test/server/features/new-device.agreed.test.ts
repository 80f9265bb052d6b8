// Owns: what a report takes back of what was agreed to and let act in the person's name.
// Does not own: the rest of a report (new-device.test.ts), withdrawing single consents (consent.withdrawn.test.ts).
// Implements: decisions "New devices".
import { expect, test } from 'vitest';
import { activateAgent, createAgent, listAgents } from '../../../server/contract/agents.ts';
import { createClientScope } from '../../../server/contract/client-scopes.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { listUserConsents } from '../../../server/contract/gdpr.ts';
import { createUser } from '../../../server/contract/users.ts';
import { createAccountCaller } from '../../support/account-api.ts';
import {
  authorizePath,
  CALLBACK,
  getCode,
  makePeopledRealm,
  newVerifier,
  PASSWORD,
  redeem,
} from '../../support/applications.ts';
import { makeClient } from '../../support/clients.ts';
import { deviceFor } from '../../support/devices.ts';
import { freshRealms } from '../../support/fresh-realms.ts';
import { linkIn, type MailingServer, startMailingServer } from '../../support/mail.ts';
import { createPerson, type Person } from '../../support/person.ts';

let site: MailingServer;
let realm = '';
let userId = '';
const { later, seconds } = freshRealms('agreed', startMailingServer, async (started, fresh) => {
  site = started;
  realm = fresh;
  await makePeopledRealm(site.server, realm, ['bob']);
  const app = { tokenEndpointAuthMethod: 'none' as const, redirectUris: [CALLBACK] };
  await makeClient(site.server, realm, { ...app, clientId: 'manager', optionalClientScopes: ['account'] });
  for (const clientId of ['before', 'widened', 'since'])
    await makeClient(site.server, realm, { ...app, clientId, consentRequired: true, optionalClientScopes: ['phone'] });
  const user = { username: 'ada', password: PASSWORD, email: `ada@${realm}.example`, emailVerified: true };
  userId = (await call(createUser, { params: { realm }, body: user })).body?.id ?? '';
  await site.sendsMail(realm);
});

const call: typeof site.server.admin.call = (route, input) => site.server.admin.call(route, input);
const browser = () => createPerson(site.server.baseUrl);
async function agree(who: Person, clientId: string, scope = 'openid'): Promise<void> {
  const page = await who.open(authorizePath(realm, clientId, newVerifier(), { scope }));
  const asked = page.heading === 'Sign in' ? await who.fill(page, { username: 'ada', password: PASSWORD }) : page;
  expect(asked.heading).toBe('Allow access?');
  const done = await who.post(`/realms/${realm}/oauth2/consent`, { ...asked.fields, decision: 'allow' });
  expect(done.url.startsWith(CALLBACK)).toBe(true);
}
async function agent(name: string, { active = true, owner = 'ada' } = {}): Promise<string> {
  const body = { name, owner, reviewIntervalDays: 30 };
  const id = (await call(createAgent, { params: { realm }, body })).body?.id ?? '';
  if (active) await call(activateAgent, { params: { realm, id } });
  return id;
}
async function report(): Promise<void> {
  const home = browser();
  const link = linkIn(await site.mailTo(`ada@${realm}.example`, 'have not seen before'));
  const page = await home.open(link);
  expect(page.text).toContain('Access that applications were given since then is taken back');
  expect((await home.fill(page, {})).heading).toBe('Choose a new password');
}
const told = async (type: 'CONSENT_REVOKED' | 'AGENT_SUSPENDED') =>
  ((await call(listEvents, { params: { realm }, query: { type } })).body ?? [])
    .map(({ clientId, subject, data }) => [type === 'CONSENT_REVOKED' ? clientId : subject?.name, data.reason])
    .sort();

test('a report takes back what applications were allowed since the sign-in, and leaves what they had before', async () => {
  const home = browser();
  await agree(home, 'before');
  await agree(home, 'widened');
  later(60_000);
  const thief = browser();
  await agree(thief, 'since');
  await agree(thief, 'widened', 'openid phone');
  await report();
  const left = (await call(listUserConsents, { params: { realm, userId } })).body ?? [];
  expect(left.map(({ clientId }) => clientId)).toEqual(['before']);
  expect(await told('CONSENT_REVOKED')).toEqual([
    ['since', 'reported'],
    ['widened', 'reported'],
  ]);
  const again = await home.open(authorizePath(realm, 'widened', newVerifier()));
  expect(again.heading).toBe('Sign in');
});

test('a report stops the person’s agents that were made, let act or confirmed since the sign-in, and no others', async () => {
  const account = createAccountCaller(site.server, realm);
  await agent('old');
  const confirmed = await agent('confirmed');
  const draft = await agent('draft', { active: false });
  const others = await agent('others', { owner: 'bob', active: false });
  await account.bySession('ada', browser());
  later(60_000);
  const thief = await account.bySession('ada', browser());
  expect((await thief('POST', `agents/${confirmed}/review`)).status).toBe(204);
  for (const id of [draft, others]) await call(activateAgent, { params: { realm, id } });
  await agent('new');
  await report();
  const all = (await call(listAgents, { params: { realm } })).body ?? [];
  expect(Object.fromEntries(all.map(({ name, status }) => [name, status]))).toEqual({
    old: 'active',
    others: 'active',
    confirmed: 'suspended',
    draft: 'suspended',
    new: 'suspended',
  });
  expect(await told('AGENT_SUSPENDED')).toEqual([
    ['confirmed', 'reported'],
    ['draft', 'reported'],
    ['new', 'reported'],
  ]);
});

test('a report makes void what waits for the person’s signature', async () => {
  await call(createClientScope, { params: { realm }, body: { name: 'transactions' } });
  const bank = { clientId: 'bank', tokenEndpointAuthMethod: 'none' as const, redirectUris: [CALLBACK] };
  await makeClient(site.server, realm, { ...bank, optionalClientScopes: ['transactions'] });
  await agree(browser(), 'before');
  later(60_000);
  await agree(browser(), 'since');
  const parameters = { scope: 'openid transactions' };
  const grant = await getCode(site.server, realm, 'bank', { username: 'ada', parameters });
  const { access_token: token } = (await redeem(site.server, realm, 'bank', grant)).body;
  const device = await deviceFor(site.server, realm, userId, { clock: seconds });
  const made = await fetch(`${site.server.baseUrl}/realms/${realm}/tx`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'Pay 12.50 EUR' }),
  });
  const { id } = Object(await made.json());
  expect((await device.ask('GET', '/tx')).body).toMatchObject([{ id }]);
  await report();
  const { body: events = [] } = await call(listEvents, { params: { realm }, query: { type: 'TRANSACTION_VOID' } });
  expect(events.map(({ clientId, data }) => [clientId, data])).toEqual([
    ['bank', { transaction: id, reason: 'reported' }],
  ]);
});
