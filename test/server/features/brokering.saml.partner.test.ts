// Another realm as the SAML identity provider, with all that both sides have: requests by POST, encrypted assertions, and signing out
// on either side.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ProviderConfig } from '../../../server/contract/identity-providers.ts';
import { createUser } from '../../../server/contract/users.ts';
import { makePeopledRealm, PASSWORD } from '../../support/applications.ts';
import { logoutRequest, redirectQuery } from '../../support/authn-requests.ts';
import { makeProvider, wayIn } from '../../support/brokering.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { samlKeyPair, signedXml } from '../../support/saml.ts';
import {
  assertionOf,
  callbackOf,
  comeWith,
  IDP,
  identityProviderKeys,
  makeSamlProvider,
  messageIn,
  responseOf,
} from '../../support/saml-provider.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { makeServiceProvider, postedSamlMessage, samlEndpointUrl } from '../../support/service-provider.ts';

let server: TestServer;
let realm = '';
let partner = '';
let callback = '';
let made = 0;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.stop());
beforeEach(async () => {
  made += 1;
  realm = `here${made}`;
  partner = `there${made}`;
  callback = callbackOf({ server, realm });
  await makePeopledRealm(server, realm, []);
});

const isIn = async (person: Person, where: string) =>
  new URL((await person.open(`/realms/${where}/account`)).url).pathname === `/realms/${where}/account`;
const pem = (content: string) => `-----BEGIN CERTIFICATE-----\n${content}\n-----END CERTIFICATE-----\n`;

/** Both know each other by their metadata. */
async function meet(config: ProviderConfig = {}, binding: 'POST' | 'Redirect' = 'Redirect'): Promise<void> {
  await makePeopledRealm(server, partner, []);
  const body = { username: 'grace', email: 'grace@partner.example', password: PASSWORD };
  await server.admin.call(createUser, { params: { realm: partner }, body });
  await makeProvider(server, realm, {
    ...{ alias: 'corp', type: 'saml', displayName: 'Corp' },
    config: { metadataUrl: samlEndpointUrl(server, partner, 'metadata'), trustEmail: true, ...config },
  });
  const descriptor = await (await fetch(`${callback}/descriptor`)).text();
  expect(descriptor).toContain(
    `SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${callback}/slo"`,
  );
  const certificateFor = (use: string) =>
    new RegExp(`use="${use}">.*?<ds:X509Certificate>([^<]*)<`).exec(descriptor)?.[1] ?? '';
  const encryption = certificateFor('encryption');
  await makeServiceProvider(server, partner, {
    entityId: `${server.baseUrl}/realms/${realm}`,
    assertionConsumerServices: [{ url: callback }],
    singleLogoutServices: [{ url: `${callback}/slo`, binding }],
    signingCertificates: [pem(certificateFor('signing'))],
    requireSignedRequests: config.signRequests ?? false,
    ...(encryption !== '' && { encryptionCertificate: pem(encryption), encryptAssertions: true }),
    mappers: [{ name: 'mail', source: 'property', attribute: 'email' }],
  });
}
/** A form that posts itself to this server. */
const follow = (person: Person, page: ShownPage) => {
  const { action, fields } = postedSamlMessage(page);
  return person.post(new URL(action).pathname, fields);
};
/** Cookies of both realms have the same names, and paths that a test's person doesn't tell apart: each has its own. */
async function signIn(): Promise<{ here: Person; there: Person; home: ShownPage }> {
  const [here, there] = [createPerson(server.baseUrl), createPerson(server.baseUrl)];
  const left = await here.open(wayIn(await here.open(`/realms/${realm}/login?for=account`)));
  const asked = left.fields.SAMLRequest ? await follow(here, left) : left;
  const answered = await here.fill(asked, { username: 'grace', password: PASSWORD });
  for (const [name, value] of here.jar) there.jar.set(name, value);
  return { here, there, home: await follow(here, answered) };
}

test('requests go by POST where the provider wants that, signed, and what comes back is encrypted', async () => {
  await meet({ binding: 'POST', signRequests: true, wantAssertionsEncrypted: true });
  const grace = createPerson(server.baseUrl);
  const left = await grace.open(wayIn(await grace.open(`/realms/${realm}/login?for=account`)));
  expect([postedSamlMessage(left).action, postedSamlMessage(left).xml]).toEqual([
    samlEndpointUrl(server, partner, 'sso'),
    expect.stringContaining('<ds:SignatureValue>'),
  ]);
  const answered = await grace.fill(await follow(grace, left), { username: 'grace', password: PASSWORD });
  expect(postedSamlMessage(answered).xml).toContain('EncryptedAssertion');
  const home = await follow(grace, answered);
  expect(new URL(home.url).pathname).toBe(`/realms/${realm}/account`);
});

test('a form for a request that was not made here leads nowhere', async () => {
  await meet();
  const shown = await createPerson(server.baseUrl).open(`${new URL(callback).pathname}/request?form=aGVsbG8`);
  expect([shown.status, shown.fields.SAMLRequest]).toEqual([400, undefined]);
});

describe.each(['Redirect', 'POST'] as const)('signing out, by %s', (binding) => {
  test('here ends the session there, too, and comes back', async () => {
    await meet({ binding }, binding);
    const { here, there, home } = await signIn();
    expect([await isIn(here, realm), await isIn(there, partner)]).toEqual([true, true]);
    const leaving = await here.post(`/realms/${realm}/account/sign-out`, { csrf: home.fields.csrf ?? '' });
    const onward = /<a class="button" href="([^"]*)"/.exec(leaving.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const asked = leaving.fields.SAMLRequest ? leaving : await here.open(onward);
    const gone = asked.fields.SAMLRequest ? await follow(there, asked) : asked;
    const back = gone.fields.SAMLResponse ? await follow(here, gone) : gone;
    expect([back.status, new URL(back.url).pathname]).toEqual([200, `/realms/${realm}/oauth2/logout`]);
    expect([await isIn(here, realm), await isIn(there, partner)]).toEqual([false, false]);
  });

  test('there ends the session here, too', async () => {
    await meet({ binding }, binding);
    const { here, there } = await signIn();
    const account = await there.open(`/realms/${partner}/account`);
    const leaving = await there.post(`/realms/${partner}/account/sign-out`, { csrf: account.fields.csrf ?? '' });
    const onward = /<a class="button" href="([^"]*)"/.exec(leaving.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const asked = await there.open(onward);
    const told = asked.fields.SAMLRequest ? await follow(here, asked) : asked;
    const over = told.fields.SAMLResponse ? await follow(there, told) : told;
    expect(over.heading).toBe('You are signed out');
    expect([await isIn(here, realm), await isIn(there, partner)]).toEqual([false, false]);
  });
});

describe('where a provider says that somebody signs out', () => {
  const slo = () => `${new URL(callback).pathname}/slo`;
  const come = async (sessionIndex = 's1') => {
    await makeSamlProvider({ server, realm }, { singleLogoutUrl: `${IDP}/slo` });
    const make = (id: string) => {
      const assertion = assertionOf({ server, realm }, id, { sessionIndex });
      return responseOf({ server, realm }, signedXml(assertion, identityProviderKeys.key));
    };
    const { person, page } = await comeWith({ server, realm }, make);
    expect(new URL(page.url).pathname).toBe(`/realms/${realm}/account`);
    return person;
  };
  const asked = (more: Partial<Parameters<typeof logoutRequest>[0]> = {}) =>
    logoutRequest({ name: 'ada@corp.example', issuer: IDP, ...more });
  const byRedirect = (text: string, key: string | undefined = identityProviderKeys.key) =>
    createPerson(server.baseUrl).once(`${slo()}?${redirectQuery(text, { key, relayState: 'theirs' })}`);

  test.each([
    ['without a session', {}],
    ['with its session', { index: 's1' }],
  ])('theirs ends, named %s, in whichever browser, and the provider is told', async (_, more) => {
    const person = await come();
    const answer = await byRedirect(asked(more));
    const to = answer.headers.get('location') ?? '';
    expect([to.split('?')[0], new URL(to).searchParams.get('RelayState')]).toEqual([`${IDP}/slo`, 'theirs']);
    expect(messageIn(to, 'SAMLResponse')).toContain('status:Success');
    expect(await isIn(person, realm)).toBe(false);
  });

  test('another session or person of it goes on', async () => {
    const person = await come();
    for (const more of [{ index: 's2' }, { name: 'eve@corp.example' }])
      expect((await byRedirect(asked(more))).status).toBe(303);
    expect(await isIn(person, realm)).toBe(true);
  });

  test('nothing ends by what is unsigned, another’s, for elsewhere, or old', async () => {
    const person = await come();
    const tries: [string, string | undefined][] = [
      [asked(), ''],
      [asked(), samlKeyPair().key],
      [asked({ issuer: 'https://other.example' }), identityProviderKeys.key],
      [asked({ more: ' Destination="https://other.example/slo"' }), identityProviderKeys.key],
      [asked({ issued: new Date(Date.now() - 600_000) }), identityProviderKeys.key],
      [asked({ name: '' }), identityProviderKeys.key],
    ];
    for (const [text, key] of tries) {
      const query = redirectQuery(text, { key: key || undefined });
      expect((await createPerson(server.baseUrl).open(`${slo()}?${query}`)).status).toBe(400);
    }
    expect((await createPerson(server.baseUrl).open(`${slo()}?SAMLRequest=AAAA`)).status).toBe(400);
    expect(await isIn(person, realm)).toBe(true);
  });

  test('a request counts once', async () => {
    const person = await come();
    const text = asked({ name: 'eve@corp.example' });
    expect((await byRedirect(text)).status).toBe(303);
    expect((await byRedirect(text)).status).toBe(400);
    expect(await isIn(person, realm)).toBe(true);
  });
});
