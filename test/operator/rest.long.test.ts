// While nobody changes anything nothing is written: not in Kubernetes, not on the server, not in the audit log. The only
// request is the conditional one for the realms' revisions. Every state that a resource can rest in is there.
// `npm run bench:operator -- --rest 600` looks at it for longer, and at thousands of resources.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listEvents } from '../../server/contract/events.ts';
import { listRealms } from '../../server/contract/realms.ts';
import { putSettings } from '../../server/contract/settings.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { type Landscape, startLandscape } from '../support/landscape.ts';
import { eventually, type Manifest, resource, secret } from '../support/operator.ts';
import { type Series, seriesAt, seriesOf } from '../support/series.ts';

const assets = await clusterAssets();
const REST_MS = 12_000;
const kinds = ['realms', 'flows', 'webhooks', 'workloadidentities'];

const executions = [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }];
const realms = ['one', 'two', 'three'];
const declared: Manifest[] = realms.flatMap((realm) => [
  secret(realm, { job: 'a-secret-that-is-long-enough-0123456789', webhook: 'another-of-the-same-kind' }),
  resource('Realm', realm, {
    realm,
    settings: { displayName: realm },
    driftPolicy: realm === 'three' ? 'Report' : 'Correct',
    clients: [{ clientId: 'job', grantTypes: ['client_credentials'], secretKeyRef: { name: realm, key: 'job' } }],
  }),
  resource('Flow', `${realm}-flow`, { realm, executions, bind: true }),
  resource('Webhook', `${realm}-hook`, {
    realm,
    url: 'https://receiver.example.com/',
    eventTypes: ['LOGIN_SUCCESS'],
    enabled: false,
    secretKeyRef: { name: realm, key: 'webhook' },
  }),
  resource('WorkloadIdentity', `${realm}-ci`, {
    realm,
    issuer: 'https://issuer.example.com',
    subject: realm,
    audience: 'realmkeeper',
    clientId: 'job',
  }),
]);
const others: Manifest[] = [
  resource('Flow', 'suspended', { realm: 'one', executions, suspend: true }),
  // owned by one-flow
  resource('Flow', 'stalled', { realm: 'one', alias: 'one-flow', executions }),
];

/** What grew between two looks, by series. */
const growth = (before: Series, after: Series): Record<string, number> =>
  Object.fromEntries(
    [...after]
      .map(([name, value]) => [name, value - (before.get(name) ?? 0)] as const)
      .filter(([, more]) => more !== 0),
  );

describe.skipIf(!assets.found)('at rest', { timeout: 180_000 }, () => {
  let land: Landscape;

  beforeAll(async () => {
    land = await startLandscape();
    await land.server.start();
    await land.apply(...declared);
    await land.operator.start();
  });
  afterAll(() => land?.stop());

  const resources = async () => {
    const lists = await Promise.all(
      kinds.map((kind) => land.kubectl('get', '--raw', `/apis/realmkeeper.dev/v1alpha1/${kind}`)),
    );
    return lists.flatMap((text) => JSON.parse(text).items);
  };
  const states = async () => {
    const found: Record<string, string> = {};
    for (const { metadata, status } of await resources()) {
      const held = status?.conditions?.filter((c: { status: string }) => c.status === 'True') ?? [];
      found[metadata.name] = held.map((c: { type: string }) => c.type).join(' ');
    }
    return found;
  };
  const versions = async () => {
    const found: Record<string, string> = {};
    for (const { kind, metadata } of await resources()) found[`${kind} ${metadata.name}`] = metadata.resourceVersion;
    const { items } = JSON.parse(await land.kubectl('get', 'events', '-A', '-o', 'json'));
    for (const { metadata } of items) found[`event ${metadata.name}`] = metadata.resourceVersion;
    return found;
  };
  const auditLog = async () => {
    const found: string[] = [];
    for (const realm of ['master', ...realms]) {
      const { body = [] } = await land.client.call(listEvents, { params: { realm }, query: { limit: 1000 } });
      found.push(...body.map(({ id, type }) => `${realm} ${type} ${id}`));
    }
    return found;
  };
  /** Requests to the API server that the operator alone makes; watches end and begin again by themselves. */
  const kubernetesRequests = async () => {
    const all = seriesOf(await land.kubectl('get', '--raw', '/metrics'));
    const theirs = /^apiserver_request_total\{.*(group="realmkeeper\.dev"|resource="(secrets|events|namespaces)")/;
    return new Map([...all].filter(([name]) => theirs.test(name) && !/verb="(WATCH|LIST)"/.test(name)));
  };
  const serverRequests = async () => {
    const all = await seriesAt(`${land.serverUrl}/actuator/metrics-text`);
    return new Map(
      [...all].filter(([name]) => name.startsWith('http_server_requests_seconds_count') && !/metrics-text/.test(name)),
    );
  };

  /** Nothing is written for so long, and nothing asked but which realms have changed, once every two seconds. */
  async function nothingHappens(ms: number): Promise<void> {
    const began = performance.now();
    const [kubernetes, server] = [await kubernetesRequests(), await serverRequests()];
    await sleep(ms);
    const asked = growth(server, await serverRequests());
    const written = growth(kubernetes, await kubernetesRequests());
    expect(written).toEqual({});
    const [[name = '', times = 0] = [], ...more] = Object.entries(asked);
    expect(more).toEqual([]);
    expect(name).toContain('uri="/admin/realms"');
    expect(name).toContain('status="304"');
    expect(times).toBeLessThanOrEqual((performance.now() - began) / 2_000 + 1);
  }

  test('nothing is written, and nothing is asked but for revisions', async () => {
    const ready = Object.fromEntries(
      declared.filter(({ kind }) => kind !== 'Secret').map(({ metadata }) => [metadata.name, 'Ready']),
    );
    await eventually(async () => expect(await states()).toEqual(ready));
    await land.apply(...others);
    // a person changes what is declared: it stays as Drifted where it is only reported
    await land.client.call(putSettings, { params: { realm: 'three' }, body: { displayName: 'by hand' } });
    const settled = { ...ready, three: 'Ready Drifted', suspended: 'Suspended', stalled: 'Stalled' };
    await eventually(async () => expect(await states()).toEqual(settled));
    // the last look at the realms that the changes above called for
    await eventually(() => nothingHappens(4_000));

    const audit = await auditLog();
    const { body: revisions } = await land.client.call(listRealms);
    const held = await versions();
    await nothingHappens(REST_MS);
    expect(await versions()).toEqual(held);
    expect((await land.client.call(listRealms)).body).toEqual(revisions);
    expect(await auditLog()).toEqual(audit);
    expect(await states()).toEqual(settled);
  });
});
