// Sign-on by SAML 2.0 as service providers meet it: node-saml reads every response, and refuses what it should.
import { X509Certificate } from 'node:crypto';
import { ValidateInResponseTo } from '@node-saml/node-saml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApplication, putApplication } from '../../../server/contract/applications.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { rotateKeys } from '../../../server/contract/keys.ts';
import { createRole } from '../../../server/contract/roles.ts';
import { listSessions } from '../../../server/contract/sessions.ts';
import { createUser } from '../../../server/contract/users.ts';
import { MESSAGE, parseDocument } from '../../../server/xml/document.ts';
import { readSigned } from '../../../server/xml/signature.ts';
import { PASSWORD } from '../../support/applications.ts';
import { authnRequest, byPost, byRedirect } from '../../support/authn-requests.ts';
import { makeRealm } from '../../support/clients.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { alice } from '../../support/relying-party.ts';
import { signedXml } from '../../support/saml.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import {
  ACS,
  certificatesOf,
  makeServiceProvider,
  postedSamlMessage,
  samlEndpointUrl,
  serviceProvider,
  serviceProviderKeys,
  signedIn,
  statusOf,
  WIKI,
} from '../../support/service-provider.ts';

const REALM = 'acme';
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, REALM);
  await server.admin.call(createUser, { params: { realm: REALM }, body: alice });
  await makeServiceProvider(server, REALM, {
    signingCertificates: [serviceProviderKeys.certificate],
    encryptionCertificate: serviceProviderKeys.certificate,
    mappers: [
      {
        name: 'mail',
        claim: 'urn:oid:0.9.2342.19200300.100.1.3',
        nameFormat: 'uri',
        source: 'property',
        attribute: 'email',
      },
      { name: 'phone', attribute: 'phone_number' },
      { name: 'office', claim: 'phone', source: 'constant', value: '+41 2 <&>' },
      { name: 'nothing', attribute: 'nobody_has_it' },
      { name: 'level', source: 'session', attribute: 'acr' },
    ],
  });
});
afterAll(async () => server?.stop());

const metadata = async () => (await fetch(samlEndpointUrl(server, REALM, 'metadata'))).text();
/** The page that the browser has in the end. */
async function sent(person: Person, more: Parameters<typeof serviceProvider>[2] = {}, relayState = '') {
  const sp = await serviceProvider(server, REALM, more);
  const shown = await person.open(await sp.getAuthorizeUrlAsync(relayState, undefined, {}));
  return { sp, shown: await signedIn(person, shown) };
}
/** Who has signed in, as the service provider believes it. */
async function profileOf(person: Person, more: Parameters<typeof serviceProvider>[2] = {}, relayState = '') {
  const { sp, shown } = await sent(person, more, relayState);
  const { fields, action } = postedSamlMessage(shown);
  expect(action).toBe(ACS);
  const { profile } = await sp.validatePostResponseAsync(fields);
  return { profile: profile!, fields };
}

describe('the metadata', () => {
  test('names the endpoints, and is signed by the key whose certificate it has first', async () => {
    const answer = await fetch(samlEndpointUrl(server, REALM, 'metadata'));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/samlmetadata+xml');
    const [certificate = ''] = await certificatesOf(server, REALM);
    const pem = `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----`;
    const read = readSigned(parseDocument(await answer.text(), MESSAGE), [pem]);
    expect(read.attributes.entityID).toBe(`${server.baseUrl}/realms/${REALM}`);
    expect(Date.parse(read.attributes.validUntil ?? '')).toBeGreaterThan(Date.now() + 86_400_000);
    const services = read.children.at(-1)?.children.filter(({ name }) => name === 'SingleSignOnService');
    expect(services?.map(({ attributes }) => [attributes.Binding, attributes.Location])).toEqual([
      ['urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect', samlEndpointUrl(server, REALM, 'sso')],
      ['urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST', samlEndpointUrl(server, REALM, 'sso')],
    ]);
    const x509 = new X509Certificate(pem);
    expect([x509.subject, x509.verify(x509.publicKey)]).toEqual([`CN=${REALM}`, true]);
  });

  test('has the new certificate at once after a rotation, and the old one behind it, unchanged', async () => {
    const [before] = await certificatesOf(server, REALM);
    await server.admin.call(rotateKeys, { params: { realm: REALM } });
    const after = await certificatesOf(server, REALM);
    expect(after).toHaveLength(2);
    expect(after[0]).not.toBe(before);
    expect(after[1]).toBe(before);
    const { profile } = await profileOf(createPerson(server.baseUrl), { idpCert: after[0]! });
    expect(profile.nameID).toBeDefined();
  });

  test('is nobody’s in a realm that is not there', async () => {
    expect((await fetch(samlEndpointUrl(server, 'nowhere', 'metadata'))).status).toBe(404);
    expect(await metadata()).not.toContain('nowhere');
  });
});

describe('a sign-on', () => {
  test('by Redirect: the service provider knows the person by a name of its own, with attributes', async () => {
    const person = createPerson(server.baseUrl);
    const { profile, fields } = await profileOf(person, {}, 'a b&c=ü');
    expect(fields.RelayState).toBe('a b&c=ü');
    expect(profile).toMatchObject({
      nameIDFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
      nameQualifier: `${server.baseUrl}/realms/${REALM}`,
      spNameQualifier: WIKI,
      'urn:oid:0.9.2342.19200300.100.1.3': 'alice@example.com',
      phone: ['+41 2 <&>', '+41 1'],
      level: '1',
    });
    expect(profile.nothing).toBeUndefined();
  });

  test('again: the same name at the same service provider, another at another, and no second sign-in', async () => {
    const person = createPerson(server.baseUrl);
    const first = await profileOf(person);
    const again = await sent(person);
    expect(again.shown.heading).toBe('One moment');
    const { profile } = await again.sp.validatePostResponseAsync(postedSamlMessage(again.shown).fields);
    expect([profile?.nameID, profile?.sessionIndex]).toEqual([first.profile.nameID, first.profile.sessionIndex]);
    await makeServiceProvider(server, REALM, { entityId: 'urn:other' });
    const other = await profileOf(person, { entityId: 'urn:other' });
    expect(other.profile.nameID).not.toBe(first.profile.nameID);
    expect(other.profile.sessionIndex).not.toBe(first.profile.sessionIndex);
  });

  test('is in the audit log', async () => {
    const { body } = await server.admin.call(listEvents, {
      params: { realm: REALM },
      query: { type: 'SAML_ASSERTION_ISSUED', clientId: WIKI },
    });
    expect(body?.[0]).toMatchObject({
      subject: { type: 'user', name: 'alice' },
      outcome: 'success',
      data: { nameIdFormat: 'persistent', initiatedBy: 'service-provider' },
    });
  });
});

describe('what a request may ask for', () => {
  const ask = async (person: Person, options: Parameters<typeof authnRequest>[0]) =>
    signedIn(person, await byRedirect(person, samlEndpointUrl(server, REALM, 'sso'), authnRequest(options)));
  const somebody = () => createPerson(server.baseUrl);
  const nameId = (shown: ShownPage) => /<saml:NameID[^>]*>([^<]*)</.exec(postedSamlMessage(shown).xml)?.[1];
  const policy = (format: string, more = '') =>
    `<samlp:NameIDPolicy Format="urn:oasis:names:tc:SAML:${format}" AllowCreate="true"${more}/>`;

  test.each<[string, string]>([
    ['a partner’s 92 bytes', `https://wiki.example.com/start?target=${'a'.repeat(54)}`],
    ['more than 1,000 bytes, most of which are escaped on their way', '"&<ü'.repeat(204)],
  ])('RelayState is carried to the response by both bindings: %s', async (_, relayState) => {
    const { shown } = await sent(somebody(), {}, relayState);
    expect(postedSamlMessage(shown).fields.RelayState).toBe(relayState);
    const another = somebody();
    const request = signedXml(authnRequest(), serviceProviderKeys.key);
    const posted = await byPost(another, samlEndpointUrl(server, REALM, 'sso'), request, relayState);
    expect(postedSamlMessage(await signedIn(another, posted)).fields.RelayState).toBe(relayState);
  });

  test('POST instead of Redirect, with RelayState', async () => {
    const person = somebody();
    const shown = await signedIn(
      person,
      await byPost(
        person,
        samlEndpointUrl(server, REALM, 'sso'),
        signedXml(authnRequest(), serviceProviderKeys.key),
        'back here',
      ),
    );
    expect([postedSamlMessage(shown).action, postedSamlMessage(shown).fields.RelayState]).toEqual([ACS, 'back here']);
    expect(statusOf(shown)).toEqual(['Success']);
  });

  test('a format of names: each is what it says, a transient one is new in each session', async () => {
    const person = somebody();
    const named = async (of: Person, format: string, more = '') =>
      nameId(await ask(of, { inside: policy(format, more) }));
    expect(await named(person, '1.1:nameid-format:emailAddress')).toBe('alice@example.com');
    const persistent = await named(person, '2.0:nameid-format:persistent', ` SPNameQualifier="${WIKI}"`);
    expect(persistent).toMatch(/^[0-9a-f-]{36}$/);
    // whatever the client is set up for
    expect(await named(person, '1.1:nameid-format:unspecified')).toBe(persistent);
    const transient = await named(person, '2.0:nameid-format:transient');
    expect(transient).toMatch(/^_[0-9a-f]{40}$/);
    expect(await named(person, '2.0:nameid-format:transient')).toBe(transient);
    expect(await named(somebody(), '2.0:nameid-format:transient')).not.toBe(transient);
    for (const [format, more] of [
      ['2.0:nameid-format:entity'],
      ['2.0:nameid-format:persistent', ' SPNameQualifier="urn:x"'],
    ])
      expect(statusOf(await ask(person, { inside: policy(format ?? '', more) }))).toEqual([
        'Requester',
        'InvalidNameIDPolicy',
      ]);
  });

  test('a person by name: nobody else is signed in for them', async () => {
    const subject = (name: string) => `<saml:Subject><saml:NameID>${name}</saml:NameID></saml:Subject>`;
    const person = somebody();
    const known = nameId(await ask(person, {})) ?? '';
    expect(nameId(await ask(person, { inside: subject(known) }))).toBe(known);
    expect(statusOf(await ask(somebody(), { inside: subject('bob') }))).toEqual(['Responder', 'UnknownPrincipal']);
    const silently = { inside: subject('bob'), attributes: ' IsPassive="true"' };
    expect(statusOf(await ask(person, silently))).toEqual(['Responder', 'NoPassive']);
    const hidden = '<saml:Subject><saml:EncryptedID/></saml:Subject>';
    expect(statusOf(await ask(person, { inside: hidden }))).toEqual(['Requester', 'RequestUnsupported']);
  });

  test('IsPassive: whoever is signed in already, and nobody is asked for anything', async () => {
    const person = somebody();
    const passive = { attributes: ' IsPassive="true"' };
    const silent = await byRedirect(person, samlEndpointUrl(server, REALM, 'sso'), authnRequest(passive));
    expect(statusOf(silent)).toEqual(['Responder', 'NoPassive']);
    expect(
      readSigned(parseDocument(postedSamlMessage(silent).xml, MESSAGE), [await ownCertificate()]).attributes
        .Destination,
    ).toBe(ACS);
    await ask(person, {});
    expect(statusOf(await ask(person, passive))).toEqual(['Success']);
  });

  test('ForceAuthn: the person proves anew who they are, and the response says when', async () => {
    const person = somebody();
    const instant = (shown: ShownPage) =>
      Date.parse(/AuthnInstant="([^"]*)"/.exec(postedSamlMessage(shown).xml)?.[1] ?? '');
    const first = instant(await ask(person, {}));
    const forced = { attributes: ' ForceAuthn="true"' };
    const page = await byRedirect(person, samlEndpointUrl(server, REALM, 'sso'), authnRequest(forced));
    expect(page.heading).toBe('Sign in');
    expect(instant(await signedIn(person, page))).toBeGreaterThan(first);
    const silently = { attributes: ' ForceAuthn="true" IsPassive="true"' };
    expect(statusOf(await ask(person, silently))).toEqual(['Responder', 'NoPassive']);
  });

  test('an authentication context: a level is reached or asked for, what nobody can reach is refused', async () => {
    const context = (name: string, comparison = 'exact') => ({
      inside: `<samlp:RequestedAuthnContext Comparison="${comparison}"><saml:AuthnContextClassRef>${name}</saml:AuthnContextClassRef></samlp:RequestedAuthnContext>`,
    });
    const person = somebody();
    const password = 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport';
    const said = (shown: ShownPage) => /<saml:AuthnContextClassRef>([^<]*)</.exec(postedSamlMessage(shown).xml)?.[1];
    expect(said(await ask(person, {}))).toBe(password);
    expect(said(await ask(person, context(password)))).toBe(password);
    expect(said(await ask(person, context('urn:oasis:names:tc:SAML:2.0:ac:classes:unspecified')))).toContain(
      'unspecified',
    );
    const page = await byRedirect(
      person,
      samlEndpointUrl(server, REALM, 'sso'),
      authnRequest(context('https://refeds.org/profile/mfa')),
    );
    expect(page.fields.SAMLResponse).toBeUndefined();
    expect(page.status).toBe(200);
    for (const asked of [
      context('urn:oasis:names:tc:SAML:2.0:ac:classes:Kerberos'),
      context('https://refeds.org/profile/mfa', 'better'),
    ])
      expect(statusOf(await ask(person, asked))).toEqual(['Requester', 'NoAuthnContext']);
  });

  test('a binding for the response that there is none of', async () => {
    const attributes = ' ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Artifact"';
    expect(statusOf(await ask(somebody(), { attributes }))).toEqual(['Requester', 'UnsupportedBinding']);
  });
});

const ownCertificate = async () => {
  const [certificate = ''] = await certificatesOf(server, REALM);
  return `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----`;
};

describe('a client', () => {
  test('gets its assertions encrypted, where it wants that: nobody else reads them', async () => {
    const entityId = 'urn:encrypted';
    await makeServiceProvider(server, REALM, {
      entityId,
      encryptionCertificate: serviceProviderKeys.certificate,
      encryptAssertions: true,
      nameIdFormat: 'emailAddress',
    });
    const { profile, fields } = await profileOf(createPerson(server.baseUrl), {
      entityId,
      decryptionPvk: serviceProviderKeys.key,
    });
    expect(profile.nameID).toBe('alice@example.com');
    expect(Buffer.from(fields.SAMLResponse ?? '', 'base64').toString()).not.toContain('alice');
  });

  test.each([
    [true, false],
    [false, true],
    [false, false],
  ])(
    'with signed assertions %s and signed responses %s: never without any signature',
    async (signAssertions, signResponses) => {
      const entityId = `urn:signed:${signAssertions}:${signResponses}`;
      await makeServiceProvider(server, REALM, { entityId, signAssertions, signResponses });
      const wanted = { wantAssertionsSigned: !signResponses, wantAuthnResponseSigned: signResponses };
      const { profile, fields } = await profileOf(createPerson(server.baseUrl), { entityId, ...wanted });
      expect(profile.issuer).toBe(`${server.baseUrl}/realms/${REALM}`);
      const xml = Buffer.from(fields.SAMLResponse ?? '', 'base64').toString();
      expect(xml.match(/<ds:Signature /g)).toHaveLength(1);
    },
  );

  test('is opened from here only where it allows that', async () => {
    const initiate = (entityId: string, more = '') =>
      `${new URL(samlEndpointUrl(server, REALM, 'initiate')).pathname}?entityId=${encodeURIComponent(entityId)}${more}`;
    await makeServiceProvider(server, REALM, { entityId: 'urn:portal', idpInitiated: true, name: 'Portal' });
    const person = createPerson(server.baseUrl);
    const shown = await signedIn(person, await person.open(initiate('urn:portal', '&RelayState=%2Fnews')));
    const sp = await serviceProvider(server, REALM, {
      entityId: 'urn:portal',
      validateInResponseTo: ValidateInResponseTo.never,
    });
    const { profile } = await sp.validatePostResponseAsync(postedSamlMessage(shown).fields);
    expect([profile?.inResponseTo, postedSamlMessage(shown).fields.RelayState]).toEqual([undefined, '/news']);
    const [closed, unknown] = [await person.open(initiate(WIKI)), await person.open(initiate('urn:nobody'))];
    expect([closed.status, closed.text]).toEqual([400, unknown.text]);
    // wanted by a service provider that asks, what nobody asked for is refused
    const strict = await serviceProvider(server, REALM, { entityId: 'urn:portal' });
    await expect(strict.validatePostResponseAsync(postedSamlMessage(shown).fields)).rejects.toThrow('InResponseTo');
  });

  test('of an application: it is for those who hold one of its roles, and by its flow', async () => {
    const entityId = 'urn:app';
    await makeServiceProvider(server, REALM, { entityId });
    const params = { realm: REALM };
    await server.admin.call(createRole, { params, body: { name: 'member' } });
    const { body: application } = await server.admin.call(createApplication, {
      params,
      body: { name: 'app', samlClients: [entityId], roles: ['member'] },
    });
    const person = createPerson(server.baseUrl);
    const { shown } = await sent(person, { entityId });
    expect(statusOf(shown)).toEqual(['Responder', 'RequestDenied']);
    const { body: events } = await server.admin.call(listEvents, { params, query: { type: 'ACCESS_DENIED' } });
    expect(events?.[0]).toMatchObject({ clientId: entityId, subject: { name: 'alice' }, data: { application: 'app' } });
    const change = (body: object) =>
      server.admin.call(putApplication, { params: { ...params, name: application?.name ?? '' }, body });
    await change({ roles: [] });
    expect(statusOf((await sent(person, { entityId })).shown)).toEqual(['Success']);
    await change({ enabled: false });
    expect(statusOf((await sent(person, { entityId })).shown)).toEqual(['Responder', 'RequestDenied']);
    const taken = server.admin.call(createApplication, { params, body: { name: 'second', samlClients: [entityId] } });
    await expect(taken).rejects.toThrow();
  });

  test('is among those of the session', async () => {
    const { body } = await server.admin.call(listSessions, {
      params: { realm: REALM },
      query: { clientId: 'urn:app' },
    });
    expect(body?.[0]?.clients).toContain('urn:app');
  });

  test('that asks for names by address gets none of somebody who has no address', async () => {
    const bob = { username: 'bob', password: PASSWORD };
    await server.admin.call(createUser, { params: { realm: REALM }, body: bob });
    const person = createPerson(server.baseUrl);
    const inside = '<samlp:NameIDPolicy Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"/>';
    const page = await byRedirect(person, samlEndpointUrl(server, REALM, 'sso'), authnRequest({ inside }));
    expect(statusOf(await signedIn(person, page, 'bob'))).toEqual(['Responder', 'InvalidNameIDPolicy']);
  });
});
