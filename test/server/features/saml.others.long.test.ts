// What others' software makes of the identity provider's SAML, and of the broker's: pysaml2 and python3-saml as service providers,
// xmlsec1 for signatures, the OASIS schemas for all that goes out.
import { inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createUser } from '../../../server/contract/users.ts';
import { sentTo } from '../../support/brokering.ts';
import { makeRealm } from '../../support/clients.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { alice } from '../../support/relying-party.ts';
import { callbackOf, makeSamlProvider, messageIn } from '../../support/saml-provider.ts';
import { inPython, type Library, schemaFault, signatureFault } from '../../support/saml-tools.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import {
  certificatesOf,
  makeServiceProvider,
  postedSamlMessage,
  samlEndpointUrl,
  serviceProviderKeys,
  signedIn,
} from '../../support/service-provider.ts';

const REALM = 'acme';
const libraries: Library[] = ['pysaml2', 'python3-saml'];
let server: TestServer;
let person: Person;
let metadata = '';
const entityOf = (library: Library, encrypted = false) =>
  `https://${library}.example.com/${encrypted ? 'encrypted' : 'saml'}`;
beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, REALM);
  await server.admin.call(createUser, { params: { realm: REALM }, body: alice });
  for (const library of libraries)
    for (const encrypted of [false, true]) {
      const entityId = entityOf(library, encrypted);
      await makeServiceProvider(server, REALM, {
        entityId,
        assertionConsumerServices: [{ url: `${entityId}/acs` }],
        singleLogoutServices: [{ url: `${entityId}/slo`, binding: 'Redirect' }],
        signingCertificates: [serviceProviderKeys.certificate],
        requireSignedRequests: true,
        ...(encrypted && { encryptionCertificate: serviceProviderKeys.certificate, encryptAssertions: true }),
        mappers: [
          {
            name: 'mail',
            nameFormat: 'uri',
            claim: 'urn:oid:0.9.2342.19200300.100.1.3',
            source: 'property',
            attribute: 'email',
          },
          { name: 'office', source: 'constant', value: '<Zürich> & "more"' },
        ],
      });
    }
  metadata = await (await fetch(samlEndpointUrl(server, REALM, 'metadata'))).text();
});
afterAll(() => server?.stop());
beforeEach(() => {
  person = createPerson(server.baseUrl);
});

/** A service provider by one of the libraries. */
function spOf(library: Library, encrypted = false) {
  const entityId = entityOf(library, encrypted);
  const settings = { entityId, acs: `${entityId}/acs`, slo: `${entityId}/slo`, metadata, encrypted };
  const own = { ...settings, key: serviceProviderKeys.key, certificate: serviceProviderKeys.certificate };
  return <T>(task: object): Promise<T> => inPython<T>(library, { ...own, ...task });
}
type Sp = ReturnType<typeof spOf>;
interface Identity {
  name: string;
  format: string;
  index: string;
  attributes: Record<string, string[]>;
}
interface Asked {
  id: string;
  url: string;
}
async function come(sp: Sp): Promise<{ id: string; shown: ShownPage }> {
  const { id, url } = await sp<Asked>({ do: 'request' });
  return { id, shown: await signedIn(person, await person.open(url)) };
}
const answered = (sp: Sp, id: string, shown: ShownPage) =>
  sp<Identity>({ do: 'answer', id, response: postedSamlMessage(shown).fields.SAMLResponse });
async function enter(sp: Sp): Promise<Identity> {
  const { id, shown } = await come(sp);
  return answered(sp, id, shown);
}
const queryIn = (url: string) => ({
  query: Object.fromEntries(new URL(url).searchParams),
  queryString: new URL(url).search.slice(1),
});
const inflated = (url: string, kind: string) =>
  inflateRawSync(Buffer.from(new URL(url).searchParams.get(kind) ?? '', 'base64')).toString();
const pemOf = (content: string) => `-----BEGIN CERTIFICATE-----\n${content}\n-----END CERTIFICATE-----\n`;

describe.each(libraries)('%s', (library) => {
  test.each([false, true])('signs a person in, with encrypted assertions: %s', async (encrypted) => {
    const sp = spOf(library, encrypted);
    const { id, shown } = await come(sp);
    expect(postedSamlMessage(shown).xml.includes('EncryptedAssertion')).toBe(encrypted);
    const first = await answered(sp, id, shown);
    expect(first).toMatchObject({
      name: expect.stringMatching(/./),
      format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
      index: expect.stringMatching(/./),
    });
    expect(Object.values(first.attributes).flat().sort()).toEqual(['<Zürich> & "more"', alice.email]);
    expect((await enter(sp)).name).toBe(first.name);
  });

  test('takes no answer that was changed, and none to another request', async () => {
    const sp = spOf(library);
    const { id, shown } = await come(sp);
    const changed = Buffer.from(postedSamlMessage(shown).xml.replace(alice.email, 'eve@example.com')).toString(
      'base64',
    );
    const none = (task: object) =>
      sp<{ name?: string }>({ do: 'answer', ...task }).then(
        ({ name }) => name,
        () => undefined,
      );
    expect(await none({ id, response: changed })).toBeUndefined();
    expect(await none({ id: '_other', response: postedSamlMessage(shown).fields.SAMLResponse })).toBeUndefined();
  });

  test('signs the person out, and believes that it is done', async () => {
    const sp = spOf(library);
    const { name, format, index } = await enter(sp);
    const { id, url } = await sp<Asked>({ do: 'logout', name, format, index });
    const back = await person.open(url);
    expect(back.url).toContain(`${entityOf(library)}/slo?`);
    expect(await schemaFault(inflated(back.url, 'SAMLResponse'), 'protocol')).toBeUndefined();
    expect(await sp({ do: 'logged out', id, ...queryIn(back.url) })).toEqual({ status: true, inResponseTo: id });
    expect((await person.open((await sp<Asked>({ do: 'request' })).url)).heading).toBe('Sign in');
  });

  test('hears that the person has signed out elsewhere, and its answer is believed', async () => {
    const [sp, other] = [spOf(library), spOf(library, true)];
    const mine = await enter(sp);
    const { name, format, index } = await enter(other);
    const asked = await person.open((await other<Asked>({ do: 'logout', name, format, index })).url);
    expect(asked.url).toContain(`${entityOf(library)}/slo?`);
    expect(await schemaFault(inflated(asked.url, 'SAMLRequest'), 'protocol')).toBeUndefined();
    const told = await sp<{ name: string; url: string }>({ do: 'told', ...queryIn(asked.url) });
    expect(told.name).toBe(mine.name);
    const over = await person.open(told.url);
    expect(over.url).toContain(`${entityOf(library, true)}/slo?`);
    expect(inflated(over.url, 'SAMLResponse')).toContain('status:Success');
  });
});

describe('xmlsec1', () => {
  test('verifies metadata, responses and assertions, and no changed byte of them', async () => {
    const [certificate = ''] = await certificatesOf(server, REALM);
    const { shown } = await come(spOf('pysaml2'));
    const { xml } = postedSamlMessage(shown);
    expect(await signatureFault(metadata, 'metadata', pemOf(certificate))).toBeUndefined();
    for (const element of ['response', 'assertion'] as const) {
      expect(await signatureFault(xml, element, pemOf(certificate))).toBeUndefined();
      expect(await signatureFault(xml.replace(alice.email, 'eve@example.com'), element, pemOf(certificate))).toMatch(
        /./,
      );
      expect(await signatureFault(xml, element, serviceProviderKeys.certificate)).toMatch(/./);
    }
  });
});

describe('by the OASIS schemas', () => {
  test('metadata, responses and failures are valid, and what is not is told', async () => {
    expect(await schemaFault(metadata, 'metadata')).toBeUndefined();
    for (const encrypted of [false, true]) {
      const { shown } = await come(spOf('pysaml2', encrypted));
      expect(await schemaFault(postedSamlMessage(shown).xml, 'protocol')).toBeUndefined();
    }
    person = createPerson(server.baseUrl);
    const sp = spOf('pysaml2');
    const { url } = await sp<Asked>({ do: 'request' });
    const shown = await person.open(url);
    expect(shown.heading).toBe('Sign in');
    const { xml } = postedSamlMessage(await signedIn(person, shown));
    expect(await schemaFault(xml.replace('Version="2.0"', ''), 'protocol')).toMatch(/Version/);
  });

  test('what the broker says of itself and asks for is valid', async () => {
    await makeRealm(server, 'here');
    const place = { server, realm: 'here' };
    await makeSamlProvider(place, { signRequests: true, wantAssertionsEncrypted: true });
    const descriptor = await (await fetch(`${callbackOf(place)}/descriptor`)).text();
    expect(await schemaFault(descriptor, 'metadata')).toBeUndefined();
    const url = await sentTo(person, await person.open('/realms/here/login?for=account'));
    expect(await schemaFault(messageIn(url), 'protocol')).toBeUndefined();
  });
});
