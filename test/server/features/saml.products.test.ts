// Owns: that metadata as ADFS, Shibboleth and Okta write it describes a client or a provider, unchanged and signed.
// Does not own: what each part of metadata means (saml-clients.test.ts), whose signature counts (brokering.saml.metadata.test.ts).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importSamlClient } from '../../../server/contract/saml-clients.ts';
import { makePeopledRealm } from '../../support/applications.ts';
import { makeProvider, wayIn } from '../../support/brokering.ts';
import { createPerson } from '../../support/person.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { SAML_CERTIFICATE, samlKeyPair, signedXml } from '../../support/saml.ts';
import { adfs, oktaProvider, oktaService, shibbolethProvider, shibbolethService } from '../../support/saml-products.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let receiver: Receiver;
let server: TestServer;
let count = 0;
const pair = samlKeyPair();
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: receiver.caFile } });
});
afterAll(async () => {
  await server?.stop();
  await receiver?.stop();
});
async function freshRealm(): Promise<string> {
  count += 1;
  await makePeopledRealm(server, `p${count}`, []);
  return `p${count}`;
}
/** With an ID, as what is signed has. */
const signed = (text: string) =>
  signedXml(text.includes(' ID="') ? text : text.replace(' entityID=', ' ID="_signed" entityID='), pair.key);
const content = (certificate: unknown) => String(certificate).replaceAll(/-----[A-Z ]+-----|\s/g, '');

const services: [string, string, object][] = [
  [
    'ADFS',
    adfs,
    {
      entityId: 'http://fs.example.com/adfs/services/trust',
      assertionConsumerServices: [{ url: 'https://fs.example.com/adfs/ls/', binding: 'POST', index: 0, default: true }],
      singleLogoutServices: [
        { url: 'https://fs.example.com/adfs/ls/', binding: 'Redirect' },
        { url: 'https://fs.example.com/adfs/ls/', binding: 'POST' },
      ],
      nameIdFormat: 'emailAddress',
      signAssertions: true,
    },
  ],
  [
    'Shibboleth',
    shibbolethService,
    {
      entityId: 'https://sp.example.org/shibboleth',
      assertionConsumerServices: [
        { url: 'https://sp.example.org/Shibboleth.sso/SAML2/POST', binding: 'POST', index: 1, default: true },
      ],
      singleLogoutServices: [
        { url: 'https://sp.example.org/Shibboleth.sso/SLO/Redirect', binding: 'Redirect' },
        { url: 'https://sp.example.org/Shibboleth.sso/SLO/POST', binding: 'POST' },
      ],
    },
  ],
  [
    'Okta',
    oktaService,
    {
      entityId: 'https://www.okta.com/saml2/service-provider/spuqpsrtuaomfnlrbqes',
      assertionConsumerServices: [{ url: 'https://corp.okta.com/sso/saml2/0oa1a2b3c4', index: 0, default: true }],
      requireSignedRequests: true,
      nameIdFormat: 'unspecified',
    },
  ],
];

describe.each(services)('%s as a service provider', (_, metadata, expected) => {
  test.each<[string, (text: string) => { metadata: string; certificate?: string }]>([
    ['as it is', (text) => ({ metadata: text })],
    [
      'behind a byte order mark, with line ends of Windows',
      (text) => ({ metadata: `\uFEFF${text.replaceAll('\n', '\r\n')}` }),
    ],
    ['signed', (text) => ({ metadata: signed(text), certificate: pair.certificate })],
  ])('is read %s', async (_how, make) => {
    const params = { realm: await freshRealm() };
    const { body } = await server.admin.call(importSamlClient, { params, body: make(metadata) });
    expect(body).toMatchObject(expected);
    expect(body?.signingCertificates.map(content)).toEqual([content(SAML_CERTIFICATE)]);
    expect(content(body?.encryptionCertificate)).toBe(content(SAML_CERTIFICATE));
  });
});

describe.each([
  ['ADFS', adfs, 'https://fs.example.com/adfs/ls/'],
  ['Shibboleth', shibbolethProvider, 'https://idp.example.org/idp/profile/SAML2/Redirect/SSO'],
  ['Okta', oktaProvider, 'https://corp.okta.com/app/corp_realm_1/exk1fcia6d6EMsf331d8/sso/saml'],
])('%s as an identity provider', (_, metadata, address) => {
  test.each<[string, (text: string) => string]>([
    ['as it is', (text) => text],
    ['behind a byte order mark', (text) => `\uFEFF${text}`],
    ['signed', signed],
  ])('is read %s', async (how, make) => {
    const realm = await freshRealm();
    receiver.answer = () => ({ body: make(metadata) });
    const metadataCertificate = how === 'signed' ? { metadataCertificate: pair.certificate } : {};
    await makeProvider(server, realm, {
      ...{ alias: 'corp', type: 'saml', displayName: 'Corp' },
      config: { metadataUrl: `${receiver.url}/${realm}`, ...metadataCertificate },
    });
    const person = createPerson(server.baseUrl);
    const page = await person.open(wayIn(await person.open(`/realms/${realm}/login?for=account`)));
    expect(page.url).toContain(`${address}?SAMLRequest=`);
  });
});
