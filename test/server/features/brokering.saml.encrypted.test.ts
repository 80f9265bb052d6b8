// Assertions that an identity provider encrypts for the realm: what is read, and what is not undone for anybody.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { rotateKeys } from '../../../server/contract/keys.ts';
import { listUsers } from '../../../server/contract/users.ts';
import { makePeopledRealm } from '../../support/applications.ts';
import { encryptedXml, samlKeyPair, signedXml } from '../../support/saml.ts';
import {
  assertionOf,
  callbackOf,
  comeWith,
  identityProviderKeys,
  type Lies,
  makeSamlProvider,
  responseOf,
} from '../../support/saml-provider.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let realm = '';
let made = 0;
/** The realm's, of its metadata. */
let certificate = '';
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.stop());
const place = () => ({ server, realm });
const certificateOf = async (): Promise<string> => {
  const metadata = await (await fetch(`${callbackOf(place())}/descriptor`)).text();
  const found = /use="encryption">.*?<ds:X509Certificate>([^<]*)</.exec(metadata)?.[1] ?? '';
  return `-----BEGIN CERTIFICATE-----\n${found}\n-----END CERTIFICATE-----\n`;
};
beforeEach(async () => {
  made += 1;
  realm = `sealed${made}`;
  await makePeopledRealm(server, realm, []);
  await makeSamlProvider(place(), { wantAssertionsEncrypted: true });
  certificate = await certificateOf();
});

const people = async () =>
  ((await server.admin.call(listUsers, { params: { realm } })).body ?? []).map(({ email }) => email);
const reasons = async () =>
  (await server.admin.call(listEvents, { params: { realm }, query: { type: 'LOGIN_FAILURE' } })).body?.map(
    ({ data }) => data.reason,
  );
const assertion = (id: string, lies: Lies = {}) => assertionOf(place(), id, lies);
const signed = (id: string, lies: Lies = {}) => signedXml(assertion(id, lies), identityProviderKeys.key);
const inResponse = (inside: string) => responseOf(place(), inside);
const whole = (inside: string) => signedXml(inResponse(inside), identityProviderKeys.key);
const sealed = (text: string, options: Parameters<typeof encryptedXml>[2] = {}) =>
  encryptedXml(text, certificate, options);

test.each<[string, (id: string) => string]>([
  ['that is signed inside', (id) => inResponse(sealed(signed(id)))],
  ['in a response that is signed', (id) => whole(sealed(assertion(id)))],
  ['by AES-CBC, in a response that is signed', (id) => whole(sealed(assertion(id), { cipher: 'aes-256-cbc' }))],
])('an assertion %s is read', async (_, make) => {
  const { page } = await comeWith(place(), make);
  expect(new URL(page.url).pathname).toBe(`/realms/${realm}/account`);
  expect(await people()).toEqual(['ada@corp.example']);
});

test('one for a key that was rotated meanwhile is still read', async () => {
  await server.admin.call(rotateKeys, { params: { realm } });
  expect(await certificateOf()).not.toBe(certificate);
  const { page } = await comeWith(place(), (id) => inResponse(sealed(signed(id))));
  expect(new URL(page.url).pathname).toBe(`/realms/${realm}/account`);
});

describe('nobody is signed in by', () => {
  const evil = samlKeyPair();
  test.each<[string, string, (id: string) => string]>([
    ['a plain assertion, where they are to be encrypted', 'not-encrypted', (id) => inResponse(signed(id))],
    ['what somebody encrypted who signs nothing', 'signature', (id) => inResponse(sealed(assertion(id)))],
    ['what another has signed', 'signature', (id) => inResponse(sealed(signedXml(assertion(id), evil.key)))],
    [
      'what is no assertion',
      'signature',
      (id) => inResponse(sealed(signedXml(inResponse(assertion(id)), identityProviderKeys.key))),
    ],
    [
      'AES-CBC without a signature around it',
      'undecipherable',
      (id) => inResponse(sealed(signed(id), { cipher: 'aes-256-cbc' })),
    ],
    ['a key by PKCS #1 v1.5', 'undecipherable', (id) => whole(sealed(assertion(id), { transport: 'pkcs1' }))],
    ['what is for another key', 'undecipherable', (id) => inResponse(encryptedXml(signed(id), evil.certificate))],
    [
      'what was changed on its way',
      'undecipherable',
      (id) =>
        inResponse(
          sealed(signed(id)).replace(
            /([^<]{4})(<\/xenc:CipherValue><\/xenc:CipherData><\/xenc:EncryptedData>)/,
            'AAAA$2',
          ),
        ),
    ],
    ['a forged assertion beside it', 'not-one-assertion', (id) => inResponse(assertion(id) + sealed(signed(id)))],
    ['two of them', 'not-one-encryptedassertion', (id) => inResponse(sealed(signed(id)) + sealed(signed(id)))],
    ['another audience’s', 'audience', (id) => inResponse(sealed(signed(id, { audience: 'urn:other' })))],
  ])('%s', async (_, reason, make) => {
    const { page } = await comeWith(place(), make);
    expect(page.text).toContain('You were not signed in by Corp');
    expect([await people(), await reasons()]).toEqual([[], [`provider-saml-${reason}`]]);
  });
});
