// The registry against a walk through all resources: whatever comes, changes and goes, both answer the same.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Kind } from '../../operator/kinds/kind.ts';
import { realm } from '../../operator/kinds/realm.ts';
import { webhook } from '../../operator/kinds/webhook.ts';
import { type KindName, keyOf, keyOfResource, type Resource, resourceOf } from '../../operator/resource.ts';
import { createRegistry } from '../../operator/runtime/registry.ts';

const kinds = new Map<string, Kind<{ realm: string }>>();
for (const kind of [realm, webhook]) kinds.set(kind.name, kind as Kind<{ realm: string }>);

function world() {
  const resources = new Map<string, Resource>();
  const registry = createRegistry({ source: { get: (key) => resources.get(key) }, kinds });
  return {
    registry,
    resources,
    put(kind: KindName, name: string, spec: unknown) {
      const resource = resourceOf(kind, { metadata: { name, namespace: 'team', uid: name }, spec });
      resources.set(keyOfResource(resource), resource);
      return registry.note(keyOfResource(resource));
    },
    remove(kind: KindName, name: string) {
      resources.delete(keyOf(kind, 'team', name));
      return registry.note(keyOf(kind, 'team', name));
    },
  };
}

const hookOf = (realmName: string, secret: string) => ({
  realm: realmName,
  url: 'https://receiver.example.com',
  eventTypes: ['*'],
  secretKeyRef: { name: secret, key: 'webhook' },
});

test('a change names the realm before and the realm after, a deletion the one before', () => {
  const { put, remove } = world();
  expect(put('Realm', 'a', { realm: 'one' })).toEqual(['one']);
  expect(put('Realm', 'a', { realm: 'one' })).toEqual(['one']);
  expect(put('Realm', 'a', { realm: 'two' })).toEqual(['one', 'two']);
  expect(remove('Realm', 'a')).toEqual(['two']);
  expect(remove('Realm', 'a')).toEqual([]);
  expect(put('Realm', 'a', { name: 'no realm at all' })).toEqual([]);
});

test('a Secret is named in its own namespace only', () => {
  const { registry, put } = world();
  put('Webhook', 'hook', hookOf('one', 'shared'));
  expect(registry.naming('team', 'shared')).toEqual(['Webhook/team/hook']);
  expect(registry.naming('other', 'shared')).toEqual([]);
});

test('it finds what a walk through all would find', () => {
  const names = fc.constantFrom('a', 'b', 'c');
  const step = fc.record({
    kind: fc.constantFrom<KindName[]>('Realm', 'Webhook'),
    name: names,
    to: fc.option(fc.record({ realm: names, secret: names })),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { registry, resources, put, remove } = world();
      for (const { kind, name, to } of steps) {
        if (!to) remove(kind, name);
        else put(kind, name, kind === 'Realm' ? { realm: to.realm } : hookOf(to.realm, to.secret));
      }
      const all = [...resources.values()];
      for (const name of ['a', 'b', 'c']) {
        const ofRealm = all.filter(({ spec }) => JSON.stringify(spec).includes(`"realm":"${name}"`)).map(keyOfResource);
        expect([...registry.ofRealm(name)].sort()).toEqual(ofRealm.sort());
        const naming = all.filter(({ spec }) => JSON.stringify(spec).includes(`"name":"${name}"`)).map(keyOfResource);
        expect([...registry.naming('team', name)].sort()).toEqual(naming.sort());
      }
    }),
  );
});
