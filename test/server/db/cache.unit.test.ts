import { expect, test } from 'vitest';
import { createRealmCache } from '../../../server/db/cache.ts';

function counted(exists: (realm: string, key: string) => boolean) {
  const loads: string[] = [];
  const cache = createRealmCache<string | undefined>({
    now: () => new Date(0),
    async load(realm, key) {
      loads.push(`${realm}/${key}`);
      return exists(realm, key) ? `${realm}/${key}` : undefined;
    },
  });
  return { cache, loads };
}

test('names that somebody makes up put out nothing that exists', async () => {
  const { cache, loads } = counted((realm, key) => realm === 'acme' && key === 'app');
  await cache.get('acme', 'app');
  for (let i = 0; i < 25_000; i += 1) {
    await cache.get(`made-up-${i}`, '');
    await cache.get('acme', `made-up-${i}`);
  }
  expect(cache.ready('acme', 'app')).toBe('acme/app');
  loads.length = 0;
  expect(await cache.get('acme', 'app')).toBe('acme/app');
  expect(loads).toEqual([]);
});

test('what is not there is asked for once, and again after a drop', async () => {
  const { cache, loads } = counted(() => false);
  await Promise.all([cache.get('acme', 'app'), cache.get('acme', 'app')]);
  expect(await cache.get('acme', 'app')).toBeUndefined();
  expect(loads).toHaveLength(1);
  cache.drop('acme');
  await cache.get('acme', 'app');
  expect(loads).toHaveLength(2);
});

test('a load that began before a drop is not kept, and of too many realms the oldest goes', async () => {
  let answer = (_: string) => {};
  const cache = createRealmCache<string>({
    now: () => new Date(0),
    load: () => new Promise((resolve) => (answer = resolve)),
  });
  const early = cache.get('acme', '');
  cache.drop('acme');
  answer('old');
  expect(await early).toBe('old');
  expect(cache.ready('acme', '')).toBeUndefined();
  const { cache: full } = counted(() => true);
  for (let i = 0; i <= 10_000; i += 1) await full.get(`realm-${i}`, '');
  expect(full.ready('realm-0', '')).toBeUndefined();
  expect(full.ready('realm-1', '')).toBe('realm-1/');
});
