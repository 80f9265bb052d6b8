// Owns: the ways to make a token for the admin API out of one that was never asked for: by an issuer or a resource that is
// the admin API's address, or another realm's; refused at each door, and worth nothing where it was stored before.
// Does not own: what is whose address (own-addresses.unit.test.ts), what a bearer token may do (admin-bearer.test.ts).
// Implements: decisions "Admin authentication".
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_API_CLAIM, putClientAdminRoles } from '../../../server/contract/admin-access.ts';
import type { Client, ServerProblem } from '../../../server/contract/client.ts';
import { createClient, putClient } from '../../../server/contract/clients.ts';
import { permissions } from '../../../server/contract/permissions.ts';
import { putSettings, type SettingsInput } from '../../../server/contract/settings.ts';
import { importRealm, type RealmDocument } from '../../../server/contract/transfer.ts';
import { createWorkloadIdentity } from '../../../server/contract/workload-identity.ts';
import { createSeal } from '../../../server/crypto/seal.ts';
import { contextOf } from '../../../server/features/configuration/keys/seed.ts';
import { administrator } from '../../support/administrators.ts';
import { basic, claimsIn, makeClient, makeRealm, post, SECRET } from '../../support/clients.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { MASTER_KEY, startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
let issuer: Receiver;
let workload: { privateKey: Parameters<SignJWT['sign']>[0]; jwk: object };
/** Administers acme, and nothing else. */
let tenant: Client;
let admins = '';
const params = { realm: 'acme' };
const robot = { clientId: 'robot', secret: SECRET, grantTypes: ['client_credentials' as const] };

beforeAll(async () => {
  issuer = await startReceiver();
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  workload = { privateKey, jwk: { ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256' } };
  issuer.answer = () => ({ body: JSON.stringify({ keys: [workload.jwk] }) });
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: issuer.caFile } });
  admins = `${server.baseUrl}/admin`;
  for (const realm of ['acme', 'beta']) await makeRealm(server, realm);
  tenant = await administrator(server, { home: 'acme', target: 'acme', permissions });
  const id = await makeClient(server, 'acme', robot);
  const body = { grants: [{ role: 'realm-admin', realm: 'acme' }] };
  await server.admin.call(putClientAdminRoles, { params: { ...params, id }, body });
});
afterAll(async () => {
  await server?.stop();
  await issuer?.stop();
});

const refusal = (work: Promise<unknown>): Promise<ServerProblem> =>
  work.then(
    () => expect.fail('it was not refused'),
    (error: ServerProblem) => error,
  );
const blamed = async (work: Promise<unknown>) => {
  const { status, problem } = await refusal(work);
  return { status, paths: problem?.errors?.map(({ path }) => path) ?? [] };
};
const put = (body: SettingsInput) => tenant.call(putSettings, { params, body });
const apply = (body: RealmDocument, dryRun: 'true' | 'false' = 'false') =>
  tenant.call(importRealm, { params, query: { manager: 'tenant', dryRun }, body });
const tokenOf = async (form: Record<string, string> = {}) => {
  const { body } = await post(
    server,
    'acme',
    'token',
    { grant_type: 'client_credentials', ...form },
    { authorization: basic('robot') },
  );
  return String(body.access_token ?? body.error);
};
const admits = async (bearer: string) =>
  (await fetch(`${admins}/session`, { headers: { authorization: `Bearer ${bearer}` } })).status;
let writes = 0;
/** As a server stored it that refused less; a write of today drops what this one keeps in memory. */
const stored = async (settings: object) => {
  await server.pool.query("update realm set settings = settings || $1::jsonb where realm_id = 'acme'", [settings]);
  writes += 1;
  await put({ displayName: `Acme ${writes}` });
};

describe('whoever administers a realm can’t make the admin API’s address their own', () => {
  const addresses = () => [
    admins,
    `${admins}/`,
    admins.replace('/admin', '/%61dmin'),
    admins.replace('/admin', '//admin'),
    admins.replace('http://', 'HTTP://').replace('localhost', 'LOCALHOST'),
    admins.replace('http://', 'http://me@'),
    `${server.baseUrl}/realms/acme/../../admin`,
    `${server.baseUrl}/realms/acme/..%2f..%2fadmin`,
    `${server.baseUrl}/realms/beta`,
    server.baseUrl,
  ];

  test('as an issuer: by settings, by document, by a plan', async () => {
    for (const address of addresses()) {
      const { status, paths } = await blamed(put({ issuer: address }));
      expect([address, status]).toEqual([address, 400]);
      expect(new Set(paths)).toEqual(new Set(['issuer']));
      for (const dryRun of ['true', 'false'] as const) {
        const told = await blamed(apply({ realm: { issuer: address } }, dryRun));
        expect([address, told.status, new Set(told.paths)]).toEqual([address, 400, new Set(['realm.issuer'])]);
      }
    }
  });

  test('as a resource of the realm or of a client', async () => {
    for (const address of addresses()) {
      expect(await blamed(put({ resourceIndicators: [address] }))).toEqual({
        status: 400,
        paths: ['resourceIndicators'],
      });
      expect(await blamed(apply({ resourceIndicators: [address] }))).toEqual({
        status: 400,
        paths: ['resourceIndicators[0]'],
      });
      const client = { clientId: 'lens', allowedResources: [address] };
      expect(await blamed(tenant.call(createClient, { params, body: client }))).toEqual({
        status: 400,
        paths: ['allowedResources'],
      });
      expect(await blamed(apply({ clients: [client] }))).toEqual({
        status: 400,
        paths: ['clients[0].allowedResources'],
      });
    }
    const { body: made } = await tenant.call(createClient, { params, body: { clientId: 'lens' } });
    const edit = tenant.call(putClient, {
      params: { ...params, id: made?.id ?? '' },
      body: { allowedResources: [admins] },
    });
    expect(await blamed(edit)).toEqual({ status: 400, paths: ['allowedResources'] });
  });

  test('but what is below their realm’s own address is theirs', async () => {
    const own = `${server.baseUrl}/realms/acme`;
    await put({ issuer: own, resourceIndicators: [own, `${own}/orders`] });
    await put({ issuer: null, resourceIndicators: [] });
    await apply({
      resourceIndicators: [`${own}/orders`],
      clients: [{ clientId: 'shop', allowedResources: [`${own}/orders`] }],
    });
  });

  test('as an issuer whose workloads are trusted; another realm’s may be', async () => {
    const identity = {
      name: 'w',
      issuer: admins.replace('http:', 'https:'),
      subject: 's',
      audience: 'a',
      clientId: 'robot',
    };
    expect(await blamed(tenant.call(createWorkloadIdentity, { params, body: identity }))).toEqual({
      status: 400,
      paths: ['issuer'],
    });
    expect(await blamed(apply({ workloadIdentity: [identity] }))).toEqual({
      status: 400,
      paths: ['workloadIdentity[0].issuer'],
    });
    const from = { ...identity, issuer: `${server.baseUrl.replace('http:', 'https:')}/realms/beta` };
    expect((await tenant.call(createWorkloadIdentity, { params, body: from })).status).toBe(201);
  });
});

describe('where a realm has it from before', () => {
  test('a token that was asked for no resource is for the realm, and no administrator’s', async () => {
    await stored({ issuer: admins });
    const bearer = await tokenOf();
    expect(claimsIn(bearer)).toMatchObject({
      iss: `${server.baseUrl}/realms/acme`,
      aud: `${server.baseUrl}/realms/acme`,
    });
    expect(await admits(bearer)).toBe(401);
    const asked = await tokenOf({ resource: admins });
    expect(claimsIn(asked)).toMatchObject({ aud: admins, [ADMIN_API_CLAIM]: true });
    expect(await admits(asked)).toBe(200);
    // Whoever leaves it alone may go on; whoever touches it puts it right.
    await put({ displayName: 'Acme' });
    await put({ issuer: null });
  });

  test('a workload without adminAccess doesn’t get to the admin API by it', async () => {
    const identity = { name: 'ci', issuer: issuer.url, jwksUri: `${issuer.url}/keys`, subject: 'ci', audience: 'us' };
    await tenant.call(createWorkloadIdentity, { params, body: { ...identity, clientId: 'robot', adminAccess: false } });
    await stored({ issuer: admins, resourceIndicators: [admins, `${admins}/`] });
    const subject_token = await new SignJWT({ iss: issuer.url, sub: 'ci', aud: 'us' })
      .setProtectedHeader({ alg: 'RS256', kid: 'k' })
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(workload.privateKey);
    const exchange = async (more: Record<string, string>) => {
      const answer = await fetch(`${server.baseUrl}/realms/acme/workload-identity/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
          subject_token,
          ...more,
        }),
      });
      return Object(await answer.json());
    };
    for (const more of [{}, { resource: `${admins}/` }])
      expect(await admits((await exchange(more)).access_token)).toBe(401);
    expect(await exchange({ resource: admins })).toMatchObject({ error: 'invalid_target' });
    await put({ issuer: null, resourceIndicators: [] });
  });

  test('the admin API takes neither its own address as issuer nor an audience that nobody asked for', async () => {
    const { rows } = await server.pool.query("select key_id, private_key from realm_key where realm_id = 'acme'");
    const [{ key_id: kid, private_key: sealed }] = rows;
    const der = createSeal([MASTER_KEY]).open(sealed, contextOf('acme', kid));
    const key: KeyObject = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    const signed = (claims: object) =>
      new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid }).sign(key);
    const good = claimsIn(await tokenOf({ resource: admins }));
    expect(await admits(await signed(good))).toBe(200);
    const { [ADMIN_API_CLAIM]: _, ...unmarked } = good;
    for (const claims of [unmarked, { ...good, [ADMIN_API_CLAIM]: 'true' }, { ...good, iss: admins }])
      expect(await admits(await signed(claims))).toBe(401);
  });

  test('no scope says that a token was asked for', async () => {
    const mark = { name: 'mark', source: 'constant' as const, value: 'true', in: ['accessToken' as const] };
    for (const claim of [
      { ...mark, name: ADMIN_API_CLAIM },
      { ...mark, claim: ADMIN_API_CLAIM },
      { ...mark, source: 'audience' as const, value: admins },
    ])
      expect((await refusal(apply({ claims: [claim] }))).status).toBe(400);
    await apply({
      claims: [mark],
      clientScopes: [{ name: 'up', claims: ['mark'] }],
      clients: [{ clientId: 'robot', defaultClientScopes: ['up'] }],
    });
    await server.pool.query("update claim set claim = $1 where name = 'mark'", [ADMIN_API_CLAIM]);
    await put({ displayName: 'Acme with a claim' });
    expect(claimsIn(await tokenOf())).not.toHaveProperty(ADMIN_API_CLAIM);
  });
});
