// What people look at: the list, the explanation, the events. On a real API server, with the operator's own process.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type KindName, kindNames, plurals } from '../../operator/resource.ts';
import { putSettings } from '../../server/contract/settings.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { landscape } from '../support/landscape.ts';
import { eventually, resource, secret } from '../support/operator.ts';

const assets = await clusterAssets();
const realm = 'acme';
const Events = z.object({
  items: z.array(
    z.object({
      type: z.string(),
      reason: z.string(),
      message: z.string(),
      count: z.number(),
      source: z.object({ component: z.literal('realmkeeper-operator') }),
    }),
  ),
});
const hook = (name: string, more: object = {}) =>
  resource('Webhook', name, { realm, url: 'https://receiver.example.com/', eventTypes: ['KEY_DELETED'], ...more });

describe.skipIf(!assets.found)('looking at resources', () => {
  const land = landscape();

  const ready = (name: string) => land.kubectl('wait', name, '--for=condition=Ready', '--timeout=120s');
  const events = async (kind: KindName, name: string) => {
    const about = `involvedObject.kind=${kind},involvedObject.name=${name}`;
    return Events.parse(JSON.parse(await land.kubectl('get', 'events', '--field-selector', about, '-o', 'json'))).items;
  };
  const told = (kind: KindName, name: string, type: string, reason: string, words: string) =>
    eventually(async () => {
      const found = (await events(kind, name)).find((e) => e.reason === reason && e.message.includes(words));
      expect(found, `${reason}: ${words}`).toMatchObject({ type });
      return found;
    });

  test('an event tells what was applied, in the plan’s words', async () => {
    await land.apply(
      resource('Realm', realm, { realm, settings: { accessTokenTtlSeconds: 600 }, roles: [{ name: 'reader' }] }),
    );
    await ready('realm/acme');
    await told('Realm', realm, 'Normal', 'Applied', 'create role reader');
  });

  test('an event tells what was repaired', async () => {
    await land.client.call(putSettings, { params: { realm }, body: { accessTokenTtlSeconds: 30 } });
    await told('Realm', realm, 'Normal', 'Repaired', 'update settings');
  });

  test('an event tells what was waited for, and the next that it came', async () => {
    await land.apply(hook('sealed', { secretKeyRef: { name: 'late', key: 'signing' } }));
    await told('Webhook', 'sealed', 'Normal', 'SecretMissing', 'waiting for the Secret late');
    await land.apply(secret('late', { signing: 'a secret of good length' }));
    await told('Webhook', 'sealed', 'Normal', 'Applied', 'create webhook sealed');
  });

  test('an event tells that a Secret’s new value was taken over, and not as somebody’s drift', async () => {
    await ready('webhook/sealed');
    await land.apply(secret('late', { signing: 'another secret of good length' }));
    await told('Webhook', 'sealed', 'Normal', 'SecretRotated', 'update webhook sealed');
    expect((await events('Webhook', 'sealed')).map(({ reason }) => reason)).not.toContain('Repaired');
  });

  test('an event tells of a conflict, of the taking over, and of the loss', async () => {
    await land.apply(hook('first', { name: 'contested' }));
    await ready('webhook/first');
    await land.apply(hook('second', { name: 'contested' }));
    await told('Webhook', 'second', 'Warning', 'Conflict', 'is managed by');
    await land.apply(hook('second', { name: 'contested', force: true }));
    await told('Webhook', 'second', 'Normal', 'TookOver', 'contested');
    await told('Webhook', 'first', 'Warning', 'Conflict', 'is managed by');
  });

  test('reported drift is told once, however often it is looked at', async () => {
    const kept = {
      realm,
      driftPolicy: 'Report',
      settings: { accessTokenTtlSeconds: 600 },
      roles: [{ name: 'reader' }],
    };
    await land.apply(resource('Realm', realm, kept));
    await eventually(async () =>
      expect(await land.kubectl('get', 'realm', realm, '-o', 'jsonpath={.status.lastAppliedGeneration}')).toBe('2'),
    );
    await land.client.call(putSettings, { params: { realm }, body: { accessTokenTtlSeconds: 30 } });
    const event = await told('Realm', realm, 'Warning', 'DriftFound', 'update settings');
    await land.client.call(putSettings, { params: { realm }, body: { accessTokenTtlSeconds: 31 } });
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    const found = (await events('Realm', realm)).filter(({ reason }) => reason === 'DriftFound');
    expect(found.map(({ message, count }) => [message, count])).toEqual([[event?.message, 1]]);
  });

  test('a server that goes and comes raises a count and makes no heap of events', async () => {
    for (let times = 1; times <= 2; times += 1) {
      await land.server.kill();
      await land.apply(hook('sealed', { enabled: times % 2 === 0 }));
      await eventually(async () => {
        const event = await told('Webhook', 'sealed', 'Normal', 'ServerUnreachable', 'cannot be reached');
        expect(event?.count).toBe(times);
      });
      await land.server.start();
      await ready('webhook/sealed');
    }
    const away = (await events('Webhook', 'sealed')).filter(({ reason }) => reason === 'ServerUnreachable');
    expect(away).toHaveLength(1);
  });

  test('an event outlives the resource and tells what became of it on the server', async () => {
    await land.kubectl('delete', 'webhook', 'sealed', '--timeout=120s');
    await told('Webhook', 'sealed', 'Normal', 'Released', 'removed from the realm acme');
  });

  const heads: Record<KindName, [RegExp, RegExp]> = {
    Realm: [/^NAME +REALM +READY +REASON +STATUS +AGE\n/, /^NAME +REALM +ISSUER +READY /],
    Flow: [/^NAME +REALM +BOUND +READY +REASON +STATUS +AGE\n/, /^NAME +REALM +BOUND +EXECUTIONS +READY /],
    Webhook: [/^NAME +REALM +READY +REASON +STATUS +AGE\n/, /^NAME +REALM +URL +LAST DELIVERY +READY /],
    WorkloadIdentity: [/^NAME +REALM +CLIENT +READY +REASON +STATUS +AGE\n/, /^NAME +REALM +CLIENT +SUBJECT +READY /],
  };
  const samples: Record<KindName, object> = {
    Realm: { realm },
    Flow: { realm, executions: [] },
    Webhook: { realm, url: 'https://receiver.example.com/', eventTypes: ['*'] },
    WorkloadIdentity: { realm, issuer: 'https://issuer.example', subject: 'me', audience: 'here', clientId: 'app' },
  };
  test.for([...kindNames])('a list of %s says whose, how it stands and why, by every name', async (kind) => {
    await land.apply(resource(kind, 'listed', samples[kind]));
    const shortName = { Realm: 'rlm', Flow: 'flw', Webhook: 'whk', WorkloadIdentity: 'wid' }[kind];
    const [head, wide] = heads[kind];
    for (const name of [plurals[kind], kind.toLowerCase(), shortName]) {
      expect(await land.kubectl('get', name)).toMatch(head);
    }
    const table = await land.kubectl('get', plurals[kind], '-o', 'wide');
    expect(table).toMatch(wide);
    expect(table).toMatch(/ STATUS +LAST CHANGE +AGE\n/);
    expect(await land.kubectl('get', 'realmkeeper', '-o', 'name')).toContain(
      `${kind.toLowerCase()}.realmkeeper.dev/listed`,
    );
  });

  test.for([...kindNames])('kubectl explain has words for every field of a %s', async (kind) => {
    const Field: z.ZodType<{ [key: string]: unknown }> = z.record(z.string(), z.unknown());
    const document = Field.parse(
      JSON.parse(await land.kubectl('get', '--raw', '/openapi/v3/apis/realmkeeper.dev/v1alpha1')),
    );
    const schemas = z.object({ components: z.object({ schemas: z.record(z.string(), Field) }) }).parse(document);
    const root = schemas.components.schemas[`dev.realmkeeper.v1alpha1.${kind}`];
    const mute: string[] = [];
    let fields = 0;
    const walk = (node: unknown, place: string): void => {
      const { properties, items, additionalProperties } = Field.catch({}).parse(node);
      for (const [key, child] of Object.entries(Field.catch({}).parse(properties))) {
        fields += 1;
        if (!Field.parse(child).description) mute.push(`${place}.${key}`);
        // Kubernetes' own
        if (`${place}.${key}` !== '.metadata') walk(child, `${place}.${key}`);
      }
      walk2(items, `${place}[]`);
      walk2(additionalProperties, `${place}.*`);
    };
    const walk2 = (node: unknown, place: string) => {
      if (node !== undefined && typeof node === 'object') walk(node, place);
    };
    walk(root, '');
    expect(fields).toBeGreaterThan(20);
    expect(mute).toEqual([]);
  });
});
