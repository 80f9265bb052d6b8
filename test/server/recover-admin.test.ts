// Owns: `recover-admin`, which gives master an administrator again, beside a running server.
// Does not own: that the last one can't go (features/last-administrator.test.ts), starts (features/operations/bootstrap.test.ts).
// Implements: decisions "The last administrator" (recovery).
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listEvents } from '../../server/contract/events.ts';
import { createFlow, putFlow } from '../../server/contract/flows.ts';
import { createRealm } from '../../server/contract/realms.ts';
import { putSettings } from '../../server/contract/settings.ts';
import { createPerson } from '../support/person.ts';
import { MASTER_KEY, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.stop());

/** Runs the command as a person at the server's machine would. */
async function recover(args: readonly string[] = [], env: Record<string, string> = {}) {
  const main = path.resolve(import.meta.dirname, '../../server/recover/main.ts');
  const own = {
    ...process.env,
    DATABASE_URL: server.databaseUrl,
    SVC_MASTER_KEY: MASTER_KEY.toString('base64'),
    SVC_BASE_URL: server.baseUrl,
    ...env,
  };
  return promisify(execFile)(process.execPath, [main, ...args], { env: own }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}
const passwordIn = (stdout: string): string => / \/ (\S{24})$/m.exec(stdout)?.[1] ?? '';
const NEXT = 'four dry umbrellas of mine';

/** Signs in at the pages by a temporary password, and chooses another. */
async function chooses(username: string, password: string) {
  const who = createPerson(server.baseUrl);
  const asked = await who.fill(await who.open('/realms/master/login?for=account'), { username, password });
  return who.fill(asked, { password: NEXT, repeated: NEXT });
}

test('where nobody administers master any more, it makes an administrator by a temporary password, and audits it', async () => {
  await server.pool.query(`delete from realm_user where realm_id = 'master'`);
  const { code, stdout, stderr } = await recover(['--username', 'rescue']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^Made the administrator of master: rescue \/ \S{24}$/m);
  expect((await chooses('rescue', passwordIn(stdout))).url).toContain('/account');
  const admin = await server.signIn({ username: 'rescue', password: NEXT });
  expect((await admin.call(createRealm, { body: { realm: 'again' } })).status).toBe(201);
  const { body: events = [] } = await admin.call(listEvents, {
    params: { realm: 'master' },
    query: { actor: 'recover-admin' },
  });
  expect(events.map(({ type }) => type).sort()).toEqual(['ADMIN_GRANT_CHANGED', 'PASSWORD_CHANGED', 'USER_CREATED']);
  expect(JSON.stringify(events)).not.toContain(passwordIn(stdout));
});

test('it resets a user who is there: enabled, an administrator, without any former credential or session', async () => {
  const { rows } = await server.pool.query<{ id: string }>(
    `update realm_user set enabled = false where realm_id = 'master' and username = 'rescue' returning id`,
  );
  const id = rows[0]?.id;
  await server.pool.query(`delete from admin_grant where user_id = $1`, [id]);
  await server.pool.query(
    `insert into credential (realm_id, id, user_id, type, secret, created_at)
     values ('master', gen_random_uuid(), $1, 'otp', '{"sealed": "x"}', now())`,
    [id],
  );
  const { code, stdout } = await recover([], { SVC_BOOTSTRAP_ADMIN_USERNAME: 'RESCUE' });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^Reset the administrator of master: rescue \/ /m)]);
  await expect(server.signIn({ username: 'rescue', password: NEXT })).rejects.toThrow(/401/);
  const { rows: left } = await server.pool.query(
    `select c.type, u.enabled, (select count(*)::int from admin_session s where s.user_id = u.id) as sessions
     from credential c join realm_user u on u.id = c.user_id where u.id = $1`,
    [id],
  );
  expect(left).toEqual([{ type: 'password', enabled: true, sessions: 0 }]);
  expect((await chooses('rescue', passwordIn(stdout))).status).toBe(200);
});

test('it lets in a user with things to do that can’t be done, and past a flow that asks for what the user lacks', async () => {
  const actions = ['VERIFY_EMAIL', 'CONFIGURE_PASSKEY'];
  await server.pool.query(`update realm_user set required_actions = $1 where username = 'rescue'`, [actions]);
  const admin = await server.signIn({ username: 'rescue', password: NEXT }).catch(() => undefined);
  expect(admin).toBeUndefined();
  const { stdout } = await recover(['--username', 'rescue']);
  expect((await chooses('rescue', passwordIn(stdout))).url).toContain('/account');
  const again = await server.signIn({ username: 'rescue', password: NEXT });
  const params = { realm: 'master', alias: 'passkeys' };
  await again.call(createFlow, { params, body: { alias: 'passkeys', copyFromAlias: 'browser' } });
  await again.call(putSettings, { params, body: { browserFlow: 'passkeys' } });
  const executions = [{ authenticatorId: 'webauthn', requirement: 'REQUIRED' as const }];
  for (const alias of ['browser', 'passkeys'])
    await again.call(putFlow, { params: { ...params, alias }, body: { executions } });

  const page = async () => (await createPerson(server.baseUrl).open('/realms/master/login?for=account')).heading;
  expect(await page()).toBe('Use your passkey');
  const { stdout: told } = await recover(['--username', 'rescue', '--reset-flow']);
  expect(told).toContain('sign in by the built-in flow again');
  await expect.poll(page).toBe('Sign in');
  expect((await chooses('rescue', passwordIn(told))).url).toContain('/account');
});

test('it makes nothing without the server’s environment, or of a name that is no name, and prints no password', async () => {
  const before = await server.pool.query(`select id from realm_user`);
  for (const [args, env, code, words] of [
    [[], { DATABASE_URL: '', SVC_MASTER_KEY: '' }, 1, 'DATABASE_URL and SVC_MASTER_KEY must be set'],
    [[], { SVC_MASTER_KEY: randomBytes(32).toString('base64') }, 1, "The keys of master can't be read"],
    [['--username', ''], {}, 2, 'Usage: npm run recover-admin'],
    [['--username', 'a\nb'], {}, 2, 'Usage: npm run recover-admin'],
    [['ada'], {}, 2, 'Usage: npm run recover-admin'],
  ] as const) {
    const ran = await recover(args, env);
    expect(ran).toMatchObject({ code, stdout: '' });
    expect(ran.stderr).toContain(words);
  }
  expect((await server.pool.query(`select id from realm_user`)).rowCount).toBe(before.rowCount);
});

test('two at once make one administrator, whose last password counts', async () => {
  const both = await Promise.all([recover(['--username', 'twin']), recover(['--username', 'twin'])]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  const made = both.filter(({ stdout }) => stdout.startsWith('Made'));
  expect(made).toHaveLength(1);
});
