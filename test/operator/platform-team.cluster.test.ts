// Owns: that the pattern which stands for a cluster-scoped Realm serves, by the very manifests and flags of docs/tenancy.md: the
// platform team declares realms, teams attach to theirs, and RBAC keeps each to that.
// Does not own: what a tenant can try beyond RBAC (tenancy*.test.ts).
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import type { KindName } from '../../operator/resource.ts';
import { getRealm } from '../../server/contract/realms.ts';
import { listWebhooks } from '../../server/contract/webhooks.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { type Landscape, startLandscape } from '../support/landscape.ts';
import { eventually, resource, secret } from '../support/operator.ts';
import { namespaceOf } from '../support/tenant.ts';

const assets = await clusterAssets();
const PLATFORM = 'identity-platform';
const rbac = 'rbac.authorization.k8s.io';
const guide = await readFile(path.resolve(import.meta.dirname, '../../docs/tenancy.md'), 'utf8');
const [, documented = ''] = /There is no cluster-scoped Realm[\s\S]*?```yaml\n([\s\S]*?)```/.exec(guide) ?? [];
const [, flags = ''] = /the operator: (--realm-namespaces \S+)/.exec(documented) ?? [];
const Documented = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({ name: z.string(), namespace: z.string().exactOptional() }).loose(),
});
const manifests = parseAllDocuments(documented).map((one) => Documented.parse(one.toJS()));
type Documented = z.output<typeof Documented>;

/** Gives a user a role of a namespace there. */
const binding = (user: string, namespace: string, kind: string, name: string) => ({
  apiVersion: `${rbac}/v1`,
  kind: 'RoleBinding',
  metadata: { name: `${user}-${name.replaceAll(':', '-')}`, namespace },
  roleRef: { apiGroup: rbac, kind, name },
  subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
});

describe.skipIf(!assets.found)('the platform team’s realms', () => {
  let land: Landscape;
  const users = new Map<string, string>();
  const as = (user: string, namespace: string, args: string[], items: readonly object[] = []) =>
    land.cluster.kubectl(
      ['--kubeconfig', users.get(user) ?? '', '-n', namespace, ...args],
      items.length > 0 ? JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) : undefined,
    );
  async function applies(user: string, namespace: string, ...items: object[]): Promise<void> {
    const { code, stderr } = await as(user, namespace, ['apply', '-f', '-'], items);
    expect([code, stderr]).toEqual([0, '']);
  }
  async function isForbidden(user: string, namespace: string, args: string[], ...items: object[]): Promise<void> {
    const { code, stderr } = await as(user, namespace, args, items);
    expect([code, stderr]).toEqual([1, expect.stringContaining('orbidden')]);
  }
  const says = (kind: KindName, namespace: string, name: string, reason: string) =>
    eventually(async () => {
      const { status: { conditions = [] } = {} } = await land.object(kind, name, namespace);
      if (!conditions.some((one) => one.reason === reason))
        throw new Error(`${kind} ${name} says ${JSON.stringify(conditions)}, not ${reason}`);
    });
  const hook = (namespace: string, more: object = {}) =>
    resource(
      'Webhook',
      `of-${namespace}`,
      { realm: 'shop', url: 'https://shop.example.com/events', eventTypes: ['LOGIN_FAILURE'], ...more },
      { namespace },
    );

  beforeAll(async () => {
    land = await startLandscape();
    const args = ['--no-leader-elect', '--namespace', 'realmkeeper', ...flags.split(' ')];
    await Promise.all([land.server.start(), land.operatorLike('platform', { args }).start()]);
    for (const user of ['platform', 'shopper', 'stranger']) users.set(user, await land.cluster.user(user));
    const isRealm = ({ kind }: Documented) => kind === 'Realm';
    await land.apply(
      ...manifests.filter((one) => !isRealm(one)),
      namespaceOf('team-shop', { 'example.com/realm': 'shop' }),
      namespaceOf('team-other', { 'example.com/realm': 'other' }),
      binding('platform', PLATFORM, 'Role', 'realms'),
      binding('shopper', 'team-shop', 'ClusterRole', 'realm-attachments'),
      binding('stranger', 'team-other', 'ClusterRole', 'realm-attachments'),
      // as people of a namespace have it
      binding('shopper', 'team-shop', 'ClusterRole', 'system:aggregate-to-edit'),
      binding('stranger', 'team-other', 'ClusterRole', 'system:aggregate-to-edit'),
    );
    await applies('platform', PLATFORM, ...manifests.filter(isRealm));
  });
  afterAll(() => land?.stop());

  test('the guide has all of it: namespace, realm, and the rights of both teams', () => {
    expect(manifests.map(({ kind }) => kind)).toEqual(['Namespace', 'Realm', 'Role', 'ClusterRole']);
    expect(flags).toMatch(/^--realm-namespaces \S+=\S+$/);
  });

  test('are made by who may write there, Secrets included, and nobody else may', async () => {
    await says('Realm', PLATFORM, 'shop', 'Applied');
    const clients = [
      { clientId: 'portal', grantTypes: ['client_credentials'], secretKeyRef: { name: 'portal', key: 'it' } },
    ];
    const value = { it: 'a-secret-of-the-platform-0123456789' };
    await applies(
      'platform',
      PLATFORM,
      secret('portal', value, PLATFORM),
      resource('Realm', 'more', { realm: 'more', clients }, { namespace: PLATFORM }),
    );
    await says('Realm', PLATFORM, 'more', 'Applied');
    const another = resource('Realm', 'mine', { realm: 'mine' }, { namespace: PLATFORM });
    await isForbidden('shopper', PLATFORM, ['apply', '-f', '-'], another);
    await isForbidden('shopper', PLATFORM, ['get', 'secrets']);
    await isForbidden('shopper', PLATFORM, ['get', 'realms']);
    await isForbidden('platform', 'team-shop', ['get', 'webhooks']);
  });

  test('a team attaches to its own from its namespace, and declares none', async () => {
    await applies(
      'shopper',
      'team-shop',
      secret('signing', { it: 'a-secret-of-shop-0123456789' }, 'team-shop'),
      hook('team-shop', { secretKeyRef: { name: 'signing', key: 'it' } }),
    );
    await says('Webhook', 'team-shop', 'of-team-shop', 'Applied');
    const mine = resource('Realm', 'mine', { realm: 'mine' }, { namespace: 'team-shop' });
    await isForbidden('shopper', 'team-shop', ['apply', '-f', '-'], mine);
    await isForbidden('shopper', 'team-shop', ['patch', 'webhook/of-team-shop', '--subresource=status', '-p', '{}']);
  });

  test('another team doesn’t attach to it, and can’t call its namespace otherwise', async () => {
    await applies('stranger', 'team-other', hook('team-other'));
    await says('Webhook', 'team-other', 'of-team-other', 'RealmNotDeclared');
    await isForbidden('stranger', 'team-other', [
      'label',
      'namespace',
      'team-other',
      'example.com/realm=shop',
      '--overwrite',
    ]);
    const { body = [] } = await land.client.call(listWebhooks, { params: { realm: 'shop' } });
    expect(body.map(({ name }) => name)).toEqual(['of-team-shop']);
  });

  test('a Realm elsewhere, of somebody who was given too much, doesn’t count', async () => {
    await land.apply(resource('Realm', 'astray', { realm: 'astray' }, { namespace: 'team-other' }));
    await says('Realm', 'team-other', 'astray', 'NamespaceNotAllowed');
    await expect(land.client.call(getRealm, { params: { realm: 'astray' } })).rejects.toMatchObject({ status: 404 });
  });
});
