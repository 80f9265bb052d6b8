// The metadata of a SAML identity provider: whose signature counts, and that what was read once serves while it is away.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import type { ProviderConfig } from '../../../server/contract/identity-providers.ts';
import { makePeopledRealm } from '../../support/applications.ts';
import { makeProvider, wayIn } from '../../support/brokering.ts';
import { createPerson, type ShownPage } from '../../support/person.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { samlKeyPair, signedXml } from '../../support/saml.ts';
import { IDP, identityProviderKeys } from '../../support/saml-provider.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let receiver: Receiver;
let server: TestServer;
let realm = '';
let made = 0;
let ahead = 0;
beforeAll(async () => {
  receiver = await startReceiver();
  const now = () => new Date(Date.now() + ahead);
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: receiver.caFile }, now });
});
afterAll(async () => {
  await server?.stop();
  await receiver?.stop();
});
beforeEach(async () => {
  made += 1;
  ahead = 0;
  realm = `described${made}`;
  await makePeopledRealm(server, realm, []);
});

const metadata = `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" ID="_m1" entityID="${IDP}"><md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${IDP}/sso"/></md:IDPSSODescriptor></md:EntityDescriptor>`;
const leave = async (): Promise<ShownPage> => {
  const person = createPerson(server.baseUrl);
  return person.open(wayIn(await person.open(`/realms/${realm}/login?for=account`)));
};
/** Each at an address of its own: what was read of another one is kept. */
const provide = (config: ProviderConfig = {}) =>
  makeProvider(server, realm, {
    ...{ alias: 'corp', type: 'saml', displayName: 'Corp' },
    config: {
      metadataUrl: `${receiver.url}/${realm}`,
      signingCertificates: [identityProviderKeys.certificate],
      ...config,
    },
  });
const reasons = async () =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type: 'LOGIN_FAILURE' } })).body?.map(
    ({ data }) => data.reason,
  );

test('counts where the key that is given has signed it', async () => {
  receiver.answer = () => ({ body: signedXml(metadata, identityProviderKeys.key) });
  await provide({ metadataCertificate: identityProviderKeys.certificate });
  expect((await leave()).url).toContain(`${IDP}/sso?SAMLRequest=`);
});

const withUmlaut = metadata
  .replace(`entityID="${IDP}"`, `entityID="${IDP}/bücher"`)
  .replace(
    '</md:EntityDescriptor>',
    '<md:Organization><md:OrganizationName xml:lang="de">Bücher</md:OrganizationName><md:OrganizationDisplayName xml:lang="de">Bücher</md:OrganizationDisplayName><md:OrganizationURL xml:lang="de">https://corp.example</md:OrganizationURL></md:Organization></md:EntityDescriptor>',
  );
test.each([
  ['ISO-8859-1', 'latin1', true],
  ['ISO-8859-1', 'latin1', false],
  ['utf-8', 'utf8', true],
  ['utf-8', 'utf8', false],
] as const)('is read in the encoding that it declares: %s in %s, signed: %s', async (encoding, written, signed) => {
  const text = signed ? signedXml(withUmlaut, identityProviderKeys.key) : withUmlaut;
  receiver.answer = () => ({ body: Buffer.from(`<?xml version="1.0" encoding="${encoding}"?>${text}`, written) });
  const certificate = signed ? { metadataCertificate: identityProviderKeys.certificate } : {};
  await provide({ ...certificate, entityId: `${IDP}/bücher` });
  expect((await leave()).url).toContain(`${IDP}/sso?SAMLRequest=`);
});

test('doesn’t count where its bytes are not UTF-8 and it declares nothing else', async () => {
  receiver.answer = () => ({ body: Buffer.from(withUmlaut, 'latin1') });
  await provide();
  expect((await leave()).text).toContain('You were not signed in by Corp');
  expect(await reasons()).toEqual(['provider-metadata-malformed']);
});

test.each([
  ['nobody', () => metadata],
  ['another key', () => signedXml(metadata, samlKeyPair().key)],
  ['that key, but was changed since,', () => signedXml(metadata, identityProviderKeys.key).replace('/sso"', '/evil"')],
])('doesn’t count where %s has signed it', async (_, make) => {
  receiver.answer = () => ({ body: make() });
  await provide({ metadataCertificate: identityProviderKeys.certificate });
  expect((await leave()).text).toContain('You were not signed in by Corp');
  expect(await reasons()).toEqual(['provider-metadata-malformed']);
});

test('serves on while it can’t be fetched again, and is read anew when it can', async () => {
  receiver.answer = () => ({ body: metadata });
  await provide();
  expect((await leave()).url).toContain(`${IDP}/sso?`);
  receiver.answer = () => ({ status: 503 });
  ahead = 3_600_000;
  expect((await leave()).url).toContain(`${IDP}/sso?`);
  receiver.answer = () => ({ body: metadata.replace('/sso"', '/elsewhere"') });
  ahead = 7_200_000;
  expect((await leave()).url).toContain(`${IDP}/elsewhere?`);
});
