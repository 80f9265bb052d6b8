// Cookies that a neighbouring host, or whoever else can plant some, gains nothing by.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser } from '../../../server/contract/users.ts';
import { PASSWORD } from '../../support/applications.ts';
import { makeRealm } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_BASE_URL: 'https://id.example' } });
  for (const realm of ['acme', 'other']) {
    await makeRealm(server, realm);
    await server.admin.call(createUser, { params: { realm }, body: { username: 'alice', password: PASSWORD } });
    await server.admin.call(putSettings, { params: { realm }, body: { riskPolicyEnabled: true } });
  }
});
afterAll(() => server?.stop());

const signIn = async (who: ReturnType<typeof createPerson>, realm: string) =>
  who.fill(await who.open(`/realms/${realm}/login`), { username: 'alice', password: PASSWORD });

test('behind https a realm’s cookies are this host’s alone, and those of two realms stand beside each other', async () => {
  const alice = createPerson(server.baseUrl);
  const lines: string[] = [];
  const page = await fetch(`${server.baseUrl}/realms/acme/login`, { redirect: 'manual' });
  lines.push(...page.headers.getSetCookie());
  for (const realm of ['acme', 'other']) expect((await signIn(alice, realm)).heading).toBe('alice');
  expect([...alice.jar.keys()].sort()).toEqual([
    '__Host-SVC_DEVICE.acme',
    '__Host-SVC_DEVICE.other',
    '__Host-SVC_SESSION.acme',
    '__Host-SVC_SESSION.other',
    '__Host-SVC_SIGN_IN.acme',
    '__Host-SVC_SIGN_IN.other',
  ]);
  expect(lines).toHaveLength(1);
  for (const line of lines) {
    expect(line).toMatch(/^__Host-SVC_SIGN_IN\.acme=/);
    expect(line).toMatch(/; Path=\/;.*HttpOnly; Secure; SameSite=Lax$/);
    expect(line).not.toMatch(/Domain/i);
  }
  for (const realm of ['acme', 'other']) expect((await alice.open(`/realms/${realm}/account`)).heading).toBe('alice');
});

test('a session that was planted under the bare name, or moved to another realm, is nobody’s', async () => {
  const thief = createPerson(server.baseUrl);
  await signIn(thief, 'acme');
  const token = thief.jar.get('__Host-SVC_SESSION.acme') ?? '';
  for (const name of ['SVC_SESSION', '__Secure-SVC_SESSION.acme', '__Host-SVC_SESSION.other']) {
    const victim = createPerson(server.baseUrl);
    victim.jar.set(name, token);
    const realm = name.endsWith('other') ? 'other' : 'acme';
    expect((await victim.open(`/realms/${realm}/account`)).heading, name).not.toBe('alice');
  }
});

test('sign-ins begun in many realms leave a browser no more cookies than a header line holds', async () => {
  const names = Array.from({ length: 12 }, (_, i) => `tenant-${i}`);
  for (const realm of names) await makeRealm(server, realm);
  const visitor = createPerson(server.baseUrl);
  for (const realm of names) await visitor.open(`/realms/${realm}/login`);
  const all = [...visitor.jar.values()].reduce((sum, value) => sum + value.length, 0);
  expect(all).toBeLessThan(6_500);
  expect(visitor.jar.has('__Host-SVC_SIGN_IN.tenant-11')).toBe(true);
});

async function administrator() {
  const response = await fetch(`${server.baseUrl}/admin/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: ADMIN_PASSWORD }),
  });
  const cookies = response.headers.getSetCookie();
  const value = (name: string) => cookies.find((line) => line.startsWith(`${name}=`))?.match(/=([^;]*)/)?.[1] ?? '';
  return { session: value('SVC_ADMIN_SESSION'), csrf: value('XSRF-TOKEN') };
}
const write = (session: string, csrf: string, header = csrf) =>
  fetch(`${server.baseUrl}/admin/realms/acme/settings`, {
    method: 'PUT',
    headers: {
      'content-type': 'application/json',
      cookie: `SVC_ADMIN_SESSION=${session}; XSRF-TOKEN=${csrf}`,
      'x-xsrf-token': header,
    },
    body: '{}',
  });

test('a CSRF token is good with its own session alone, however well cookie and header agree', async () => {
  const [mine, another] = [await administrator(), await administrator()];
  expect((await write(mine.session, mine.csrf)).status).toBe(200);
  const login = await fetch(`${server.baseUrl}/admin/login`);
  const anonymous = login.headers
    .getSetCookie()
    .find((line) => line.startsWith('XSRF-TOKEN='))
    ?.match(/=([^;]*)/)?.[1];
  for (const planted of [another.csrf, anonymous ?? '', 'planted', '.', `${mine.csrf}x`])
    expect((await write(mine.session, planted)).status, planted).toBe(403);
  expect((await write(mine.session, mine.csrf, another.csrf)).status).toBe(403);
  // Any GET gives a fresh one, and the one before goes on for who sent it meanwhile.
  const { headers } = await fetch(`${server.baseUrl}/admin/session`, {
    headers: { cookie: `SVC_ADMIN_SESSION=${mine.session}` },
  });
  const fresh =
    headers
      .getSetCookie()
      .find((line) => line.startsWith('XSRF-TOKEN='))
      ?.match(/=([^;]*)/)?.[1] ?? '';
  expect(fresh).not.toBe(mine.csrf);
  expect((await write(mine.session, fresh)).status).toBe(200);
});
