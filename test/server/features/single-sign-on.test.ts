// Single sign-on and freshness: a session is enough where the flow and the realm, as they are now, are met by what it has
// passed, and an answer says of it what is true. Each test with a realm, and a clock that it moves.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClient, listClients, putClient } from '../../../server/contract/clients.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { createFlow, type ExecutionInput, putFlow } from '../../../server/contract/flows.ts';
import { putSettings, type SettingsInput } from '../../../server/contract/settings.ts';
import { listUsers, putUser } from '../../../server/contract/users.ts';
import {
  authorizePath,
  CALLBACK,
  getCode,
  makePeopledRealm,
  newVerifier,
  PASSWORD,
  redeem,
  refresh,
} from '../../support/applications.ts';
import { codeAt, secretOn } from '../../support/authenticator-app.ts';
import { claimsIn, makeClient } from '../../support/clients.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const alice = { username: 'alice', password: PASSWORD };
const bob = { username: 'bob', password: PASSWORD };
const SET_UP = 'Set up a second factor';
const CODE = 'Enter your code';
let server: TestServer;
let clock = Date.now();
let realm = '';
let made = 0;

beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(clock) });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  realm = `sso${made}`;
  await makePeopledRealm(server, realm, ['alice', 'bob']);
});

const later = (seconds: number) => {
  clock += seconds * 1000;
};
const seconds = () => Math.floor(clock / 1000);
const browser = (headers?: Record<string, string>) => createPerson(server.baseUrl, headers);
const settings = (body: SettingsInput) => server.admin.call(putSettings, { params: { realm }, body });
const events = async (type: string) =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type } })).body ?? [];

const password: ExecutionInput = { authenticatorId: 'username-password', requirement: 'REQUIRED' };
const otp: ExecutionInput = { authenticatorId: 'otp', requirement: 'REQUIRED' };
const behind = (...executions: ExecutionInput[]): ExecutionInput => ({ requirement: 'CONDITIONAL', executions });

/** A public application of that name, which has a flow of its own. */
async function application(clientId: string, executions: ExecutionInput[]): Promise<void> {
  await server.admin.call(createFlow, { params: { realm }, body: { alias: clientId } });
  await server.admin.call(putFlow, { params: { realm, alias: clientId }, body: { executions } });
  await makeClient(server, realm, {
    clientId,
    tokenEndpointAuthMethod: 'none',
    redirectUris: [CALLBACK],
    flowOverride: clientId,
  });
}

interface Asked {
  page: ShownPage;
  clientId: string;
  verifier: string;
}
async function ask(person: Person, parameters: Record<string, string> = {}, clientId = 'spa'): Promise<Asked> {
  const verifier = newVerifier();
  return { page: await person.open(authorizePath(realm, clientId, verifier, parameters)), clientId, verifier };
}
/** What the application is told: an error, or `acr`, `amr` and the seconds since `auth_time`. */
async function outcome({ clientId, verifier }: Asked, { url, heading }: ShownPage) {
  const { searchParams } = new URL(url);
  const code = searchParams.get('code');
  if (code === null) return searchParams.get('error') ?? heading;
  const { body } = await redeem(server, realm, clientId, { code, verifier });
  const { acr, amr, auth_time } = claimsIn(body.id_token);
  return { acr, amr, age: seconds() - Number(auth_time) };
}
const answer = async (person: Person, parameters: Record<string, string> = {}, clientId = 'spa') => {
  const asked = await ask(person, parameters, clientId);
  return outcome(asked, asked.page);
};
const byPassword = async (person = browser(), who = alice): Promise<Person> => {
  await person.fill((await ask(person)).page, who);
  return person;
};

/** Where codes come from, each a new one. */
const app = (secret: string) => () => {
  later(30);
  return codeAt(secret, clock);
};
/** Somebody with a password and, raised by it, a second factor. */
async function byBoth(person = browser(), who = alice) {
  await byPassword(person, who);
  const { page } = await ask(person, { acr_values: '2' });
  const secret = secretOn(page);
  await person.fill(page, { code: codeAt(secret, clock) });
  return { person, code: app(secret) };
}
/** The session's row as a version before this one wrote it. */
const asBefore = (methods: string[]) =>
  server.pool.query('update session set factors = null, risk = null, methods = $2 where realm_id = $1', [
    realm,
    methods,
  ]);

describe('a client’s own flow', () => {
  test('is walked by who has a session, from where they are', async () => {
    await application('vault', [password, otp]);
    const person = await byPassword();
    const asked = await ask(person, {}, 'vault');
    expect(asked.page.heading).toBe(SET_UP);
    const landed = await person.fill(asked.page, { code: codeAt(secretOn(asked.page), clock) });
    expect(await outcome(asked, landed)).toMatchObject({ acr: '2', amr: ['pwd', 'otp'] });
    // and then it has been passed, for others with such a flow too
    await application('safe', [password, otp]);
    expect(await answer(person, {}, 'safe')).toMatchObject({ acr: '2' });
    expect(await answer(person, { prompt: 'none' }, 'vault')).toMatchObject({ acr: '2' });
  });

  test('is not passed over silently', async () => {
    await application('vault', [password, otp]);
    const person = await byPassword();
    expect(await answer(person, { prompt: 'none' }, 'vault')).toBe('login_required');
    expect(await answer(person, { prompt: 'none' })).toMatchObject({ acr: '1', amr: ['pwd'] });
  });

  test('counts from when the client has it', async () => {
    await application('vault', [password, otp]);
    await makeClient(server, realm, {
      clientId: 'late',
      tokenEndpointAuthMethod: 'none',
      redirectUris: [CALLBACK],
    });
    const person = await byPassword();
    expect(await answer(person, {}, 'late')).toMatchObject({ acr: '1' });
    const { body } = await server.admin.call(listClients, { params: { realm }, query: { q: 'late' } });
    const { id = '', secretSet: _, createdAt: __, ...client } = body?.[0] ?? expect.fail('no client');
    await server.admin.call(putClient, { params: { realm, id }, body: { ...client, flowOverride: 'vault' } });
    expect(await answer(person, {}, 'late')).toBe(SET_UP);
  });

  test('that asks for less is met by the session as it is', async () => {
    await settings({ requireMfa: false });
    await application('board', [password]);
    const { person } = await byBoth();
    expect(await answer(person, { prompt: 'none' }, 'board')).toMatchObject({ acr: '2', amr: ['pwd', 'otp'] });
  });

  test('with a condition about the person asks those whom it is about', async () => {
    await application('vault', [password, behind({ authenticatorId: 'mfa-enabled', requirement: 'REQUIRED' }, otp)]);
    const person = await byPassword();
    expect(await answer(person, { prompt: 'none' }, 'vault')).toMatchObject({ acr: '1' });
    const other = await byBoth();
    expect(await answer(person, { prompt: 'none' }, 'vault')).toBe('login_required');
    const asked = await ask(person, {}, 'vault');
    expect(asked.page.heading).toBe(CODE);
    expect(await outcome(asked, await person.fill(asked.page, { code: other.code() }))).toMatchObject({ acr: '2' });
  });
});

describe('requireMfa, switched on later', () => {
  test('asks those for a second factor who have a session by password, and nobody twice', async () => {
    const person = await byPassword();
    const { person: both } = await byBoth(browser(), bob);
    await settings({ requireMfa: true });
    expect(await answer(person, { prompt: 'none' })).toBe('login_required');
    expect((await ask(person)).page.heading).toBe(SET_UP);
    expect(await answer(both)).toMatchObject({ acr: '2' });
    await settings({ requireMfa: false });
    expect(await answer(person, { prompt: 'none' })).toMatchObject({ acr: '1' });
  });

  test('ends the grants of a session that has none, at their next refresh, with their access tokens', async () => {
    const code = await getCode(server, realm, 'spa');
    const { body } = await redeem(server, realm, 'spa', code);
    await settings({ requireMfa: true });
    const refused = await refresh(server, realm, 'spa', body.refresh_token);
    expect([refused.status, refused.body.error, refused.body.access_token]).toEqual([400, 'invalid_grant', undefined]);
    const [event] = await events('TOKEN_REFUSED');
    expect(event?.data).toMatchObject({ grant: 'refresh_token', reason: 'more has to be proven than was' });
    expect(await events('TOKEN_REUSE_DETECTED')).toEqual([]);
    const userinfo = await fetch(`${server.baseUrl}/realms/${realm}/oauth2/userinfo`, {
      headers: { authorization: `Bearer ${body.access_token}` },
    });
    expect(userinfo.status).toBe(401);
    await settings({ requireMfa: false });
    expect((await refresh(server, realm, 'spa', body.refresh_token)).body.error).toBe('invalid_grant');
    // The session itself goes on: what is missing is asked for.
    await settings({ requireMfa: true });
    expect((await ask(code.person)).page.heading).toBe(SET_UP);
  });

  test('leaves the grants of a session that has one, also where it was raised after they began', async () => {
    const code = await getCode(server, realm, 'spa');
    const { body } = await redeem(server, realm, 'spa', code);
    const { page } = await ask(code.person, { acr_values: '2' });
    await code.person.fill(page, { code: codeAt(secretOn(page), clock) });
    await settings({ requireMfa: true });
    expect((await refresh(server, realm, 'spa', body.refresh_token)).status).toBe(200);
  });

  test('refuses those alone of many refreshes at once that lack it', async () => {
    const both = await byBoth();
    const tokens: { enough: boolean; token: unknown }[] = [];
    for (let i = 0; i < 3; i += 1) {
      const enough = await ask(both.person);
      const { searchParams } = new URL(enough.page.url);
      const got = await redeem(server, realm, 'spa', {
        code: searchParams.get('code') ?? '',
        verifier: enough.verifier,
      });
      tokens.push({ enough: true, token: got.body.refresh_token });
      const person = browser();
      const other = await ask(person);
      const done = new URL((await person.fill(other.page, bob)).url).searchParams.get('code') ?? '';
      const { body } = await redeem(server, realm, 'spa', { code: done, verifier: other.verifier });
      tokens.push({ enough: false, token: body.refresh_token });
    }
    await settings({ requireMfa: true });
    const answers = await Promise.all(tokens.map(({ token }) => refresh(server, realm, 'spa', token)));
    expect(answers.map(({ status }) => status)).toEqual(tokens.map(({ enough }) => (enough ? 200 : 400)));
  });
});

describe('offline tokens', () => {
  const offline = async (person: Person) => {
    const asked = await ask(person, { scope: 'openid offline_access' }, 'mail');
    const page = asked.page.heading === 'Sign in' ? await person.fill(asked.page, alice) : asked.page;
    const code = new URL(page.url).searchParams.get('code') ?? '';
    return (await redeem(server, realm, 'mail', { code, verifier: asked.verifier })).body.refresh_token;
  };
  beforeEach(async () => {
    const body = {
      clientId: 'mail',
      tokenEndpointAuthMethod: 'none' as const,
      redirectUris: [CALLBACK],
      optionalClientScopes: ['offline_access'],
    };
    await server.admin.call(createClient, { params: { realm }, body });
  });

  test('are worth what had been proven when they were given', async () => {
    const weak = await offline(browser());
    const strong = await offline((await byBoth()).person);
    await settings({ requireMfa: true });
    expect((await refresh(server, realm, 'mail', weak)).body.error).toBe('invalid_grant');
    expect((await refresh(server, realm, 'mail', strong)).status).toBe(200);
  });

  test('that an older version gave are judged by their amr', async () => {
    const weak = await offline(browser());
    const strong = await offline((await byBoth()).person);
    await server.pool.query(`update refresh_family set grant_data = grant_data - 'factors' where realm_id = $1`, [
      realm,
    ]);
    await settings({ requireMfa: true });
    expect((await refresh(server, realm, 'mail', weak)).body.error).toBe('invalid_grant');
    expect((await refresh(server, realm, 'mail', strong)).status).toBe(200);
  });
});

test('a flow that is made stricter, and a second factor that a person sets up elsewhere, end what was granted before', async () => {
  await application('board', [password]);
  const first = await getCode(server, realm, 'board');
  const before = await redeem(server, realm, 'board', first);
  await server.admin.call(putFlow, { params: { realm, alias: 'board' }, body: { executions: [password, otp] } });
  expect((await refresh(server, realm, 'board', before.body.refresh_token)).body.error).toBe('invalid_grant');
  const second = await getCode(server, realm, 'spa', { person: first.person });
  const again = await redeem(server, realm, 'spa', second);
  await byBoth();
  expect((await refresh(server, realm, 'spa', again.body.refresh_token)).body.error).toBe('invalid_grant');
});

describe('what an answer says', () => {
  /** The flow asks for a password alone, and the session has more. */
  const board = () => application('board', [password]);

  test('after prompt=login by password, is that password and nothing older', async () => {
    await board();
    const { person } = await byBoth();
    later(600);
    const asked = await ask(person, { prompt: 'login' }, 'board');
    expect(asked.page.heading).toBe('Sign in');
    expect(await outcome(asked, await person.fill(asked.page, alice))).toEqual({ acr: '1', amr: ['pwd'], age: 0 });
    // The session keeps the second factor, at its own time.
    expect(await answer(person, {}, 'board')).toEqual({ acr: '2', amr: ['pwd', 'otp'], age: 600 });
    const [login] = await events('LOGIN_SUCCESS');
    expect(login?.data).toMatchObject({ levelOfAssurance: 1, methods: ['pwd'] });
  });

  test('after max_age=0 too, and with consent in between', async () => {
    await board();
    const { person } = await byBoth();
    later(600);
    const asked = await ask(person, { max_age: '0', prompt: 'consent' }, 'board');
    const consent = await person.fill(asked.page, alice);
    expect(consent.heading).toBe('Allow access?');
    later(20);
    const decide = (fields: Record<string, string>) =>
      person.post(`/realms/${realm}/oauth2/consent`, { ...consent.fields, decision: 'allow', ...fields });
    expect((await decide({ since: '0' })).status).toBe(400);
    expect(await outcome(asked, await decide({}))).toEqual({ acr: '1', amr: ['pwd'], age: 20 });
  });

  test('with prompt=login and acr_values, is all of it anew', async () => {
    await board();
    const { person, code } = await byBoth();
    later(600);
    const asked = await ask(person, { prompt: 'login', acr_values: '2' }, 'board');
    const second = await person.fill(asked.page, alice);
    expect(second.heading).toBe(CODE);
    const landed = await person.fill(second, { code: code() });
    // The code came half a minute after the password.
    expect(await outcome(asked, landed)).toEqual({ acr: '2', amr: ['pwd', 'otp'], age: 30 });
  });

  test('after a step-up, is as old as the password that it rests on', async () => {
    const person = await byPassword();
    later(900);
    const asked = await ask(person, { acr_values: '2' });
    expect(asked.page.heading).toBe(SET_UP);
    const landed = await person.fill(asked.page, { code: codeAt(secretOn(asked.page), clock) });
    expect(await outcome(asked, landed)).toEqual({ acr: '2', amr: ['pwd', 'otp'], age: 900 });
  });

  test('with max_age, is what is young enough', async () => {
    await board();
    const { person, code } = await byBoth();
    later(600);
    const renewed = await ask(person, { prompt: 'login' }, 'board');
    await person.fill(renewed.page, alice);
    later(60);
    expect(await answer(person, { max_age: '300' }, 'board')).toEqual({ acr: '1', amr: ['pwd'], age: 60 });
    expect(await answer(person, { max_age: '3000' }, 'board')).toEqual({ acr: '2', amr: ['pwd', 'otp'], age: 660 });
    // The level that is asked for must be that young, and only what isn't is asked for.
    expect(await answer(person, { max_age: '300', acr_values: '2', prompt: 'none' }, 'board')).toBe('login_required');
    const raised = await ask(person, { max_age: '300', acr_values: '2' }, 'board');
    expect(raised.page.heading).toBe(CODE);
    const landed = await person.fill(raised.page, { code: code() });
    expect(await outcome(raised, landed)).toEqual({ acr: '2', amr: ['pwd', 'otp'], age: 90 });
  });

  test('with max_age and a young second factor, asks for the old password alone', async () => {
    await application('vault', [password, otp]);
    const person = await byPassword();
    later(600);
    const { page } = await ask(person, { acr_values: '2' });
    await person.fill(page, { code: codeAt(secretOn(page), clock) });
    later(60);
    const asked = await ask(person, { max_age: '300' }, 'vault');
    expect(asked.page.heading).toBe('Sign in');
    expect(asked.page.fields.username).toBe('alice');
    expect(await outcome(asked, await person.fill(asked.page, alice))).toEqual({
      acr: '2',
      amr: ['pwd', 'otp'],
      age: 60,
    });
  });

  test('never counts what grew old while the person hesitated', async () => {
    const person = await byPassword();
    later(250);
    const asked = await ask(person, { max_age: '300', acr_values: '2' });
    expect(asked.page.heading).toBe(SET_UP);
    later(100);
    const old = await person.fill(asked.page, { code: codeAt(secretOn(asked.page), clock) });
    expect(old.heading).toBe('Sign in');
    const next = await person.fill(old, alice);
    expect(next.heading).toBe(SET_UP);
    const landed = await person.fill(next, { code: codeAt(secretOn(next), clock) });
    expect(await outcome(asked, landed)).toEqual({ acr: '2', amr: ['pwd', 'otp'], age: 0 });
  });
});

test('a session that an older version began goes on, as old as it is, and is raised like any other', async () => {
  await application('vault', [password, otp]);
  const person = await byPassword();
  const granted = await ask(person);
  const code = new URL(granted.page.url).searchParams.get('code') ?? '';
  const { body } = await redeem(server, realm, 'spa', { code, verifier: granted.verifier });
  await asBefore(['pwd']);
  later(120);
  expect(await answer(person, { prompt: 'none' })).toEqual({ acr: '1', amr: ['pwd'], age: 120 });
  const next = await refresh(server, realm, 'spa', body.refresh_token);
  expect(next.status).toBe(200);
  expect(await answer(person, { max_age: '60', prompt: 'none' })).toBe('login_required');
  expect(await answer(person, {}, 'vault')).toBe(SET_UP);
  await asBefore(['pwd', 'otp']);
  await settings({ requireMfa: true });
  expect(await answer(person, { prompt: 'none' }, 'vault')).toEqual({ acr: '2', amr: ['pwd', 'otp'], age: 120 });
  expect((await refresh(server, realm, 'spa', next.body.refresh_token)).status).toBe(200);
});

test('two tabs prove one after the other what one session then has', async () => {
  await application('vault', [password, otp]);
  const person = await byPassword();
  later(60);
  const raising = await ask(person, {}, 'vault');
  const renewing = await ask(person, { prompt: 'login' });
  later(60);
  expect(await outcome(renewing, await person.fill(renewing.page, alice))).toEqual({ acr: '1', amr: ['pwd'], age: 0 });
  const landed = await person.fill(raising.page, { code: codeAt(secretOn(raising.page), clock) });
  expect(await outcome(raising, landed)).toMatchObject({ acr: '2', amr: ['pwd', 'otp'] });
  later(60);
  expect(await answer(person, { prompt: 'none' })).toEqual({ acr: '2', amr: ['pwd', 'otp'], age: 60 });
});

test('another person in the same browser proves all of their own', async () => {
  const { person, code } = await byBoth(browser(), bob);
  await person.fill((await ask(person, { prompt: 'login' })).page, alice);
  await application('vault', [password, otp]);
  const asked = await ask(person, { prompt: 'login' }, 'vault');
  const second = await person.fill(asked.page, bob);
  expect(second.heading).toBe(CODE);
  expect(await outcome(asked, await person.fill(second, { code: code() }))).toEqual({
    acr: '2',
    amr: ['pwd', 'otp'],
    age: 30,
  });
});

test('what somebody has to do first is done before the next application, and asked for by no silent request', async () => {
  const person = await byPassword();
  const { body } = await server.admin.call(listUsers, { params: { realm }, query: { q: 'alice' } });
  const userId = body?.[0]?.id ?? '';
  const user = { username: 'alice', requiredActions: ['CONFIGURE_OTP' as const] };
  await server.admin.call(putUser, { params: { realm, userId }, body: user });
  expect(await answer(person, { prompt: 'none' })).toBe('interaction_required');
  const asked = await ask(person);
  expect(asked.page.heading).toBe(SET_UP);
  const landed = await person.fill(asked.page, { code: codeAt(secretOn(asked.page), clock) });
  expect(await outcome(asked, landed)).toMatchObject({ acr: '2' });
  expect(await answer(person, { prompt: 'none' })).toMatchObject({ acr: '2' });
});

test('a risky sign-in stays one for each application that asks, until it is answered once', async () => {
  const { code } = await byBoth();
  await application('plain', [password]);
  const risky = { authenticatorId: 'risk', requirement: 'REQUIRED' as const, config: { minimumBand: 'medium' } };
  await application('vault', [password, behind(risky, otp)]);
  await settings({
    browserFlow: 'plain',
    riskPolicyEnabled: true,
    riskMediumThreshold: 30,
    riskMediumAction: 'allow',
  });
  const known = await byPassword();
  expect(await answer(known, {}, 'vault')).toMatchObject({ acr: '1' });
  const thief = await byPassword();
  expect(await answer(thief, { prompt: 'none' })).toMatchObject({ acr: '1' });
  expect(await answer(thief, { prompt: 'none' }, 'vault')).toBe('login_required');
  const asked = await ask(thief, {}, 'vault');
  expect(asked.page.heading).toBe(CODE);
  expect(await outcome(asked, await thief.fill(asked.page, { code: code() }))).toMatchObject({ acr: '2' });
  for (let i = 0; i < 2; i += 1) expect(await answer(thief, { prompt: 'none' }, 'vault')).toMatchObject({ acr: '2' });
  await settings({ riskMediumAction: 'deny' });
  expect(await answer(thief, { prompt: 'none' })).toBe('login_required');
  expect(await answer(known, { prompt: 'none' })).toMatchObject({ acr: '1' });
});
