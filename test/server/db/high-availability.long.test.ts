// Owns: two servers on a cluster of PostgreSQL that changes its leader, one by HAProxy and one by the addresses of all nodes, under
// load: nothing that was acknowledged is lost, nothing is done twice, and meanwhile every answer is 503 with Retry-After.
// Does not own: one connection that breaks (failover.test.ts, dead-peer.long.test.ts).
// Implements: docs/high-availability.md.
import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Attempt, type Load, REALM, startLoad } from '../../support/load.ts';
import { type Node, type PatroniCluster, startPatroni, until } from '../../support/patroni.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { type ServerProcess, startServerProcess } from '../../support/server-process.ts';

/** Room for what the test writes and for little more. */
const MEGABYTES = 400;
/** The goal is two seconds; a processor that many share makes them more, and a silent peer that is waited for makes them 35. */
const RIGHT_AGAIN_MS = 20_000;
let cluster: PatroniCluster;
let receiver: Receiver;
const servers: ServerProcess[] = [];
let load: Load;

beforeAll(async () => {
  [cluster, receiver] = await Promise.all([startPatroni({ megabytes: MEGABYTES }), startReceiver()]);
  for (const url of [cluster.proxied, cluster.several])
    servers.push(
      await startServerProcess({
        DATABASE_URL: url,
        SVC_OUTBOUND_ALLOW: '127.0.0.1',
        SVC_OUTBOUND_CA_FILE: receiver.caFile,
      }),
    );
  load = await startLoad(servers, receiver);
  await load.goodSince(0);
});
afterAll(async () => {
  await load?.stop();
  await Promise.all(servers.map((server) => server.stop()));
  await Promise.all([cluster?.stop(), receiver?.stop()]);
});

const other = (node: Node): Node => {
  const found = cluster.nodes.find((one) => one !== node);
  if (!found) throw new Error('there is one node');
  return found;
};
/** @returns when the node took the lead */
async function promoted(node: Node): Promise<number> {
  await until(() => node.leads());
  return Date.now();
}
/** @returns the attempts from the disturbance to the time when all is right again */
async function disturbed(name: string, disturb: (leader: Node) => Promise<number>): Promise<Attempt[]> {
  const leader = await cluster.settled();
  await load.goodSince(Date.now());
  const began = Date.now();
  const promotedAt = await disturb(leader);
  await load.goodSince(promotedAt);
  const attempts = load.attempts.filter((one) => one.ended >= began);
  const bad = attempts.filter((one) => !load.isGood(one));
  const lastBad = Math.max(promotedAt, ...bad.map(({ ended }) => ended));
  const waited = Math.max(0, ...attempts.filter((one) => one.began < lastBad).map((one) => one.ended - promotedAt));
  console.info(
    `${name}: promoted after ${promotedAt - began} ms; the last 503 ${lastBad - promotedAt} ms after that, the last answer to a request from before ${waited} ms; ${bad.length} of ${attempts.length} answers were 503`,
  );
  expect(Math.max(lastBad - promotedAt, waited)).toBeLessThan(RIGHT_AGAIN_MS);
  return attempts;
}
const faults = (attempts: readonly Attempt[]) =>
  attempts
    .filter((one) => !load.isGood(one) && !(one.status === 503 && one.retryAfter !== null))
    .map(({ kind, server, status, retryAfter, text }) => ({
      kind,
      server,
      status,
      retryAfter,
      text: text.slice(0, 300),
    }));

test('a leader hands over in peace', async () => {
  const attempts = await disturbed('handed over', async (leader) => {
    await cluster.switchOver(leader, other(leader));
    return promoted(other(leader));
  });
  expect(faults(attempts)).toEqual([]);
});

test('a leader is killed', async () => {
  const attempts = await disturbed('killed', async (leader) => {
    await leader.kill();
    const at = await promoted(other(leader));
    await leader.start();
    return at;
  });
  expect(faults(attempts)).toEqual([]);
});

test('a leader is frozen, and wakes when another leads', async () => {
  let frozen: Node | undefined;
  const attempts = await disturbed('frozen', async (leader) => {
    frozen = leader;
    leader.freeze();
    return promoted(other(leader));
  });
  frozen?.thaw();
  expect(faults(attempts)).toEqual([]);
  await cluster.settled();
  expect(faults(load.attempts)).toEqual([]);
});

test('a leader is cut off from all others', async () => {
  let away: Node | undefined;
  const attempts = await disturbed('cut off', async (leader) => {
    away = leader;
    leader.cutOff();
    return promoted(other(leader));
  });
  away?.rejoin();
  expect(faults(attempts)).toEqual([]);
  await cluster.settled();
  expect(faults(load.attempts)).toEqual([]);
});

test('there is no connection left', async () => {
  const taken: pg.Client[] = [];
  const attempts = await disturbed('no connection left', async (leader) => {
    const superuser = new pg.Client({ connectionString: cluster.superuser(leader) });
    superuser.on('error', () => {});
    await superuser.connect();
    const url = cluster.several.replace(/@[^/]*/, `@127.0.0.1:${leader.port}`).replace(/\?.*/, '');
    await superuser.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'realmkeeper%'`,
    );
    const end = Date.now() + 4_000;
    while (Date.now() < end) {
      const client = new pg.Client({ connectionString: url });
      client.on('error', () => {});
      await client.connect().then(
        () => void taken.push(client),
        () => sleep(20),
      );
    }
    await superuser.end();
    await Promise.all(taken.map((client) => client.end()));
    return Date.now();
  });
  expect(taken.length).toBeGreaterThan(0);
  expect(faults(attempts)).toEqual([]);
});

test('the leader’s disk is full', async () => {
  let file = '';
  const attempts = await disturbed('disk full', async (leader) => {
    file = path.join(leader.folder, 'full');
    const handle = await open(file, 'w');
    const piece = Buffer.alloc(64 * 1024);
    const fill = async () => {
      for (;;) if ((await handle.write(piece)).bytesWritten < piece.length) return;
    };
    await fill().catch(() => {});
    const bad = load.attempts.length;
    // It crashes for want of room for its log, or refuses writes for as long as there is none.
    await Promise.race([promoted(other(leader)), until(async () => faultsSince(bad) > 5)]);
    await sleep(3_000);
    await handle.close();
    await rm(file, { force: true });
    await until(async () => (await cluster.leader()) !== undefined);
    return Date.now();
  });
  expect(faults(attempts)).toEqual([]);
});
const faultsSince = (index: number) => load.attempts.slice(index).filter((one) => !load.isGood(one)).length;

test('nothing that was acknowledged is lost, and nothing was done twice', async () => {
  const leader = await cluster.settled();
  await load.stop();
  const client = new pg.Client({ connectionString: cluster.superuser(leader) });
  client.on('error', () => {});
  await client.connect();
  const names = async (sql: string): Promise<string[]> =>
    (await client.query(sql, [REALM])).rows.map(({ name }) => name);
  const users = new Set(await names('select username as name from realm_user where realm_id = $1'));
  const { written, imported } = load.acknowledged;
  expect([written.size > 100, imported.size > 100]).toEqual([true, true]);
  expect([...written, ...imported].filter((name) => !users.has(name))).toEqual([]);
  // An import is whole, or it was none.
  const perImport = new Map<string, number>();
  for (const name of users) {
    const [, one] = /^(imported-\d+-\d+)-\d+$/.exec(name) ?? [];
    if (one) perImport.set(one, (perImport.get(one) ?? 0) + 1);
  }
  expect([...perImport].filter(([, count]) => count !== 20)).toEqual([]);
  // Each user was created once, and the receiver was told of each.
  const created = await names(
    `select subject->>'name' as name from event where realm_id = $1 and type = 'USER_CREATED'`,
  );
  const events = created.filter((name) => written.has(name));
  expect(events.sort()).toEqual([...written].sort());
  const told = () => new Set(receiver.received.map(({ raw }) => Object(JSON.parse(raw.toString())).subject?.name));
  await until(async () => [...written].every((name) => told().has(name)));
  await client.end();
});
