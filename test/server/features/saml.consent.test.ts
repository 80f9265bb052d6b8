// Consent for SAML clients: people are asked before an application learns about them, once, and can take it back.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listEvents } from '../../../server/contract/events.ts';
import { eraseUser, exportUserData, listUserConsents } from '../../../server/contract/gdpr.ts';
import { putSamlClient } from '../../../server/contract/saml-clients.ts';
import { impersonateUser } from '../../../server/contract/user-access.ts';
import { createUser } from '../../../server/contract/users.ts';
import { PASSWORD } from '../../support/applications.ts';
import { authnRequest, byRedirect, type RequestOptions } from '../../support/authn-requests.ts';
import { makeRealm } from '../../support/clients.ts';
import { createPerson, type Person, type ShownPage } from '../../support/person.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import {
  makeServiceProvider,
  postedSamlMessage,
  samlEndpointUrl,
  signedIn,
  statusOf,
  WIKI,
} from '../../support/service-provider.ts';

const REALM = 'acme';
const CRM = 'urn:crm';
const CONSENT = `/realms/${REALM}/saml/idp/consent`;
const MAIL = { name: 'mail', source: 'property', attribute: 'email' } as const;
const MAPPERS = [MAIL, { name: 'plan', source: 'constant', value: 'gold' }] as const;
let server: TestServer;
let person: Person;
let ids: Record<string, string>;
let offset = 0;
let people = 0;
let username = '';
beforeAll(async () => {
  server = await startTestServer({ now: () => new Date(Date.now() + offset) });
  await makeRealm(server, REALM);
  await makeServiceProvider(server, REALM, { name: 'The <b>Wiki</b>', consentRequired: true, mappers: [...MAPPERS] });
  await makeServiceProvider(server, REALM, { entityId: CRM, consentRequired: true, nameIdFormat: 'unspecified' });
});
afterAll(async () => server?.stop());
beforeEach(async () => {
  offset = 0;
  person = createPerson(server.baseUrl);
  username = `person-${people++}`;
  const body = { username, password: PASSWORD, email: `${username}@example.com`, emailVerified: true };
  const { body: made } = await server.admin.call(createUser, { params: { realm: REALM }, body });
  ids = { ...ids, [username]: made!.id };
});

const of = () => ({ params: { realm: REALM, userId: ids[username] ?? '' } });
const request = (options: RequestOptions = {}) =>
  byRedirect(person, samlEndpointUrl(server, REALM, 'sso'), authnRequest(options), { key: undefined });
/** Signed in where that was asked for. */
const asked = async (options: RequestOptions = {}) => signedIn(person, await request(options), username);
const answer = (page: ShownPage, decision: string) => person.post(CONSENT, { ...page.fields, decision });
const remembered = async () => (await server.admin.call(listUserConsents, of())).body;
const withMappers = (mappers: readonly object[]) =>
  server.admin.call(putSamlClient, {
    params: { realm: REALM, entityId: WIKI },
    body: { mappers: mappers as (typeof MAIL)[] },
  });

describe('who signs in to a client that needs consent', () => {
  test('is asked once, and what they agreed to is theirs to see', async () => {
    const page = await asked();
    expect(page.heading).toBe('Allow access?');
    expect(page.text).toContain('The &lt;b&gt;Wiki&lt;/b&gt;');
    expect(page.text).toContain('<strong>mail</strong>');
    // what is the same for everybody says nothing of them
    expect(page.text).not.toContain('plan');
    const allowed = await answer(page, 'allow');
    expect(statusOf(allowed)).toEqual(['Success']);
    expect(postedSamlMessage(allowed).xml).toContain(`${username}@example.com`);
    expect(statusOf(await request())).toEqual(['Success']);
    expect(await remembered()).toMatchObject([{ clientId: WIKI, claims: ['mail'], scopes: [], resources: [] }]);
    expect((await server.admin.call(exportUserData, of())).body?.consents).toMatchObject([{ clientId: WIKI }]);
    const { body } = await server.admin.call(listEvents, {
      params: { realm: REALM },
      query: { type: 'CONSENT_GRANTED', subject: ids[username] },
    });
    expect(body).toMatchObject([{ clientId: WIKI, actor: { name: username }, data: { claims: ['mail'] } }]);
  });

  test('who does not agree is RequestDenied, nothing is remembered, and they are asked again', async () => {
    expect(statusOf(await answer(await asked(), 'deny'))).toEqual(['Responder', 'RequestDenied']);
    expect(await remembered()).toEqual([]);
    expect((await request()).heading).toBe('Allow access?');
  });

  test('whoever may not be asked is NoPassive', async () => {
    await asked();
    const passive = { attributes: ' IsPassive="true"' };
    expect(statusOf(await request(passive))).toEqual(['Responder', 'NoPassive']);
    await answer(await request(), 'allow');
    expect(statusOf(await request(passive))).toEqual(['Success']);
  });

  test('another attribute, or a name that says more, is asked for anew', async () => {
    await answer(await asked(), 'allow');
    await withMappers([...MAPPERS, { name: 'call', claim: 'phone', attribute: 'phone_number' }]);
    const page = await request();
    expect(page.text).toContain('<strong>phone</strong>');
    await answer(page, 'allow');
    expect(await remembered()).toMatchObject([{ claims: ['mail', 'phone'] }]);
    await withMappers(MAPPERS);
    expect(statusOf(await request())).toEqual(['Success']);
    const format = '<samlp:NameIDPolicy Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"/>';
    expect((await request({ inside: format })).text).toContain('<strong>email</strong>');
    expect((await request({ issuer: CRM })).text).toContain('<strong>username</strong>');
  });

  test('what came to the client after the page was shown is not agreed to', async () => {
    const page = await asked();
    await withMappers([...MAPPERS, { name: 'phone', attribute: 'phone_number' }]);
    const again = await answer(page, 'allow');
    await withMappers(MAPPERS);
    expect(again.heading).toBe('Allow access?');
    expect(again.text).toContain('<strong>phone</strong>');
    expect(await remembered()).toEqual([]);
  });
});

describe('taking it back', () => {
  test('on the account page: the application asks again', async () => {
    await answer(await asked(), 'allow');
    const account = await person.open(`/realms/${REALM}/account?view=applications`);
    expect(account.text).toContain('The &lt;b&gt;Wiki&lt;/b&gt;');
    const csrf = account.fields;
    const back = await person.post(`/realms/${REALM}/account/consents/${encodeURIComponent(WIKI)}/withdraw`, csrf);
    expect(back.url).toContain('said=withdrawn');
    expect(await remembered()).toEqual([]);
    expect((await request()).heading).toBe('Allow access?');
    const { body } = await server.admin.call(listEvents, {
      params: { realm: REALM },
      query: { type: 'CONSENT_REVOKED', subject: ids[username] },
    });
    expect(body).toMatchObject([{ clientId: WIKI, data: { claims: ['mail'] } }]);
  });

  test('leaves what others agreed to, and goes with the person who is erased', async () => {
    await answer(await asked(), 'allow');
    const first = of();
    person = createPerson(server.baseUrl);
    const body = { username: `${username}-b`, password: PASSWORD };
    const { body: made } = await server.admin.call(createUser, { params: { realm: REALM }, body });
    username = body.username;
    ids[username] = made!.id;
    await answer(await asked(), 'allow');
    await server.admin.call(eraseUser, of());
    expect((await server.admin.call(listUserConsents, first)).body).toHaveLength(1);
    const { rows } = await server.pool.query('select from saml_consent where user_id = $1', [ids[username]]);
    expect(rows).toEqual([]);
  });
});

describe('nobody answers for somebody else', () => {
  test('without the page’s proof, for another request, from another browser, too late', async () => {
    const page = await asked();
    const refused = async (fields: Record<string, string>, by = person) => {
      const shown = await by.post(CONSENT, { decision: 'allow', ...fields });
      expect([shown.status, shown.text.includes('SAMLResponse')]).toEqual([400, false]);
    };
    await refused({});
    await refused({ ...page.fields, proof: '1.x' });
    const other = await request({ issuer: CRM });
    await refused({ ...page.fields, request: other.fields.request ?? '' });
    await refused({ ...page.fields, since: String(Date.now()) });
    await refused(page.fields, createPerson(server.baseUrl));
    // A proof of the other consent page is none of this one.
    const elsewhere = await person.post(`/realms/${REALM}/oauth2/consent`, { ...page.fields, decision: 'allow' });
    expect(elsewhere.status).toBe(400);
    offset = 16 * 60_000;
    await refused(page.fields);
    expect(await remembered()).toEqual([]);
  });

  test('nor does an administrator who acts for them', async () => {
    const { body } = await server.admin.call(impersonateUser, of());
    const admin = createPerson(server.baseUrl);
    const page = await admin.open(body!.url.replace(server.baseUrl, ''));
    expect((await admin.fill(page, {})).heading).toBe(username);
    person = admin;
    expect(statusOf(await request())).toEqual(['Responder', 'RequestDenied']);
    expect(await remembered()).toEqual([]);
  });
});
