// People of a partner who runs a server of their own (another process, database and issuer, by TLS) sign in here, by either protocol:
// the first time and again, out on both sides, and what somebody in between could try.
import { inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../../server/contract/clients.ts';
import { listIdentityLinks } from '../../../server/contract/identity-links.ts';
import { createIdentityProvider } from '../../../server/contract/identity-providers.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { createSamlClient } from '../../../server/contract/saml-clients.ts';
import { createUser, listUsers, putUser } from '../../../server/contract/users.ts';
import { PASSWORD } from '../../support/applications.ts';
import { authnRequest, redirectQuery } from '../../support/authn-requests.ts';
import { wayIn } from '../../support/brokering.ts';
import { SECRET } from '../../support/clients.ts';
import { type Browser, createBrowser, type Hop, type Page, type Sites, startSites } from '../../support/partner.ts';
import { serviceProviderKeys, WIKI } from '../../support/service-provider.ts';

let sites: Sites;
let realm = '';
let made = 0;
beforeAll(async () => {
  sites = await startSites();
}, 120_000);
afterAll(() => sites?.stop());

const ours = (path: string) => `${sites.here.url}/realms/${realm}${path}`;
const theirs = (path: string) => `${sites.there.url}/realms/${realm}${path}`;
const endpoint = (alias = 'corp') => ours(`/broker/${alias}/endpoint`);
const pem = (content = '') => `-----BEGIN CERTIFICATE-----\n${content}\n-----END CERTIFICATE-----\n`;
const certificateIn = (metadata: string) => pem(/<ds:X509Certificate>([^<]*)</.exec(metadata)?.[1]);
const inside = (site: 'here' | 'there', path: string) => `${sites[site].inside}/realms/${realm}${path}`;

/** Realms of the same name at both, which is all that they have in common. */
async function makeRealms(): Promise<void> {
  made += 1;
  realm = `partners${made}`;
  for (const { admin } of [sites.here, sites.there]) await admin.call(createRealm, { body: { realm } });
  const body = { username: 'grace', email: 'grace@corp.example', emailVerified: true, password: PASSWORD };
  await sites.there.admin.call(createUser, { params: { realm }, body });
}

async function meetByOidc(alias = 'corp'): Promise<void> {
  const params = { realm };
  await sites.there.admin.call(createClient, {
    params,
    body: {
      ...{ clientId: `here-${alias}`, secret: SECRET, redirectUris: [endpoint(alias)] },
      postLogoutRedirectUris: [`${endpoint(alias)}/logout_response`],
      backchannelLogoutUri: `${endpoint(alias)}/backchannel-logout`,
    },
  });
  await sites.here.admin.call(createIdentityProvider, {
    params,
    body: {
      ...{ alias, type: 'oidc', displayName: alias, clientId: `here-${alias}`, secret: SECRET },
      ...{ scopes: ['openid', 'email', 'profile'], config: { issuer: theirs('') } },
    },
  });
}

async function meetBySaml(binding: 'POST' | 'Redirect', alias = 'corp'): Promise<void> {
  const params = { realm };
  await sites.here.admin.call(createIdentityProvider, {
    params,
    body: {
      ...{ alias, type: 'saml', displayName: alias, clientId: `${ours('')}/${alias}` },
      config: { metadataUrl: theirs('/saml/idp/metadata'), signRequests: true, binding },
    },
  });
  const descriptor = await (await fetch(inside('here', `/broker/${alias}/endpoint/descriptor`))).text();
  await sites.there.admin.call(createSamlClient, {
    params,
    body: {
      entityId: `${ours('')}/${alias}`,
      assertionConsumerServices: [{ url: endpoint(alias) }],
      singleLogoutServices: [{ url: `${endpoint(alias)}/slo`, binding }],
      signingCertificates: [certificateIn(descriptor)],
      requireSignedRequests: true,
      nameIdFormat: 'persistent',
      mappers: [
        { name: 'mail', source: 'property', attribute: 'email' },
        { name: 'uid', source: 'property', attribute: 'username' },
      ],
    },
  });
}
const protocols = [
  ['OpenID Connect', meetByOidc],
  ['SAML by Redirect', (alias?: string) => meetBySaml('Redirect', alias)],
  ['SAML by POST', (alias?: string) => meetBySaml('POST', alias)],
] as const;

/** From our sign-in page to theirs, and what is before the person then. */
async function asked(browser: Browser, alias = 'corp'): Promise<Page> {
  const page = await browser.open(ours('/login?for=account'));
  const way = wayIn({ ...page, headers: new Headers() }, alias);
  return browser.open(new URL(way, sites.here.url).href);
}
/** What they send our server by the person's browser, before it gets there. */
async function answer(browser: Browser, alias = 'corp', username = 'grace'): Promise<Hop> {
  const page = await asked(browser, alias);
  const arrives = ({ url }: Hop) => url.split('?')[0] === endpoint(alias);
  return browser.go(browser.filled(page, { username, password: PASSWORD }), arrives, sites.there.url);
}
async function signIn(browser = createBrowser(sites)): Promise<{ browser: Browser; page: Page }> {
  const back = await answer(browser);
  return { browser, page: await browser.shown(back, sites.there.url) };
}
const isIn = async (browser: Browser, at: (path: string) => string) =>
  (await browser.open(at('/account'))).url === at('/account');
const people = async () => (await sites.here.admin.call(listUsers, { params: { realm } })).body ?? [];
const linksOf = async (userId = '') =>
  (await sites.here.admin.call(listIdentityLinks, { params: { realm, userId } })).body ?? [];
const signOut = async (browser: Browser, at: (path: string) => string) => {
  const { fields } = await browser.open(at('/account'));
  const form = { csrf: fields.csrf ?? '' };
  return browser.shown({ url: at('/account/sign-out'), form }, new URL(at('')).origin);
};

describe.each(protocols)('by %s', (protocol, meet) => {
  beforeEach(async () => {
    await makeRealms();
    await meet();
  });

  test('somebody is a new person the first time and the same one again', async () => {
    const { page } = await signIn();
    expect([page.status, page.url]).toEqual([200, ours('/account')]);
    const [grace, ...others] = await people();
    expect([grace?.email, grace?.emailVerified, others]).toEqual([
      'grace@corp.example',
      protocol === 'OpenID Connect',
      [],
    ]);
    expect((await signIn()).page.url).toBe(ours('/account'));
    expect([(await people()).length, (await linksOf(grace?.id)).length]).toEqual([1, 1]);
  });

  test('signing out here signs out there, and leads back', async () => {
    const { browser } = await signIn();
    expect([await isIn(browser, ours), await isIn(browser, theirs)]).toEqual([true, true]);
    const left = await signOut(browser, ours);
    expect([left.heading, new URL(left.url).origin]).toEqual(['You are signed out', sites.here.url]);
    expect([await isIn(browser, ours), await isIn(browser, theirs)]).toEqual([false, false]);
  });

  test('signing out there signs out here', async () => {
    const { browser } = await signIn();
    const left = await signOut(browser, theirs);
    expect([left.heading, new URL(left.url).origin]).toEqual([
      protocol === 'OpenID Connect' ? 'Signed out' : 'You are signed out',
      sites.there.url,
    ]);
    await expect.poll(() => isIn(browser, ours)).toBe(false);
    expect(await isIn(browser, theirs)).toBe(false);
  });

  test('nobody takes over an account by an address that nobody has confirmed', async () => {
    const body = { username: 'alice', email: 'alice@here.example', emailVerified: true, password: PASSWORD };
    await sites.here.admin.call(createUser, { params: { realm }, body });
    const [grace] = (await sites.there.admin.call(listUsers, { params: { realm } })).body ?? [];
    const params = { realm, userId: grace?.id ?? '' };
    await sites.there.admin.call(putUser, { params, body: { email: 'alice@here.example', emailVerified: false } });
    const { browser, page } = await signIn();
    expect(page.heading).toBe('Is this account yours?');
    expect(await isIn(browser, ours)).toBe(false);
    const [alice, ...others] = await people();
    expect([alice?.username, others, await linksOf(alice?.id)]).toEqual(['alice', [], []]);
  });

  test('an answer at the address of another provider counts for nothing (mix-up)', async () => {
    await meet('other');
    const browser = createBrowser(sites);
    const back = await answer(browser);
    const mixed = { ...back, url: back.url.replace(endpoint(), endpoint('other')) };
    const page = await browser.shown(mixed, sites.there.url);
    expect([page.url === ours('/account'), await isIn(browser, ours), await people()]).toEqual([false, false, []]);
  });

  test('an answer that somebody else got signs nobody in, whether or not they are on their way (login CSRF)', async () => {
    const back = await answer(createBrowser(sites));
    const [idle, underWay] = [createBrowser(sites), createBrowser(sites)];
    await asked(underWay);
    for (const victim of [idle, underWay]) {
      const page = await victim.shown(back, sites.there.url);
      expect([page.url === ours('/account'), await isIn(victim, ours)]).toEqual([false, false]);
    }
    expect(await people()).toEqual([]);
  });
});

describe.each(['Redirect', 'POST'] as const)('with applications here that speak SAML, by %s', (binding) => {
  /** One that people are signed on to by our server. */
  async function signOnToWiki(browser: Browser): Promise<void> {
    const query = redirectQuery(authnRequest(), { key: serviceProviderKeys.key });
    const end = await browser.go({ url: `${ours('/saml/idp/sso')}?${query}` });
    expect(end).toMatchObject({ url: `${WIKI}/acs`, form: { SAMLResponse: expect.any(String) } });
  }
  const messageIn = ({ url, form }: Hop, kind: 'SAMLRequest' | 'SAMLResponse'): string => {
    if (form) return Buffer.from(form[kind] ?? '', 'base64').toString();
    return inflateRawSync(Buffer.from(new URL(url).searchParams.get(kind) ?? '', 'base64')).toString();
  };
  const said = (to: string, inner: string) =>
    `<samlp:LogoutResponse xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_${Date.now()}" Version="2.0" IssueInstant="${new Date().toISOString()}" InResponseTo="${to}"><saml:Issuer>${WIKI}</saml:Issuer><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${inner}"/></samlp:Status></samlp:LogoutResponse>`;
  const answerOf = (request: string, status = 'Success'): Hop => {
    const xml = said(/ ID="([^"]*)"/.exec(request)?.[1] ?? '', status);
    return {
      url: `${ours('/saml/idp/slo')}?${redirectQuery(xml, { key: serviceProviderKeys.key, kind: 'SAMLResponse' })}`,
    };
  };
  beforeEach(async () => {
    await makeRealms();
    await meetBySaml(binding);
    await sites.here.admin.call(createSamlClient, {
      params: { realm },
      body: {
        entityId: WIKI,
        assertionConsumerServices: [{ url: `${WIKI}/acs` }],
        singleLogoutServices: [{ url: `${WIKI}/slo`, binding: 'Redirect' }],
        signingCertificates: [serviceProviderKeys.certificate],
        nameIdFormat: 'unspecified',
      },
    });
  });

  test.each([
    ['Success', 'You are signed out'],
    ['Responder', 'You are signed out'],
  ])('signing out there tells them before the partner has its answer; one says %s', async (status, heading) => {
    const { browser } = await signIn();
    await signOnToWiki(browser);
    const { fields } = await browser.open(theirs('/account'));
    const form = { csrf: fields.csrf ?? '' };
    const told = await browser.go({ url: theirs('/account/sign-out'), form }, undefined, sites.there.url);
    expect(told.url.split('?')[0]).toBe(`${WIKI}/slo`);
    const request = messageIn(told, 'SAMLRequest');
    expect(request).toContain('<samlp:LogoutRequest');
    expect(await isIn(browser, ours)).toBe(false);
    const partners: Hop[] = [];
    const left = await browser.go(answerOf(request, status), (hop) => {
      if (hop.url.startsWith(theirs('/saml/idp/slo'))) partners.push(hop);
      return false;
    });
    expect(left).toMatchObject({ heading, url: expect.stringContaining(sites.there.url) });
    const response = messageIn(partners[0] ?? { url: '' }, 'SAMLResponse');
    expect([response.includes('PartialLogout'), response.includes('status:Success')]).toEqual([
      status !== 'Success',
      true,
    ]);
    expect([await isIn(browser, ours), await isIn(browser, theirs)]).toEqual([false, false]);
  });

  test('one that signs out signs out at the partner, too, and has its answer', async () => {
    const { browser } = await signIn();
    await signOnToWiki(browser);
    const [grace] = await people();
    const name = grace?.username ?? '';
    const asking = authnRequest({ inside: `<saml:NameID>${name}</saml:NameID>` }).replaceAll('Authn', 'Logout');
    const sent = {
      url: `${ours('/saml/idp/slo')}?${redirectQuery(asking, { key: serviceProviderKeys.key, relayState: 'wiki' })}`,
    };
    const end = await browser.go(sent);
    expect([end.url.split('?')[0], new URL(end.url).searchParams.get('RelayState')]).toEqual([`${WIKI}/slo`, 'wiki']);
    expect(messageIn(end, 'SAMLResponse')).toMatch(/status:Success(?!.*PartialLogout)/s);
    expect([await isIn(browser, ours), await isIn(browser, theirs)]).toEqual([false, false]);
  });
});
