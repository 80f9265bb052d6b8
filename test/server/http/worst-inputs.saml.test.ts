// Owns: that no message of SAML stalls the server for other tenants, whatever stands in it, by every binding and in both roles.
// Does not own: other inputs of strangers (worst-inputs.test.ts), whether a message is believed (saml.wrapping.test.ts).
import { deflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeRealm } from '../../support/clients.ts';
import { mostOfARequest, processorTime } from '../../support/processor-time.ts';
import { encryptedXml, samlKeyPair } from '../../support/saml.ts';
import { IDP, identityProviderKeys, makeSamlProvider } from '../../support/saml-provider.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { certificatesOf, makeServiceProvider, serviceProviderKeys, WIKI } from '../../support/service-provider.ts';
import { type Around, worstMessages } from '../../support/worst-inputs.ts';

const REALM = 'worst';
const BROKER = `/realms/${REALM}/broker/corp/endpoint`;
const OWN = `/realms/${REALM}/saml/idp`;
const intruder = samlKeyPair();
let server: TestServer;
let most = 0;
beforeAll(async () => {
  server = await startTestServer({ jobs: false });
  await makeRealm(server, REALM);
  await makeSamlProvider({ server, realm: REALM });
  await makeServiceProvider(server, REALM, { signingCertificates: [serviceProviderKeys.certificate] });
  most = await mostOfARequest();
});
afterAll(() => server?.stop());

const message =
  (name: string, issuer: string, rest = ''): Around =>
  (inside, attributes) =>
    `<samlp:${name} xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_m" Version="2.0" IssueInstant="${new Date().toISOString()}"${attributes}><saml:Issuer>${issuer}</saml:Issuer>${rest}${inside}</samlp:${name}>`;
const SUCCESS = '<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>';
const response = message('Response', IDP, SUCCESS);
const assertion: Around = (inside, attributes) =>
  `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_m"${attributes}><saml:Issuer>${IDP}</saml:Issuer>${inside}</saml:Assertion>`;

const form = { 'content-type': 'application/x-www-form-urlencoded' };
interface Sent {
  status: number;
  took: number;
}
async function take(options: object): Promise<Sent> {
  let status = 0;
  const took = await processorTime(async () => {
    status = (await server.app.http.inject(options)).statusCode;
  }, most);
  return { status, took };
}
const post = (url: string, field: string, xml: string): Promise<Sent> =>
  take({
    ...{ method: 'POST', url, headers: form },
    payload: new URLSearchParams({ [field]: Buffer.from(xml).toString('base64') }).toString(),
  });
const redirect = (url: string, field: string, xml: string): Promise<Sent> =>
  take({ url: `${url}?${field}=${encodeURIComponent(deflateRawSync(xml).toString('base64'))}` });

const LIMIT = 128 * 1024;
/** In the body of a form that has 64 KB, base64. */
const IN_A_FORM = 46 * 1024;
const worst = (around: Around, known: string, bytes = LIMIT) =>
  worstMessages(around, { id: '_m', bytes, own: intruder.key, known });

/** Each input that takes too long, or fails. */
async function faults(inputs: readonly [string, string][], send: (xml: string) => Promise<Sent>): Promise<string[]> {
  const found: string[] = [];
  for (const [what, xml] of inputs) {
    const { status, took } = await send(xml);
    if (process.env.WORST) console.log(took.toFixed(0).padStart(4), status, xml.length, what);
    if (took > most || status >= 500 || status === 404) found.push(`${what}: ${took.toFixed(0)} ms, status ${status}`);
  }
  expect(inputs.length).toBeGreaterThan(50);
  return found;
}

test('a response at the address of an identity provider', async () => {
  const send = (xml: string) => post(BROKER, 'SAMLResponse', xml);
  expect(await faults(worst(response, identityProviderKeys.key), send)).toEqual([]);
});

test('an assertion in a response, that is signed by itself', async () => {
  const inside: Around = (what, attributes) => response(assertion(what, attributes), '');
  const whole = worst(inside, identityProviderKeys.key, LIMIT - 1_000);
  expect(await faults(whole, (xml) => post(BROKER, 'SAMLResponse', xml))).toEqual([]);
});

test('an assertion that is encrypted for the realm, as anybody can', async () => {
  const [certificate = ''] = await certificatesOf(server, REALM);
  const pem = `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----`;
  const inputs = worst(assertion, identityProviderKeys.key, 90 * 1024).map(([what, xml]): [string, string] => [
    what,
    response(encryptedXml(xml, pem), ''),
  ]);
  expect(await faults(inputs, (xml) => post(BROKER, 'SAMLResponse', xml))).toEqual([]);
});

test.each(['LogoutRequest', 'LogoutResponse'])('a %s of an identity provider, by both bindings', async (name) => {
  const field = name === 'LogoutRequest' ? 'SAMLRequest' : 'SAMLResponse';
  const inputs = worst(message(name, IDP), identityProviderKeys.key);
  expect(await faults(inputs, (xml) => post(`${BROKER}/slo`, field, xml))).toEqual([]);
  expect(await faults(inputs, (xml) => redirect(`${BROKER}/slo`, field, xml))).toEqual([]);
});

test.each([
  ['AuthnRequest', 'sso'],
  ['LogoutRequest', 'slo'],
  ['LogoutResponse', 'slo'],
])('an %s of an application, by both bindings', async (name, at) => {
  const field = name === 'LogoutResponse' ? 'SAMLResponse' : 'SAMLRequest';
  const inputs = worst(message(name, WIKI), serviceProviderKeys.key, IN_A_FORM);
  expect(await faults(inputs, (xml) => post(`${OWN}/${at}`, field, xml))).toEqual([]);
  const larger = worst(message(name, WIKI), serviceProviderKeys.key);
  expect(await faults(larger, (xml) => redirect(`${OWN}/${at}`, field, xml))).toEqual([]);
});

test('what inflates without end, and Base64 of whitespace alone', async () => {
  const bomb = deflateRawSync(Buffer.alloc(11 * 1024 * 1024)).toString('base64');
  const parameter = encodeURIComponent(bomb);
  expect(parameter.length).toBeLessThan(16 * 1024);
  for (const url of [`${OWN}/sso?SAMLRequest=`, `${OWN}/slo?SAMLRequest=`, `${BROKER}/slo?SAMLRequest=`])
    expect((await take({ url: url + parameter })).took).toBeLessThan(most);
  for (const filler of ['%0A', '+', '%3D', 'AAAA%0A'])
    for (const [url, bytes] of [
      [BROKER, 256 * 1024],
      [`${BROKER}/slo`, 256 * 1024],
      [`${OWN}/sso`, 64 * 1024],
    ] as const) {
      const field = url === BROKER ? 'SAMLResponse' : 'SAMLRequest';
      const payload = `${field}=${filler.repeat((bytes - 20) / filler.length)}`;
      expect((await take({ method: 'POST', url, headers: form, payload })).took).toBeLessThan(most);
    }
});
