import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createApplication, deleteApplication, putApplication } from '../../../server/contract/applications.ts';
import type { ServerProblem } from '../../../server/contract/client.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { createFlow, deleteFlow, renameFlow } from '../../../server/contract/flows.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import * as api from '../../../server/contract/saml-clients.ts';
import { administrator } from '../../support/administrators.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { metadataOf, SAML_CERTIFICATE, samlKeyPair, signedXml } from '../../support/saml.ts';
import { ADMIN_PASSWORD, startTestServer, type TestServer } from '../../support/server.ts';
import { adminSession } from '../../support/signed-in.ts';

const params = { realm: 'acme' };
const pair = samlKeyPair();
let server: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: receiver.caFile } });
  await server.admin.call(createRealm, { body: { realm: 'acme' } });
});
afterAll(async () => {
  await server?.stop();
  await receiver?.stop();
});
beforeEach(() => {
  receiver.received.length = 0;
});

const services = [{ url: 'https://wiki.example.com/acs' }];
const create = async (entityId: string, more: object = {}) =>
  (
    await server.admin.call(api.createSamlClient, {
      params,
      body: { entityId, assertionConsumerServices: services, ...more },
    })
  ).body!;
const at = (entityId: string) => ({ params: { ...params, entityId } });
const read = async (entityId: string) => (await server.admin.call(api.getSamlClient, at(entityId))).body!;
const problem = (work: Promise<unknown>): Promise<ServerProblem> =>
  work.then(
    () => Promise.reject(new Error('it was not refused')),
    (error: ServerProblem) => error,
  );
const faultsOf = async (work: Promise<unknown>) => {
  const { status, problem: body } = await problem(work);
  return [status, body?.errors?.map(({ path, message }) => `${path}: ${message}`)];
};

describe('a SAML client', () => {
  test('is found under its entity id whatever that holds', async () => {
    for (const entityId of ['https://wiki.example.com/saml?a=b&c=ü#d', 'urn:wiki', 'a b%2Fc', 'import', 'import-url']) {
      const made = await create(entityId, { name: 'Wiki' });
      expect(made).toMatchObject({ entityId, nameIdFormat: 'persistent', signAssertions: true });
      expect(await read(entityId)).toEqual(made);
      expect((await server.admin.call(api.putSamlClient, { ...at(entityId), body: made })).body).toEqual(made);
      await server.admin.call(api.deleteSamlClient, at(entityId));
      expect((await problem(read(entityId))).status).toBe(404);
    }
  });

  test('gets an index for each place that has none, and one default', async () => {
    const { assertionConsumerServices } = await create('urn:indexes', {
      assertionConsumerServices: [{ url: 'https://a.example/1' }, { url: 'https://a.example/2', index: 0 }],
    });
    expect(assertionConsumerServices).toEqual([
      { url: 'https://a.example/1', binding: 'POST', index: 1, default: true },
      { url: 'https://a.example/2', binding: 'POST', index: 0, default: false },
    ]);
  });

  test.each<[string, object, string]>([
    ['no place for assertions', { assertionConsumerServices: [] }, 'assertionConsumerServices: '],
    [
      'another scheme',
      { assertionConsumerServices: [{ url: 'javascript:alert(1)' }] },
      'assertionConsumerServices[0].url: ',
    ],
    [
      'assertions by Redirect',
      { assertionConsumerServices: [{ url: 'https://a.example/', binding: 'Redirect' }] },
      'assertionConsumerServices[0].binding: must be POST',
    ],
    [
      'two defaults',
      { assertionConsumerServices: [1, 2].map((n) => ({ url: `https://a.example/${n}`, default: true })) },
      'assertionConsumerServices: must have one default',
    ],
    [
      'an index twice',
      { assertionConsumerServices: [1, 2].map((n) => ({ url: `https://a.example/${n}`, index: 4 })) },
      'assertionConsumerServices: must not have an index twice',
    ],
    ['no certificate', { signingCertificates: ['x'] }, 'signingCertificates[0]: must be a certificate in PEM'],
    [
      'a certificate of nothing',
      { encryptionCertificate: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' },
      'encryptionCertificate: is no certificate',
    ],
    ['nothing to check requests with', { requireSignedRequests: true }, 'signingCertificates: are needed'],
    ['nothing to encrypt for', { encryptAssertions: true }, 'encryptionCertificate: is needed'],
    ['an unknown property', { mappers: [{ name: 'm', source: 'property', attribute: 'x' }] }, 'mappers[0].attribute: '],
    ['a constant without value', { mappers: [{ name: 'm', source: 'constant' }] }, 'mappers[0].value: is needed'],
    ['a mapper twice', { mappers: [{ name: 'm' }, { name: 'm' }] }, 'mappers: must not have a name twice'],
    ['an address without https', { metadataUrl: 'http://a.example/' }, 'metadataUrl: '],
    ['a flow that is not there', { flowOverride: 'nowhere' }, 'flowOverride: there is no flow nowhere'],
  ])('with %s is refused by its field', async (_what, more, fault) => {
    const [status, faults] = await faultsOf(create('urn:wrong', more));
    expect(status).toBe(400);
    expect(faults).toEqual([expect.stringContaining(fault)]);
  });

  test('keeps its entity id, which nobody else can have', async () => {
    await create('urn:kept');
    expect((await problem(create('urn:kept'))).problem?.type).toBe('urn:svc:problem:name-taken');
    const renamed = server.admin.call(api.putSamlClient, { ...at('urn:kept'), body: { entityId: 'urn:other' } });
    expect(await faultsOf(renamed)).toEqual([400, ['entityId: stays urn:kept: make another client instead']]);
  });

  test('stays while an application names it', async () => {
    await create('urn:named');
    const body = { name: 'portal', samlClients: ['urn:named'] };
    await server.admin.call(createApplication, { params, body });
    const removal = () => server.admin.call(api.deleteSamlClient, at('urn:named'));
    expect((await problem(removal())).message).toBe(
      'The SAML client urn:named is named by the application portal: change that first',
    );
    const one = { params: { ...params, name: 'portal' } };
    expect(
      await faultsOf(server.admin.call(putApplication, { ...one, body: { samlClients: ['urn:nobody'] } })),
    ).toEqual([400, ['samlClients: there is no samlClient urn:nobody']]);
    await server.admin.call(deleteApplication, one);
    await removal();
  });

  test('follows its flow’s new name, and keeps it from being deleted', async () => {
    await server.admin.call(createFlow, { params, body: { alias: 'careful', copyFromAlias: 'browser' } });
    await create('urn:careful', { flowOverride: 'careful' });
    await server.admin.call(renameFlow, { params: { ...params, alias: 'careful' }, body: { alias: 'wary' } });
    expect(await read('urn:careful')).toMatchObject({ flowOverride: 'wary' });
    const refused = await problem(server.admin.call(deleteFlow, { params: { ...params, alias: 'wary' } }));
    expect([refused.status, refused.message]).toEqual([409, expect.stringContaining('urn:careful')]);
  });

  test('is searched by entity id and name, and told in the audit log', async () => {
    await create('urn:searched', { name: 'Needle in hay' });
    const { body: found } = await server.admin.call(api.listSamlClients, { params, query: { q: 'needle' } });
    expect(found?.map((c) => c.entityId)).toEqual(['urn:searched']);
    await server.admin.call(api.deleteSamlClient, at('urn:searched'));
    const { body: events = [] } = await server.admin.call(listEvents, { params, query: { limit: 1000 } });
    expect(events.filter(({ subject }) => subject?.name === 'urn:searched').map(({ type }) => type)).toEqual([
      'SAML_CLIENT_DELETED',
      'SAML_CLIENT_CREATED',
    ]);
  });
});

const key = (use: string, text: string) =>
  `<md:KeyDescriptor${use}><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${text.replaceAll(/-----.*-----|\n/g, '')}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`;
const rich = `<?xml version="1.0" encoding="utf-8"?>${metadataOf('https://rich.example.com', {
  provider: ' AuthnRequestsSigned="true" WantAssertionsSigned="1"',
  inside: `<md:Extensions><u:UIInfo xmlns:u="urn:oasis:names:tc:SAML:metadata:ui"><u:DisplayName xml:lang="de">Reich</u:DisplayName><u:DisplayName xml:lang="en"> Rich\n app</u:DisplayName></u:UIInfo></md:Extensions>
    ${key(' use="signing"', SAML_CERTIFICATE)}${key(' use="encryption"', pair.certificate)}${key('', pair.certificate)}
    <md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://rich.example.com/slo"/>
    <md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:SOAP" Location="https://rich.example.com/soap"/>
    <md:NameIDFormat>urn:oasis:names:tc:SAML:1.1:nameid-format:X509SubjectName</md:NameIDFormat>
    <md:NameIDFormat>urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress</md:NameIDFormat>
    <md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Artifact" Location="https://rich.example.com/artifact" index="0" isDefault="true"/>
    <md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://rich.example.com/2" index="7" isDefault="false"/>`,
})}`;
const several = `<md:EntitiesDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata">${metadataOf('https://a.example')}<md:EntitiesDescriptor>${metadataOf('https://b.example').replace('"_1"', '"_2"')}</md:EntitiesDescriptor></md:EntitiesDescriptor>`;

const byText = (metadata: string, more: object = {}) =>
  server.admin.call(api.importSamlClient, { params, body: { metadata, ...more } });

describe('metadata', () => {
  test('makes a client of all that it says', async () => {
    const { body } = await byText(rich);
    const certificate = (text: string) => expect.stringContaining(text.slice(28, 90));
    expect(body).toMatchObject({
      entityId: 'https://rich.example.com',
      name: 'Rich app',
      assertionConsumerServices: [
        { url: 'https://rich.example.com/2', binding: 'POST', index: 7, default: false },
        { url: 'https://rich.example.com/acs', binding: 'POST', index: 1, default: true },
      ],
      singleLogoutServices: [{ url: 'https://rich.example.com/slo', binding: 'Redirect' }],
      nameIdFormat: 'emailAddress',
      requireSignedRequests: true,
      signAssertions: true,
      encryptionCertificate: certificate(pair.certificate),
      metadataUrl: null,
    });
    expect(body?.signingCertificates.toSorted()).toEqual([SAML_CERTIFICATE, pair.certificate].toSorted());
  });

  test('is taken as XML too, and brings a client that is there up to date without what people set', async () => {
    await server.admin.call(api.putSamlClient, {
      ...at('https://rich.example.com'),
      body: { name: 'Ours', idpInitiated: true, singleLogoutServices: [] },
    });
    const session = await adminSession(server.baseUrl, { username: 'admin', password: ADMIN_PASSWORD });
    const send = (type: string, body: string | Buffer) =>
      session.fetch(`${server.baseUrl}/admin/realms/acme/saml-clients/import`, {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      });
    for (const type of ['application/samlmetadata+xml', 'application/xml; charset=utf-8', 'text/xml']) {
      const answer = await send(type, rich);
      expect([answer.status, await answer.json()]).toMatchObject([
        200,
        { name: 'Ours', idpInitiated: true, singleLogoutServices: [{ url: 'https://rich.example.com/slo' }] },
      ]);
    }
    expect((await send('text/plain', rich)).status).toBe(415);
    expect((await send('text/xml', Buffer.from([0xff, 0xfe]))).status).toBe(400);
    expect((await send('text/xml', ' '.repeat(1024 * 1024 + 1))).status).toBe(413);
  });

  test('of several providers says which one it is asked for', async () => {
    expect(await faultsOf(byText(several))).toEqual([400, [expect.stringContaining('say which by entityId')]]);
    expect((await byText(several, { entityId: 'https://b.example' })).body).toMatchObject({
      entityId: 'https://b.example',
    });
    expect(await faultsOf(byText(several, { entityId: 'urn:c' }))).toEqual([400, [expect.stringContaining('urn:c')]]);
  });

  test.each<[string, (metadata: string) => string | Buffer]>([
    ['a stylesheet', (text) => `<?xml version="1.0"?>\n<?xml-stylesheet type="text/xsl" href="m.xsl"?>\n${text}`],
    ['an instruction behind it', (text) => `${text}<?php-end x?>\n`],
    ['US-ASCII', (text) => `<?xml version="1.0" encoding="US-ASCII"?>${text}`],
    ['us-ascii and standalone', (text) => `<?xml version='1.0' encoding='us-ascii' standalone='yes'?>${text}`],
    ['ISO-8859-1', (text) => Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?>${text}`, 'latin1')],
  ])('is taken with %s', async (what, make) => {
    const entityId = `https://${what.replaceAll(/\W/g, '-').toLowerCase()}.example.com`;
    const ui =
      '<u:UIInfo xmlns:u="urn:oasis:names:tc:SAML:metadata:ui"><u:DisplayName xml:lang="de">NAME</u:DisplayName></u:UIInfo>';
    const name = what === 'ISO-8859-1' ? 'Bücher' : 'Books';
    const inside = `<md:Extensions>${ui.replace('NAME', name)}</md:Extensions>`;
    const session = await adminSession(server.baseUrl, { username: 'admin', password: ADMIN_PASSWORD });
    const answer = await session.fetch(`${server.baseUrl}/admin/realms/acme/saml-clients/import`, {
      method: 'POST',
      headers: { 'content-type': 'application/samlmetadata+xml' },
      body: make(metadataOf(entityId, { inside })),
    });
    expect([answer.status, await answer.json()]).toMatchObject([200, { entityId, name }]);
  });

  test('may repeat an index: the first service keeps it, and each of the others gets one', async () => {
    const acs = (path: string, index: string) =>
      `<md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://twice.example.com/${path}" index="${index}"/>`;
    const inside = [acs('a', '1'), acs('b', '1'), acs('c', '0'), acs('d', '70000'), acs('e', ' 3 ')].join('');
    const { body } = await byText(metadataOf('https://twice.example.com', { inside }));
    const all = (body?.assertionConsumerServices ?? []).map(({ url, index }) => [new URL(url).pathname, index]);
    expect(all.slice(0, 3)).toEqual([
      ['/a', 1],
      ['/b', expect.any(Number)],
      ['/c', 0],
    ]);
    expect(all).toContainEqual(['/e', 3]);
    expect(new Set(all.map(([, index]) => index)).size).toBe(6);
    expect(body?.assertionConsumerServices.filter((one) => one.default)).toHaveLength(1);
    // The same metadata again changes nothing.
    expect((await byText(metadataOf('https://twice.example.com', { inside }))).body).toEqual(body);
  });

  test('says where answers to a logout go, if that is elsewhere', async () => {
    const slo = (binding: string, more: string) =>
      `<md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-${binding}" Location="https://out.example.com/slo"${more}/>`;
    const inside = [
      slo('Redirect', ' ResponseLocation="https://out.example.com/answers"'),
      slo('POST', ' ResponseLocation="https://out.example.com/slo"'),
      slo('POST', ' ResponseLocation="javascript:alert(1)"'),
    ].join('');
    const { body } = await byText(metadataOf('https://out.example.com', { inside }));
    const url = 'https://out.example.com/slo';
    expect(body?.singleLogoutServices).toEqual([
      { url, binding: 'Redirect', responseUrl: 'https://out.example.com/answers' },
      { url, binding: 'POST' },
      { url, binding: 'POST' },
    ]);
    expect(
      (await server.admin.call(api.putSamlClient, { ...at('https://out.example.com'), body: body! })).body,
    ).toEqual(body);
  });

  test.each<[string, string, string]>([
    ['that is no XML', 'hello', 'The XML is not well-formed'],
    ['with a document type', '<!DOCTYPE a SYSTEM "http://127.0.0.1/"><a/>', 'The XML has a document type'],
    ['of something else', '<a/>', 'describes no SAML 2.0 service provider'],
    [
      'of an identity provider',
      metadataOf('urn:x').replaceAll('SPSSODescriptor', 'IDPSSODescriptor'),
      'describes no SAML 2.0 service provider',
    ],
    ['of an older SAML', metadataOf('urn:x').replace('2.0:protocol', '1.1:protocol'), 'describes no SAML 2.0'],
    ['without a place by POST', metadataOf('urn:x').replace('HTTP-POST', 'PAOS'), 'takes no assertions by POST'],
    ['that is past', metadataOf('urn:x', { attributes: ' validUntil="2020-01-01T00:00:00Z"' }), 'was valid until'],
    ['with a date that is none', metadataOf('urn:x', { attributes: ' validUntil="soon"' }), 'was valid until'],
  ])('%s is refused, and leaves nothing', async (_what, metadata, message) => {
    expect(await faultsOf(byText(metadata))).toEqual([400, [expect.stringContaining(message)]]);
    expect((await problem(read('urn:x'))).status).toBe(404);
  });

  test.each([
    ['an address that is none', metadataOf('urn:y')],
    ['a certificate that is none', metadataOf('https://y.example', { inside: key('', 'AAAA') })],
    ['no entity id', metadataOf('')],
  ])('with %s is refused, and leaves nothing', async (_what, metadata) => {
    expect((await problem(byText(metadata))).status).toBe(400);
    for (const entityId of ['urn:y', 'https://y.example']) expect((await problem(read(entityId))).status).toBe(404);
  });

  test('counts only by the signature of the key that is given', async () => {
    const plain = metadataOf('https://signed.example.com');
    const { certificate } = pair;
    const good = signedXml(plain, pair.key);
    expect((await byText(good, { certificate })).body).toMatchObject({ entityId: 'https://signed.example.com' });
    for (const [metadata, by] of [
      [plain, certificate],
      [good, SAML_CERTIFICATE],
      [good.replace('/acs"', '/stolen"'), certificate],
    ] as const)
      expect(await faultsOf(byText(metadata, { certificate: by }))).toEqual([400, [expect.stringContaining('sign')]]);
    expect((await read('https://signed.example.com')).assertionConsumerServices[0]?.url).not.toContain('stolen');
  });
});

describe('metadata at an address', () => {
  const byUrl = (more: object = {}) =>
    server.admin.call(api.importSamlClientFromUrl, {
      params,
      body: { metadataUrl: `${receiver.url}/metadata`, ...more },
    });

  test('is fetched, and its address kept', async () => {
    receiver.answer = () => ({ body: metadataOf('https://fetched.example.com') });
    const { body } = await byUrl();
    expect(body).toMatchObject({ metadataUrl: `${receiver.url}/metadata`, metadataCertificate: null });
    expect(receiver.received).toMatchObject([{ method: 'GET', url: '/metadata' }]);
  });

  test('is read without writing anything: what it would set, and what of that is new', async () => {
    const dry = async (body: object) => (await server.admin.call(api.readSamlMetadata, { params, body })).body!;
    const metadata = metadataOf('https://dry.example.com');
    expect(await dry({ metadata })).toMatchObject({
      entityId: 'https://dry.example.com',
      exists: false,
      client: { entityId: 'https://dry.example.com', assertionConsumerServices: [expect.any(Object)] },
      changed: expect.arrayContaining(['assertionConsumerServices']),
    });
    receiver.answer = () => ({ body: metadata });
    const metadataUrl = `${receiver.url}/metadata`;
    expect(await dry({ metadataUrl })).toMatchObject({ exists: false, client: { metadataUrl } });
    const listed = await server.admin.call(api.listSamlClients, { params, query: { q: 'dry.example.com' } });
    expect(listed.body).toEqual([]);
    await byText(metadata);
    expect(await dry({ metadata })).toMatchObject({ exists: true, changed: [] });
    expect(await faultsOf(dry({ metadata: '<none/>' }))).toEqual([400, [expect.stringContaining('metadata')]]);
    expect((await faultsOf(dry({ metadata, metadataUrl })))[0]).toBe(400);
    expect((await faultsOf(dry({})))[0]).toBe(400);
    const reader = await administrator(server, { target: 'acme', permissions: ['saml-clients:read'] });
    await expect(reader.call(api.readSamlMetadata, { params, body: { metadata } })).rejects.toMatchObject({
      status: 403,
    });
  });

  test('counts by the key that was given once, until another is given', async () => {
    const plain = metadataOf('https://trusted.example.com');
    receiver.answer = () => ({ body: signedXml(plain, pair.key) });
    const first = await byUrl({ certificate: pair.certificate });
    expect(first.body?.metadataCertificate).toBe(pair.certificate);
    receiver.answer = () => ({ body: plain });
    expect(await faultsOf(byUrl())).toEqual([400, ['metadataUrl: The XML is not signed']]);
    receiver.answer = () => ({ body: signedXml(plain.replace('/acs"', '/new"'), pair.key) });
    expect((await byUrl()).body?.assertionConsumerServices[0]?.url).toBe('https://trusted.example.com/new');
  });

  test.each<[string, string | undefined, () => object]>([
    ['is not there', undefined, () => ({ status: 404, body: metadataOf('urn:z') })],
    ['lies elsewhere', undefined, () => ({ status: 302, headers: { location: 'https://127.0.0.1/' } })],
    ['is too large', undefined, () => ({ body: ' '.repeat(1024 * 1024 + 1) })],
    ['is in a private network', 'https://10.0.0.1/metadata', () => ({})],
    ['is not https', 'http://a.example.com/', () => ({})],
  ])('that %s is refused by its field', async (_what, metadataUrl, answer) => {
    receiver.answer = answer;
    const [status, faults] = await faultsOf(byUrl(metadataUrl === undefined ? {} : { metadataUrl }));
    expect([status, faults]).toEqual([400, [expect.stringMatching(/^metadataUrl: /)]]);
    expect((await problem(read('urn:z'))).status).toBe(404);
  });
});
