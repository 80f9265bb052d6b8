// PostgreSQL ends connections in the middle of what many people's requests share: whatever was acknowledged is there, each is
// answered for their own, and the audit log says what happened, once.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createUser } from '../../../server/contract/users.ts';
import { createWebhook } from '../../../server/contract/webhooks.ts';
import { CALLBACK, getCode, PASSWORD, redeem, refresh } from '../../support/applications.ts';
import { claimsIn, makeClient, makeRealm } from '../../support/clients.ts';
import { connectedCluster } from '../../support/cluster.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REALMS = ['deaf', 'heard'];
const PEOPLE = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank'];
const ROUNDS = 8;
const subjects = new Map<string, string>();
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  for (const realm of REALMS) {
    await makeRealm(server, realm);
    await makeClient(server, realm, { clientId: 'spa', tokenEndpointAuthMethod: 'none', redirectUris: [CALLBACK] });
    for (const username of PEOPLE) {
      const { body } = await server.admin.call(createUser, {
        params: { realm },
        body: { username, password: PASSWORD },
      });
      subjects.set(`${realm} ${username}`, body?.id ?? '');
    }
  }
});
afterAll(() => server?.stop());

const rows = async <Row>(text: string): Promise<Row[]> => (await server.pool.query(text)).rows;

/** What one person came away with. */
interface Got {
  realm: string;
  username: string;
  session: unknown;
  subjects: unknown[];
  refreshed: number;
  /** The last refresh token that was given, unless a later answer was lost. */
  token: unknown;
  statuses: number[];
}

async function live(realm: string, username: string): Promise<Got> {
  const got: Got = { realm, username, session: undefined, subjects: [], refreshed: 0, token: undefined, statuses: [] };
  const grant = await getCode(server, realm, 'spa', { username }).catch(() => undefined);
  if (!grant) return got;
  let answer = await redeem(server, realm, 'spa', grant);
  for (let i = 0; ; i += 1) {
    got.statuses.push(answer.status);
    got.token = answer.status === 200 ? answer.body.refresh_token : undefined;
    if (answer.status !== 200) return got;
    const { sub, sid, iss } = claimsIn(answer.body.id_token);
    got.subjects.push(sub);
    got.session ??= sid;
    expect(iss).toBe(`${server.baseUrl}/realms/${realm}`);
    if (i > 0) got.refreshed += 1;
    if (i === 3) return got;
    answer = await refresh(server, realm, 'spa', got.token);
  }
}

test.each(['nobody listens', 'one realm has a webhook'])('connections are ended under load where %s', async (how) => {
  if (how !== 'nobody listens')
    await server.admin.call(createWebhook, {
      params: { realm: 'heard' },
      body: { name: 'ear', url: 'https://127.0.0.1:1/', eventTypes: '*', enabled: true },
    });
  let over = false;
  let ended = 0;
  const ending = connectedCluster(server.databaseUrl, async (client) => {
    while (!over) {
      const { rowCount } = await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
         and application_name = 'realmkeeper' and state <> 'idle' and pid <> pg_backend_pid()`,
      );
      ended += rowCount ?? 0;
      await sleep(100);
    }
  });
  const all: Got[] = [];
  for (let round = 0; round < ROUNDS; round += 1)
    all.push(...(await Promise.all(REALMS.flatMap((realm) => PEOPLE.map((username) => live(realm, username))))));
  over = true;
  await ending;
  expect(ended).toBeGreaterThan(0);
  const sessions = all.flatMap(({ session }) => (session === undefined ? [] : [session]));
  expect(sessions.length).toBeGreaterThan(0);

  for (const { realm, username, subjects: of } of all)
    expect(new Set(of)).toEqual(new Set(of.length > 0 ? [subjects.get(`${realm} ${username}`)] : []));
  expect(new Set(sessions).size).toBe(sessions.length);
  expect(all.flatMap(({ statuses }) => statuses).filter((status) => ![200, 503].includes(status))).toEqual([]);

  // Sessions, codes and generations of grants, as they are and as the audit log tells of them.
  const kept = await rows<{ id: string }>('select id::text from session');
  expect(kept.map(({ id }) => id)).toEqual(expect.arrayContaining(sessions));
  const told = (type: string) =>
    rows<{ key: string }>(
      `select realm_id || ' ' || (data ->> 'sessionId') as key from event where type = '${type}' order by 1`,
    );
  const there = (table: string, column: string) =>
    rows<{ key: string }>(`select realm_id || ' ' || ${column} as key from ${table} order by 1`);
  expect(await told('LOGIN_SUCCESS')).toEqual(await there('session', 'id'));
  expect(await told('CODE_ISSUED')).toEqual(await there('authorization_code', 'session_id'));
  expect(await told('TOKEN_ISSUED')).toEqual(await there('refresh_family', 'session_id'));
  const [moved] = await rows<{ told: string; moved: string }>(
    `select (select count(*) from event where type = 'TOKEN_REFRESHED') as told,
      (select sum(generation) from refresh_family) as moved`,
  );
  expect(moved?.told).toEqual(moved?.moved);
  expect(Number(moved?.told)).toBeGreaterThanOrEqual(all.reduce((sum, { refreshed }) => sum + refreshed, 0));
  // What was acknowledged last goes on.
  const holders = all.filter(({ token }) => token !== undefined);
  const last = await Promise.all(holders.map(({ realm, token }) => refresh(server, realm, 'spa', token)));
  expect(last.map(({ status }) => status)).toEqual(holders.map(() => 200));
  if (how !== 'nobody listens') {
    const [heard] = await rows<{ n: string; d: string }>(
      `select count(*) as n, count(distinct event_id) as d from webhook_delivery where event_type = 'LOGIN_SUCCESS'`,
    );
    expect(heard?.n).toBe(heard?.d);
  }
});
