// A SAML 2.0 identity provider that people come by: another realm, and one of a test's own that says what isn't so.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { listIdentityLinks } from '../../../server/contract/identity-links.ts';
import type { ProviderConfig } from '../../../server/contract/identity-providers.ts';
import { createUser, listUsers } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { makeProvider, wayIn } from '../../support/brokering.ts';
import { createPerson } from '../../support/person.ts';
import { signedXml } from '../../support/saml.ts';
import {
  assertionOf,
  callbackOf,
  comeWith as comeBackWith,
  identityProviderKeys,
  type Lies,
  makeSamlProvider,
  minutesFromNow,
  responseOf,
} from '../../support/saml-provider.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { makeServiceProvider, postedSamlMessage, samlEndpointUrl } from '../../support/service-provider.ts';

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
  callback = callbackOf({ server, realm });
  await makePeopledRealm(server, realm, []);
});

const people = async () => (await server.admin.call(listUsers, { params: { realm } })).body ?? [];
const start = () => `/realms/${realm}/login?for=account`;
const isHome = ({ url }: { url: string }) => new URL(url).pathname === `/realms/${realm}/account`;

test('another realm, known by its metadata, says who somebody is, and asks for signed requests', async () => {
  const partner = `samlidp${made}`;
  await makePeopledRealm(server, partner, []);
  const body = { username: 'grace', email: 'grace@partner.example', password: PASSWORD };
  await server.admin.call(createUser, { params: { realm: partner }, body });
  await makeProvider(server, realm, {
    ...{ alias: 'corp', type: 'saml', displayName: 'Corp' },
    config: { metadataUrl: samlEndpointUrl(server, partner, 'metadata'), signRequests: true, trustEmail: true },
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
    const { action, fields } = postedSamlMessage(await grace.fill(there, { username: 'grace', password: PASSWORD }));
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

const assertion = (id: string, lies: Lies = {}) => assertionOf({ server, realm }, id, lies);
const response = (inside: string, lies: Lies = {}) => responseOf({ server, realm }, inside, lies);
/** Somebody who comes back with what the test makes of their request. */
async function comeWith(make: (requestId: string) => string, config: ProviderConfig = {}) {
  await makeSamlProvider({ server, realm }, config);
  return comeBackWith({ server, realm }, make);
}
const failures = async () =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type: 'LOGIN_FAILURE' } })).body?.map(
    ({ data }) => data.reason,
  );

test.each<[string, (id: string) => string]>([
  ['whose assertion is signed', (id) => response(signedXml(assertion(id), identityProviderKeys.key))],
  ['that is signed as a whole', (id) => signedXml(response(assertion(id)), identityProviderKeys.key)],
])('a response %s is taken, once', async (_, make) => {
  const { page, send } = await comeWith(make);
  expect(isHome(page)).toBe(true);
  expect(await people()).toMatchObject([{ email: 'ada@corp.example', emailVerified: true }]);
  expect((await send()).status).toBe(400);
  expect((await send(createPerson(server.baseUrl))).status).toBe(400);
});

describe('a response is refused', () => {
  const signed = (lies: Lies) => (id: string) =>
    response(signedXml(assertion(id, lies), identityProviderKeys.key), lies);
  test.each<[string, string, (id: string) => string]>([
    ['unsigned', 'signature', (id) => response(assertion(id))],
    ['changed behind its signature', 'signature', (id) => signed({})(id).replace('ada@', 'eve@')],
    ['for another audience', 'audience', signed({ audience: 'https://other.example' })],
    ['for another address', 'recipient', signed({ recipient: 'https://other.example/acs' })],
    ['of another issuer', 'issuer', signed({ issuer: 'https://other.example' })],
    ['that answers another request', 'other-request', signed({ inResponseTo: '_0123' })],
    ['that nobody asked for', 'other-request', signed({ inResponseTo: '' })],
    ['that is over', 'time', signed({ until: minutesFromNow(-3) })],
    ['from the future', 'time', signed({ from: minutesFromNow(2) })],
    ['from a time that is none', 'time', signed({ from: 'tomorrow' })],
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

  test.each<[string, Lies]>([
    ['goes half a minute after ours', { from: minutesFromNow(0.5) }],
    ['goes half a minute before ours', { until: minutesFromNow(-0.5) }],
  ])('nobody is, by a provider whose clock %s', async (_, lies) => {
    expect(isHome((await comeWith(signed(lies))).page)).toBe(true);
  });

  test('a comment in a name cuts nothing off', async () => {
    const { page } = await comeWith(signed({ name: 'ada@corp.example<!-- -->.evil.example' }));
    expect(isHome(page)).toBe(true);
    expect(await people()).toMatchObject([{ email: 'ada@corp.example.evil.example' }]);
  });
});
