// Client authentication and the client_credentials grant, as an application meets them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { putSettings } from '../../../server/contract/settings.ts';
import { basic, claimsIn, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const grant = { grant_type: 'client_credentials' };
beforeAll(async () => {
  server = await startTestServer();
  await makeRealm(server, 'acme');
  await makeRealm(server, 'other');
  await makeClient(server, 'acme', { clientId: 'robot', secret: SECRET, grantTypes: ['client_credentials'] });
  await makeClient(server, 'acme', { clientId: 'web', secret: SECRET });
  await makeClient(server, 'acme', { clientId: 'spa', tokenEndpointAuthMethod: 'none' });
});
afterAll(async () => server?.stop());

describe('an access token of a service account', () => {
  test('is an RFC 9068 JWT of the realm', async () => {
    const { status, headers, body } = await post(server, 'acme', 'token', grant, { authorization: basic('robot') });
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600 });
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    const claims = claimsIn(body.access_token);
    const issuer = `${server.baseUrl}/realms/acme`;
    expect(claims).toMatchObject({ iss: issuer, aud: issuer, sub: 'robot', client_id: 'robot', scope: body.scope });
    expect(claims).toHaveProperty('jti');
    expect(Number(claims.exp) - Number(claims.iat)).toBe(3600);
    expect(body).not.toHaveProperty('refresh_token');
  });

  test('can be had with the secret in the body', async () => {
    const { status } = await post(server, 'acme', 'token', { ...grant, client_id: 'robot', client_secret: SECRET });
    expect(status).toBe(200);
  });

  test('may be as long as 32 KiB of headers allow', async () => {
    const ask = (length: number) =>
      fetch(`${server.baseUrl}/realms/acme/oauth2/userinfo`, {
        headers: { authorization: `Bearer ${'x'.repeat(length)}` },
      });
    expect([(await ask(30_000)).status, (await ask(33_000)).status]).toEqual([401, 431]);
  });

  test('is refused by userinfo', async () => {
    const { body } = await post(server, 'acme', 'token', grant, { authorization: basic('robot') });
    const userinfo = await fetch(`${server.baseUrl}/realms/acme/oauth2/userinfo`, {
      headers: { authorization: `Bearer ${body.access_token}` },
    });
    expect(userinfo.status).toBe(403);
    expect(userinfo.headers.get('www-authenticate')).toContain('insufficient_scope');
  });
});

describe('client authentication', () => {
  const refusals: [string, Record<string, string>, Record<string, string>][] = [
    ['a wrong secret', grant, { authorization: basic('robot', 'x'.repeat(32)) }],
    ['an unknown client', grant, { authorization: basic('nobody') }],
    ['a client of another realm', grant, { authorization: basic('robot') }],
    ['no client', grant, {}],
    ['a public client that is confidential', { ...grant, client_id: 'robot' }, {}],
    ['a secret of a public client', grant, { authorization: basic('spa') }],
    ['garbage in the header', grant, { authorization: 'Basic !!!' }],
    ['another scheme', grant, { authorization: 'Bearer abc' }],
    ['a client_id that differs', { ...grant, client_id: 'web' }, { authorization: basic('robot') }],
    ['NUL in the client id', grant, { authorization: basic('ro\0bot') }],
  ];
  test.each(refusals)('refuses %s with the same invalid_client', async (what, form, headers) => {
    const realm = what.includes('another realm') ? 'other' : 'acme';
    const { status, text, headers: answered } = await post(server, realm, 'token', form, headers);
    expect(text).toBe('{"error":"invalid_client","error_description":"The client could not be authenticated"}');
    expect(status).toBe(401);
    expect(answered.get('www-authenticate')).toBe(`Basic realm="${realm}"`);
  });

  test('refuses two methods at once', async () => {
    const form = { ...grant, client_id: 'robot', client_secret: SECRET };
    const { body } = await post(server, 'acme', 'token', form, { authorization: basic('robot') });
    expect(body.error).toBe('invalid_request');
  });

  test('takes a secret that was not form-encoded', async () => {
    await makeClient(server, 'acme', {
      clientId: 'odd',
      secret: `${SECRET}+%41&=`,
      grantTypes: ['client_credentials'],
    });
    const raw = `Basic ${Buffer.from(`odd:${SECRET}+%41&=`).toString('base64')}`;
    expect((await post(server, 'acme', 'token', grant, { authorization: raw })).status).toBe(200);
    const encoded = basic('odd', `${SECRET}+%41&=`);
    expect((await post(server, 'acme', 'token', grant, { authorization: encoded })).status).toBe(200);
  });

  test.each([
    ['percent', '100%'],
    ['plus', 'a+b'],
    ['both', 'p%41+s%zz'],
  ])('takes a weak secret with signs of form encoding (%s), encoded or not', async (clientId, secret) => {
    await makeClient(server, 'acme', { clientId, secret, grantTypes: ['client_credentials'] });
    const raw = (text: string) => `Basic ${Buffer.from(`${clientId}:${text}`).toString('base64')}`;
    const statusOf = async (authorization: string) =>
      (await post(server, 'acme', 'token', grant, { authorization })).status;
    for (let i = 0; i < 2; i += 1) {
      expect(await statusOf(raw(secret))).toBe(200);
      expect(await statusOf(basic(clientId, secret))).toBe(200);
    }
    expect(await statusOf(raw(`${secret}+`))).toBe(401);
    // Right secrets never count as wrong ones, whichever reading was right.
    for (let i = 0; i < 12; i += 1) expect(await statusOf(raw(secret))).toBe(200);
  });

  test('takes a scope with blanks at its ends', async () => {
    const granted = async (scope: string) =>
      (await post(server, 'acme', 'token', { ...grant, scope }, { authorization: basic('robot') })).body.scope;
    const exact = await granted('profile');
    expect(exact).toContain('profile');
    for (const scope of ['profile ', ' profile', '  profile  ']) expect(await granted(scope)).toBe(exact);
  });

  test.each([
    ['slow', 'a-short-secret-1'],
    ['one', 'x'],
    ['longest', 'x'.repeat(1024)],
  ])('takes a weak secret (%s), slowly the first time', async (clientId, secret) => {
    await makeClient(server, 'acme', { clientId, secret, grantTypes: ['client_credentials'] });
    for (let i = 0; i < 2; i += 1) {
      expect((await post(server, 'acme', 'token', grant, { authorization: basic(clientId, secret) })).status).toBe(200);
    }
    const wrong = await post(server, 'acme', 'token', grant, { authorization: basic(clientId, `${secret}y`) });
    expect(wrong.status).toBe(401);
  });
});

describe('the token endpoint', () => {
  const auth = { authorization: basic('robot') };
  const cases: [string, string, Record<string, string>, string][] = [
    ['no grant_type', '', auth, 'invalid_request'],
    ['an unknown grant', 'grant_type=password', auth, 'unsupported_grant_type'],
    [
      'a grant that is not the client’s',
      'grant_type=client_credentials',
      { authorization: basic('web') },
      'unauthorized_client',
    ],
    ['a parameter that comes twice', 'grant_type=client_credentials&grant_type=x', auth, 'invalid_request'],
    ['a scope that is not the client’s', 'grant_type=client_credentials&scope=admin', auth, 'invalid_scope'],
    ['openid without a person', 'grant_type=client_credentials&scope=openid', auth, 'invalid_scope'],
    ['a malformed scope', 'grant_type=client_credentials&scope=%22', auth, 'invalid_scope'],
    ['a scope of blanks', 'grant_type=client_credentials&scope=+++', auth, 'invalid_scope'],
    ['a scope that ends in a line break', 'grant_type=client_credentials&scope=read%0A', auth, 'invalid_scope'],
    [
      'a resource that is not on the list',
      'grant_type=client_credentials&resource=https://x.example',
      auth,
      'invalid_target',
    ],
    ['NUL', 'grant_type=client_credentials&scope=%00', auth, 'invalid_request'],
  ];
  test.each(cases)('refuses %s', async (_, form, headers, error) => {
    const { body, status } = await post(server, 'acme', 'token', form, headers);
    expect(body.error).toBe(error);
    expect(status).toBe(400);
  });

  test('refuses JSON and an unknown realm', async () => {
    const json = { 'content-type': 'application/json', ...auth };
    expect((await post(server, 'acme', 'token', '{}', json)).body.error).toBe('invalid_request');
    expect((await post(server, 'nowhere', 'token', grant, auth)).status).toBe(404);
    expect((await post(server, 'No%00where', 'token', grant, auth)).status).toBe(404);
  });

  test('gives a token for a resource of the realm’s list, and the client’s where it has one', async () => {
    const [one, two] = ['https://one.example/api', 'https://two.example/api'];
    const resourceIndicators = [one, two];
    await server.admin.call(putSettings, { params: { realm: 'acme' }, body: { resourceIndicators } });
    await makeClient(server, 'acme', {
      clientId: 'narrow',
      secret: SECRET,
      grantTypes: ['client_credentials'],
      allowedResources: [one],
    });
    const narrow = { authorization: basic('narrow') };
    const forOne = await post(server, 'acme', 'token', { ...grant, resource: one }, narrow);
    expect(claimsIn(forOne.body.access_token).aud).toBe(one);
    expect((await post(server, 'acme', 'token', { ...grant, resource: two }, narrow)).body.error).toBe(
      'invalid_target',
    );
    const both = new URLSearchParams([...Object.entries(grant), ['resource', one], ['resource', two]]);
    const forBoth = await post(server, 'acme', 'token', both, auth);
    expect(claimsIn(forBoth.body.access_token).aud).toEqual([one, two]);
  });

  test('gives the admin audience to nobody without admin roles', async () => {
    const form = { ...grant, resource: `${server.baseUrl}/admin` };
    expect((await post(server, 'acme', 'token', form, auth)).body.error).toBe('invalid_target');
  });

  test('audits tokens and refusals, and counts tokens', async () => {
    await post(server, 'acme', 'token', grant, auth);
    await post(server, 'acme', 'token', grant, { authorization: basic('robot', 'wrong'.repeat(8)) });
    await expect
      .poll(async () => {
        const { rows } = await server.pool.query(
          `select distinct type from event where realm_id = 'acme' and type like 'TOKEN%' order by 1`,
        );
        return rows.map((row) => row.type);
      })
      .toEqual(['TOKEN_ISSUED', 'TOKEN_REFUSED']);
    const text = await (await fetch(`${server.baseUrl}/actuator/metrics-text`)).text();
    expect(text).toMatch(/svc_tokens_issued_total\{[^}]*realm="acme"/);
  });
});
