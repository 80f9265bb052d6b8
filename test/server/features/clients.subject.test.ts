// Owns: that a client's name never passes for a person's id, which tokens know people by.
// Does not own: what else a client's name may be (clients.test.ts).
// Implements: RFC 9068 §5: the subjects of clients and of people can't be confused.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, putClient } from '../../../server/contract/clients.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { createUser } from '../../../server/contract/users.ts';
import { sqlOver } from '../../../server/db/sql.ts';
import { basic, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const realm = 'acme';
let server: TestServer;
let person = '';
const document = (clientId: string) => ({ clients: [{ clientId }] });
beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, realm);
  const { body } = await server.admin.call(createUser, { params: { realm }, body: { username: 'ada' } });
  person = body?.id ?? '';
});
afterAll(async () => server?.stop());

test('a UUID is refused as a client’s name, however it would come to it', async () => {
  const about = { status: 400, message: expect.stringContaining('must not be a UUID') };
  const body = { clientId: person };
  await expect(server.admin.call(createClient, { params: { realm }, body })).rejects.toMatchObject(about);
  const upper = { clientId: person.toUpperCase() };
  await expect(server.admin.call(createClient, { params: { realm }, body: upper })).rejects.toMatchObject(about);
  const { body: made } = await server.admin.call(createClient, { params: { realm }, body: { clientId: 'plain' } });
  const renamed = server.admin.call(putClient, { params: { realm, id: made?.id ?? '' }, body });
  await expect(renamed).rejects.toMatchObject(about);
  const imported = server.admin.call(importRealm, { params: { realm }, body: document(person) });
  await expect(imported).rejects.toMatchObject({ status: 400 });
});

test('a client that had such a name before can be changed, and gets no token that reads like a person’s', async () => {
  const id = await makeClient(server, realm, { clientId: 'old', secret: SECRET, grantTypes: ['client_credentials'] });
  await sqlOver(server.pool)`update client set client_id = ${person} where realm_id = ${realm} and client_id = 'old'`;
  const changed = { params: { realm, id }, body: { description: 'from before' } };
  expect((await server.admin.call(putClient, changed)).status).toBe(200);
  const grant = { grant_type: 'client_credentials' };
  const answer = await post(server, realm, 'token', grant, { authorization: basic(person) });
  expect([answer.status, answer.body.error]).toEqual([400, 'unauthorized_client']);
  await server.admin.call(importRealm, { params: { realm }, body: document(person) });
});
