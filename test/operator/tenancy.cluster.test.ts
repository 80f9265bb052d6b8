// Somebody who may do everything in one namespace, and nothing elsewhere, tries with kubectl to get further by the operator.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clusterSource } from '../../operator/source/cluster.ts';
import { putClientAdminRoles } from '../../server/contract/admin-access.ts';
import { listClients } from '../../server/contract/clients.ts';
import { getFlow } from '../../server/contract/flows.ts';
import { createRealm, deleteRealm, getRealm, putAdoption } from '../../server/contract/realms.ts';
import { getSettings } from '../../server/contract/settings.ts';
import { createWebhook, listWebhooks } from '../../server/contract/webhooks.ts';
import { listWorkloadIdentities } from '../../server/contract/workload-identity.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { type Landscape, type Program, startLandscape } from '../support/landscape.ts';
import { eventually, type Manifest, resource, secret } from '../support/operator.ts';
import { type Mallory, makeMallory, namespaceOf, tenantResources } from '../support/tenant.ts';

const assets = await clusterAssets();
const home = { namespace: 'identity' };
const theirUrl = 'https://internal-of-identity.example.com/';
const theirValue = 'a-secret-of-the-identity-team';

describe.skipIf(!assets.found)('someone with all rights in the namespace shop', () => {
  let land: Landscape;
  let operator: Program;
  /** The attacker: whatever they do, they do it with kubectl. */
  let mallory: Mallory;
  const does: Mallory['does'] = (...given) => mallory.does(...given);
  const fails: Mallory['fails'] = (...given) => mallory.fails(...given);
  const applies: Mallory['applies'] = (...given) => mallory.applies(...given);
  const refused: Mallory['refused'] = (...given) => mallory.refused(...given);
  const says: Mallory['says'] = (...given) => mallory.says(...given);
  const deletes: Mallory['deletes'] = (...given) => mallory.deletes(...given);
  const { realm, hook, identity, flow } = tenantResources;
  const webhooks = async (of: string) =>
    (await land.client.call(listWebhooks, { params: { realm: of } })).body?.map(({ name, url }) => [name, url]);
  const nameOf = async (of: string) =>
    (await land.client.call(getSettings, { params: { realm: of } })).body?.displayName;
  const asAdministrator = (...items: Manifest[]) => land.apply(...items);

  beforeAll(async () => {
    land = await startLandscape();
    operator = land.operatorLike('guarded', { args: ['--no-leader-elect', '--namespace', 'realmkeeper'] });
    await Promise.all([land.server.start(), operator.start()]);
    mallory = await makeMallory(land);
    await asAdministrator(
      namespaceOf('realmkeeper'),
      namespaceOf('identity'),
      namespaceOf('friends', { 'identity.example.com/friend': 'true' }),
      secret('theirs', { value: theirValue }, 'identity'),
      resource(
        'Realm',
        'closed',
        {
          realm: 'closed',
          settings: { displayName: 'Closed' },
          allowedNamespaces: { from: 'Selector', selector: { matchLabels: { 'identity.example.com/friend': 'true' } } },
        },
        home,
      ),
      resource(
        'Realm',
        'open',
        {
          realm: 'open',
          allowedNamespaces: { from: 'All' },
          clients: ['app', 'strong'].map((clientId) => ({ clientId, grantTypes: ['client_credentials'] })),
        },
        home,
      ),
    );
    await land.kubectl(
      'wait',
      '-n',
      'identity',
      'realm/closed',
      'realm/open',
      '--for=condition=Ready',
      '--timeout=120s',
    );
    const byHand = { name: 'by-hand', url: theirUrl, eventTypes: '*', enabled: true };
    await land.client.call(createWebhook, { params: { realm: 'open' }, body: byHand });
  });
  afterAll(() => land?.stop());

  test('has no rights but those in shop', async () => {
    expect(await fails(['get', 'secrets', '-n', 'identity'])).toContain('forbidden');
    expect(await fails(['get', 'realms', '-n', 'identity'])).toContain('forbidden');
    await does(['get', 'secrets']);
  });

  test('can’t declare master, nor attach to it', async () => {
    await applies(realm('top', 'master'), hook('listen', 'master'), identity('act', 'master', 'operator'));
    await says('Realm', 'top', 'RealmProtected');
    await says('Webhook', 'listen', 'RealmNotDeclared');
    await says('WorkloadIdentity', 'act', 'RealmNotDeclared');
    await deletes('realm/top', 'webhook/listen', 'workloadidentity/act');
    expect(await webhooks('master')).toEqual([]);
  });

  test('can’t declare a realm that others made, under no spelling, and deleting the attempt does nothing to it', async () => {
    const settings = { displayName: 'Taken' };
    await applies(
      realm('copy', 'closed', { settings, deletionPolicy: 'Delete', force: true }),
      hook('listen', 'closed'),
    );
    const { message } = await says('Realm', 'copy', 'RealmExists');
    expect(message).not.toContain('identity');
    expect((await says('Webhook', 'listen', 'RealmNotDeclared')).message).not.toContain('identity');
    for (const spelt of ['Closed', ' closed', 'closed ', 'closed\n', 'cl\u200bosed', 'closed/../master', '../closed'])
      expect(await refused(realm('spelt', spelt))).toContain('spec.realm');
    await deletes('realm/copy', 'webhook/listen');
    expect(await nameOf('closed')).toBe('Closed');
  });

  test('can’t turn an own resource to another realm: not by a change, and not by making it anew', async () => {
    await applies(realm('own', 'own-of-shop'));
    await says('Realm', 'own', 'Applied');
    expect(await refused(realm('own', 'closed'))).toContain('immutable');
    await deletes('realm/own');
    await applies(realm('own', 'closed', { deletionPolicy: 'Delete' }));
    await says('Realm', 'own', 'RealmExists');
    await deletes('realm/own');
    expect(await nameOf('closed')).toBe('Closed');
  });

  test('has lost a realm that was deleted and made again by somebody else', async () => {
    await applies(realm('lost', 'lost', { deletionPolicy: 'Delete' }), hook('lost', 'lost'));
    await says('Webhook', 'lost', 'Applied');
    await operator.kill();
    await land.client.call(deleteRealm, { params: { realm: 'lost' } });
    await land.client.call(createRealm, { body: { realm: 'lost', displayName: 'Somebody else’s' } });
    await operator.start();
    await says('Realm', 'lost', 'RealmExists');
    await says('Webhook', 'lost', 'RealmNotDeclared');
    await deletes('realm/lost', 'webhook/lost');
    expect(await nameOf('lost')).toBe('Somebody else’s');
    expect(await webhooks('lost')).toEqual([]);
  });

  test.each<[string, object]>([
    ['adminRoles', { adminRoles: [{ name: 'all', permissions: ['realm:write'] }] }],
    ['serviceAccountRoles', { serviceAccountRoles: [{ clientId: 'app', adminRoles: ['realm-admin'] }] }],
  ])('can’t give admin roles: %s', async (name, spec) => {
    const clients = [{ clientId: 'app', grantTypes: ['client_credentials'] }];
    await applies(realm(name.toLowerCase(), name.toLowerCase(), { clients, ...spec }));
    await says('Realm', name.toLowerCase(), 'AdminRoles');
    await expect(land.client.call(getRealm, { params: { realm: name.toLowerCase() } })).rejects.toMatchObject({
      status: 404,
    });
  });

  test('gets no admin rights by roles, groups, scopes and claims that look like them', async () => {
    const value = 'a-client-secret-of-shop-0123456789abcdef';
    const claims = ['realm_roles', 'permissions', 'adminRoles', 'grants'].map((name) => ({
      name,
      source: 'constant',
      value: 'realm-admin',
      in: ['accessToken'],
    }));
    // as the server calls itself
    const { body: master } = await land.client.call(getRealm, { params: { realm: 'master' } });
    const base = master?.issuer.replace('/realms/master', '') ?? '';
    const look = {
      roles: [
        { name: 'realm-admin', default: true },
        { name: 'everything', composite: { roles: ['realm-admin'] } },
      ],
      groups: [{ path: '/realm-admin', roles: ['realm-admin'] }],
      claims,
      clientScopes: [{ name: 'realm-admin', claims: claims.map(({ name }) => name) }],
      clients: [
        {
          clientId: 'operator',
          grantTypes: ['client_credentials'],
          defaultClientScopes: ['realm-admin', 'roles'],
          secretKeyRef: { name: 'mine', key: 'value' },
        },
      ],
      serviceAccountRoles: [{ clientId: 'operator', roles: ['everything', 'realm-admin'] }],
    };
    await applies(secret('mine', { value }, 'shop'), realm('look', 'lookalike', look));
    await says('Realm', 'look', 'Applied');
    const token = (form: Record<string, string>) =>
      fetch(`${land.serverUrl}/realms/lookalike/oauth2/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`operator:${value}`).toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', ...form }),
      });
    const forAdmin = await token({ resource: `${base}/admin` });
    expect([forAdmin.status, await forAdmin.json()]).toMatchObject([400, { error: 'invalid_target' }]);
    const { access_token } = Object(await (await token({})).json());
    for (const path of ['realms', 'realms/lookalike/clients', 'realms/master/clients', 'realms/closed/settings']) {
      const answer = await fetch(`${land.serverUrl}/admin/${path}`, {
        headers: { authorization: `Bearer ${access_token}` },
      });
      expect([path, answer.status]).toEqual([path, 401]);
    }
    for (const [name, words] of [
      ['aud', 'the server itself sets'],
      ['realm_access', 'must be roles'],
    ]) {
      const claim = { name, source: 'constant', value: `${base}/admin`, in: ['accessToken'] };
      await applies(realm('look', 'lookalike', { ...look, claims: [...claims, claim] }));
      expect((await says('Realm', 'look', 'Refused')).message).toContain(words);
    }
    for (const issuer of [`${base}/realms/master`, `${base}/admin`]) {
      await applies(realm('issuer', 'issuer', { settings: { issuer } }));
      expect((await says('Realm', 'issuer', 'Refused')).message).toContain('issuer');
    }
    await applies(realm('resource', 'resource', { resourceIndicators: [`${base}/admin`] }));
    expect((await says('Realm', 'resource', 'Refused')).message).toContain('resourceIndicators');
  });

  test('reads no Secret of another namespace, whatever the reference says', async () => {
    await applies(realm('asks', 'asks'), hook('asks', 'asks', { secretKeyRef: { name: 'theirs', key: 'value' } }));
    await says('Webhook', 'asks', 'SecretMissing');
    for (const name of [
      '../../identity/secrets/theirs',
      '..%2F..%2Fidentity%2Fsecrets%2Ftheirs',
      'identity/theirs',
      '..',
    ])
      expect(await refused(hook('asks', 'asks', { secretKeyRef: { name, key: 'value' } }))).toContain('secretKeyRef');
    // nor by a CRD that has lost its patterns
    const source = clusterSource({ kubeconfig: land.cluster.kubeconfig, log: () => undefined });
    expect((await source.secret('identity', 'theirs'))?.get('value')).toBe(theirValue);
    expect(await source.secret('shop', '../../identity/secrets/theirs')).toBeUndefined();
    await source.stop();
    // nor by copying a reference of the server's own
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of a realm document
    await applies(secret('sneaky', { value: '${SVC_VAR_SOMETHING}' }, 'shop'));
    await applies(hook('asks', 'asks', { secretKeyRef: { name: 'sneaky', key: 'value' } }));
    expect((await says('Webhook', 'asks', 'Invalid')).message).not.toContain('SVC_VAR_SOMETHING');
  });

  test('attaches nowhere by a label, for who has a namespace can’t label it', async () => {
    const label = ['label', 'namespace', 'shop', 'identity.example.com/friend=true'];
    expect(await fails(label)).toContain('forbidden');
    const patch = [
      'patch',
      'namespace',
      'shop',
      '-p',
      '{"metadata":{"labels":{"identity.example.com/friend":"true"}}}',
    ];
    expect(await fails(patch)).toContain('forbidden');
    await applies(hook('uninvited', 'closed'));
    expect((await says('Webhook', 'uninvited', 'RealmNotDeclared')).message).not.toContain('identity');
    expect(await webhooks('closed')).toEqual([]);
  });

  test('acts as no client with admin roles, nor as one that gets them later', async () => {
    const params = { realm: 'open' };
    const { body: clients = [] } = await land.client.call(listClients, { params });
    const grant = (clientId: string) =>
      land.client.call(putClientAdminRoles, {
        params: { ...params, id: clients.find((c) => c.clientId === clientId)?.id ?? '' },
        body: { grants: [{ role: 'realm-admin', realm: 'open' }] },
      });
    await grant('strong');
    await applies(identity('strong', 'open', 'strong'), identity('later', 'open', 'app'));
    await says('WorkloadIdentity', 'strong', 'AdminClient');
    await says('WorkloadIdentity', 'later', 'Applied');
    const found = async () => (await land.client.call(listWorkloadIdentities, { params })).body;
    expect(await found()).toMatchObject([{ name: 'later', adminAccess: false }]);
    // nor by asking for it
    const asking = identity('later', 'open', 'app');
    await applies({ ...asking, spec: { ...Object(asking.spec), adminAccess: true, scopes: ['any'] } });
    await says('WorkloadIdentity', 'later', 'Applied');
    expect(await found()).toMatchObject([{ name: 'later', scopes: 'any', adminAccess: false }]);
    await grant('app');
    await does(['annotate', 'workloadidentity/later', 'look=again']);
    await says('WorkloadIdentity', 'later', 'AdminClient');
    expect(await found()).toMatchObject([{ name: 'later', adminAccess: false }]);
  });

  test('adopts nothing that is there, and binds no flow: only what it makes itself is its own', async () => {
    await applies(
      hook('adopt', 'open', { name: 'by-hand', deletionPolicy: 'Delete', force: true }),
      flow('browser', 'open', { force: true }),
      flow('weak', 'open', { bind: true, force: true }),
    );
    const { message } = await says('Webhook', 'adopt', 'AdoptionNotAllowed');
    expect(message).not.toContain(theirUrl);
    await says('Flow', 'browser', 'AdoptionNotAllowed');
    await says('Flow', 'weak', 'AdoptionNotAllowed');
    await deletes('webhook/adopt', 'flow/browser', 'flow/weak');
    expect(await webhooks('open')).toEqual([['by-hand', theirUrl]]);
    const { body } = await land.client.call(getFlow, { params: { realm: 'open', alias: 'browser' } });
    expect(body?.executions?.length).toBeGreaterThan(1);
  });

  test('forces nothing away from the realm’s own namespace', async () => {
    const spec = { realm: 'open', url: theirUrl, eventTypes: ['LOGIN_FAILURE'], enabled: false };
    await asAdministrator(resource('Webhook', 'audit', spec, home));
    await land.kubectl('wait', '-n', 'identity', 'webhook/audit', '--for=condition=Ready', '--timeout=120s');
    await applies(hook('audit', 'open', { force: true }));
    const { message } = await says('Webhook', 'audit', 'ForceNotAllowed');
    // who stands in the way is told, what they declare is not
    expect(message).toContain('/identity/Webhook/audit');
    expect(message).not.toContain(theirUrl);
    await deletes('webhook/audit');
    expect(await webhooks('open')).toContainEqual(['audit', theirUrl]);
  });

  test('is not believed what it writes into a status', async () => {
    await applies(realm('forged', 'closed', { settings: { displayName: 'Forged' } }));
    await applies(hook('forged', 'open', { name: 'by-hand', driftPolicy: 'Report' }));
    await says('Realm', 'forged', 'RealmExists');
    await says('Webhook', 'forged', 'AdoptionNotAllowed');
    const at = '2026-01-01T00:00:00Z';
    const told = { type: 'Ready', status: 'True', reason: 'Applied', message: 'Applied', lastTransitionTime: at };
    const status = {
      observedGeneration: 1,
      lastAppliedGeneration: 1,
      lastAppliedRevision: 1,
      conditions: [{ ...told, observedGeneration: 1 }],
    };
    for (const name of ['realm/forged', 'webhook/forged']) {
      await does(['patch', name, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status })]);
      await does(['annotate', name, 'look=again']);
    }
    await says('Realm', 'forged', 'RealmExists');
    await says('Webhook', 'forged', 'AdoptionNotAllowed');
    expect(await does(['get', 'webhook/forged', '-o', 'json'])).not.toContain(theirUrl);
    await applies(hook('through', 'closed'));
    await says('Webhook', 'through', 'RealmNotDeclared');
    expect(await nameOf('closed')).toBe('Closed');
    await deletes('realm/forged', 'webhook/forged');
    expect(await webhooks('open')).toContainEqual(['by-hand', theirUrl]);
  });

  test('frees nothing and holds nothing of others by finalizers and annotations', async () => {
    await applies(hook('held', 'open'), realm('held', 'held', { deletionPolicy: 'Delete' }));
    await says('Webhook', 'held', 'Applied');
    await says('Realm', 'held', 'Applied');
    // a finalizer of one's own holds the resource, not what it stands for
    await does([
      'patch',
      'realm/held',
      '--type=merge',
      '-p',
      '{"metadata":{"finalizers":["realmkeeper.dev/release","shop.example.com/mine"]}}',
    ]);
    await does(['delete', 'realm/held', '--wait=false']);
    await eventually(() =>
      expect(land.client.call(getRealm, { params: { realm: 'held' } })).rejects.toMatchObject({ status: 404 }),
    );
    await does(['patch', 'realm/held', '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
    // without the operator's finalizer what was made stays, and is still not another's
    await does(['annotate', 'webhook/held', 'realmkeeper.dev/abandon=true']);
    await deletes('webhook/held');
    expect(await webhooks('open')).toContainEqual(['held', 'https://evil.example.com/']);
    await applies(hook('held', 'open'));
    await says('Webhook', 'held', 'Applied');
    await deletes('webhook/held');
    expect((await webhooks('open'))?.map(([name]) => name)).toEqual(['audit', 'by-hand']);
  });

  test('has no name that another could have', async () => {
    for (const name of ['x/Realm/closed', 'identity/Realm/closed', '..', 'Closed', 'closed*'])
      expect(await refused(realm(name, 'nameless'))).toMatch(/metadata.name|invalid|Invalid/);
    const pattern = { managers: ['k8s:*/identity/*', 'k8s:*/*/Realm/closed-by-identity'] };
    await land.client.call(putAdoption, { params: { realm: 'closed' }, body: pattern });
    for (const name of ['identity', 'identity.realm.closed', 'realm.closed-by-identity']) {
      await applies(realm(name, 'closed', { settings: { displayName: 'Named' } }));
      await says('Realm', name, 'RealmExists');
    }
    expect(await nameOf('closed')).toBe('Closed');
  });

  test('has been shown nothing of others: no value, no URL, no namespace but of who stood in the way', async () => {
    const all = await does(['get', 'realms,flows,webhooks,workloadidentities,events', '-o', 'json']);
    for (const word of [theirUrl, theirValue, 'friend']) expect(all.includes(word), word).toBe(false);
    // (the name of a resource that it made itself)
    const lines = all.split('\n').filter((line) => line.includes('/identity/') && /"message"|"note"/.test(line));
    for (const line of lines) expect(line).toMatch(/is managed by|managers/);
  });
});
