// Owns: that a resource costs the server no more requests than it needs, and which these are.
// Does not own: what comes of them (reconcile.test.ts), what rest costs (rest.test.ts).
// Implements: design "Reconciler": a thousand realms come up within minutes, and are looked at for next to nothing.
import { expect, test } from 'vitest';
import { importRealm } from '../../server/contract/transfer.ts';
import { deleteWebhook, listWebhooks } from '../../server/contract/webhooks.ts';
import { eventually, operatorSite, resource } from '../support/operator.ts';

const site = operatorSite({ name: 'thrifty' });
const asked: string[] = [];
const counting: typeof fetch = (input, init) => {
  const { pathname, search } = new URL(String(input));
  const here = `/admin/realms/${site.realm}`;
  if (pathname.startsWith(here)) asked.push(`${init?.method ?? 'GET'} ${pathname.slice(here.length)}${search}`);
  return fetch(input, init);
};
const theRealm = (more: object = {}) => resource('Realm', 'here', { realm: site.realm, ...more });
const hook = (more: object = {}) =>
  resource('Webhook', 'audit', { realm: site.realm, url: 'https://a.example.com/', eventTypes: ['*'], ...more });
const imports = (by = '') =>
  asked.splice(0).flatMap((line) => {
    const query = new URLSearchParams(line.split('POST /import?')[1]);
    if (!query.get('manager')?.endsWith(by)) return [];
    return [query.get('dryRun') === 'true' ? 'plan' : 'apply'];
  });

test('what is new is one request that plans and applies, and one pass', async () => {
  await site.folder.write('realm.yaml', theRealm({ roles: [{ name: 'reader' }] }));
  const operator = await site.begin({ fetch: counting });
  await operator.ready('Realm', 'here');
  await operator.idle();
  expect(asked.map((line) => line.split('?')[0])).toEqual(['GET /adoption', 'POST /import', 'GET ', 'GET /keys']);
  expect(imports()).toEqual(['apply']);
  await site.folder.write('hook.yaml', hook());
  await operator.ready('Webhook', 'audit');
  await operator.idle();
  expect(asked.map((line) => line.split('?')[0])).toEqual(['GET /adoption', 'POST /import']);
  expect(imports()).toEqual(['apply']);
});

test('what was applied before is planned before it is written, and where it is in sync nothing is', async () => {
  await site.folder.write('realm.yaml', theRealm());
  await site.folder.write('hook.yaml', hook());
  const operator = await site.begin({ fetch: counting });
  await operator.ready('Webhook', 'audit');
  await operator.idle();
  const params = { realm: site.realm };
  const { body: hooks = [] } = await site.server.admin.call(listWebhooks, { params });
  asked.length = 0;
  await site.server.admin.call(deleteWebhook, { params: { ...params, id: hooks[0]?.id ?? '' } });
  await eventually(async () => expect((await site.server.admin.call(listWebhooks, { params })).body).toHaveLength(1));
  await operator.idle();
  // the Realm is looked at, too: what changed in it may be its own
  expect(imports().sort()).toEqual(['apply', 'plan', 'plan']);
});

test('what somebody else has is asked for once more, as a plan that names them', async () => {
  await site.folder.write('realm.yaml', theRealm());
  const operator = await site.begin({ fetch: counting });
  await operator.ready('Realm', 'here');
  const webhooks = [{ name: 'audit', url: 'https://b.example.com/', eventTypes: '*' }];
  const theirs = { params: { realm: site.realm }, query: { manager: 'realmctl' }, body: { webhooks } };
  await site.server.admin.call(importRealm, theirs);
  await site.folder.write('hook.yaml', hook());
  expect((await operator.says('Webhook', 'audit', 'Conflict')).message).toContain('is managed by realmctl');
  expect(imports('/Webhook/audit').slice(0, 2)).toEqual(['apply', 'plan']);
});
