// Owns: which realm's administrator a bearer token is, where realms have issuers of their own, and some from before the same.
// Does not own: what a bearer token may do (admin-bearer.test.ts).
// Implements: decisions "Admin authentication": bearer; "Protocol paths": a realm's own issuer.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putSettings } from '../../../server/contract/settings.ts';
import { newId } from '../../../server/crypto/ids.ts';
import type { Sql } from '../../../server/db/sql.ts';
import { statement } from '../../../server/db/statement.ts';
import { realmOfIssuer } from '../../../server/features/operations/admin-access/store.ts';
import { basic, makeRealm, post } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const OPERATOR_SECRET = 'an operator secret of a person';
const ISSUER = 'https://id.example';
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET } });
});
afterAll(() => server?.stop());

describe('an issuer that many realms have from before that was refused', () => {
  test('is no way to lock the administrators of another realm out', async () => {
    await server.admin.call(putSettings, { params: { realm: 'master' }, body: { issuer: ISSUER } });
    const session = async () => {
      const { body } = await post(
        server,
        'master',
        'token',
        { grant_type: 'client_credentials', resource: `${server.baseUrl}/admin` },
        { authorization: basic('operator', OPERATOR_SECRET) },
      );
      const headers = { authorization: `Bearer ${body.access_token}` };
      return (await fetch(`${server.baseUrl}/admin/session`, { headers })).status;
    };
    expect(await session()).toBe(200);
    for (let i = 0; i < 12; i += 1) {
      await makeRealm(server, `a${i}`);
      await server.pool.query('update realm set settings = settings || $1::jsonb where realm_id = $2', [
        { issuer: ISSUER },
        `a${i}`,
      ]);
    }
    expect(await session()).toBe(200);
  });

  test('is found by the key that the token names, without a look at the realms one by one', async () => {
    const client = await server.pool.connect();
    const rows: Record<string, string>[] = [];
    const explaining: Sql = async (strings, ...values) => {
      const { text, values: bound } = statement(strings, ...values);
      rows.push(...(await client.query<Record<string, string>>(`explain ${text}`, [...bound])).rows);
      return [];
    };
    // a table of a test is always quickest read from end to end
    await client.query('begin; set local enable_seqscan = off');
    await realmOfIssuer(explaining, ISSUER, newId());
    await client.query('rollback');
    client.release();
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('realm_key_id');
    expect(plan).not.toMatch(/Seq Scan/);
  });
});
