// Owns: that a tenant gets nothing by what the fields of their resources name: Secrets, ConfigMaps, variables, servers, others'
// objects, workloads and issuers, addresses inside.
// Does not own: what a tenant is (support/tenant.ts), whose realms and objects are (tenancy.cluster.test.ts).
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clusterSource } from '../../operator/source/cluster.ts';
import { agents } from '../../server/contract/agents.ts';
import type { Client } from '../../server/contract/client.ts';
import { testDirectory } from '../../server/contract/directory-syncs.ts';
import { getRealm } from '../../server/contract/realms.ts';
import { scimTargets } from '../../server/contract/scim-targets.ts';
import { getSettings } from '../../server/contract/settings.ts';
import { createUser } from '../../server/contract/users.ts';
import { createWebhook, listDeliveries, listWebhooks } from '../../server/contract/webhooks.ts';
import { listWorkloadIdentities } from '../../server/contract/workload-identity.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { type Landscape, startLandscape } from '../support/landscape.ts';
import { eventually, resource, secret } from '../support/operator.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type Mallory, makeMallory, namespaceOf, shop, tenantResources } from '../support/tenant.ts';

const assets = await clusterAssets();
const home = { namespace: 'identity' };
const theirUrl = 'https://internal-of-identity.example.com/';
const theirText = 'a-text-of-the-identity-team';
/** Of the server's environment: other teams' secrets. */
const variable = 'a-secret-of-the-server-0123456789abcdefghij';
// biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of a realm document
const placeholder = '${SVC_VAR_OF_OTHERS}';
const EU_SECRET = 'svc_cs_operator-of-the-server-eu-0123456789';
const { realm, hook, identity, flow } = tenantResources;
const configMap = (name: string, data: Record<string, string>, namespace: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data,
});
const service = (clientId: string, more: object = {}) => ({ clientId, grantTypes: ['client_credentials'], ...more });
/** What leads out of a namespace, if it is ever part of a path. */
const spellings = ['../../identity/secrets/theirs', '..%2F..%2Fidentity%2Fsecrets%2Ftheirs', 'identity/theirs', '..'];

describe.skipIf(!assets.found)('someone with all rights in the namespace shop names', () => {
  let land: Landscape;
  let eu: TestServer;
  let mallory: Mallory;
  let folder: string;
  /** Something inside that nobody outside may reach; it counts who does. */
  let inside: Server;
  let reached = 0;
  let port = 0;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-tenant-'));
    const secretFile = path.join(folder, 'eu');
    await writeFile(secretFile, EU_SECRET);
    [land, eu] = await Promise.all([
      startLandscape({ serverEnv: async () => ({ SVC_VAR_OF_OTHERS: variable }) }),
      startTestServer({ env: { SVC_OPERATOR_CLIENT_SECRET: EU_SECRET } }),
    ]);
    const args = ['--no-leader-elect', '--namespace', 'realmkeeper'];
    const server = ['--server', `eu=${eu.baseUrl},client-secret-file=${secretFile}`];
    await Promise.all([land.server.start(), land.operatorLike('guarded', { args: [...args, ...server] }).start()]);
    inside = createServer((socket) => {
      reached += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
    port = Object(inside.address()).port;
    await land.apply(namespaceOf('realmkeeper'), namespaceOf('identity'));
    mallory = await makeMallory(land);
    await land.apply(
      secret('theirs', { value: theirText }, 'identity'),
      configMap('theirs', { value: theirText }, 'identity'),
      resource('Realm', 'closed', { realm: 'closed', settings: { issuer: 'https://id.closed.example' } }, home),
      resource('Realm', 'open', { realm: 'open', allowedNamespaces: { from: 'All' }, clients: [service('app')] }, home),
      resource('Webhook', 'audit', { realm: 'open', url: theirUrl, eventTypes: ['LOGIN_FAILURE'] }, home),
      resource(
        'WorkloadIdentity',
        'job',
        { realm: 'open', serviceAccountRef: { name: 'job' }, audience: 'of-open', clientId: 'app' },
        home,
      ),
      // on the other server the realm of this name lets nobody in
      resource('Realm', 'open-eu', { realm: 'open', serverRef: 'eu' }, home),
    );
    const wait = ['--for=condition=Ready', '--timeout=120s', '-n', 'identity'];
    await land.kubectl('wait', ...wait, 'realmkeeper', '--all');
    const byHand = { name: 'by-hand', url: theirUrl, eventTypes: '*', enabled: true };
    await land.client.call(createWebhook, { params: { realm: 'open' }, body: byHand });
  });
  afterAll(async () => {
    await Promise.all([land?.stop(), eu?.stop()]);
    inside?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const has = (client: Client, name: string) =>
    client.call(getRealm, { params: { realm: name } }).then(
      () => true,
      () => false,
    );
  const webhooksOf = async (client: Client, name: string) =>
    (await client.call(listWebhooks, { params: { realm: name } })).body?.map((one) => one.name).sort();
  const tokenOf = async (name: string, form: Record<string, string>) =>
    (await fetch(`${land.serverUrl}/realms/${name}/oauth2/token`, { method: 'POST', body: new URLSearchParams(form) }))
      .status;

  test('a ConfigMap of another namespace: it is looked for in theirs alone, whatever the reference says', async () => {
    const from = (name: string) =>
      realm('sourced', 'sourced', { settings: { customCssFrom: { configMapKeyRef: { name, key: 'value' } } } });
    await mallory.applies(from('theirs'));
    await mallory.says('Realm', 'sourced', 'ConfigMapMissing');
    for (const name of spellings) expect(await mallory.refused(from(name))).toContain('configMapKeyRef');
    // nor by a CRD that has lost its patterns
    const source = clusterSource({ kubeconfig: land.cluster.kubeconfig, log: () => undefined });
    expect((await source.configMap('identity', 'theirs'))?.get('value')).toBe(theirText);
    expect(await source.configMap('shop', '../../identity/configmaps/theirs')).toBeUndefined();
    await source.stop();
    expect(await has(land.client, 'sourced')).toBe(false);
  });

  test('a Secret to be made: never one of another namespace, nor one that is somebody’s', async () => {
    const output = (name: string) => realm('made', 'made', { clients: [service('app', { secretOutput: { name } })] });
    for (const name of spellings) expect(await mallory.refused(output(name))).toContain('secretOutput');
    const before = await land.kubectl('get', 'secret', 'theirs', '-n', 'identity', '-o', 'json');
    await mallory.applies(output('theirs'));
    await mallory.says('Realm', 'made', 'Applied');
    expect(await mallory.does(['get', 'secret', 'theirs', '-o', 'jsonpath={.data}'])).toContain('client-secret');
    expect(await land.kubectl('get', 'secret', 'theirs', '-n', 'identity', '-o', 'json')).toBe(before);
    // in a realm that isn't theirs it is not even made
    await mallory.applies(
      realm('never', 'open', { clients: [service('app', { secretOutput: { name: 'of-open', rotation: 'now' } })] }),
    );
    await mallory.says('Realm', 'never', 'RealmExists');
    expect(await mallory.does(['get', 'secrets', '-o', 'name'])).not.toContain('of-open');
    await mallory.deletes('realm/never');
  });

  test('a variable of the server: not by a Secret that was made for them, by trimming, a ConfigMap, or an address', async () => {
    const told = async (name: string) => {
      const { message } = await mallory.says('Realm', name, 'Invalid');
      expect(message).toContain('placeholder');
      expect(message).not.toContain('OF_OTHERS');
    };
    // what was made for them is theirs to write over
    const client = service('app', { tokenEndpointAuthMethod: 'client_secret_post', secretOutput: { name: 'turned' } });
    await mallory.applies(realm('turned', 'turned', { clients: [client] }));
    await mallory.says('Realm', 'turned', 'Applied');
    const data = JSON.stringify({ stringData: { 'client-secret': placeholder } });
    await mallory.does(['patch', 'secret/turned', '--type=merge', '-p', data]);
    await mallory.does(['annotate', 'realm/turned', 'look=again']);
    await told('turned');
    const form = { grant_type: 'client_credentials', client_id: 'app', client_secret: variable };
    expect(await tokenOf('turned', form)).toBe(401);

    await mallory.applies(secret('spaced', { value: `  ${placeholder}\n` }, 'shop'));
    const secretKeyRef = { name: 'spaced', key: 'value', trim: true };
    await mallory.applies(realm('trimmed', 'trimmed', { clients: [service('app', { secretKeyRef })] }));
    await told('trimmed');

    await mallory.applies(configMap('mine', { value: placeholder }, 'shop'));
    const welcomeTextFrom = { configMapKeyRef: { name: 'mine', key: 'value' } };
    await mallory.applies(realm('welcoming', 'welcoming', { settings: { welcomeTextFrom } }));
    await told('welcoming');

    const provider = { alias: 'idp', type: 'oidc', clientId: 'app', config: { issuer: placeholder } };
    await mallory.applies(realm('brokering', 'brokering', { identityProviders: [provider] }));
    await told('brokering');
    // where none is looked up, it isn't either
    await mallory.applies(realm('inline', 'inline', { settings: { welcomeText: placeholder } }));
    expect((await mallory.says('Realm', 'inline', 'Refused')).message).not.toContain(variable);
    for (const name of ['trimmed', 'welcoming', 'brokering', 'inline'])
      expect(await has(land.client, name)).toBe(false);
  });

  test('what others have, only to look at it: nothing of it is shown, and a right guess looks like a wrong one', async () => {
    const managementPolicy = 'Observe';
    const look = (url: string, eventTypes = ['*']) => ({ managementPolicy, url, eventTypes });
    await mallory.applies(
      realm('looks', 'closed', { managementPolicy, settings: { displayName: 'guess' } }),
      hook('looks', 'closed', look('https://evil.example.com/')),
      hook('by-hand', 'open', look('https://evil.example.com/')),
      flow('browser', 'open', { managementPolicy }),
    );
    await mallory.says('Realm', 'looks', 'RealmExists');
    await mallory.says('Webhook', 'looks', 'RealmNotDeclared');
    await mallory.says('Webhook', 'by-hand', 'AdoptionNotAllowed');
    await mallory.says('Flow', 'browser', 'AdoptionNotAllowed');
    await mallory.applies(hook('audit', 'open', look('https://evil.example.com/')));
    const wrong = await mallory.says('Webhook', 'audit', 'Conflict');
    await mallory.applies(hook('audit', 'open', look(theirUrl, ['LOGIN_FAILURE'])));
    const right = await mallory.says('Webhook', 'audit', 'Conflict');
    expect(right.message).toBe(wrong.message);
    for (const driftPolicy of ['Report', 'Correct'])
      for (const name of ['by-hand', 'audit']) {
        await mallory.applies(hook(name, 'open', { managementPolicy: 'Manage', driftPolicy }));
        await mallory.says('Webhook', name, name === 'audit' ? 'Conflict' : 'AdoptionNotAllowed');
      }
    const seen = JSON.parse(await mallory.does(['get', 'realms,webhooks,flows', '-o', 'json']));
    const looked = ['looks', 'by-hand', 'browser', 'audit'];
    for (const { metadata, status } of seen.items)
      if (looked.includes(metadata.name)) expect([metadata.name, status.lastPlan]).toEqual([metadata.name, undefined]);
    await mallory.deletes('realm/looks', 'webhook/looks', 'webhook/by-hand', 'webhook/audit', 'flow/browser');
    expect(await webhooksOf(land.client, 'open')).toEqual(['audit', 'by-hand']);
  });

  test('another server: what is let in at one isn’t at the other', async () => {
    await mallory.applies(realm('closed-eu', 'closed', { serverRef: 'eu', allowedNamespaces: { from: 'All' } }));
    await mallory.says('Realm', 'closed-eu', 'Applied');
    await mallory.applies(hook('here', 'closed'), hook('there', 'open', { serverRef: 'eu' }));
    await mallory.says('Webhook', 'here', 'RealmNotDeclared');
    await mallory.says('Webhook', 'there', 'RealmNotDeclared');
    await mallory.applies(realm('open-mine', 'open', { serverRef: 'eu', managementPolicy: 'Observe' }));
    await mallory.says('Realm', 'open-mine', 'RealmExists');
    for (const serverRef of ['eu,client-secret-file=/etc/passwd', 'https://evil.example.com', '../eu', ''])
      expect(await mallory.refused(hook('spelt', 'open', { serverRef }))).toContain('serverRef');
    expect([await webhooksOf(land.client, 'closed'), await webhooksOf(eu.admin, 'open')]).toEqual([[], []]);
    await mallory.deletes('realm/closed-eu', 'realm/open-mine', 'webhook/here', 'webhook/there');
  });

  test('another’s workload, or issuer: neither is taken from whose it is, nor told whose', async () => {
    const found = async () => (await land.client.call(listWorkloadIdentities, { params: { realm: 'open' } })).body;
    const before = await found();
    const [job] = before ?? [];
    const same = { issuer: job?.issuer, subject: job?.subject, audience: job?.audience };
    await mallory.applies(identity('copy', 'open', 'app', same));
    // named as the realm has it, which lets them in; neither whose it is nor what it may
    const { message } = await mallory.says('WorkloadIdentity', 'copy', 'Conflict');
    expect(message).not.toMatch(/identity|app/);
    for (const namespace of ['../identity', 'identity/job', 'IDENTITY'])
      expect(
        await mallory.refused(
          resource(
            'WorkloadIdentity',
            'copy',
            { realm: 'open', serviceAccountRef: { namespace, name: 'job' }, audience: 'x', clientId: 'app' },
            shop,
          ),
        ),
      ).toContain('serviceAccountRef');
    await mallory.applies(realm('issuer', 'of-shop', { settings: { issuer: 'https://id.closed.example' } }));
    const refusal = await mallory.says('Realm', 'issuer', 'Conflict');
    expect(refusal.message).toContain('issuer');
    expect(refusal.message).not.toMatch(/realm closed|identity/);
    await mallory.deletes('workloadidentity/copy', 'realm/issuer');
    expect(await found()).toEqual(before);
  });

  test('an agent, or clients of another realm: what an administrator gives stays theirs to give', async () => {
    const acting = service('app', { tokenEndpointAuthMethod: 'client_secret_post', secretOutput: { name: 'acting' } });
    await mallory.applies(
      realm('acting', 'acting', { clients: [acting], agents: [{ name: 'go', clientId: 'app', status: 'active' }] }),
      // names of master and of the realm open, of which they can at most guess
      realm('foreign', 'foreign', {
        applications: [{ name: 'portal', displayName: 'Portal', clients: ['operator', 'app'] }],
        authorizationServices: [{ clientId: 'operator', settings: { enforcement: 'disabled' } }],
      }),
    );
    expect((await mallory.says('Realm', 'foreign', 'Refused')).message).toContain('operator');
    expect(await has(land.client, 'foreign')).toBe(false);
    await eventually(async () => expect(await has(land.client, 'acting')).toBe(true));
    const { body: listed = [] } = await land.client.call(agents.routes.list, { params: { realm: 'acting' } });
    expect(listed).toMatchObject([{ name: 'go', status: 'suspended' }]);
    const key = ['get', 'secret/acting', '-o', 'jsonpath={.data.client-secret}'];
    const secretOf = async () => Buffer.from(await mallory.does(key), 'base64').toString();
    const form = { grant_type: 'client_credentials', client_id: 'app', client_secret: await secretOf() };
    expect(await tokenOf('acting', form)).toBe(401);
    await mallory.deletes('realm/acting', 'realm/foreign');
  });

  test('addresses inside: what the server calls by them is never reached', async () => {
    const local = `https://127.0.0.1:${port}`;
    const named = `https://localhost:${port}`;
    const keys = { tokenEndpointAuthMethod: 'private_key_jwt', jwksUri: `${named}/keys` };
    await mallory.applies(
      secret('token', { value: 'a-token-of-shop-0123456789' }, 'shop'),
      realm('reaching', 'reaching', {
        clients: [service('app', { secretOutput: { name: 'reaching' } }), service('keyed', keys)],
        scimTargets: [{ name: 'wiki', url: `${local}/scim`, secretKeyRef: { name: 'token', key: 'value' } }],
        userFederation: [
          {
            alias: 'corporate',
            type: 'ldap',
            connection: { urls: [`ldap://127.0.0.1:${port}`], bindDn: 'cn=it,dc=example' },
            users: { base: 'dc=example' },
            secretKeyRef: { name: 'token', key: 'value' },
          },
        ],
      }),
      hook('reaching', 'reaching', { url: `${local}/hook` }),
      identity('reaching', 'reaching', 'app', { issuer: named, jwksUri: `${named}/keys` }),
    );
    await mallory.says('Realm', 'reaching', 'Applied');
    await mallory.says('Webhook', 'reaching', 'Applied');
    await mallory.says('WorkloadIdentity', 'reaching', 'Applied');
    for (const url of [`http://127.0.0.1:${port}`, 'file:///etc/passwd']) {
      expect(await mallory.refused(hook('clear', 'reaching', { url }))).toContain('url');
    }
    const params = { realm: 'reaching' };
    const now = Math.floor(Date.now() / 1000);
    const token = (iss: string, sub: string, aud: string) =>
      [
        { alg: 'RS256', kid: 'one' },
        { iss, sub, aud, iat: now, exp: now + 60, jti: randomBytes(9).toString('hex') },
      ]
        .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
        .concat(randomBytes(256).toString('base64url'))
        .join('.');
    // each makes the server go there
    await land.client.call(createUser, { params, body: { username: 'somebody', email: 'somebody@people.example' } });
    const { body: targets = [] } = await land.client.call(scimTargets.routes.list, { params });
    expect(targets.map(({ name }) => name)).toEqual(['wiki']);
    const { body: directory } = await land.client.call(testDirectory, { params: { ...params, alias: 'corporate' } });
    expect(directory).toMatchObject({ ok: false, people: [] });
    const exchange = await fetch(`${land.serverUrl}/realms/reaching/workload-identity/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: token(named, 'reaching', 'it'),
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      }),
    });
    expect(exchange.status).toBe(401);
    const { body: settings } = await land.client.call(getSettings, { params });
    expect(settings?.clientAssertionAudience).toBe('issuer');
    const assertion = {
      grant_type: 'client_credentials',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: token('keyed', 'keyed', `${land.serverUrl}/realms/reaching`),
    };
    expect(await tokenOf('reaching', assertion)).toBe(401);
    // the webhook was tried, and did not get there
    const [{ id } = { id: '' }] = (await land.client.call(listWebhooks, { params })).body ?? [];
    await eventually(async () => {
      const { body = [] } = await land.client.call(listDeliveries, { params: { ...params, id }, query: {} });
      expect(body.some(({ lastAttemptAt }) => lastAttemptAt !== null)).toBe(true);
    });
    // and so was provisioning
    await eventually(async () => {
      const { body: [target] = [] } = await land.client.call(scimTargets.routes.list, { params });
      expect(target?.status?.lastError).toContain('SVC_OUTBOUND_ALLOW');
    });
    expect(reached).toBe(0);
    // and the watch is awake
    await fetch(`http://127.0.0.1:${port}`).catch(() => undefined);
    expect(reached).toBe(1);
  });

  test('and has been shown nothing of others in all of this', async () => {
    const all = await mallory.does(['get', 'realms,flows,webhooks,workloadidentities,events', '-o', 'json']);
    for (const word of [theirUrl, theirText, variable]) expect(all.includes(word), word).toBe(false);
  });
});
