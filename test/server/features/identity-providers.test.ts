import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ServerProblem } from '../../../server/contract/client.ts';
import { listEvents } from '../../../server/contract/events.ts';
import * as api from '../../../server/contract/identity-providers.ts';
import { createOrganization } from '../../../server/contract/organizations.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { createScimTarget, getScimTarget, putScimTarget } from '../../../server/contract/scim-targets.ts';
import { exportRealm, importRealm, type RealmDocument } from '../../../server/contract/transfer.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
const params = { realm: 'acme' };
beforeAll(async () => {
  server = await startTestServer({
    env: {
      SVC_VAR_TOKEN_ENDPOINT: 'https://id.example.com/token',
      SVC_VAR_PLAIN: 'http://id.example.com/token',
      SVC_VAR_PASSWORD: 'the-shared-smtp-password',
    },
  });
  await server.admin.call(createRealm, { body: { realm: 'acme' } });
});
afterAll(() => server?.stop());

const oidc = { type: 'oidc' as const, config: { issuer: 'https://id.example.com' } };
const create = async (alias: string, more: object = oidc) =>
  (
    await server.admin.call(api.createIdentityProvider, {
      params,
      body: { alias, ...more } as typeof oidc & { alias: string },
    })
  ).body!;
const at = (alias: string) => ({ params: { ...params, alias } });
const problem = (work: Promise<unknown>): Promise<ServerProblem> =>
  work.then(
    () => Promise.reject(new Error('it was not refused')),
    (error: ServerProblem) => error,
  );
const pathsOf = (refused: ServerProblem) => [refused.status, refused.problem?.errors?.map((e) => e.path)];

describe('an identity provider', () => {
  test('says that people sign in by it, and never what its secret is', async () => {
    const made = await create('honest', { ...oidc, secret: 'the secret there' });
    expect(made).toMatchObject({ alias: 'honest', secret: null, secretSet: true, linking: 'ask' });
    expect((await server.admin.call(api.putIdentityProvider, { ...at('honest'), body: made })).body).toEqual(made);
    const { rows } = await server.pool.query("select * from identity_provider where alias = 'honest'");
    expect(JSON.stringify(rows)).not.toContain('the secret there');
    const { body: events } = await server.admin.call(listEvents, { params, query: {} });
    expect(JSON.stringify(events)).not.toContain('the secret there');
  });

  test.each<[string[], object]>([
    [['config'], { type: 'oidc' }],
    [['config'], { type: 'oauth2', config: { tokenEndpoint: 'https://id.example.com/token' } }],
    [['config'], { type: 'saml', config: { entityId: 'them' } }],
    [['config.metadataUrl'], { ...oidc, config: { ...oidc.config, metadataUrl: 'https://id.example.com/' } }],
    [['config.issuer'], { type: 'oidc', config: { issuer: 'http://id.example.com' } }],
    [['config.issuer'], { type: 'oidc', config: { issuer: 'https://a:b@id.example.com' } }],
    [['config.tokenEndpoint'], { ...oidc, config: { ...oidc.config, tokenEndpoint: `\${SVC_VAR_TOKEN_ENDPOINT}` } }],
    [['config.signingCertificates[0]'], { type: 'saml', config: { signingCertificates: ['no certificate'] } }],
    [['mappers'], { ...oidc, mappers: ['a', 'b'].map((claim) => ({ name: 'x', claim, to: 'role', target: 'r' })) }],
    [['firstLoginFlow'], { ...oidc, firstLoginFlow: 'nowhere' }],
  ])('with a wrong %s is refused by its name', async (paths, more) => {
    expect(pathsOf(await problem(create('wrong', more)))).toEqual([400, paths]);
  });

  test('keeps its alias, and stays while an organization names it', async () => {
    await create('named');
    await server.admin.call(createOrganization, { params, body: { name: 'theirs', identityProviders: ['named'] } });
    const renamed = server.admin.call(api.putIdentityProvider, { ...at('named'), body: { alias: 'other' } });
    expect(pathsOf(await problem(renamed))).toEqual([400, ['alias']]);
    const kept = await problem(server.admin.call(api.deleteIdentityProvider, at('named')));
    expect([kept.status, kept.message]).toEqual([
      409,
      'The identity provider named is named by the organization theirs: change that first',
    ]);
  });
});

describe('a placeholder in its config', () => {
  const apply = (tokenEndpoint: string, query: object = {}) =>
    server.admin.call(importRealm, {
      params,
      query,
      body: { identityProviders: [{ alias: 'moved', ...oidc, config: { ...oidc.config, tokenEndpoint } }] },
    });

  test('stays a placeholder for whoever reads it, and must be an https address', async () => {
    const placeholder = `\${SVC_VAR_TOKEN_ENDPOINT}`;
    const { body: plan } = await apply(placeholder, { dryRun: 'true' });
    const { body: applied } = await apply(placeholder);
    const { body } = await server.admin.call(api.getIdentityProvider, at('moved'));
    expect(body?.config).toEqual({ ...oidc.config, tokenEndpoint: placeholder });
    expect((await apply(placeholder)).body?.inSync).toBe(true);
    const { body: exported } = await server.admin.call(exportRealm, { params });
    expect(exported?.identityProviders?.find(({ alias }) => alias === 'moved')?.config).toEqual(body?.config);
    expect(exported?.requiredEnv).toContain('SVC_VAR_TOKEN_ENDPOINT');
    const { body: events } = await server.admin.call(listEvents, { params, query: {} });
    for (const answer of [plan, applied, body, exported, events])
      expect(JSON.stringify(answer)).not.toContain('https://id.example.com/token');
    for (const name of ['PLAIN', 'PASSWORD']) {
      const wrong = await problem(apply(`\${SVC_VAR_${name}}`));
      expect(pathsOf(wrong)).toEqual([400, ['identityProviders[0].config.tokenEndpoint']]);
      expect(JSON.stringify(wrong.problem)).not.toMatch(/http:|shared/);
    }
    expect(await problem(apply(`\${SVC_VAR_NOWHERE}`))).toMatchObject({ status: 400 });
    expect((await problem(apply(`\${SVC_VAR_NOWHERE}`))).message).toContain('SVC_VAR_NOWHERE');
  });

  test('can be left where it is by a request, and be set by none', async () => {
    await apply(`\${SVC_VAR_TOKEN_ENDPOINT}`);
    const { body } = await server.admin.call(api.getIdentityProvider, at('moved'));
    const put = (config: object) => server.admin.call(api.putIdentityProvider, { ...at('moved'), body: { config } });
    await put({ ...body?.config, pkce: true });
    for (const field of ['tokenEndpoint', 'jwksUri'])
      expect(pathsOf(await problem(put({ ...body?.config, [field]: `\${SVC_VAR_PLAIN}` })))).toEqual([
        400,
        [`config.${field}`],
      ]);
  });

  test('stands where an address does alone: nothing else of the environment is looked up, or shown', async () => {
    const saml = { alias: 'saml', type: 'saml', config: { singleSignOnUrl: 'https://id.example.com/sso' } };
    for (const entityId of [`\${SVC_VAR_PASSWORD}`, `\${SVC_VAR_TOKEN_ENDPOINT}`]) {
      const body = { identityProviders: [{ ...saml, config: { ...saml.config, entityId } }] } as RealmDocument;
      for (const query of [{ dryRun: 'true' as const }, {}]) {
        const wrong = await problem(server.admin.call(importRealm, { params, query, body }));
        expect(pathsOf(wrong)).toEqual([400, ['identityProviders[0].config.entityId']]);
        expect(JSON.stringify(wrong.problem)).not.toContain('the-shared-smtp-password');
      }
    }
  });
});

test('a SCIM target keeps its token where none is said', async () => {
  const body = { name: 'wiki', url: 'https://wiki.example.com/scim', secret: 'the token there' };
  const { body: made } = await server.admin.call(createScimTarget, { params, body });
  expect(made).toMatchObject({ status: null, secretSet: true, users: true, groups: true });
  const one = { params: { ...params, id: made!.id } };
  await server.admin.call(putScimTarget, { ...one, body: { ...made, users: false } });
  // How it stands may have changed meanwhile.
  const { body: kept } = await server.admin.call(getScimTarget, one);
  expect({ ...kept, status: null }).toEqual({ ...made, users: false });
  for (const url of ['http://wiki.example.com/scim', 'https://a:b@wiki.example.com/scim'])
    expect(pathsOf(await problem(server.admin.call(putScimTarget, { ...one, body: { url } })))).toEqual([400, ['url']]);
});
