// A SAML 2.0 identity provider that people come by: another realm, and one of a test's own that says what isn't so.
import { inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { listIdentityLinks } from '../../../server/contract/identity-links.ts';
import { createUser, listUsers } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { makeProvider, sentTo, wayIn } from '../../support/brokering.ts';
import { createPerson } from '../../support/person.ts';
import { samlKeyPair, signedXml } from '../../support/saml.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { at, makeServiceProvider, posted } from '../../support/service-provider.ts';

const IDP = 'https://idp.example.com/saml';
const theirs = samlKeyPair();
const evil = samlKeyPair();
let server: TestServer;
let realm = '';
let callback = '';
let made = 0;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  realm = `samlsp${made}`;
  callback = `${server.baseUrl}/realms/${realm}/broker/corp/endpoint`;
  await makePeopledRealm(server, realm, []);
});

const people = async () => (await server.admin.call(listUsers, { params: { realm } })).body ?? [];
const start = () => `/realms/${realm}/login?for=account`;
const isHome = ({ url }: { url: string }) => new URL(url).pathname === `/realms/${realm}/account`;
const requestIn = (url: string): string =>
  inflateRawSync(Buffer.from(new URL(url).searchParams.get('SAMLRequest') ?? '', 'base64')).toString();

test('another realm, known by its metadata, says who somebody is, and asks for signed requests', async () => {
  const partner = `samlidp${made}`;
  await makePeopledRealm(server, partner, []);
  const body = { username: 'grace', email: 'grace@partner.example', password: PASSWORD };
  await server.admin.call(createUser, { params: { realm: partner }, body });
  await makeProvider(server, realm, {
    ...{ alias: 'corp', type: 'saml', displayName: 'Corp' },
    config: { metadataUrl: at(server, partner, 'metadata'), signRequests: true, trustEmail: true },
  });
  const descriptor = await (await fetch(`${callback}/descriptor`)).text();
  expect(descriptor).toContain(`Location="${callback}"`);
  const certificate = /<ds:X509Certificate>([^<]*)</.exec(descriptor)?.[1] ?? '';
  await makeServiceProvider(server, partner, {
    entityId: `${server.baseUrl}/realms/${realm}`,
    assertionConsumerServices: [{ url: callback }],
    signingCertificates: [`-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`],
    requireSignedRequests: true,
    mappers: [{ name: 'mail', source: 'property', attribute: 'email' }],
  });
  const round = async () => {
    const grace = createPerson(server.baseUrl);
    const there = await grace.open(wayIn(await grace.open(start())));
    expect(there.heading).toBe('Sign in');
    const { action, fields } = posted(await grace.fill(there, { username: 'grace', password: PASSWORD }));
    expect(action).toBe(callback);
    return grace.post(new URL(action).pathname, fields);
  };
  expect(isHome(await round())).toBe(true);
  expect(isHome(await round())).toBe(true);
  const [grace, ...others] = await people();
  expect([grace?.email, grace?.emailVerified, others]).toEqual(['grace@partner.example', true, []]);
  const links = await server.admin.call(listIdentityLinks, { params: { realm, userId: grace?.id ?? '' } });
  expect(links.body).toMatchObject([{ identityProvider: 'corp', subject: expect.stringMatching(/^.{16,}$/) }]);
});

interface Lies {
  issuer?: string;
  audience?: string;
  recipient?: string;
  inResponseTo?: string;
  until?: string;
  format?: string;
  status?: string;
  name?: string;
}
const minutes = (n: number) => new Date(Date.now() + n * 60_000).toISOString();

function assertionOf(requestId: string, lies: Lies = {}): string {
  const { issuer = IDP, audience = `${server.baseUrl}/realms/${realm}`, recipient = callback } = lies;
  const { inResponseTo = requestId, until = minutes(5), name = 'ada@corp.example' } = lies;
  const format = lies.format ?? 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
  return `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_a1" Version="2.0" IssueInstant="${minutes(0)}"><saml:Issuer>${issuer}</saml:Issuer><saml:Subject><saml:NameID Format="${format}">${name}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData Recipient="${recipient}" NotOnOrAfter="${until}" InResponseTo="${inResponseTo}"/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${minutes(-5)}" NotOnOrAfter="${until}"><saml:AudienceRestriction><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions><saml:AuthnStatement AuthnInstant="${minutes(0)}"/></saml:Assertion>`;
}
const responseOf = (inside: string, { status = 'Success' }: Lies = {}): string =>
  `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_r1" Version="2.0" IssueInstant="${minutes(0)}" Destination="${callback}"><saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${IDP}</saml:Issuer><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${status}"/></samlp:Status>${inside}</samlp:Response>`;

/** Somebody who comes back with what the test makes of their request. */
async function comeWith(make: (requestId: string) => string) {
  await makeProvider(server, realm, {
    ...{ alias: 'corp', type: 'saml', displayName: 'Corp' },
    config: {
      entityId: IDP,
      singleSignOnUrl: `${IDP}/sso`,
      signingCertificates: [theirs.certificate],
      trustEmail: true,
    },
  });
  const person = createPerson(server.baseUrl);
  const url = await sentTo(person, await person.open(start()));
  const state = new URL(url).searchParams.get('RelayState') ?? '';
  const requestId = /ID="(_[0-9a-f]+)"/.exec(requestIn(url))?.[1] ?? '';
  const SAMLResponse = Buffer.from(make(requestId)).toString('base64');
  const send = (by = person) => by.post(new URL(callback).pathname, { SAMLResponse, RelayState: state });
  return { person, send, page: await send() };
}
const failures = async () =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type: 'LOGIN_FAILURE' } })).body?.map(
    ({ data }) => data.reason,
  );

test.each<[string, (id: string) => string]>([
  ['whose assertion is signed', (id) => responseOf(signedXml(assertionOf(id), theirs.key))],
  ['that is signed as a whole', (id) => signedXml(responseOf(assertionOf(id)), theirs.key)],
])('a response %s is taken, once', async (_, make) => {
  const { page, send } = await comeWith(make);
  expect(isHome(page)).toBe(true);
  expect(await people()).toMatchObject([{ email: 'ada@corp.example', emailVerified: true }]);
  expect((await send()).status).toBe(400);
  expect((await send(createPerson(server.baseUrl))).status).toBe(400);
});

describe('a response is refused', () => {
  const signed = (lies: Lies) => (id: string) => responseOf(signedXml(assertionOf(id, lies), theirs.key), lies);
  const forged = (id: string) => assertionOf(id, { name: 'boss@corp.example' }).replace('"_a1"', '"_a2"');
  test.each<[string, string, (id: string) => string]>([
    ['unsigned', 'signature', (id) => responseOf(assertionOf(id))],
    ['signed by another', 'signature', (id) => responseOf(signedXml(assertionOf(id), evil.key))],
    [
      'signed with SHA-1',
      'signature',
      (id) => responseOf(signedXml(assertionOf(id), theirs.key, 'http://www.w3.org/2000/09/xmldsig#rsa-sha1')),
    ],
    ['changed behind its signature', 'signature', (id) => signed({})(id).replace('ada@', 'eve@')],
    [
      'with a second assertion before the signed one',
      'signature',
      (id) => responseOf(`${forged(id)}${signedXml(assertionOf(id), theirs.key)}`),
    ],
    [
      'with the signed assertion inside a forged one',
      'signature',
      (id) =>
        responseOf(
          forged(id).replace('</saml:Assertion>', `${signedXml(assertionOf(id), theirs.key)}</saml:Assertion>`),
        ),
    ],
    ['for another audience', 'audience', signed({ audience: 'https://other.example' })],
    ['for another address', 'recipient', signed({ recipient: 'https://other.example/acs' })],
    ['of another issuer', 'issuer', signed({ issuer: 'https://other.example' })],
    ['that answers another request', 'other-request', signed({ inResponseTo: '_0123' })],
    ['that nobody asked for', 'other-request', signed({ inResponseTo: '' })],
    ['that is over', 'time', signed({ until: minutes(-3) })],
    ['that says no', 'status-Responder', signed({ status: 'Responder' })],
    [
      'with a name for this time alone',
      'transient-name',
      signed({ format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' }),
    ],
    ['with an entity', 'malformed', (id) => `<!DOCTYPE x [<!ENTITY e "x">]>${signed({})(id)}`],
    ['that is no XML', 'malformed', () => 'nothing'],
  ])('that is %s', async (_, reason, make) => {
    const { page } = await comeWith(make);
    expect(page.text).toContain('You were not signed in by Corp');
    expect(await people()).toEqual([]);
    expect(await failures()).toEqual([`provider-saml-${reason}`]);
  });

  test('a comment in a name cuts nothing off', async () => {
    const { page } = await comeWith(signed({ name: 'ada@corp.example<!-- -->.evil.example' }));
    expect(isHome(page)).toBe(true);
    expect(await people()).toMatchObject([{ email: 'ada@corp.example.evil.example' }]);
  });
});
