// Owners whom somebody asks to share something hear of it by mail, once, where they have an address that was confirmed.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putMessagingProvider } from '../../../server/contract/messaging.ts';
import { putUser } from '../../../server/contract/users.ts';
import { type MailServer, startMailServer } from '../../support/gateways.ts';
import { eventually } from '../../support/operator.ts';
import { REALM } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { askUma, makeUma, protection, protectionToken, ticketFor, tokensOf } from '../../support/uma.ts';

const params = { realm: REALM };
let server: TestServer;
let mail: MailServer;
let folder: string;
let zoe = '';
let access = '';
beforeAll(async () => {
  mail = await startMailServer();
  folder = await mkdtemp(path.join(os.tmpdir(), 'uma-'));
  await writeFile(path.join(folder, 'ca.crt'), mail.ca);
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: path.join(folder, 'ca.crt') } });
  zoe = (await makeUma(server)).zoe ?? '';
  access = (await tokensOf(server, 'bob')).access;
});
afterAll(async () => {
  await server?.stop();
  await mail?.stop();
  await rm(folder, { recursive: true });
});

async function photo(name: string): Promise<string> {
  const body = { name, resource_scopes: ['view', 'edit'], owner: 'zoe' };
  return String((await protection(server, await protectionToken(server), { path: 'resource_set', body })).body._id);
}
async function asks(wanted: { resource_id: string; resource_scopes: string[] }[]) {
  const form = { ticket: await ticketFor(server, wanted), claim_token: access, submit_request: 'true' };
  expect((await askUma(server, form)).body.error).toBe('request_submitted');
}

test('an owner with a confirmed address is told once of what is asked for, and of more when there is more', async () => {
  const [beach, hills] = [await photo('Beach'), await photo('Hills')];
  const both = [beach, hills].map((id) => ({ resource_id: id, resource_scopes: ['view'] }));
  const config = { host: '127.0.0.1', port: mail.port };
  const body = { channel: 'EMAIL', driver: 'smtp', config } as const;
  await server.admin.call(putMessagingProvider, { params, body });
  const user = { params: { ...params, userId: zoe } };
  await server.admin.call(putUser, { ...user, body: { email: 'zoe@example.com', emailVerified: false } });
  await asks([{ resource_id: await photo('Unheard'), resource_scopes: ['view'] }]);
  await server.admin.call(putUser, { ...user, body: { emailVerified: true } });
  await asks(both);
  await eventually(() => expect(mail.mails).toHaveLength(1));
  const [first] = mail.mails;
  expect(first?.to).toEqual(['zoe@example.com']);
  for (const said of ['bob', 'Beach', 'Hills', 'albums', `/realms/${REALM}/account`])
    expect(first?.raw).toContain(said);
  expect(first?.raw).not.toContain('Unheard');
  await asks(both);
  await asks([{ resource_id: beach, resource_scopes: ['edit'] }]);
  await eventually(() => expect(mail.mails).toHaveLength(2));
  expect(mail.mails[1]?.raw).toContain('Beach');
  expect(mail.mails[1]?.raw).not.toContain('Hills');
});
