// What the SAML endpoints refuse: forged, wrapped, replayed, misdirected and malformed requests. Each would otherwise begin a
// sign-in, or be answered.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { createUser } from '../../../server/contract/users.ts';
import { authnRequest, byPost, byRedirect, newRequestId, redirectQuery } from '../../support/authn-requests.ts';
import { makeRealm } from '../../support/clients.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { alice } from '../../support/relying-party.ts';
import { samlKeyPair, signedXml } from '../../support/saml.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import {
  ACS,
  makeServiceProvider,
  postedSamlMessage,
  samlEndpointUrl,
  serviceProviderKeys,
  signedIn,
  statusOf,
  WIKI,
} from '../../support/service-provider.ts';

const REALM = 'acme';
const OPEN = 'urn:open';
const OTHER_ACS = `${ACS}/other`;
const UNKNOWN = 'The application is not known here.';
let server: TestServer;
let person: Person;
let offset = 0;
beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(Date.now() + offset) });
  await makeRealm(server, REALM);
  await makeRealm(server, 'elsewhere');
  await server.admin.call(createUser, { params: { realm: REALM }, body: alice });
  const signed = { signingCertificates: [serviceProviderKeys.certificate], requireSignedRequests: true };
  const consumers = [{ url: ACS }, { url: OTHER_ACS, index: 7 }];
  await makeServiceProvider(server, REALM, { ...signed, assertionConsumerServices: consumers });
  await makeServiceProvider(server, REALM, { entityId: OPEN });
  await makeServiceProvider(server, REALM, { entityId: 'urn:off', enabled: false });
  await makeServiceProvider(server, 'elsewhere', { entityId: 'urn:elsewhere' });
});
afterAll(async () => server?.stop());
beforeEach(() => {
  person = createPerson(server.baseUrl);
  offset = 0;
});

const sso = () => samlEndpointUrl(server, REALM, 'sso');
/** What the page has for developers. */
const told = ({ status, text }: ShownPage) => [status, /<code>invalid_request<\/code>: ([^<]*)</.exec(text)?.[1]];

test('a request that its client signed begins a sign-in, by either binding', async () => {
  expect((await byRedirect(person, sso(), authnRequest({ destination: sso() }))).heading).toBe('Sign in');
  expect(
    (await byPost(person, sso(), signedXml(authnRequest({ destination: sso() }), serviceProviderKeys.key))).heading,
  ).toBe('Sign in');
});

describe('nothing tells a client that is not known from one that has not proven itself', () => {
  const requests: [string, (text: string) => Promise<ShownPage>][] = [
    ['unsigned by Redirect', (text) => byRedirect(person, sso(), text, { key: undefined })],
    ['unsigned by POST', (text) => byPost(person, sso(), text)],
    ['by another key, Redirect', (text) => byRedirect(person, sso(), text, { key: samlKeyPair().key })],
    ['by another key, POST', (text) => byPost(person, sso(), signedXml(text, samlKeyPair().key))],
    [
      'SHA-1 by Redirect',
      (text) =>
        byRedirect(person, sso(), text, { algorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1', digest: 'sha1' }),
    ],
    [
      'SHA-1 by POST',
      (text) =>
        byPost(person, sso(), signedXml(text, serviceProviderKeys.key, 'http://www.w3.org/2000/09/xmldsig#rsa-sha1')),
    ],
    ['an algorithm of no kind', (text) => byRedirect(person, sso(), text, { algorithm: '__proto__' })],
    [
      'an HMAC under the certificate',
      (text) => byRedirect(person, sso(), text, { algorithm: 'http://www.w3.org/2001/04/xmldsig-more#hmac-sha256' }),
    ],
    [
      'a signature in a message of the Redirect binding',
      (text) => byRedirect(person, sso(), signedXml(text, serviceProviderKeys.key), { key: undefined }),
    ],
    [
      'a changed message',
      (text) =>
        byPost(person, sso(), signedXml(text, serviceProviderKeys.key).replace('Version', 'ForceAuthn="1" Version')),
    ],
  ];
  test.each(requests)('%s', async (_, send) => {
    const known = await send(authnRequest());
    const unknown = await send(authnRequest({ issuer: 'urn:nobody' }));
    expect(told(known)).toEqual([400, UNKNOWN]);
    expect(known.text).toBe(unknown.text);
  });

  test.each(['urn:off', 'urn:elsewhere', '', 'x'.repeat(2000), '&#0;'])('a client %s', async (issuer) => {
    const shown = await byRedirect(person, sso(), authnRequest({ issuer }), { key: undefined });
    expect(shown.status).toBe(400);
    expect(shown.text).not.toContain('SAMLResponse');
  });

  test('the audit log says which it was', async () => {
    await byRedirect(person, sso(), authnRequest(), { key: undefined });
    const { body } = await server.admin.call(listEvents, {
      params: { realm: REALM },
      query: { type: 'AUTHORIZATION_REFUSED', clientId: WIKI },
    });
    expect(body?.[0]).toMatchObject({
      outcome: 'failure',
      data: { protocol: 'saml', reason: expect.stringContaining('not signed') },
    });
  });
});

test('a comment in the issuer or in an address cuts nothing off', async () => {
  const issuer = await byPost(
    person,
    sso(),
    signedXml(authnRequest({ issuer: `${OPEN}<!-- -->.evil` }), serviceProviderKeys.key),
  );
  expect(told(issuer)).toEqual([400, UNKNOWN]);
  const cut = authnRequest({ issuer: `${WIKI}<!---->` });
  expect((await byPost(person, sso(), signedXml(cut, serviceProviderKeys.key))).heading).toBe('Sign in');
});

describe('what is not for this endpoint, or not from now', () => {
  const signedRequest = (options: Parameters<typeof authnRequest>[0]) =>
    byRedirect(person, sso(), authnRequest(options));
  test('another destination', async () => {
    for (const destination of [
      samlEndpointUrl(server, 'elsewhere', 'sso'),
      samlEndpointUrl(server, REALM, 'slo'),
      'https://idp.example/sso',
    ])
      expect(told(await signedRequest({ destination }))).toEqual([400, 'The message is for another destination.']);
  });

  test('another address for the response than one of the client’s', async () => {
    const page = [400, 'The address for the response is not one that the application has registered.'];
    const addresses = ['https://evil.example/acs', `${ACS}?x`, `${ACS}/`, ACS.toUpperCase(), `${ACS}@evil.example`];
    for (const url of addresses)
      expect(told(await signedRequest({ attributes: ` AssertionConsumerServiceURL="${url}"` }))).toEqual(page);
    for (const index of ['3', 'x', '-1'])
      expect(told(await signedRequest({ attributes: ` AssertionConsumerServiceIndex="${index}"` }))).toEqual(page);
    const other = await signedIn(person, await signedRequest({ attributes: ' AssertionConsumerServiceIndex="7"' }));
    expect(postedSamlMessage(other).action).toBe(OTHER_ACS);
  });

  test('too old, from the future, of another version, of another kind, without an ID', async () => {
    const clocks = [400, 'The message is too old, or the clocks of both sides are apart.'];
    const from = (seconds: number) => signedRequest({ issued: new Date(Date.now() + seconds * 1000) });
    expect(told(await from(-9 * 60))).toEqual(clocks);
    expect(told(await from(4 * 60))).toEqual(clocks);
    expect((await from(-7 * 60)).heading).toBe('Sign in');
    expect((await from(2 * 60)).heading).toBe('Sign in');
    expect((await byRedirect(person, sso(), authnRequest().replace('"2.0"', '"1.1"'))).status).toBe(400);
    expect((await byRedirect(person, sso(), authnRequest().replaceAll('AuthnRequest', 'LogoutRequest'))).status).toBe(
      400,
    );
    expect((await signedRequest({ id: '1 2' })).status).toBe(400);
    expect((await byRedirect(person, sso(), authnRequest(), { kind: 'SAMLResponse' })).status).toBe(400);
  });

  test('one that was answered before is not answered again, in no browser, also after its end', async () => {
    const id = newRequestId();
    const first = await signedIn(person, await signedRequest({ id }));
    expect(statusOf(first)).toEqual(['Success']);
    const over = [400, 'The request was answered before.'];
    expect(told(await signedRequest({ id }))).toEqual(over);
    expect(told(await byPost(person, sso(), signedXml(authnRequest({ id }), serviceProviderKeys.key)))).toEqual(over);
    const another = createPerson(server.baseUrl);
    const asked = await byRedirect(another, sso(), authnRequest({ id }));
    expect(told(await signedIn(another, asked))).toEqual(over);
    // the same ID of another service provider is another request
    const open = await byRedirect(person, sso(), authnRequest({ id, issuer: OPEN }), { key: undefined });
    expect(statusOf(open)).toEqual(['Success']);
  });

  test('RelayState of more than 1,024 bytes', async () => {
    const asked = (relayState: string) => byRedirect(person, sso(), authnRequest(), { relayState });
    expect(told(await asked('ü'.repeat(513)))).toEqual([400, 'RelayState is longer than 1024 bytes.']);
    expect((await asked('ü'.repeat(512))).heading).toBe('Sign in');
  });
});

describe('what is no message', () => {
  const xml = authnRequest;
  const bodies: [string, () => string][] = [
    ['a document type', () => `<!DOCTYPE a [<!ENTITY x "y">]>${xml()}`],
    ['an external entity', () => `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>${xml({ issuer: '&x;' })}`],
    ['an entity of nobody’s', () => xml({ issuer: '&x;' })],
    ['a stylesheet', () => `<?xml-stylesheet href="x"?>${xml()}`],
    ['deeply nested', () => xml({ inside: '<a>'.repeat(100) + '</a>'.repeat(100) })],
    ['cut off', () => xml().slice(0, -10)],
    ['nothing', () => ''],
    ['not XML', () => 'hello'],
  ];
  test.each(bodies)('%s', async (_, make) => {
    expect((await byPost(person, sso(), make())).status).toBe(400);
    expect((await byRedirect(person, sso(), make(), { key: undefined })).status).toBe(400);
  });

  test('not deflated, inflated without end, twice, not at all', async () => {
    const bomb = redirectQuery(xml({ inside: ' '.repeat(5_000_000) }));
    const { pathname } = new URL(sso());
    for (const query of [
      bomb,
      'SAMLRequest=AAAA',
      'SAMLRequest=%ff',
      'SAMLRequest=a&SAMLRequest=b',
      'request=',
      'request=AAAA',
      '',
    ])
      expect((await person.open(`${pathname}?${query}`)).status).toBe(400);
  });

  test('a kept request of another realm, or a changed one', async () => {
    const response = await person.once(new URL(sso()).pathname, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        SAMLRequest: Buffer.from(signedXml(xml(), serviceProviderKeys.key)).toString('base64'),
      }).toString(),
    });
    const location = response.headers.get('location') ?? '';
    expect((await person.open(location)).heading).toBe('Sign in');
    expect((await person.open(location.replace(REALM, 'elsewhere'))).status).toBe(400);
    expect((await person.open(location.slice(0, -4))).status).toBe(400);
    offset = 61 * 60_000;
    expect(told(await person.open(location))).toEqual([400, 'The request is too old.']);
  });
});
