// A leader that stops, that nobody hears of any more, that sleeps through its Lease, or whose Lease somebody takes: real
// processes on a real API server. However its time ends, it does nothing after it.
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { getSettings } from '../../server/contract/settings.ts';
import { type Cluster, clusterAssets } from '../kubernetes/cluster.ts';
import { type Landscape, startLandscape } from '../support/landscape.ts';
import { eventually, resource } from '../support/operator.ts';
import { createOperators, LEASE_SECONDS, type Life, type Operators } from '../support/operators.ts';
import { type Relay, startRelay } from '../support/relay.ts';

const assets = await clusterAssets();

describe.skipIf(!assets.found)('a leader', () => {
  let land: Landscape<Cluster>;
  let operators: Operators;
  let relay: Relay;
  beforeAll(async () => {
    land = await startLandscape({ own: { audit: 'writes' } });
    await land.server.start();
    operators = await createOperators(land);
    relay = await startRelay(Number(new URL(land.cluster.server).port));
  });
  afterEach(async () => {
    await Promise.all(operators.lives.map(({ program }) => program.kill()));
    relay.thaw();
    await operators.forget();
  });
  afterAll(async () => {
    await land?.stop();
    await relay?.stop();
    await operators?.stop();
  });

  let made = 0;
  /** Something for whoever leads to do. */
  async function declare(displayName = `Name ${++made}`): Promise<string> {
    await land.apply(resource('Realm', 'acme', { realm: 'acme', settings: { displayName } }));
    return displayName;
  }
  const live = (displayName: string) =>
    eventually(async () => {
      const { body } = await land.client.call(getSettings, { params: { realm: 'acme' } });
      expect(body?.displayName).toBe(displayName);
    });
  /** One that reaches the cluster by the relay alone. */
  const beginBehindRelay = () =>
    operators.begin({
      async kubeconfig(file) {
        const text = await readFile(file, 'utf8');
        await writeFile(`${file}.relay`, text.replace(land.cluster.server, `https://127.0.0.1:${relay.port}`));
        return `${file}.relay`;
      },
    });
  const leads = async (life: Life) =>
    expect(await operators.leader(...operators.lives.filter((l) => l !== life))).toBe(life);
  async function standbyOf(leader: Life): Promise<Life> {
    const standby = await operators.begin();
    await eventually(async () => expect(await standby.program.said()).toContain('standing by'));
    expect(await operators.leader()).toBe(leader);
    return standby;
  }
  async function nobodyActedTwice(): Promise<void> {
    for (const turns of Object.values(await operators.turns())) expect(turns).toEqual([...new Set(turns)]);
  }

  test('acts, and who stands by asks the server for nothing', async () => {
    const leader = await operators.begin();
    await leads(leader);
    const standby = await standbyOf(leader);
    await live(await declare());
    expect(leader.way.requests.length).toBeGreaterThan(0);
    expect(standby.way.requests).toEqual([]);
    await nobodyActedTwice();
  });

  test('that is told to stop gives the Lease up and ends well, and the next begins without waiting for its end', async () => {
    const leader = await operators.begin();
    await leads(leader);
    const standby = await standbyOf(leader);
    const code = await leader.program.signal('SIGTERM');
    expect(code).toBe(0);
    expect(await leader.program.said()).toContain('released the Lease');
    expect(await operators.leader(leader)).toBe(standby);
    await live(await declare());
    await nobodyActedTwice();
  });

  test('that stands by ends well too, and leaves the Lease alone', async () => {
    const leader = await operators.begin();
    await leads(leader);
    const standby = await standbyOf(leader);
    expect(await standby.program.signal('SIGTERM')).toBe(0);
    expect(await operators.leader()).toBe(leader);
  });

  test('that cannot renew ends with 1 before another leads, whatever it was doing', async () => {
    const leader = await beginBehindRelay();
    await leads(leader);
    const standby = await standbyOf(leader);
    const ended = leader.program.ended();
    await declare();
    relay.freeze();
    const next = operators.leader(leader);
    expect(await Promise.race([ended, next])).toBe(1);
    expect(await leader.program.said()).toContain('no longer leading: it could not be renewed in time');
    expect(await next).toBe(standby);
    await live(await declare());
    await nobodyActedTwice();
  });

  test('that sleeps through its Lease does nothing when it wakes up, and ends with 1', async () => {
    const leader = await operators.begin();
    await leads(leader);
    const standby = await standbyOf(leader);
    const ended = leader.program.ended();
    // in the middle of its work
    await declare();
    await leader.program.pause();
    expect(await operators.leader(leader)).toBe(standby);
    await live(await declare());
    await leader.program.resume();
    expect(await ended).toBe(1);
    await sleep(500);
    await nobodyActedTwice();
  });

  test('whose Lease somebody else takes ends at its next renewal', async () => {
    const leader = await operators.begin();
    await leads(leader);
    const ended = leader.program.ended();
    await land.kubectl(
      ...['patch', 'lease', 'realmkeeper-operator', '-n', 'operators', '--type=merge'],
      ...['-p', JSON.stringify({ spec: { holderIdentity: 'somebody', leaseDurationSeconds: LEASE_SECONDS } })],
    );
    expect(await ended).toBe(1);
    expect(await leader.program.said()).toContain('somebody holds the Lease now');
  });

  test('keeps what others have written to the Lease', async () => {
    const leader = await operators.begin();
    await leads(leader);
    await land.kubectl('label', 'lease', 'realmkeeper-operator', '-n', 'operators', 'team=identity');
    const { holderIdentity, renewTime } = await operators.lease();
    await eventually(async () => expect((await operators.lease()).renewTime).not.toBe(renewTime));
    const text = await land.kubectl('get', 'lease', 'realmkeeper-operator', '-n', 'operators', '-o', 'json');
    const { metadata, spec } = JSON.parse(text);
    expect([metadata.labels, spec.holderIdentity]).toEqual([
      { 'app.kubernetes.io/part-of': 'realmkeeper', team: 'identity' },
      holderIdentity,
    ]);
  });

  test('is needed: two that act without a Lease do so at once, and what these tests look at shows it', async () => {
    await Promise.all([operators.begin({ election: false }), operators.begin({ election: false })]);
    for (let round = 0; round < 4; round += 1) await live(await declare());
    await eventually(async () => {
      const { server } = await operators.turns();
      expect(server.length).toBeGreaterThan(new Set(server).size);
    });
  });
});
