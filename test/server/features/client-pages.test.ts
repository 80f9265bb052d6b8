// What an application shows of itself where people sign in and agree: its picture and its own pages, which are nobody's to trust.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../../server/contract/clients.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { PASSWORD } from '../../support/applications.ts';
import { createPerson, type ShownPage } from '../../support/person.ts';
import { makeProvider, makeRelyingParty, REALM, requestPath } from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const params = { realm: REALM };
const about = {
  logoUri: 'https://cdn.example/logo.png?a=1&b=">',
  clientUri: 'https://app.example/',
  policyUri: 'https://app.example/policy',
  tosUri: 'https://app.example/terms',
};

beforeAll(async () => {
  server = await startTestServer();
  await makeProvider(server);
  await makeRelyingParty(server, 'shown', { ...about, consentRequired: true });
  await makeRelyingParty(server, 'partly', { policyUri: about.policyUri });
});
afterAll(() => server?.stop());

const pictures = ({ headers }: ShownPage) => /img-src ([^;]*)/.exec(headers.get('content-security-policy') ?? '')?.[1];

test('picture and links stand on the sign-in page and the consent page, which load the picture from its origin alone', async () => {
  const person = createPerson(server.baseUrl);
  const signIn = await person.open(requestPath({ client_id: 'shown' }));
  const consent = await person.fill(signIn, { username: 'alice', password: PASSWORD });
  expect([signIn.heading, consent.heading]).toEqual(['Sign in', 'Allow access?']);
  for (const page of [signIn, consent]) {
    expect(page.text).toContain('src="https://cdn.example/logo.png?a=1&amp;b=&quot;&gt;" alt="');
    expect(pictures(page)).toBe("'self' data: https://cdn.example");
    for (const [to, words] of [
      [about.clientUri, 'About the application'],
      [about.policyUri, 'Privacy policy'],
      [about.tosUri, 'Terms of service'],
    ])
      expect(page.text).toContain(`<a href="${to}" target="_blank" rel="noopener noreferrer nofollow">${words}</a>`);
    expect(page.headers.get('content-security-policy')).not.toMatch(/script-src [^;]*https?:/);
  }
});

test('of what an application doesn’t say there is nothing, and no picture is loaded for it', async () => {
  const partly = await createPerson(server.baseUrl).open(requestPath({ client_id: 'partly' }));
  expect(partly.text).toContain('Privacy policy');
  const nothing = await createPerson(server.baseUrl).open(requestPath());
  expect(nothing.text).not.toContain('class="application"');
  for (const page of [partly, nothing]) {
    expect(page.text).not.toContain('Terms of service');
    expect(page.text).not.toContain('cdn.example');
    expect(pictures(page)).toBe("'self' data:");
  }
});

test('a picture on a host that the policy can’t name is not loaded from everywhere', async () => {
  await makeRelyingParty(server, 'odd', { logoUri: 'https://*.example/logo.png' });
  expect(pictures(await createPerson(server.baseUrl).open(requestPath({ client_id: 'odd' })))).toBe("'self' data:");
});

test.each(Object.keys(about))('%s must be https', async (field) => {
  for (const address of ['http://app.example/', 'javascript:alert(1)', 'data:text/html,x']) {
    const body = { clientId: 'plain', [field]: address };
    await expect(server.admin.call(createClient, { params, body })).rejects.toMatchObject({
      status: 400,
      problem: { errors: [{ path: field }] },
    });
  }
});

test('beside what an application that registered itself says stands the host that people are led to, before any password', async () => {
  await server.admin.call(putSettings, { params, body: { clientRegistration: 'open' } });
  const redirect_uri = 'https://elsewhere.example/cb';
  const answer = await fetch(`${server.baseUrl}/realms/${REALM}/connect/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Your bank',
      logo_uri: about.logoUri,
      client_uri: 'https://bank.example/',
      redirect_uris: ['https://bank.example/cb', redirect_uri],
      token_endpoint_auth_method: 'none',
    }),
  });
  expect(answer.status).toBe(201);
  const { client_id } = Object(await answer.json());
  const pkce = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' };
  const person = createPerson(server.baseUrl);
  const page = await person.open(requestPath({ client_id, redirect_uri, ...pkce }));
  expect([page.heading, pictures(page)]).toEqual(['Sign in', "'self' data: https://cdn.example"]);
  expect(page.text).toContain('<strong>elsewhere.example</strong>');
  const consent = await person.fill(page, { username: 'alice', password: PASSWORD });
  expect(consent.heading).toBe('Allow access?');
  expect(consent.text).toContain('<strong>elsewhere.example</strong>');
  const known = await createPerson(server.baseUrl).open(requestPath({ client_id: 'shown' }));
  expect(known.text).not.toContain('<strong>rp.example</strong>');
});
