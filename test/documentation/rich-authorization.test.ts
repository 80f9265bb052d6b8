// The page docs/rich-authorization.md, as it stands there: its types are imported, and its commands run.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importRealm, type RealmDocument } from '../../server/contract/transfer.ts';
import { makeRealm, SECRET } from '../support/clients.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const REALM = 'acme';
const file = path.resolve(import.meta.dirname, '../../docs/rich-authorization.md');
const blocks = [...(await readFile(file, 'utf8')).matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)];
const blockWith = (kind: string, words: string) =>
  blocks.find(([, of, text]) => of === kind && text?.includes(words))?.[2] ?? '';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, REALM);
  const described: RealmDocument = JSON.parse(blockWith('json', '"authorizationDetailTypes"'));
  const clients = (described.clients ?? []).map((client) => ({ ...client, secret: SECRET }));
  await server.admin.call(importRealm, { params: { realm: REALM }, body: { ...described, clients } });
});
afterAll(async () => server?.stop());

async function run(command: string) {
  const env = { ...process.env, ISSUER: `${server.baseUrl}/realms/${REALM}`, SECRET };
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', command], { env });
  return JSON.parse(stdout);
}

test('a client gets a detail for itself by the command of the page', async () => {
  const { access_token: token, authorization_details: details } = await run(blockWith('sh', 'client_credentials'));
  expect(details).toEqual([{ type: 'file_access', actions: ['read'] }]);
  expect(decodeJwt(token)).toMatchObject({ authorization_details: details });
});

test('a payment is pushed by the command of the page, and one for a lie in its amount is not', async () => {
  const command = blockWith('sh', 'oauth2/par');
  expect(await run(command)).toMatchObject({ request_uri: expect.stringContaining('urn:') });
  expect(await run(command.replace('12.50', 'free'))).toMatchObject({ error: 'invalid_authorization_details' });
});
