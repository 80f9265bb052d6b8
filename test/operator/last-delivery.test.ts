// A Webhook's status says how its last delivery went, and stays as it is while nothing is delivered.
import { expect, test } from 'vitest';
import { listDeliveries, listWebhooks, testWebhook } from '../../server/contract/webhooks.ts';
import { eventually, operatorSite, resource } from '../support/operator.ts';

const site = operatorSite({ name: 'delivers' });
const hook = (enabled: boolean) =>
  resource('Webhook', 'audit', {
    realm: site.realm,
    url: 'https://127.0.0.1:1/hook',
    eventTypes: ['LOGIN_SUCCESS'],
    enabled,
  });

test('the last delivery is told at the next look', async () => {
  await site.folder.write('realm.yaml', resource('Realm', 'here', { realm: site.realm }));
  await site.folder.write('hook.yaml', hook(false));
  const operator = await site.begin();
  await operator.ready('Webhook', 'audit');
  expect(operator.status('Webhook', 'audit')).not.toHaveProperty('lastDelivery');
  const { body: hooks = [] } = await site.server.admin.call(listWebhooks, { params: { realm: site.realm } });
  const params = { realm: site.realm, id: hooks[0]?.id ?? '' };
  await site.server.admin.call(testWebhook, { params });
  await eventually(async () => {
    const { body = [] } = await site.server.admin.call(listDeliveries, { params });
    expect(body[0]?.attempts).toBeGreaterThan(0);
  });
  await site.folder.write('hook.yaml', hook(true));
  await eventually(() =>
    expect(operator.status('Webhook', 'audit')?.lastDelivery).toMatch(
      /^\d{4}-.*Z WEBHOOK_TEST: (retrying|dead|pending)/,
    ),
  );
});
