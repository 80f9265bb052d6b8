// Owns: that answers during a failover are 503 with Retry-After: connections to a server that takes no writes (a standby, or the
// former primary), and request bodies that break off, which are no outage.
// Does not own: which error means what (http/problems.unit.test.ts), connections that break (outages elsewhere).
import net from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRole } from '../../../server/contract/roles.ts';
import { createUser } from '../../../server/contract/users.ts';
import { openPool } from '../../../server/db/sql.ts';
import { PASSWORD } from '../../support/applications.ts';
import { makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { createPerson } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const REALM = 'acme';
const lines: string[] = [];
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ jobs: false, lines });
  await makeRealm(server, REALM);
  await makeClient(server, REALM, { clientId: 'app', secret: SECRET, redirectUris: ['https://app.example/cb'] });
  await server.admin.call(createUser, { params: { realm: REALM }, body: { username: 'ada', password: PASSWORD } });
});
afterAll(() => server?.stop());

/** Makes the database as a standby is for new connections, and closes the others. */
async function takeWrites(taken: boolean): Promise<void> {
  const name = new URL(server.databaseUrl).pathname.slice(1);
  const pool = openPool(server.databaseUrl, { max: 1 });
  const client = await pool.connect();
  try {
    await client.query('set default_transaction_read_only = off');
    await client.query(`alter database "${name}" set default_transaction_read_only = ${taken ? 'off' : 'on'}`);
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()',
      [name],
    );
  } finally {
    client.release();
    await pool.end();
  }
}

test('a database that takes no writes is away: APIs, pages and the token endpoint answer 503 or what needs no write', async () => {
  const person = createPerson(server.baseUrl);
  const page = await person.open(`/realms/${REALM}/login?for=account`);
  await takeWrites(false);
  try {
    const role = (name: string) =>
      server.admin.call(createRole, { params: { realm: REALM }, body: { name } }).catch((error: unknown) => error);
    // The first may meet a connection that was just closed: 503 as well.
    for (const name of ['one', 'two', 'three']) expect(await role(name)).toMatchObject({ status: 503 });
    const registered = await fetch(`${server.baseUrl}/realms/${REALM}/oauth2/par`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: `Basic ${btoa(`app:${SECRET}`)}` },
      body: new URLSearchParams({
        response_type: 'code',
        client_id: 'app',
        redirect_uri: 'https://app.example/cb',
        scope: 'openid',
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
      }),
    });
    expect([registered.status, registered.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await registered.json()).toMatchObject({ error: 'temporarily_unavailable' });
    expect((await person.fill(page, { username: 'ada', password: PASSWORD })).status).toBe(503);
  } finally {
    await takeWrites(true);
  }
  // Here, too, the first may meet a connection that was just closed.
  const again = (name: string) => server.admin.call(createRole, { params: { realm: REALM }, body: { name } });
  const first = await again('after').catch((error: unknown) => error);
  expect([201, 503]).toContain(Object(first).status);
  expect((await again('after that')).status).toBe(201);
});

test('a body that breaks off at the token endpoint is the sender’s, and the database is not said to be away', async () => {
  const { hostname, port } = new URL(server.baseUrl);
  const socket = net.connect(Number(port), hostname);
  lines.length = 0;
  const head = [
    `POST /realms/${REALM}/oauth2/token HTTP/1.1`,
    'host: localhost',
    'content-type: application/x-www-form-urlencoded',
    'content-length: 1000',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\ngrant_type=client`);
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.resetAndDestroy();
  await new Promise((resolve) => setTimeout(resolve, 100));
  const { status, body } = await post(server, REALM, 'token', { grant_type: 'client_credentials' });
  expect([status, body.error]).toEqual([401, 'invalid_client']);
  expect(lines.join('\n')).not.toMatch(/temporarily_unavailable|cannot be reached/);
});
