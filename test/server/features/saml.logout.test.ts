// Single logout by SAML 2.0: whoever begins it, the session ends once, and everybody whom it has led to hears of it.
import { inflateRawSync } from 'node:zlib';
import type { Profile, SAML } from '@node-saml/node-saml';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { putSamlClient } from '../../../server/contract/saml-clients.ts';
import { authnRequest, byPost, byRedirect, logoutRequest, newRequestId } from '../../support/authn-requests.ts';
import { basic, post } from '../../support/clients.ts';
import { createPerson, type Person } from '../../support/person.ts';
import { exchange, makeProvider, REALM, requestPath, signInAt } from '../../support/relying-party.ts';
import { samlKeyPair, signedXml } from '../../support/saml.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import {
  makeServiceProvider,
  postedSamlMessage,
  samlEndpointUrl,
  serviceProvider,
  serviceProviderKeys,
  signedIn,
  WIKI,
} from '../../support/service-provider.ts';

const CRM = 'https://crm.example.com/saml';
let server: TestServer;
let person: Person;
let wiki: SAML;
let crm: SAML;
const slo = () => samlEndpointUrl(server, REALM, 'slo');
const acsOf = (entityId: string) => `${entityId}/acs`;

beforeAll(async () => {
  server = await startTestServer();
  await makeProvider(server);
  for (const [entityId, binding] of [
    [WIKI, 'Redirect'],
    [CRM, 'Redirect'],
  ] as const)
    await makeServiceProvider(server, REALM, {
      entityId,
      assertionConsumerServices: [{ url: acsOf(entityId) }],
      singleLogoutServices: [{ url: `${entityId}/slo`, binding }],
      signingCertificates: [serviceProviderKeys.certificate],
    });
});
afterAll(async () => server?.stop());
beforeEach(async () => {
  person = createPerson(server.baseUrl);
  wiki = await serviceProvider(server, REALM, { entityId: WIKI, callbackUrl: acsOf(WIKI) });
  crm = await serviceProvider(server, REALM, { entityId: CRM, callbackUrl: acsOf(CRM) });
});

async function enter(sp: SAML, who = person): Promise<Profile> {
  const shown = await signedIn(who, await who.open(await sp.getAuthorizeUrlAsync('', undefined, {})));
  const { profile } = await sp.validatePostResponseAsync(postedSamlMessage(shown).fields);
  return profile!;
}
/** What a service provider finds in an address that the browser comes to. */
async function received(sp: SAML, url: string) {
  const { origin, pathname, search } = new URL(url);
  const query = Object.fromEntries(new URLSearchParams(search));
  return { to: origin + pathname, query, ...(await sp.validateRedirectAsync(query, search.slice(1))) };
}
const isSignedIn = async (who = person): Promise<boolean> =>
  (await who.open(requestPath({ prompt: 'none' }))).url.includes('code=');
const answer = async (sp: SAML, request: Profile, success = true) =>
  sp.getLogoutResponseUrlAsync(request, '', {}, success);
const codes = (response: string) => [...response.matchAll(/status:(\w+)"/g)].map(([, code]) => code);
const statusIn = (query: Record<string, string>) => {
  return codes(inflateRawSync(Buffer.from(query.SAMLResponse ?? '', 'base64')).toString());
};

describe('a service provider asks', () => {
  test('by Redirect: the session ends with its tokens, and it is told so', async () => {
    const profile = await enter(wiki);
    const { body } = await exchange(server, await signInAt(person, requestPath()));
    const shown = await person.open(await wiki.getLogoutUrlAsync(profile, 'back to the start', {}));
    const { to, query, loggedOut } = await received(wiki, shown.url);
    expect([to, loggedOut, query.RelayState]).toEqual([`${WIKI}/slo`, true, 'back to the start']);
    expect(statusIn(query)).toEqual(['Success']);
    expect(await isSignedIn()).toBe(false);
    const token = String(body.access_token);
    const told = await post(server, REALM, 'introspect', { token }, { authorization: basic('rp') });
    expect(told.body).toEqual({ active: false });
    expect([...person.jar.keys()].filter((name) => name.includes('SESSION'))).toEqual([]);
    const { body: events } = await server.admin.call(listEvents, {
      params: { realm: REALM },
      query: { type: 'LOGOUT' },
    });
    expect(events?.[0]).toMatchObject({
      clientId: WIKI,
      subject: { name: 'alice' },
      actor: { type: 'client', name: WIKI },
    });
  });

  test('by POST', async () => {
    const profile = await enter(wiki);
    const request = logoutRequest({ name: profile.nameID, index: profile.sessionIndex });
    const shown = await byPost(person, slo(), signedXml(request, serviceProviderKeys.key), 'state');
    const query = Object.fromEntries(new URL(shown.url).searchParams);
    expect([statusIn(query), query.RelayState]).toEqual([['Success'], 'state']);
    expect(await isSignedIn()).toBe(false);
  });

  test('the others hear of it first, each by what it calls person and session', async () => {
    const [mine, theirs] = [await enter(wiki), await enter(crm)];
    const asked = await person.open(await wiki.getLogoutUrlAsync(mine, 'x', {}));
    expect(await isSignedIn()).toBe(false);
    const heard = await received(crm, asked.url);
    expect([heard.to, heard.profile?.nameID, heard.profile?.sessionIndex]).toEqual([
      `${CRM}/slo`,
      theirs.nameID,
      theirs.sessionIndex,
    ]);
    const shown = await person.open(await answer(crm, heard.profile!));
    const { to, query } = await received(wiki, shown.url);
    expect([to, query.RelayState, statusIn(query)]).toEqual([`${WIKI}/slo`, 'x', ['Success']]);
    // a second answer finds nothing to go on with
    expect((await person.open(await answer(crm, heard.profile!))).heading).toBe('You are signed out');
  });

  test('one of the others fails, or somebody else answers for it: the logout was partial', async () => {
    for (const wrong of [
      async (request: Profile) => answer(crm, request, false),
      async (request: Profile) => answer(wiki, request),
      async (request: Profile) => {
        const forger = await serviceProvider(server, REALM, { entityId: CRM, privateKey: samlKeyPair().key });
        return answer(forger, request);
      },
    ]) {
      const mine = await enter(wiki);
      await enter(crm);
      const asked = await person.open(await wiki.getLogoutUrlAsync(mine, '', {}));
      const { profile } = await received(crm, asked.url);
      const shown = await person.open(await wrong(profile!));
      expect(statusIn(Object.fromEntries(new URL(shown.url).searchParams))).toEqual(['Success', 'PartialLogout']);
    }
  });

  test('in another browser: its sessions there, and nobody else’s', async () => {
    const profile = await enter(wiki);
    const elsewhere = createPerson(server.baseUrl);
    const other = await enter(wiki, elsewhere);
    const third = createPerson(server.baseUrl);
    const one = logoutRequest({ name: profile.nameID, index: profile.sessionIndex });
    expect((await byRedirect(third, slo(), one)).url).toContain('SAMLResponse');
    expect([await isSignedIn(), await isSignedIn(elsewhere)]).toEqual([false, true]);
    // without an index all of the person's
    expect(other.nameID).toBe(profile.nameID);
    await byRedirect(third, slo(), logoutRequest({ name: profile.nameID }));
    expect(await isSignedIn(elsewhere)).toBe(false);
  });

  test('the other one by POST, by a page that its own policy lets through', async () => {
    const params = { realm: REALM, entityId: CRM };
    const services = (binding: 'POST' | 'Redirect') =>
      server.admin.call(putSamlClient, { params, body: { singleLogoutServices: [{ url: `${CRM}/slo`, binding }] } });
    await services('POST');
    const mine = await enter(wiki);
    await enter(crm);
    const shown = await person.open(await wiki.getLogoutUrlAsync(mine, '', {}));
    const { action, fields } = postedSamlMessage(shown);
    expect(action).toBe(`${CRM}/slo`);
    expect(shown.headers.get('content-security-policy')).toContain('https://crm.example.com');
    const { profile } = await crm.validatePostRequestAsync(fields);
    expect((await person.open(await answer(crm, profile!))).url).toContain(`${WIKI}/slo?SAMLResponse`);
    await services('Redirect');
  });
});

describe('a service provider that expects answers elsewhere (ResponseLocation)', () => {
  const params = { realm: REALM, entityId: CRM };
  const services = (more: object) =>
    server.admin.call(putSamlClient, {
      params,
      body: { singleLogoutServices: [{ url: `${CRM}/slo`, binding: 'Redirect', ...more }] },
    });

  test('gets them there, with that Destination, and requests at its usual address', async () => {
    await services({ responseUrl: `${CRM}/slo/answers` });
    const mine = await enter(crm);
    const { url } = await person.open(await crm.getLogoutUrlAsync(mine, 'state', {}));
    const { to, query } = await received(crm, url);
    expect([to, query.RelayState, statusIn(query)]).toEqual([`${CRM}/slo/answers`, 'state', ['Success']]);
    const xml = inflateRawSync(Buffer.from(query.SAMLResponse ?? '', 'base64')).toString();
    expect(xml).toContain(`Destination="${CRM}/slo/answers"`);
    // Another service provider begins: the CRM is asked at its usual address.
    await enter(crm);
    const theirs = await enter(wiki);
    const asked = await received(crm, (await person.open(await wiki.getLogoutUrlAsync(theirs, '', {}))).url);
    expect(asked.to).toBe(`${CRM}/slo`);
    await services({});
  });

  test('by POST, too', async () => {
    await services({ binding: 'POST', responseUrl: `${CRM}/slo/answers` });
    const { nameID: name } = await enter(crm);
    const request = signedXml(logoutRequest({ name, issuer: CRM }), serviceProviderKeys.key);
    expect(postedSamlMessage(await byPost(person, slo(), request)).action).toBe(`${CRM}/slo/answers`);
    await services({});
  });
});

describe('nothing ends', () => {
  test('by a request that is not signed, is another’s, for elsewhere, or too old', async () => {
    const { nameID: name, sessionIndex: index } = await enter(wiki);
    await enter(crm);
    const refused: [string, () => Promise<{ status: number }>][] = [
      ['unsigned', () => byRedirect(person, slo(), logoutRequest({ name, index }), { key: undefined })],
      ['unsigned by POST', () => byPost(person, slo(), logoutRequest({ name, index }))],
      ['another key', () => byRedirect(person, slo(), logoutRequest({ name, index }), { key: samlKeyPair().key })],
      ['unknown', () => byRedirect(person, slo(), logoutRequest({ name, index, issuer: 'urn:nobody' }))],
      [
        'elsewhere',
        () => byRedirect(person, slo(), logoutRequest({ name, index, more: ' Destination="https://x.example"' })),
      ],
      ['old', () => byRedirect(person, slo(), logoutRequest({ name, index, issued: new Date(Date.now() - 600_000) }))],
      [
        'over',
        () => byRedirect(person, slo(), logoutRequest({ name, index, more: ' NotOnOrAfter="2020-01-01T00:00:00Z"' })),
      ],
      ['nobody', () => byRedirect(person, slo(), logoutRequest({ name: '', index }))],
      ['a sign-on', () => byRedirect(person, slo(), authnRequest())],
    ];
    for (const [, send] of refused) expect((await send()).status).toBe(400);
    // by names that are somebody else's: they are told that it is done, as it is
    for (const wrong of [
      { name, index: 'another' },
      { name: 'alice', index },
      { name, index, issuer: CRM },
    ])
      expect((await byRedirect(person, slo(), logoutRequest(wrong))).url).toContain('SAMLResponse');
    expect(await isSignedIn()).toBe(true);
  });

  test('by a request that comes a second time', async () => {
    const { nameID: name } = await enter(wiki);
    const id = newRequestId();
    await byRedirect(person, slo(), logoutRequest({ name, id }));
    await enter(wiki);
    expect((await byRedirect(person, slo(), logoutRequest({ name, id }))).status).toBe(400);
    expect(await isSignedIn()).toBe(true);
  });
});

describe('somebody signs out here', () => {
  const onward = async (page: { text: string; heading: string }) => {
    expect(page.heading).toBe('One moment');
    const [, href = ''] = /<a class="button" href="([^"]*)"/.exec(page.text) ?? [];
    return person.open(href.replaceAll('&amp;', '&'));
  };
  test('by an application of OpenID: service providers hear of it, and then the person is back there', async () => {
    await enter(crm);
    const { body } = await exchange(server, await signInAt(person, requestPath()));
    const query = new URLSearchParams({
      id_token_hint: String(body.id_token),
      post_logout_redirect_uri: 'https://rp.example/bye',
      state: 's',
    });
    const asked = await onward(await person.open(`/realms/${REALM}/oauth2/logout?${query}`));
    const { profile } = await received(crm, asked.url);
    expect(await isSignedIn()).toBe(false);
    expect((await person.open(await answer(crm, profile!))).url).toBe('https://rp.example/bye?state=s');
  });

  test('by the page that asks them, or on the account page', async () => {
    await enter(crm);
    const confirm = await person.open(`/realms/${REALM}/oauth2/logout`);
    const asked = await onward(await person.post(`/realms/${REALM}/oauth2/logout/confirm`, confirm.fields));
    const first = await received(crm, asked.url);
    expect((await person.open(await answer(crm, first.profile!))).heading).toBe('You are signed out');

    await enter(crm);
    const account = await person.open(`/realms/${REALM}/account`);
    const csrf = /action="[^"]*sign-out"[\s\S]*?name="csrf" value="([^"]*)"/.exec(account.text)?.[1] ?? '';
    const second = await onward(await person.post(`/realms/${REALM}/account/sign-out`, { csrf }));
    expect((await received(crm, second.url)).profile?.nameID).toBeDefined();
    expect(await isSignedIn()).toBe(false);
  });

  test('a link that was used leads nowhere, nor does one that somebody made up', async () => {
    for (const path of ['?logout=x', '?logout=x&on=1']) {
      const shown = await person.open(`${new URL(slo()).pathname}${path}`);
      expect(path.includes('on') ? shown.heading : 'One moment').toBe(
        path.includes('on') ? 'You are signed out' : shown.heading,
      );
    }
  });
});
