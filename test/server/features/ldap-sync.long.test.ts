// Owns: a sync of as many people as a large company has.
// Does not own: what a sync does to each (ldap-sync.test.ts).
// Implements: specification 4.2.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDirectory, putDirectory } from '../../../server/contract/user-federation.ts';
import { makeRealm } from '../../support/clients.ts';
import { syncedWith } from '../../support/directories.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { BASE, personLdif, READER, READER_PASSWORD, type Slapd, startSlapd } from '../../support/slapd.ts';

const MANY = 40_000;
const PATIENCE_MS = 1_800_000;
const params = { realm: 'large' };
let server: TestServer;
let slapd: Slapd;
beforeAll(async () => {
  slapd = await startSlapd(Array.from({ length: MANY }, (_, i) => personLdif(`person${i}`)).join(''));
  server = await startTestServer({ env: { SVC_OUTBOUND_ALLOW: '127.0.0.1' } });
  await makeRealm(server, 'large');
  const body = {
    alias: 'corporate',
    connection: { urls: [slapd.ldap], bindDn: READER },
    users: { base: `ou=people,${BASE}` },
    secret: READER_PASSWORD,
    pageSize: 1000,
  };
  await server.admin.call(createDirectory, { params, body });
}, PATIENCE_MS);
afterAll(async () => {
  await server?.stop();
  await slapd?.stop();
});

test(
  'forty thousand people come, come to nothing more the second time, and go when they are gone',
  async () => {
    const sync = () => syncedWith(server, 'large', 'corporate', 'full', PATIENCE_MS);
    expect(await sync()).toMatchObject({ state: 'done', read: MANY, added: MANY, failed: 0 });
    expect(await sync()).toMatchObject({ state: 'done', read: MANY, added: 0, updated: 0, disabled: 0 });
    const at = { params: { ...params, alias: 'corporate' } };
    const body = { users: { base: `ou=people,${BASE}`, filter: '(uid=person1*)' } };
    await server.admin.call(putDirectory, { ...at, body });
    const left = Array.from({ length: MANY }, (_, i) => String(i)).filter((i) => i.startsWith('1')).length;
    expect(await sync()).toMatchObject({ state: 'done', read: left, disabled: MANY - left });
  },
  PATIENCE_MS,
);
