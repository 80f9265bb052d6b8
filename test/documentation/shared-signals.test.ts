// The walk of docs/shared-signals.md, as it stands there: a receiver is declared, creates a stream, and fetches a token.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importRealm, type RealmDocument } from '../../server/contract/transfer.ts';
import { makeRealm, SECRET } from '../support/clients.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const REALM = 'acme';
const file = path.resolve(import.meta.dirname, '../../docs/shared-signals.md');
const blocks = [...(await readFile(file, 'utf8')).matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)];
const blockWith = (kind: string, words: string) =>
  blocks.find(([, of, text]) => of === kind && text?.includes(words))?.[2] ?? '';

let server: TestServer;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'shared-signals-'));
  server = await startTestServer();
  await makeRealm(server, REALM);
});
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('a receiver gets its first token by the very commands of the page', async () => {
  const described: RealmDocument = JSON.parse(blockWith('json', '"signalReceivers"'));
  const clients = (described.clients ?? []).map((client) => ({ ...client, secret: SECRET }));
  await server.admin.call(importRealm, { params: { realm: REALM }, body: { ...described, clients } });
  const command = blockWith('sh', 'ssf/streams');
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', command], {
    cwd: folder,
    env: { ...process.env, ISSUER: `${server.baseUrl}/realms/${REALM}`, SECRET },
  });
  const { sets } = JSON.parse(stdout);
  const [jwt = ''] = Object.values<string>(sets);
  const claims = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
  expect(claims).toMatchObject({
    aud: 'device-manager',
    events: { 'https://schemas.openid.net/secevent/ssf/event-type/verification': { state: 'hello' } },
  });
});

test('the transmitter of the page is taken by a realm that has its identity provider', async () => {
  const described: RealmDocument = JSON.parse(
    blockWith('json', '"signalTransmitters"').replace('Bearer …', 'Bearer of sixteen characters'),
  );
  const identityProviders = [
    { alias: 'corporate', type: 'oidc' as const, clientId: 'us', config: { issuer: 'https://id.example.com' } },
  ];
  await server.admin.call(importRealm, { params: { realm: REALM }, body: { identityProviders, ...described } });
});
