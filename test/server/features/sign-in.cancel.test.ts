// "Cancel" in a sign-in: the application that waits for it learns that the user has left.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { deleteClient, listClients } from '../../../server/contract/clients.ts';
import { PASSWORD } from '../../support/applications.ts';
import { authnRequest, byRedirect } from '../../support/authn-requests.ts';
import { basic, post } from '../../support/clients.ts';
import { createPerson, type ShownPage } from '../../support/person.ts';
import {
  makeProvider,
  makeRelyingParty,
  REALM,
  RP,
  requestPath,
  responseParameters,
  STATE,
} from '../../support/relying-party.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { makeServiceProvider, samlEndpointUrl, statusOf } from '../../support/service-provider.ts';

let server: TestServer;
let issuer: string;
const CANCEL = 'value="cancel">Cancel</button>';
beforeAll(async () => {
  server = await startTestServer();
  issuer = `${server.baseUrl}/realms/${REALM}`;
  await makeProvider(server);
  await makeServiceProvider(server, REALM, {});
});
afterAll(async () => server?.stop());

const stored = async () =>
  (await server.pool.query(`select from sign_in where realm_id = $1 and state ->> 'is' <> 'done'`, [REALM])).rowCount;
const denied = (page: ShownPage) =>
  expect(responseParameters(page)).toEqual({
    error: 'access_denied',
    error_description: 'The person cancelled the sign-in',
    state: STATE,
    iss: issuer,
  });

describe.each(['query', 'form_post'])('by %s', (responseMode) => {
  const path = (more: Record<string, string> = {}) => requestPath({ response_mode: responseMode, ...more });

  test('on the first page', async () => {
    const person = createPerson(server.baseUrl);
    const page = await person.open(path());
    expect(page.text).toContain(CANCEL);
    denied(await person.fill(page, { do: 'cancel' }));
    expect((await person.fill(page, { username: 'alice', password: PASSWORD })).heading).toBe(
      'This sign-in has expired',
    );
  });

  test('after the password, with nothing kept of it', async () => {
    const person = createPerson(server.baseUrl);
    const page = await person.open(path({ acr_values: '2' }));
    const enrol = await person.fill(page, { username: 'alice', password: PASSWORD });
    expect(enrol.heading).not.toBe('Sign in');
    expect(enrol.text).toContain(CANCEL);
    denied(await person.fill(enrol, { do: 'cancel' }));
    expect(await stored()).toBe(0);
    expect(responseParameters(await person.open(requestPath({ prompt: 'none' })))).toMatchObject({
      error: 'login_required',
    });
  });

  test('while new proofs are asked for, which leaves the session as it was', async () => {
    const person = createPerson(server.baseUrl);
    await person.fill(await person.open(requestPath()), { username: 'alice', password: PASSWORD });
    denied(await person.fill(await person.open(path({ prompt: 'login' })), { do: 'cancel' }));
    expect(responseParameters(await person.open(requestPath({ prompt: 'none' })))?.code).toBeDefined();
  });
});

test('a pushed request is answered too', async () => {
  const form = { client_id: 'rp', redirect_uri: RP, response_type: 'code', scope: 'openid', state: STATE };
  const { body } = await post(server, REALM, 'par', form, { authorization: basic('rp') });
  const { request_uri } = z.object({ request_uri: z.string() }).parse(body);
  const person = createPerson(server.baseUrl);
  const query = new URLSearchParams({ client_id: 'rp', request_uri });
  const page = await person.open(`/realms/${REALM}/oauth2/authorize?${query}`);
  denied(await person.fill(page, { do: 'cancel' }));
});

test('a SAML service provider gets a response that says so', async () => {
  const person = createPerson(server.baseUrl);
  const sso = samlEndpointUrl(server, REALM, 'sso');
  const page = await byRedirect(person, sso, authnRequest({ destination: sso }), { key: undefined });
  expect(page.text).toContain(CANCEL);
  const answer = await person.fill(page, { do: 'cancel' });
  expect(statusOf(answer)).toEqual(['Responder', 'AuthnFailed']);
});

describe('without an application that waits', () => {
  test('the page offers no way to leave, and a form that asks for it changes nothing', async () => {
    const person = createPerson(server.baseUrl);
    const page = await person.open(`/realms/${REALM}/login?for=account`);
    expect(page.text).not.toContain('value="cancel"');
    expect((await person.fill(page, { do: 'cancel' })).heading).toBe('Sign in');
  });

  test('because it was deleted meanwhile, a page says so', async () => {
    const clientId = `gone-${randomUUID()}`;
    await makeRelyingParty(server, clientId);
    const person = createPerson(server.baseUrl);
    const page = await person.open(requestPath({ client_id: clientId }));
    const { body } = await server.admin.call(listClients, { params: { realm: REALM }, query: { q: clientId } });
    await server.admin.call(deleteClient, { params: { realm: REALM, id: body?.[0]?.id ?? '' } });
    const left = await person.fill(page, { do: 'cancel' });
    expect([left.status, responseParameters(left)]).toEqual([400, undefined]);
  });
});

test('another site’s form, without the page’s token, ends nothing', async () => {
  const person = createPerson(server.baseUrl);
  const page = await person.open(requestPath());
  const forged = await person.post(`/realms/${REALM}/login`, { do: 'cancel' });
  expect(responseParameters(forged)).toBeUndefined();
  const answer = responseParameters(await person.fill(page, { username: 'alice', password: PASSWORD }));
  expect(answer?.code).toBeDefined();
});
