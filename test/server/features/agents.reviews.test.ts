// The job that reminds owners of reviews, and suspends what nobody reviewed or what has ended.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as api from '../../../server/contract/agents.ts';
import { listEvents } from '../../../server/contract/events.ts';
import { putMessagingProvider } from '../../../server/contract/messaging.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { createUser } from '../../../server/contract/users.ts';
import { agentReviews } from '../../../server/features/people/agents/reviews.ts';
import { type MailServer, startMailServer } from '../../support/gateways.ts';
import { type Asking, startAsking } from '../../support/messages.ts';
import { eventually } from '../../support/operator.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';

const DAY = 86_400_000;
let server: TestServer;
let mail: MailServer;
let asking: Asking;
let folder: string;
beforeAll(async () => {
  mail = await startMailServer();
  folder = await mkdtemp(path.join(os.tmpdir(), 'reviews-'));
  await writeFile(path.join(folder, 'ca.crt'), mail.ca);
  server = await startTestServer({ env: { SVC_OUTBOUND_CA_FILE: path.join(folder, 'ca.crt') } });
  asking = startAsking(server);
  for (const realm of ['mails', 'silent']) {
    await server.admin.call(createRealm, { body: { realm } });
    await server.admin.call(createUser, { params: { realm }, body: { username: 'ana', email: 'ana@example.com' } });
  }
  const config = { host: '127.0.0.1', port: mail.port };
  const body = { channel: 'EMAIL', driver: 'smtp', config } as const;
  await server.admin.call(putMessagingProvider, { params: { realm: 'mails' }, body });
});
afterAll(async () => {
  await asking?.stop();
  await server?.stop();
  await mail?.stop();
  await rm(folder, { recursive: true });
});

const active = async (realm: string, name: string, more: object) => {
  const { body } = await server.admin.call(api.createAgent, {
    params: { realm },
    body: { name, owner: 'ana', reviewIntervalDays: 30, ...more },
  });
  const at = { params: { realm, id: body!.id } };
  await server.admin.call(api.activateAgent, at);
  return at;
};
const runAfter = (days: number) =>
  agentReviews({ ...asking.with, baseUrl: server.baseUrl, now: () => new Date(Date.now() + days * DAY) }).run(
    {},
    { signal: new AbortController().signal },
  );
const statusOf = async (at: { params: { realm: string; id: string } }) =>
  (await server.admin.call(api.getAgent, at)).body?.status;

test('an owner is reminded once of each review, and an agent that nobody reviews is suspended', async () => {
  const reporter = await active('mails', 'reporter', {});
  const due = (await server.admin.call(api.getAgent, reporter)).body!.reviewDueAt!;
  expect(Math.abs(due - Date.now() - 30 * DAY)).toBeLessThan(60_000);
  await runAfter(10);
  expect(mail.mails).toEqual([]);
  for (const days of [20, 21, 29]) await runAfter(days);
  await eventually(() => expect(mail.mails).toHaveLength(1));
  expect(mail.mails[0]).toMatchObject({ to: ['ana@example.com'], raw: expect.stringContaining('reporter') });
  expect(mail.mails[0]?.raw).toContain('Confirm on your account page');
  expect(mail.mails[0]?.raw.replaceAll('=\r\n', '')).toContain(`${server.baseUrl}/realms/mails/account`);
  expect(await statusOf(reporter)).toBe('active');
  await runAfter(31);
  expect(await statusOf(reporter)).toBe('suspended');
  const { body: events = [] } = await server.admin.call(listEvents, {
    params: { realm: 'mails' },
    query: { type: 'AGENT_SUSPENDED' },
  });
  expect(events).toMatchObject([
    { subject: { name: 'reporter' }, actor: { type: 'system' }, data: { reason: 'review-overdue' } },
  ]);
  await runAfter(32);
  expect(
    (await server.admin.call(listEvents, { params: { realm: 'mails' }, query: { type: 'AGENT_SUSPENDED' } })).body,
  ).toHaveLength(1);
});

test('a review puts the next one off', async () => {
  const at = await active('silent', 'kept', { reviewIntervalDays: 1 });
  await server.pool.query("update agent set reviewed_at = now() - interval '23 hours' where name = 'kept'");
  const { body } = await server.admin.call(api.reviewAgent, at);
  expect(body!.reviewDueAt! - Date.now()).toBeGreaterThan(DAY - 60_000);
  await runAfter(0.9);
  expect(await statusOf(at)).toBe('active');
});

test('without a gateway nobody is told, and what has ended or is overdue is suspended nevertheless', async () => {
  const [ended, overdue] = [
    await active('silent', 'ended', { reviewIntervalDays: null, expiresAt: Date.now() + DAY }),
    await active('silent', 'overdue', { reviewIntervalDays: 2 }),
  ];
  await runAfter(1.5);
  expect([await statusOf(ended), await statusOf(overdue)]).toEqual(['suspended', 'active']);
  await runAfter(2.5);
  expect(await statusOf(overdue)).toBe('suspended');
  const { body } = await server.admin.call(api.listAgentsInReview, { params: { realm: 'silent' } });
  // by the clock of the server, neither its end nor its review has come
  expect(body).toEqual([]);
});
