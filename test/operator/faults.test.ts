// All that is wrong with a resource is told at once, each fault with its place in the spec.
import { expect, test } from 'vitest';
import { operatorSite, resource, secret } from '../support/operator.ts';

const site = operatorSite({ name: 'faults' });

test('what its schema says, in all of its parts', async () => {
  await site.folder.write(
    'realm.yaml',
    resource('Realm', 'wrong', {
      realm: site.realm,
      settings: { accessTokenTtlSeconds: -1, nonsense: true },
      clients: [
        { clientId: 'web', redirectUris: ['https://app.example.com/*'] },
        { clientId: 'b', grantTypes: ['x'] },
      ],
      groups: [{ path: 'no-slash' }],
    }),
  );
  const operator = await site.begin();
  const { message } = await operator.says('Realm', 'wrong', 'Invalid');
  for (const fault of [
    'spec.settings.accessTokenTtlSeconds: must be at least 1',
    'spec.settings.nonsense: is not a known field',
    'spec.clients[0].redirectUris[0]: must be exact',
    'spec.clients[1].grantTypes[0]: must be one of',
    'spec.groups[0].path: must be a path',
  ])
    expect(message).toContain(fault);
});

test('what the server says, in all of its parts', async () => {
  await site.folder.write(
    'realm.yaml',
    resource('Realm', 'wrong', {
      realm: site.realm,
      settings: { riskMediumThreshold: 70, riskHighThreshold: 40, browserFlow: 'gone' },
      roles: [{ name: 'a', composite: { roles: ['nobody'] } }],
      clients: [{ clientId: 'web', defaultClientScopes: ['nothing'], flowOverride: 'lost' }],
      groups: [{ path: '/a/b' }, { path: '/c', roles: ['nobody'] }],
      clientRoles: { missing: [{ name: 'r' }] },
    }),
  );
  const operator = await site.begin();
  const { message } = await operator.says('Realm', 'wrong', 'Refused');
  for (const fault of [
    'spec.settings.browserFlow: there is no flow gone',
    'spec.roles[0].composite.roles: there is no role nobody',
    'spec.clients[0].defaultClientScopes: there is no clientScope nothing',
    'spec.clients[0].flowOverride: there is no flow lost',
    'spec.clientRoles.missing[0]: there is no client missing',
    'spec.groups[0].path: there is no group /a',
    'spec.groups[1].roles: there is no role nobody',
  ])
    expect(message).toContain(fault);
});

test('what its Secrets say, in all of its parts', async () => {
  await site.folder.write('secrets.yaml', secret('s', { blank: '  ', placeholder: ['$', '{SVC_VAR_X}'].join('') }));
  await site.folder.write(
    'realm.yaml',
    resource('Realm', 'wrong', {
      realm: site.realm,
      clients: [
        { clientId: 'a', secretKeyRef: { name: 's', key: 'blank', trim: true } },
        { clientId: 'b', secretKeyRef: { name: 's', key: 'placeholder' } },
      ],
    }),
  );
  const operator = await site.begin();
  const { message } = await operator.says('Realm', 'wrong', 'Invalid');
  expect(message).toContain('the key blank of the Secret s holds nothing but white space');
  expect(message).toContain('must be a value, not a placeholder');
});
