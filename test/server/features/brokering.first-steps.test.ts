// Owns: the steps of a first sign-in by a provider as a flow declares them: left out, in another order, asked of everybody; what is refused.
// Does not own: the usual steps (brokering.first.test.ts), how providers speak (brokering.test.ts).
// Implements: decisions "Identity provider"; docs/brokering.md "The first sign-in".
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { createFlow, type ExecutionDocument, putFlow } from '../../../server/contract/flows.ts';
import { listIdentityLinks } from '../../../server/contract/identity-links.ts';
import { putIdentityProvider } from '../../../server/contract/identity-providers.ts';
import { getRealmHealth } from '../../../server/contract/realms.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { exportRealm, importRealm } from '../../../server/contract/transfer.ts';
import { createUser, listUsers } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { type Brokered, comeBy, makeProvider, oidcOf, startBrokered } from '../../support/brokering.ts';
import { codeIn, type MailingServer } from '../../support/mail.ts';
import { createPerson } from '../../support/person.ts';
import type { TestServer } from '../../support/server.ts';
import type { Upstream } from '../../support/upstream.ts';

let brokered: Brokered;
let mailing: MailingServer;
let server: TestServer;
let upstream: Upstream;
let realm = '';
beforeAll(async () => {
  brokered = await startBrokered();
  ({ mailing, server, upstream } = brokered);
});
afterAll(() => brokered?.stop());
const ADDRESS = 'ada@corp.example';
beforeEach(async () => {
  realm = brokered.another('steps');
  upstream.claims = {
    email: ADDRESS,
    email_verified: true,
    preferred_username: 'ada',
    given_name: 'Ada',
    family_name: 'Low',
  };
  await makePeopledRealm(server, realm, []);
  await makeProvider(server, realm, oidcOf(upstream));
  await server.admin.call(createFlow, { params: { realm }, body: { alias: FLOW } });
});

const FLOW = 'first';
type Step = ExecutionDocument;
const required = (authenticatorId: string, config?: Record<string, unknown>): Step => ({
  authenticatorId,
  requirement: 'REQUIRED',
  ...(config && { config }),
});
const either = (...ids: string[]): Step => ({
  requirement: 'REQUIRED',
  executions: ids.map((authenticatorId) => ({ authenticatorId, requirement: 'ALTERNATIVE' as const })),
});
const save = (...executions: Step[]) =>
  server.admin.call(putFlow, { params: { realm, alias: FLOW }, body: { executions } });
async function steps(...executions: Step[]): Promise<void> {
  await save(...executions);
  await server.admin.call(putIdentityProvider, { params: { realm, alias: 'corp' }, body: { firstLoginFlow: FLOW } });
}
const people = async () => (await server.admin.call(listUsers, { params: { realm } })).body ?? [];
const linksOf = async (userId: string) =>
  (await server.admin.call(listIdentityLinks, { params: { realm, userId } })).body ?? [];
const isHome = ({ url }: { url: string }) => new URL(url).pathname === `/realms/${realm}/account`;
const bob = async () => {
  const body = { username: 'bob', email: ADDRESS, emailVerified: true, password: PASSWORD };
  return (await server.admin.call(createUser, { params: { realm }, body })).body?.id ?? '';
};
const reason = async () => {
  const query = { type: 'LOGIN_FAILURE', limit: 1 } as const;
  return (await server.admin.call(listEvents, { params: { realm }, query })).body?.[0]?.data.reason;
};
const come = () => comeBy(server, realm, upstream);

describe('a flow without', () => {
  test('create-account makes nobody an account, and connects those who have one', async () => {
    await steps(required('review-profile'), either('link-password', 'link-email'));
    const { page } = await come();
    expect(page.text).toContain('Only administrators create accounts here');
    expect([await people(), await reason()]).toEqual([[], 'provider-no-account']);
    const id = await bob();
    const known = await come();
    expect(isHome(await known.person.fill(known.page, { password: PASSWORD }))).toBe(true);
    expect(await linksOf(id)).toHaveLength(1);
  });

  test('steps that connect makes accounts alone: who has the address is left alone', async () => {
    await steps(required('review-profile'), required('confirm-email'), required('create-account'));
    expect(isHome((await come()).page)).toBe(true);
    const id = (await people())[0]?.id ?? '';
    upstream.claims = { ...upstream.claims, sub: 'subject-2' };
    upstream.userinfo = { sub: 'subject-2' };
    const { page } = await come();
    expect(page.text).toContain('There is an account with your address here already');
    expect([await linksOf(id).then((links) => links.length), (await people()).length]).toEqual([1, 1]);
  });

  test('link-email offers no code, and sends none to who asks for it by hand', async () => {
    await mailing.sendsMail(realm);
    await steps(either('create-account', 'link-password'));
    const id = await bob();
    const { person, page } = await come();
    expect(page.text).toContain('name="password"');
    expect(page.text).not.toContain('name="mail"');
    await person.fill(page, { mail: '1' });
    expect(await linksOf(id)).toEqual([]);
    expect(mailing.mails).toEqual([]);
  });

  test('link-password asks for a code alone, and takes no password by hand', async () => {
    await mailing.sendsMail(realm);
    await steps(either('create-account', 'link-email'));
    const id = await bob();
    const { person, page } = await come();
    expect(page.text).not.toContain('name="password"');
    const asked = await person.fill(page, { password: PASSWORD });
    expect([isHome(asked), await linksOf(id)]).toEqual([false, []]);
    const again = await person.fill(asked, { password: PASSWORD, code: '' });
    expect([isHome(again), await linksOf(id)]).toEqual([false, []]);
    const code = codeIn(await mailing.mailTo(ADDRESS, 'code'));
    expect(isHome(await person.fill(again, { code }))).toBe(true);
    expect(await linksOf(id)).toHaveLength(1);
  });

  test('review-profile asks nothing, and makes no account of which something is lacking', async () => {
    await steps(required('create-account'));
    upstream.claims = { ...upstream.claims, email: 'no address' };
    const { page } = await come();
    expect(page.text).toContain('An account with this name or address');
    expect([await people(), await reason()]).toEqual([[], 'provider-profile']);
  });

  test('confirm-email leaves no address unconfirmed in a realm that confirms them, and tells nobody whose it is', async () => {
    await mailing.sendsMail(realm);
    await steps(either('create-account', 'link-password'));
    upstream.claims = { ...upstream.claims, email_verified: false };
    for (const has of [false, true]) {
      if (has) await bob();
      const { page } = await come();
      expect(page.heading).toBe('Confirm your e-mail address');
    }
    expect((await people()).map(({ username }) => username)).toEqual(['bob']);
  });
});

describe('a flow that asks', () => {
  test('always for the profile does so where nothing is lacking, and takes what is said', async () => {
    await steps(required('review-profile', { ask: 'always' }), either('create-account', 'link-password'));
    const { person, page } = await come();
    expect(page.heading).toBe('Complete your account');
    expect(isHome(await person.fill(page, { firstName: 'Augusta' }))).toBe(true);
    expect(await people()).toMatchObject([{ username: ADDRESS, firstName: 'Augusta', emailVerified: true }]);
  });

  test('always for the address does so where the provider has confirmed it', async () => {
    await mailing.sendsMail(realm);
    await steps(required('confirm-email', { ask: 'always' }), either('create-account', 'link-email'));
    const { person, page } = await come();
    expect(page.heading).toBe('Confirm your e-mail address');
    expect(await people()).toEqual([]);
    const code = codeIn(await mailing.mailTo(ADDRESS, 'code'));
    expect(isHome(await person.fill(page, { code }))).toBe(true);
  });

  test('for the address before the profile has it in that order, and anew where another one is said', async () => {
    await mailing.sendsMail(realm);
    await steps(required('confirm-email'), required('review-profile', { ask: 'always' }), required('create-account'));
    upstream.claims = { ...upstream.claims, email_verified: false };
    const { person, page } = await come();
    expect(page.heading).toBe('Confirm your e-mail address');
    const review = await person.fill(page, { code: codeIn(await mailing.mailTo(ADDRESS, 'code')) });
    expect(review.heading).toBe('Complete your account');
    const other = 'countess@corp.example';
    const confirm = await person.fill(review, { email: other });
    expect([confirm.heading, await people()]).toEqual(['Confirm your e-mail address', []]);
    expect(isHome(await person.fill(confirm, { code: codeIn(await mailing.mailTo(other, 'code')) }))).toBe(true);
    expect(await people()).toMatchObject([{ email: other, emailVerified: true }]);
  });

  test('a second factor behind it has the account first', async () => {
    await steps(required('create-account'), required('idp-redirect'), required('otp'));
    expect((await come()).page.heading).toBe('Set up a second factor');
    expect(await people()).toHaveLength(1);
  });
});

test.each<[string, Step[]]>([
  ['connects by password', [required('link-password')]],
  ['connects by mail', [required('link-email')]],
  ['makes or connects', [either('create-account', 'link-email', 'link-password')]],
  ['makes alone', [required('create-account')]],
  ['asks for everything', [required('review-profile', { ask: 'always' }), either('link-password', 'create-account')]],
])('an equal address, confirmed by the provider, connects nobody by a flow that %s', async (_, executions) => {
  await mailing.sendsMail(realm);
  await steps(...executions);
  const id = await bob();
  const { person, page } = await come();
  expect(isHome(page)).toBe(false);
  expect(isHome(await person.open(`/realms/${realm}/account`))).toBe(false);
  expect([await linksOf(id), (await people()).length]).toEqual([[], 1]);
});

test.each<[string, Step[], string]>([
  ['gives nobody an account', [required('review-profile')], 'executions[0].requirement'],
  ['makes and connects one', [required('create-account'), required('link-password')], 'executions[1].requirement'],
  ['asks behind the account', [required('create-account'), required('review-profile')], 'executions[1].requirement'],
  [
    'lets people choose not to have one',
    [either('review-profile', 'create-account')],
    'executions[0].executions[0].requirement',
  ],
  [
    'has a step under a condition',
    [{ requirement: 'CONDITIONAL', executions: [required('create-account')] }],
    'executions[0].requirement',
  ],
  [
    'mixes a method among the steps',
    [either('create-account', 'username-password')],
    'executions[0].executions[1].parentId',
  ],
  [
    'has other steps beside a choice',
    [{ authenticatorId: 'create-account', requirement: 'ALTERNATIVE' }, required('idp-redirect')],
    'executions[0].requirement',
  ],
  [
    'can’t be read',
    [required('confirm-email', { ask: 'never' }), required('create-account')],
    'executions[0].config.ask',
  ],
])('a flow that %s is refused, naming the step', async (_, executions, path) => {
  await expect(save(...executions)).rejects.toMatchObject({ status: 400, problem: { errors: [{ path }] } });
  const body = { flows: [{ alias: 'other', executions }] };
  const imported = server.admin.call(importRealm, { params: { realm }, body });
  await expect(imported).rejects.toMatchObject({ status: 400, problem: { errors: [{ path: `flows[0].${path}` }] } });
});

test('a flow of nothing else signs nobody in who comes another way, and the realm’s health says so', async () => {
  await steps(required('create-account'));
  await server.admin.call(putSettings, { params: { realm }, body: { browserFlow: FLOW } });
  const { body } = await server.admin.call(getRealmHealth, { params: { realm } });
  expect(body?.components.browserFlow).toMatchObject({ status: 'DOWN', details: { alias: FLOW, methods: 0 } });
  const page = await createPerson(server.baseUrl).open(`/realms/${realm}/login?for=account`);
  expect(page.text).not.toMatch(/name="password"|login\/provider/);
});

test('a realm document carries the steps there and back', async () => {
  const executions = [required('review-profile', { ask: 'always' }), either('create-account', 'link-email')];
  const flow = { alias: 'declared', executions };
  const corp = { alias: 'corp', type: 'oidc' as const, firstLoginFlow: 'declared' };
  const body = { flows: [flow], identityProviders: [corp] };
  await server.admin.call(importRealm, { params: { realm }, body });
  expect((await come()).page.heading).toBe('Complete your account');
  const { body: exported } = await server.admin.call(exportRealm, { params: { realm } });
  expect(exported?.flows?.find(({ alias }) => alias === 'declared')).toEqual(flow);
});
