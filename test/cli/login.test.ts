// Owns: signing realmctl in and out, what it keeps and who may read that, and what it says where it can't.
// Does not own: who may have a person's token (server/features/admin-person.test.ts).
// Implements: docs/cli.md: login, contexts; exit codes 2 refused, 3 unreachable.

import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClient, createClientSecret } from '../../server/contract/clients.ts';
import { listSessions } from '../../server/contract/sessions.ts';
import { putSettings } from '../../server/contract/settings.ts';
import { newOtpSecret, OTP_DEFAULTS, sealOtp } from '../../server/crypto/otp.ts';
import { createSeal } from '../../server/crypto/seal.ts';
import { walk } from '../support/admin-cli.ts';
import { codeAt } from '../support/authenticator-app.ts';
import { OPERATOR_SECRET } from '../support/operator.ts';
import { createPerson } from '../support/person.ts';
import { asOperator, realmctl, startRealmctl, withOperator } from '../support/realmctl.ts';
import { ADMIN_PASSWORD, MASTER_KEY, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let folder: string;
let file: string;
let runs = 0;
beforeAll(async () => {
  server = await startTestServer({ env: withOperator });
  folder = await mkdtemp(path.join(os.tmpdir(), 'realmctl-'));
});
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  file = path.join(folder, `run-${++runs}`, 'config.json');
});

const run = (args: readonly string[], more: { stdin?: string; env?: Record<string, string> } = {}) =>
  realmctl({ REALMCTL_CONFIG: file, ...more.env }, args, { stdin: more.stdin ?? '' });
const adminId = async (): Promise<string> =>
  (await server.pool.query(`select id from realm_user where username = 'admin'`)).rows[0].id;
const kept = async () => JSON.parse(await readFile(file, 'utf8'));
const modeOf = async (of: string) => ((await stat(of)).mode & 0o777).toString(8);
const byPassword = (...more: string[]) =>
  run(['login', server.baseUrl, '--username', 'admin', '--password-stdin', ...more], { stdin: `${ADMIN_PASSWORD}\n` });
/** Signs in by the pages of the server, as the browser would that realmctl opens. */
async function byBrowser({
  person = createPerson(server.baseUrl),
  decision = 'allow',
  spoil = (url: URL) => url,
} = {}) {
  const cli = startRealmctl({ REALMCTL_CONFIG: file }, ['login', server.baseUrl, '--no-browser']);
  const address = new URL((await cli.said(/http\S+\/authorize\S+/)).trim());
  const back = spoil(await walk(person, address.pathname + address.search, { decision }));
  const page = await fetch(back);
  return { page: await page.text(), headers: page.headers, ...(await cli.ended) };
}

describe('by the browser', () => {
  test('a person signs in, sees that they can close the window, and their session is kept for them alone', async () => {
    const { page, headers, code, stderr } = await byBrowser();
    expect(stderr).toContain(`Signed in at ${server.baseUrl} as admin`);
    expect(code).toBe(0);
    expect(page).toContain('You can close this window');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await modeOf(file)).toBe('600');
    expect(await modeOf(path.dirname(file))).toBe('700');
    const me = await run(['whoami', '-o', 'json']);
    expect(JSON.parse(me.stdout)).toMatchObject({ type: 'user', name: 'admin', server: server.baseUrl });
  });

  test('a refusal there is one here', async () => {
    const { code, stderr, page } = await byBrowser({ decision: 'deny' });
    expect([code, stderr.includes('access_denied'), page.includes('Not signed in')]).toEqual([2, true, true]);
    expect(await readFile(file, 'utf8').catch(() => 'none')).toBe('none');
  });

  test('an answer that names another issuer is not taken', async () => {
    const spoil = (url: URL) => {
      url.searchParams.set('iss', 'https://evil.example');
      return url;
    };
    const { code, stderr } = await byBrowser({ spoil });
    expect([code, stderr.includes('the answer is not from')]).toEqual([2, true]);
  });

  test('whatever comes without the state is not the answer, and Ctrl-C ends the waiting', async () => {
    const cli = startRealmctl({ REALMCTL_CONFIG: file }, ['login', server.baseUrl, '--no-browser']);
    const address = new URL((await cli.said(/http\S+\/authorize\S+/)).trim());
    const callback = address.searchParams.get('redirect_uri') ?? '';
    expect((await fetch(`${callback}?code=guess&state=guess`)).status).toBe(404);
    cli.interrupt();
    expect((await cli.ended).code).toBe(130);
  });

  test('an access token that has ended is renewed, by one process at a time', async () => {
    await byBrowser();
    const before = await kept();
    const [name = ''] = Object.keys(before.contexts);
    before.contexts[name].session.expiresAt = 0;
    await writeFile(file, JSON.stringify(before));
    const all = await Promise.all([1, 2, 3].map(() => run(['whoami', '-o', 'name'])));
    expect(all.map(({ code, stdout }) => [code, stdout.trim()])).toEqual(all.map(() => [0, 'admin']));
    const after = await kept();
    expect(after.contexts[name].session.refreshToken).not.toBe(before.contexts[name].session.refreshToken);
    expect(await modeOf(file)).toBe('600');
  });

  test('a session that was ended at the server is told, with what to do', async () => {
    await byBrowser();
    const { body } = await server.admin.call(listSessions, { params: { realm: 'master' } });
    for (const { id } of body ?? [])
      await server.pool.query('delete from session where realm_id = $1 and id = $2', ['master', id]);
    const { code, stderr } = await run(['whoami']);
    expect(code).toBe(2);
    expect(stderr).toContain(`Sign in again: realmctl login ${server.baseUrl}`);
  });

  test('signing out ends it at the server too', async () => {
    await byBrowser();
    const [context] = Object.values<{ session: { accessToken: string } }>((await kept()).contexts);
    const authorization = `Bearer ${context?.session.accessToken}`;
    const session = () => fetch(`${server.baseUrl}/admin/session`, { headers: { authorization } });
    expect((await session()).status).toBe(200);
    expect((await run(['logout'])).code).toBe(0);
    expect((await session()).status).toBe(401);
    expect(JSON.stringify(await kept())).not.toContain('accessToken');
    expect((await run(['whoami'])).code).toBe(2);
  });
});

describe('by username and password', () => {
  test('from stdin; the password is kept nowhere', async () => {
    expect(await byPassword()).toMatchObject({ code: 0 });
    expect(await readFile(file, 'utf8')).not.toContain(ADMIN_PASSWORD);
    expect((await run(['whoami', '-o', 'name'])).stdout.trim()).toBe('admin');
    expect((await run(['logout'])).code).toBe(0);
  });

  test('a wrong one is refused, and nothing is kept', async () => {
    const { code, stderr } = await run(['login', server.baseUrl, '--username', 'admin', '--password-stdin'], {
      stdin: 'wrong\n',
    });
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /did not accept the sign-in\nCheck the username.* realm \(master; --realm.*\nThe account must/,
    );
    expect(stderr).not.toMatch(/realmctl login|\\u000a/);
    expect(await readFile(file, 'utf8').catch(() => 'none')).toBe('none');
  });

  test('one wrong password is one failure', async () => {
    const failures = async () =>
      (
        await server.pool.query(
          `select count(*)::int as n from event where realm_id = 'master' and type = 'ADMIN_LOGIN_FAILURE'`,
        )
      ).rows[0].n;
    const before = await failures();
    await run(['login', server.baseUrl, '--username', 'admin', '--password-stdin'], { stdin: 'wrong\n' });
    expect((await failures()) - before).toBe(1);
  });

  test('without a terminal nobody is asked, and what to do instead is said', async () => {
    const { code, stderr } = await run(['login', server.baseUrl, '--username', 'admin']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/not a terminal.*\nGive --password-stdin/);
    expect((await run(['login', server.baseUrl])).stderr).toContain('--client-id');
  });

  test('with a one-time code on the second line; without it that is said', async () => {
    const [secret, id, userId] = [newOtpSecret(), randomUUID(), await adminId()];
    const stored = { sealed: sealOtp(createSeal([MASTER_KEY]), 'master', id, secret), ...OTP_DEFAULTS };
    await server.pool.query(
      `insert into credential (realm_id, id, user_id, type, secret, created_at) values ('master', $1, $2, 'otp', $3, now())`,
      [id, userId, JSON.stringify(stored)],
    );
    const without = await byPassword();
    expect(without.code).toBe(2);
    expect(without.stderr).toContain('a one-time code is needed\nGive it on the second line of stdin.');
    const code = codeAt(secret);
    const args = ['login', server.baseUrl, '--username', 'admin', '--password-stdin'];
    expect(await run(args, { stdin: `${ADMIN_PASSWORD}\n${code}\n` })).toMatchObject({ code: 0 });
    await server.pool.query('delete from credential where id = $1', [id]);
  });

  test('there is no option for a password', async () => {
    expect((await run(['login', server.baseUrl, '--password', 'x'])).code).toBe(2);
    expect((await run(['login', server.baseUrl, '--client-secret', 'x'])).code).toBe(2);
  });

  test('a missing second factor is said', async () => {
    const require = (mfa: boolean) =>
      realmctl(asOperator(server), ['api', 'PUT', 'realms/master/settings', '-d', `{"requireMfa":${mfa}}`]);
    await byPassword();
    expect((await require(true)).code).toBe(0);
    const asked = [await run(['whoami']), await run(['api', 'POST', 'realms', '-d', '{"realm":"never"}'])];
    const { code, stderr } = await byPassword();
    expect((await require(false)).code).toBe(0);
    expect([code, stderr.includes('set up a second factor')]).toEqual([2, true]);
    const words = `a second factor is asked for now, which this session has not proven\nSign in again: realmctl login ${server.baseUrl} --username admin\n`;
    for (const one of asked) expect([one.code, one.stderr.endsWith(words)]).toEqual([2, true]);
    expect((await run(['whoami'])).code).toBe(0);
  });
});

describe('as a client', () => {
  test('with a secret from a file, which is read anew each time', async () => {
    const secret = path.join(folder, 'secret');
    await writeFile(secret, `${OPERATOR_SECRET}\n`);
    expect((await run(['login', server.baseUrl, '--client-id', 'operator', '--client-secret-file', secret])).code).toBe(
      0,
    );
    expect(await readFile(file, 'utf8')).not.toContain(OPERATOR_SECRET);
    expect((await run(['whoami', '-o', 'name'])).stdout.trim()).toBe('operator');
    await writeFile(secret, 'another secret, which is wrong');
    expect((await run(['whoami'])).stderr).toContain('invalid_client');
  });

  test('a wrong secret, an unknown realm and a client without admin roles are told apart', async () => {
    const secret = path.join(folder, 'secret');
    const login = async (realm: string, id: string, text: string) => {
      await writeFile(secret, text);
      return run(['login', server.baseUrl, '--realm', realm, '--client-id', id, '--client-secret-file', secret]);
    };
    expect(await login('master', 'operator', 'wrong')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/invalid_client.*\nCheck the client’s id \(operator\), its secret and its realm/),
    });
    expect((await login('nowhere', 'operator', OPERATOR_SECRET)).stderr).toContain('has no realm nowhere');
    const { body } = await server.admin.call(createClient, {
      params: { realm: 'master' },
      body: { clientId: 'plain', grantTypes: ['client_credentials'] },
    });
    const made = await server.admin.call(createClientSecret, { params: { realm: 'master', id: body?.id ?? '' } });
    expect((await login('master', 'plain', made.body?.secret ?? '')).stderr).toContain('must hold admin roles');
    expect(await readFile(file, 'utf8').catch(() => 'none')).toBe('none');
  });

  test('a pipeline needs no login: the environment is enough, and nothing is kept', async () => {
    const { code, stdout } = await run(['whoami', '-o', 'name'], { env: asOperator(server) });
    expect([code, stdout.trim()]).toEqual([0, 'operator']);
    expect(await readFile(file, 'utf8').catch(() => 'none')).toBe('none');
  });

  test('is taken by a realm with an issuer of its own, too', async () => {
    const params = { realm: 'master' };
    await server.admin.call(putSettings, { params, body: { issuer: 'https://id.example' } });
    try {
      expect(await run(['whoami', '-o', 'name'], { env: asOperator(server) })).toMatchObject({ code: 0 });
    } finally {
      await server.admin.call(putSettings, { params, body: { issuer: null } });
    }
  });

  test('half an environment is told', async () => {
    const { REALMCTL_CLIENT_SECRET: _, ...env } = asOperator(server);
    const { code, stderr } = await run(['whoami'], { env });
    expect([code, stderr.includes('REALMCTL_CLIENT_SECRET')]).toEqual([2, true]);
  });
});

describe('contexts', () => {
  test('are listed, chosen by command, option, environment, and forgotten', async () => {
    await byPassword('--name', 'one');
    await byPassword('--name', 'two');
    expect((await run(['config', 'current-context'])).stdout.trim()).toBe('two');
    await run(['config', 'use-context', 'one']);
    const { stdout } = await run(['config', 'get-contexts', '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject([
      { name: 'one', current: true, server: server.baseUrl, user: 'admin' },
      { name: 'two', current: false },
    ]);
    expect(stdout).not.toContain('cookie');
    expect((await run(['whoami', '--context', 'two'])).code).toBe(0);
    expect((await run(['whoami'], { env: { REALMCTL_CONTEXT: 'two' } })).code).toBe(0);
    expect((await run(['whoami'], { env: { REALMCTL_SERVER: server.baseUrl } })).code).toBe(0);
    expect((await run(['whoami', '--context', 'three'])).stderr).toContain('There are: one, two.');
    await run(['config', 'delete-context', 'one']);
    expect((await run(['whoami'])).stderr).toContain('no context is chosen');
  });

  test('keep a realm that commands are about which say no other; said twice, it must be the same', async () => {
    await byPassword('--name', 'one');
    expect(await run(['get', 'roles'])).toMatchObject({ code: 2, stderr: expect.stringContaining('no realm is said') });
    expect((await run(['config', 'set-realm', 'master'])).stderr).toContain('one is about the realm master');
    const missing = await run(['config', 'set-realm', 'nosuch']);
    expect(missing).toMatchObject({ code: 0, stderr: expect.stringContaining('Warning: one has no realm nosuch') });
    expect((await run(['config', 'set-realm', 'master'])).stderr).not.toContain('Warning');
    const plain = await run(['get', 'keys', '-o', 'name']);
    expect(plain.code).toBe(0);
    for (const said of [
      ['-r', 'master'],
      ['--realm', 'master'],
    ])
      expect((await run(['get', 'keys', '-o', 'name', ...said])).stdout).toBe(plain.stdout);
    for (const args of [['managers'], ['managers', 'master'], ['managers', '-r', 'master'], ['export', '--no-users']])
      expect((await run(args)).code).toBe(0);
    expect((await run(['export', 'master', '-r', 'master', '--no-users'])).code).toBe(0);
    const two = await run(['export', 'master', '-r', 'other']);
    expect([two.code, two.stderr.includes('which realm is meant, master or other?')]).toEqual([2, true]);
    expect((await run(['diff', '-f', '-'], { stdin: '{"realm":{}}' })).code).toBe(0);
    await run(['config', 'set-realm']);
    expect((await run(['export'])).code).toBe(2);
  });

  test('a file that others may read is closed to them, and said', async () => {
    await byPassword();
    await chmod(file, 0o644);
    const { code, stderr } = await run(['whoami']);
    expect([code, stderr.includes('could be read by others (mode 644)')]).toEqual([0, true]);
    expect(await modeOf(file)).toBe('600');
  });

  test('a file that is no such file is left as it is', async () => {
    await byPassword();
    await writeFile(file, 'not JSON');
    const { code, stderr } = await byPassword();
    expect([code, stderr.includes('not a file of realmctl')]).toEqual([2, true]);
    expect(await readFile(file, 'utf8')).toBe('not JSON');
  });
});

test('https where the server speaks none is told in words, with what to do', async () => {
  const { code, stderr } = await run(['login', server.baseUrl.replace('http:', 'https:'), '--no-browser']);
  expect(code).toBe(3);
  expect(stderr).toMatch(/cannot be reached: it speaks no TLS at this port\nGive the address with http:\/\//);
  expect(stderr).not.toMatch(/SSL|openssl/i);
});

test('a server that cannot be reached is exit code 3, and its address and reason are said', async () => {
  const env = { ...asOperator(server), REALMCTL_SERVER: 'http://127.0.0.1:9' };
  const { code, stderr } = await run(['whoami'], { env });
  expect([code, stderr.includes('http://127.0.0.1:9')]).toEqual([3, true]);
});
