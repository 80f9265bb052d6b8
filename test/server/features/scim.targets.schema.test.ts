// Owns: what of the whole User of SCIM goes to a target: a realm provisions to our own SCIM server in another.
// Does not own: when it goes, order, failures (scim.targets.test.ts).
// Implements: specification 4.10; decisions "SCIM server", "SCIM target".
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRealm } from '../../../server/contract/realms.ts';
import { createRole } from '../../../server/contract/roles.ts';
import { createScimTarget, getScimTarget } from '../../../server/contract/scim-targets.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { passOn, type Scim, scimToken, scimWith } from '../../support/scim.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let receiver: Receiver;
let here: Scim;
let there: Scim;
let targetId = '';
const FROM = 'staff';
const TO = 'wiki';
const soon = { timeout: 60_000 };

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: receiver.caFile } });
  receiver.answer = (request) => passOn(server, request);
  for (const realm of [FROM, TO]) {
    await server.admin.call(createRealm, { body: { realm } });
    await server.admin.call(createRole, { params: { realm }, body: { name: 'editor' } });
  }
  here = scimWith(server, FROM, await scimToken(server, FROM));
  const secret = await scimToken(server, TO);
  there = scimWith(server, TO, secret);
  const body = { name: TO, url: `${receiver.url}/realms/${TO}/scim/v2`, secret, mappings: { roles: 'roles' } };
  targetId = (await server.admin.call(createScimTarget, { params: { realm: FROM }, body })).body?.id ?? '';
});
afterAll(async () => {
  // what is still sent while the server stops finds nobody there
  if (receiver) receiver.answer = () => ({ status: 503 });
  await server?.stop();
  await receiver?.stop();
});

const copy = async (userName: string) =>
  (await there('GET', `/Users?filter=${encodeURIComponent(`userName eq "${userName}"`)}`)).body.Resources[0];

const said = {
  emails: [
    { value: 'ada@work.example', type: 'work', primary: true },
    { value: 'ada@home.example', type: 'home', display: 'at home' },
  ],
  phoneNumbers: [{ value: '1', type: 'work', primary: true }],
  addresses: [
    { type: 'work', locality: 'Ulm', primary: true },
    { type: 'work', locality: 'Bonn' },
  ],
  ims: [{ value: 'ada', type: 'xmpp' }],
  photos: [{ value: 'https://photos.example.com/ada', type: 'photo' }],
  x509Certificates: [{ value: 'QUJD' }],
};

test('a person goes there with all that SCIM says of them, and so does a change of that alone; rights only by a mapping', async () => {
  const rights = { roles: [{ value: 'editor', display: 'Edits' }], entitlements: [{ value: 'wiki:admin' }] };
  const { body: ada } = await here('POST', '/Users', {
    userName: 'ada',
    password: 'a long password here',
    ...said,
    ...rights,
  });
  await expect.poll(() => copy('ada'), soon).toMatchObject({ ...said, roles: rights.roles, externalId: ada.id });
  expect(await copy('ada')).not.toHaveProperty('entitlements');
  const Operations = [{ op: 'replace', path: 'ims[type eq "xmpp"].value', value: 'countess' }];
  await here('PATCH', `/Users/${ada.id}`, { Operations });
  await expect.poll(async () => (await copy('ada'))?.ims, soon).toEqual([{ value: 'countess', type: 'xmpp' }]);
  await here('PATCH', `/Users/${ada.id}`, { Operations: [{ op: 'remove', path: 'roles' }] });
  await here('PATCH', `/Users/${ada.id}`, { Operations: [{ op: 'remove', path: 'emails[type eq "home"]' }] });
  await expect.poll(async () => (await copy('ada'))?.emails, soon).toHaveLength(1);
  await expect.poll(async () => (await copy('ada'))?.roles, soon).toBeUndefined();
  const sent = receiver.received
    .filter(({ method }) => method === 'POST' || method === 'PUT')
    .map(({ raw }) => String(raw));
  expect(sent.length).toBeGreaterThan(1);
  expect(sent.join('')).not.toMatch(/password/i);
  const status = async () =>
    (await server.admin.call(getScimTarget, { params: { realm: FROM, id: targetId } })).body?.status;
  await expect.poll(async () => (await status()) ?? {}, soon).toMatchObject({ waiting: 0, failed: 0, lastError: null });
});
