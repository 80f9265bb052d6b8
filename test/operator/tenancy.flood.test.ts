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
