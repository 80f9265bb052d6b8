// Signatures that cover something else than what stands there, or prove nothing: wherever the server reads XML that somebody signed.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createUser, listUsers } from '../../../server/contract/users.ts';
import { makePeopledRealm } from '../../support/applications.ts';
import { authnRequest, byPost, byRedirect, logoutRequest, newRequestId } from '../../support/authn-requests.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { alice } from '../../support/relying-party.ts';
import { signedXml } from '../../support/saml.ts';
import {
  assertionOf,
  comeWith,
  identityProviderKeys,
  type Lies,
  makeSamlProvider,
  responseOf,
} from '../../support/saml-provider.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import {
  ACS,
  makeServiceProvider,
  postedSamlMessage,
  samlEndpointUrl,
  serviceProviderKeys,
  signedIn,
} from '../../support/service-provider.ts';
import {
  afterIssuer,
  extensions,
  SIGNED_ID,
  worthlessSignatures,
  wrappedElements,
  wrappedMessages,
} from '../../support/signature-wrapping.ts';

const OTHER_ACS = `${ACS}/other`;
let server: TestServer;
let realm = '';
let made = 0;
let person: Person;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.stop());
const makeRealmAnew = async () => {
  made += 1;
  realm = `wrapped${made}`;
  await makePeopledRealm(server, realm, []);
  person = createPerson(server.baseUrl);
};

describe('of an application', () => {
  beforeAll(async () => {
    await makeRealmAnew();
    await server.admin.call(createUser, { params: { realm }, body: alice });
    await makeServiceProvider(server, realm, {
      assertionConsumerServices: [{ url: ACS }, { url: OTHER_ACS, index: 7 }],
      singleLogoutServices: [{ url: `${ACS}/slo`, binding: 'Redirect' }],
      signingCertificates: [serviceProviderKeys.certificate],
      requireSignedRequests: true,
    });
  });
  beforeEach(() => {
    person = createPerson(server.baseUrl);
  });
  const sso = () => samlEndpointUrl(server, realm, 'sso');
  const slo = () => samlEndpointUrl(server, realm, 'slo');
  const enter = async (): Promise<ShownPage> => signedIn(person, await byRedirect(person, sso(), authnRequest()));

  describe('a sign-on is not begun by a request', () => {
    const asking = (url: string) => (id: string) =>
      authnRequest({ id, attributes: ` AssertionConsumerServiceURL="${url}"` });
    const good = () => signedXml(asking(ACS)(SIGNED_ID), serviceProviderKeys.key);
    const evil = asking(OTHER_ACS);
    const around = (inside: string) => afterIssuer(evil('_around'), extensions(inside));
    test.each([
      ...wrappedMessages(good, evil),
      ...wrappedElements(good, evil, around),
      ...worthlessSignatures(() => evil(newRequestId()), serviceProviderKeys),
    ])('%s', async (_, make) => {
      await enter();
      const shown = await byPost(person, sso(), make());
      expect([shown.status, shown.fields.SAMLResponse]).toEqual([400, undefined]);
    });
  });

  describe('no session is ended by a request', () => {
    let name = '';
    const naming = (who: string) => (id: string) => logoutRequest({ name: who, id });
    const good = () => signedXml(naming('nobody')(SIGNED_ID), serviceProviderKeys.key);
    const evil = (id: string) => naming(name)(id);
    const around = (inside: string) => afterIssuer(evil('_around'), extensions(inside));
    test.each([
      ...wrappedMessages(good, evil),
      ...wrappedElements(good, evil, around),
      ...worthlessSignatures(() => evil(newRequestId()), serviceProviderKeys),
    ])('%s', async (_, make) => {
      name = /<saml:NameID[^>]*>([^<]*)</.exec(postedSamlMessage(await enter()).xml)?.[1] ?? '';
      expect(name).not.toBe('');
      expect((await byPost(person, slo(), make())).status).toBe(400);
      expect((await byRedirect(person, sso(), authnRequest({ attributes: ' IsPassive="true"' }))).text).not.toContain(
        'NoPassive',
      );
      expect(postedSamlMessage(await byRedirect(person, sso(), authnRequest())).xml).toContain(name);
    });
  });
});

describe('of an identity provider: nobody is signed in by a response', () => {
  beforeEach(async () => {
    await makeRealmAnew();
    await makeSamlProvider({ server, realm });
  });
  let requestId = '';
  const assertion = (lies: Lies) => assertionOf({ server, realm }, requestId, lies);
  const response = (inside: string, lies: Lies = {}) => responseOf({ server, realm }, inside, lies);
  const boss = { name: 'boss@corp.example' };
  const goodAssertion = () => signedXml(assertion({ id: SIGNED_ID }), identityProviderKeys.key);
  const evilAssertion = (id: string) => assertion({ id, ...boss });
  const goodResponse = () => signedXml(response(assertion({}), { id: SIGNED_ID }), identityProviderKeys.key);
  const evilResponse = (id: string) => response(assertion({ id: '_a2', ...boss }), { id });
  const inResponse = (shapes: [string, () => string][]) =>
    shapes.map(([name, make]): [string, () => string] => [`its assertion: ${name}`, () => response(make())]);
  test.each([
    ...wrappedMessages(goodResponse, evilResponse),
    ...wrappedElements(goodAssertion, evilAssertion, response),
    ...worthlessSignatures(() => evilResponse('_r2'), identityProviderKeys),
    ...inResponse(worthlessSignatures(() => evilAssertion('_a2'), identityProviderKeys)),
  ])('%s', async (_, make) => {
    const { page } = await comeWith({ server, realm }, (id) => {
      requestId = id;
      return make();
    });
    expect(page.text).toContain('You were not signed in by Corp');
    expect((await server.admin.call(listUsers, { params: { realm } })).body).toEqual([]);
  });
});
