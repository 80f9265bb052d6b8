// Every route that changes configuration says that what only documents change is refused; those that don't are named here with a reason.
import { expect, test } from 'vitest';
import { presentSections } from '../../../server/contract/sections.ts';
import { contractRoutes } from '../../support/contract-routes.ts';

/** Writes with the permission of a section that change no configuration: states, credentials, people, work that is begun. */
const atRunTime = new Set([
  // an agent's state, and the owner's review
  'POST /admin/realms/:realm/agents/:id/activate',
  'POST /admin/realms/:realm/agents/:id/review',
  'POST /admin/realms/:realm/agents/:id/revoke',
  'POST /admin/realms/:realm/agents/:id/suspend',
  // streams of signals, as the two servers keep them
  'DELETE /admin/realms/:realm/signal-receivers/:id/streams/:streamId',
  'POST /admin/realms/:realm/signal-transmitters/:id/stream',
  'DELETE /admin/realms/:realm/signal-transmitters/:id/stream',
  // credentials
  'POST /admin/realms/:realm/clients/:id/secret',
  'POST /admin/realms/:realm/provisioning/initial-access-tokens',
  'DELETE /admin/realms/:realm/provisioning/initial-access-tokens/:id',
  'POST /admin/realms/:realm/messaging/push-tokens',
  'DELETE /admin/realms/:realm/messaging/push-tokens/:id',
  // people, and the proof of a domain
  'PUT /admin/realms/:realm/organizations/:id/members/:userId',
  'DELETE /admin/realms/:realm/organizations/:id/members/:userId',
  'POST /admin/realms/:realm/organizations/:id/domains/:domain/verify',
  'PUT /admin/realms/:realm/users/:userId/admin-roles',
  // deliveries, tests and syncs
  'POST /admin/realms/:realm/messaging/messages/:id/retry',
  'POST /admin/realms/:realm/messaging/providers/:channel/test',
  'POST /admin/realms/:realm/messaging/templates/test',
  'POST /admin/realms/:realm/scim-targets/:id/reconcile',
  'POST /admin/realms/:realm/user-federation/:alias/sync',
  'POST /admin/realms/:realm/user-federation/:alias/test',
  'POST /admin/realms/:realm/webhooks/:id/deliveries/:deliveryId/redeliver',
  'POST /admin/realms/:realm/webhooks/:id/test',
]);

test('each write of a section is refused where the section is declared only, unless it is of run-time data', async () => {
  const areas = new Set(
    [...presentSections].flatMap(([name, { area }]) => (name === 'users' ? [] : [`${area}:write`])),
  );
  const writes = (await contractRoutes()).filter(
    ({ method, permission, recordsNothing }) =>
      method !== 'GET' && !recordsNothing && permission !== null && areas.has(permission),
  );
  expect(writes.length).toBeGreaterThan(60);
  const open = writes.filter(({ problems }) => !problems.includes('declared-only'));
  const names = open.map(({ method, path }) => `${method} ${path}`);
  expect(names.filter((name) => !atRunTime.has(name))).toEqual([]);
  expect(
    [...atRunTime].filter((name) => !names.includes(name) && writes.some((w) => `${w.method} ${w.path}` === name)),
  ).toEqual([]);
});
