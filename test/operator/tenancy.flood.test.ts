// Owns: that a namespace which names another's realm many times over costs that realm nothing.
// Does not own: that it gets no right by it (tenancy.test.ts).
// Implements: decisions "Tenancy".
import { expect, test } from 'vitest';
import { operatorSite, resource } from '../support/operator.ts';

const site = operatorSite({ name: 'flood' });

test('Realm resources that are refused cost those who attach to the realm no request', async () => {
  await site.folder.write('theirs.yaml', resource('Realm', 'theirs', { realm: site.realm }, { namespace: 'identity' }));
  const asked: string[] = [];
  const counting: typeof fetch = (input, init) => {
    asked.push(`${init?.method ?? 'GET'} ${new URL(String(input)).pathname}`);
    return fetch(input, init);
  };
  const operator = await site.begin({ operatorNamespace: 'realmkeeper', fetch: counting });
  await operator.ready('Realm', 'theirs', 'identity');
  const fakes = Array.from({ length: 100 }, (_, i) =>
    resource(
      'Realm',
      `fake-${i}`,
      // suspended: what is counted are the passes of those who attach
      { realm: site.realm, suspend: true, allowedNamespaces: { from: 'All' } },
      { namespace: 'shop' },
    ),
  );
  await site.folder.write('fakes.yaml', ...fakes);
  await operator.took('Realm', 'fake-99', { suspend: true }, 'shop');
  await operator.idle();
  asked.length = 0;
  const hook = { realm: site.realm, url: 'https://audit.example.com/', eventTypes: ['*'] };
  await site.folder.write('hook.yaml', resource('Webhook', 'audit', hook, { namespace: 'identity' }));
  await operator.ready('Webhook', 'audit', 'identity');
  const adoptions = asked.filter((line) => line.endsWith('/adoption'));
  expect(adoptions.length).toBeLessThan(5);
});

test('a Realm resource that is refused, touched all day, keeps those who attach to the realm from nothing', async () => {
  const home = { namespace: 'identity' };
  const hook = (name: string) =>
    resource('Webhook', name, { realm: site.realm, url: 'https://audit.example.com/', eventTypes: ['*'] }, home);
  const many = Array.from({ length: 40 }, (_, i) => hook(`many-${i}`));
  await site.folder.write('theirs.yaml', resource('Realm', 'theirs', { realm: site.realm }, home), ...many);
  const planned: string[] = [];
  const watching: typeof fetch = (input, init) => {
    const { pathname, searchParams } = new URL(String(input));
    if (pathname.endsWith('/import')) planned.push(searchParams.get('manager') ?? '');
    return fetch(input, init);
  };
  const operator = await site.begin({ operatorNamespace: 'realmkeeper', fetch: watching });
  for (let i = 0; i < 40; i += 1) await operator.ready('Webhook', `many-${i}`, 'identity');
  await operator.idle();
  planned.length = 0;
  const fake = resource('Realm', 'fake', { realm: site.realm, suspend: true }, { namespace: 'shop' });
  await site.folder.write('touched.yaml', fake, hook('now'));
  await operator.ready('Webhook', 'now', 'identity');
  await operator.idle();
  const place = planned.findIndex((manager) => manager.endsWith('/Webhook/now'));
  expect(planned.length).toBeGreaterThan(40);
  expect(place).toBeGreaterThanOrEqual(0);
  expect(place).toBeLessThan(10);
});
