// Owns: what scim2-tester, a client that we didn't write, finds of the SCIM server: by discovery alone, every attribute of
// every resource created, read, replaced, patched, searched for and deleted.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRealm } from '../../../server/contract/realms.ts';
import { scimToken } from '../../support/scim.ts';
import { runScimTester } from '../../support/scim-tester.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await server.admin.call(createRealm, { body: { realm: 'acme' } });
});
afterAll(() => server?.stop());

test('scim2-tester has nothing to say', async () => {
  const findings = await runScimTester(`${server.baseUrl}/realms/acme/scim/v2`, await scimToken(server, 'acme'));
  const known = (reason: string | null) => reason === "PATCH modify() did not remove attribute 'active'";
  const faults = findings.filter(({ status }) => status !== 'SUCCESS' && status !== 'SKIPPED');
  // A person may sign in or not: there is no third.
  expect(faults.filter(({ reason }) => !known(reason))).toEqual([]);
  expect(findings.filter(({ status }) => status === 'SUCCESS').length).toBeGreaterThan(80);
});
