// The job that fetches the metadata of SAML clients again: what it takes over, what it doesn't, and how that is told.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import * as api from '../../../server/contract/saml-clients.ts';
import { importRealm } from '../../../server/contract/transfer.ts';
import { createSeal } from '../../../server/crypto/seal.ts';
import { samlMetadataRefresh } from '../../../server/features/configuration/saml-clients/refresh.ts';
import { samlClientsResource } from '../../../server/features/configuration/saml-clients/resource.ts';
import { createOutbound, type Outbound } from '../../../server/http/outbound.ts';
import { makeRealm } from '../../support/clients.ts';
import { type Asking, startAsking } from '../../support/messages.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { metadataOf, SAML_CERTIFICATE, samlKeyPair, signedXml } from '../../support/saml.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const ENTITY = 'https://wiki.example.com';
const HOUR = 3_600_000;
const pair = samlKeyPair();
let receiver: Receiver;
let server: TestServer;
let asking: Asking;
let outbound: Outbound;
let realm = '';
let made = 0;
const logged: string[] = [];
beforeAll(async () => {
  receiver = await startReceiver();
  const allow = ['127.0.0.1'];
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: receiver.caFile }, jobs: false });
  asking = startAsking(server);
  outbound = createOutbound({ allow, caFile: receiver.caFile });
});
afterAll(async () => {
  await asking?.stop();
  await outbound?.close();
  await server?.stop();
  await receiver?.stop();
});
beforeEach(async () => {
  made += 1;
  realm = `metadata${made}`;
  await makeRealm(server, realm);
  receiver.answer = () => ({ body: metadataOf(ENTITY) });
});

const fetchFirst = (more: object = {}) =>
  server.admin.call(api.importSamlClientFromUrl, {
    params: { realm },
    body: { metadataUrl: `${receiver.url}/metadata`, ...more },
  });
/** As it runs so long from now. */
const runAfter = (ms: number) => {
  const now = () => new Date(Date.now() + ms);
  const of = samlClientsResource({ seal: createSeal([Buffer.alloc(32)]), now });
  const log = { error: (...said: unknown[]) => void logged.push(JSON.stringify(said)) };
  return samlMetadataRefresh({ ...asking.with, outbound, of, log, now, newId: randomUUID }).run(
    {},
    { signal: new AbortController().signal },
  );
};
const client = async () =>
  (await server.admin.call(api.getSamlClient, { params: { realm, entityId: ENTITY } })).body ?? undefined;
const addressOf = async () => (await client())?.assertionConsumerServices[0]?.url;
const moved = (to: string) => metadataOf(ENTITY).replace('/acs"', `/${to}"`);
const events = async (type: string) =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type } })).body ?? [];

test('what the metadata says by now is taken over, once an hour, and the rest stays', async () => {
  await fetchFirst();
  const mine = { name: 'Ours', nameIdFormat: 'emailAddress' } as const;
  await server.admin.call(api.putSamlClient, { params: { realm, entityId: ENTITY }, body: mine });
  receiver.answer = () => ({ body: moved('new') });
  await runAfter(0);
  expect(await client()).toMatchObject({ ...mine, assertionConsumerServices: [{ url: `${ENTITY}/new` }] });
  receiver.answer = () => ({ body: moved('newer') });
  await runAfter(HOUR / 2);
  expect(await addressOf()).toBe(`${ENTITY}/new`);
  const before = (await events('SAML_CLIENT_UPDATED')).length;
  await runAfter(HOUR + 1000);
  await runAfter(3 * HOUR);
  expect([await addressOf(), (await events('SAML_CLIENT_UPDATED')).length]).toEqual([`${ENTITY}/newer`, before + 1]);
});

describe('what stands is kept, and told once, where the metadata', () => {
  test.each<[string, () => object]>([
    ['is away', () => ({ status: 503 })],
    ['is no XML', () => ({ body: 'moved' })],
    ['is another’s', () => ({ body: metadataOf('https://other.example.com') })],
    ['is over', () => ({ body: metadataOf(ENTITY, { attributes: ' validUntil="2020-01-01T00:00:00Z"' }) })],
    ['sends assertions where none go', () => ({ body: moved('new').replace('https://wiki', 'ftp://wiki') })],
  ])('%s', async (_, answer) => {
    await fetchFirst();
    receiver.answer = answer;
    await runAfter(0);
    await runAfter(2 * HOUR);
    expect(await addressOf()).toBe(`${ENTITY}/acs`);
    expect(await events('SAML_METADATA_REFUSED')).toMatchObject([
      { outcome: 'failure', subject: { name: ENTITY }, data: { entityId: ENTITY, reason: expect.any(String) } },
    ]);
    receiver.answer = () => ({ body: moved('new') });
    await runAfter(4 * HOUR);
    expect(await addressOf()).toBe(`${ENTITY}/new`);
  });

  test('is not signed by the key that counts', async () => {
    receiver.answer = () => ({ body: signedXml(metadataOf(ENTITY), pair.key) });
    await fetchFirst({ certificate: pair.certificate });
    for (const [times, body] of [moved('evil'), signedXml(moved('evil'), samlKeyPair().key)].entries()) {
      receiver.answer = () => ({ body });
      await runAfter(times * 2 * HOUR);
      expect(await addressOf()).toBe(`${ENTITY}/acs`);
    }
    expect((await events('SAML_METADATA_REFUSED')).length).toBeGreaterThan(0);
  });
});

test('nothing is loosened by itself', async () => {
  await fetchFirst();
  await server.admin.call(api.putSamlClient, {
    params: { realm, entityId: ENTITY },
    body: { signingCertificates: [SAML_CERTIFICATE], requireSignedRequests: true },
  });
  receiver.answer = () => ({ body: metadataOf(ENTITY, { provider: ' AuthnRequestsSigned="false"' }) });
  await runAfter(0);
  expect(await client()).toMatchObject({ requireSignedRequests: true, signingCertificates: [SAML_CERTIFICATE] });
});

test('a client that a manager owns is left alone', async () => {
  await fetchFirst();
  await server.admin.call(importRealm, {
    params: { realm },
    query: { manager: 'git' },
    body: { samlClients: [{ entityId: ENTITY, name: 'Declared' }] },
  });
  receiver.answer = () => ({ body: moved('new') });
  await runAfter(2 * HOUR);
  expect(await addressOf()).toBe(`${ENTITY}/acs`);
});

test('one that can’t be written for a fault of the server is logged, waits its hour, and holds up no other', async () => {
  await fetchFirst();
  const other = 'https://other.example.com';
  receiver.answer = () => ({ body: metadataOf(other) });
  await server.admin.call(api.importSamlClientFromUrl, {
    params: { realm },
    body: { metadataUrl: `${receiver.url}/other` },
  });
  await server.pool.query(
    `alter table saml_client add constraint odd check (entity_id <> '${ENTITY}' or realm_id <> '${realm}'
       or position('/odd' in assertion_consumer_services::text) = 0)`,
  );
  receiver.answer = ({ url }) => ({
    body: url === '/other' ? metadataOf(other).replace('/acs"', '/new"') : moved('odd'),
  });
  logged.length = 0;
  await runAfter(0);
  await server.pool.query('alter table saml_client drop constraint odd');
  const { rows } = await server.pool.query(
    `select entity_id, assertion_consumer_services -> 0 ->> 'url' as url, metadata_tried_at is not null as tried
     from saml_client where realm_id = $1 order by entity_id`,
    [realm],
  );
  expect(rows).toEqual([
    { entity_id: other, url: `${other}/new`, tried: true },
    { entity_id: ENTITY, url: `${ENTITY}/acs`, tried: true },
  ]);
  expect(logged).toMatchObject([expect.stringContaining(ENTITY)]);
});
