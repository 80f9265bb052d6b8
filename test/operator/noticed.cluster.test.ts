// What the operator sees by itself on a real API server: labels of namespaces, statuses that others wrote, and Secrets that
// end in a line break.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KindName } from '../../operator/resource.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { type Landscape, startLandscape } from '../support/landscape.ts';
import { atRest, eventually, resource, secret } from '../support/operator.ts';

const assets = await clusterAssets();
const HOME = 'noticed-home';
const GUEST = 'noticed-guest';
const LABEL = 'identity.example.com/noticed';
/** Far below the resync, and what an attached resource that waits looks at by itself. */
const SOON_MS = 10_000;

describe.skipIf(!assets.found)('the operator', () => {
  let land: Landscape;
  beforeAll(async () => {
    land = await startLandscape();
    await Promise.all([land.server.start(), land.operator.start()]);
    const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await land.apply(namespace(HOME), namespace(GUEST));
  });
  afterAll(() => land?.stop());

  const read = (kind: KindName, name: string, namespace: string) => land.object(kind, name, namespace);
  const says = (kind: KindName, name: string, reason: string, namespace = HOME, patienceMs?: number) =>
    eventually(async () => {
      const { metadata, status = {} } = await read(kind, name, namespace);
      const found = status.conditions?.find((c) => c.reason === reason && c.observedGeneration === metadata.generation);
      if (!found) throw new Error(`${kind} ${name} says ${JSON.stringify(status.conditions)}, not ${reason}`);
      return found.message;
    }, patienceMs);

  test('lets a namespace in when it gets the label, without a further touch', async () => {
    const selector = { matchLabels: { [LABEL]: 'true' } };
    await land.apply(
      resource(
        'Realm',
        'labels',
        { realm: 'labels', allowedNamespaces: { from: 'Selector', selector } },
        { namespace: HOME },
      ),
      resource(
        'Webhook',
        'guest',
        { realm: 'labels', url: 'https://a.example.com/', eventTypes: ['*'] },
        { namespace: GUEST },
      ),
    );
    await says('Realm', 'labels', 'Applied');
    await says('Webhook', 'guest', 'RealmNotDeclared', GUEST);
    // by now it has been tried so often that it waits for long until the next time
    await new Promise((resolve) => setTimeout(resolve, 30_000));
    await land.kubectl('label', 'namespace', GUEST, `${LABEL}=true`);
    await says('Webhook', 'guest', 'Applied', GUEST, SOON_MS);
    await land.kubectl('label', 'namespace', GUEST, `${LABEL}-`);
    await says('Webhook', 'guest', 'RealmNotDeclared', GUEST, SOON_MS);
  });

  test('writes over a status that somebody else wrote, and rests then', async () => {
    await land.apply(resource('Realm', 'status', { realm: 'status' }, { namespace: HOME }));
    await says('Realm', 'status', 'Applied');
    const version = async () => (await read('Realm', 'status', HOME)).metadata.resourceVersion;
    await atRest(version);
    const issuer = (await read('Realm', 'status', HOME)).status?.issuer;
    const lie = JSON.stringify({ status: { issuer: 'https://evil.example.com', conditions: [] } });
    await land.kubectl('patch', 'realm', 'status', '-n', HOME, '--subresource=status', '--type=merge', '-p', lie);
    await says('Realm', 'status', 'Applied', HOME, SOON_MS);
    expect((await read('Realm', 'status', HOME)).status?.issuer).toBe(issuer);
    await atRest(version);
  });

  test('warns of a Secret that ends in a line break, takes it without where that is said, and leaves a text alone', async () => {
    const url = 'https://a.example.com/';
    const hook = (name: string, key: string, trim?: boolean) => {
      const secretKeyRef = { name: 'broken', key, ...(trim !== undefined && { trim }) };
      return resource('Webhook', name, { realm: 'broken', url, eventTypes: ['*'], secretKeyRef }, { namespace: HOME });
    };
    const value = 'a-signing-secret-0123456789abcdef';
    await land.apply(
      resource('Realm', 'broken', { realm: 'broken' }, { namespace: HOME }),
      secret('broken', { line: `${value}\n`, text: `${value}\n${value}\n`, blank: '  \n' }, HOME),
      hook('as-it-is', 'line'),
      hook('trimmed', 'line', true),
      hook('text', 'text'),
      hook('blank', 'blank', true),
    );
    const told = await says('Webhook', 'as-it-is', 'Incomplete');
    expect(told).toContain('the key line of the Secret broken ends in a line break');
    expect(told).toContain('trim: true');
    expect(told).not.toContain(value);
    await eventually(async () => {
      const of = 'involvedObject.name=as-it-is,reason=Incomplete';
      expect(await land.kubectl('get', 'events', '-n', HOME, '--field-selector', of)).toContain('Warning');
    });
    await says('Webhook', 'trimmed', 'Applied');
    await says('Webhook', 'text', 'Applied');
    expect(await says('Webhook', 'blank', 'Invalid')).toContain('white space');
    await land.apply(hook('as-it-is', 'line', true));
    await says('Webhook', 'as-it-is', 'Applied');
  });
});
