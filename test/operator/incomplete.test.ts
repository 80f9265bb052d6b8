// A Realm whose client has no secret is Ready and says so; with a secret from anywhere, it no longer does.
import { beforeAll, expect, test } from 'vitest';
import { createClientSecret, listClients } from '../../server/contract/clients.ts';
import { operatorSite, resource, type TestOperator } from '../support/operator.ts';

const site = operatorSite({ name: 'lacking', each: 'file' });
let operator: TestOperator;
const params = { realm: 'lacking' };

beforeAll(async () => {
  const clients = [{ clientId: 'billing', grantTypes: ['client_credentials'] }];
  await site.folder.write('realm.yaml', resource('Realm', 'lacking', { realm: 'lacking', clients }));
  operator = await site.begin();
});

test('a client without a secret is told in the condition, with how to give one, until it has one', async () => {
  const told = await operator.says('Realm', 'lacking', 'Incomplete');
  expect(told).toMatchObject({ type: 'Ready', status: 'True' });
  expect(told.message).toMatch(/client billing has no secret.*secretKeyRef/);
  const { body: clients } = await site.server.admin.call(listClients, { params });
  const id = clients?.find(({ clientId }) => clientId === 'billing')?.id ?? '';
  await site.server.admin.call(createClientSecret, { params: { ...params, id } });
  await operator.says('Realm', 'lacking', 'Applied');
});
