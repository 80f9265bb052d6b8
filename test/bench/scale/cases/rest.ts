// The cost of many realms for a server at rest, and for a server that has answered for each realm.
import { setTimeout as sleep } from 'node:timers/promises';
import { connectedCluster } from '../../../support/cluster.ts';
import { median, number } from '../../bench.ts';
import { processorSeconds, residentMiB } from '../../machine.ts';
import { startProgram } from '../../processes.ts';
import { freePort, serverFile } from '../../target.ts';
import { copyOf } from '../fill.ts';
import { FLAT, growthOf, type Lab, read, type ScaleCase } from '../growth.ts';
import type { Side } from '../site.ts';

/** Another server on the same installation that has answered no request yet. */
async function fresh({ env }: Side) {
  const port = await freePort();
  const program = await startProgram([serverFile], { env: { ...env, SVC_PORT: String(port) }, ready: 'listens on' });
  return { program, port };
}

async function startTimes({ site, rounds, quick }: Lab) {
  const took = { small: [] as number[], large: [] as number[] };
  for (let round = 0; round < (quick ? 1 : Math.min(5, rounds)); round += 1)
    for (const side of [site.small, site.large]) {
      const { program } = await fresh(side);
      await program.stop();
      took[side.name].push(program.milliseconds);
    }
  return growthOf({ small: median(took.small), large: median(took.large) }, 'ms');
}

/** Requests under way at once when all realms are asked for. */
const AT_ONCE = 8;
const REQUESTS = 10_000;

/** Both servers get as many requests; the large one's are each for another realm. */
async function askEvery({ size }: Side, port: number, requests: number): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let n = next++; n < requests; n = next++) {
      const realm = copyOf(1 + (n % (size.realms - 3)));
      await read(fetch(`http://localhost:${port}/realms/${realm}/.well-known/openid-configuration`));
      await read(fetch(`http://localhost:${port}/realms/${realm}/oauth2/jwks`));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function memory({ site, quick }: Lab, requests: number) {
  const found = { small: Number.NaN, large: Number.NaN };
  for (const side of [site.small, site.large]) {
    const { program, port } = await fresh(side);
    try {
      if (requests > 0) await askEvery(side, port, quick ? requests / 20 : requests);
      await sleep(2000);
      found[side.name] = residentMiB(program.pid) ?? Number.NaN;
    } finally {
      await program.stop();
    }
  }
  return growthOf(found, 'MiB');
}

/** The metrics page of a server that was asked for every realm. */
async function metricsPage(lab: Lab) {
  const took = { small: Number.NaN, large: Number.NaN };
  const bytes = { ...took };
  for (const side of [lab.site.small, lab.site.large]) {
    await askEvery(side, side.port, lab.quick ? REQUESTS / 20 : REQUESTS);
    const times: number[] = [];
    for (let i = 0; i < 9; i += 1) {
      const began = performance.now();
      bytes[side.name] = (await read(fetch(`${side.baseUrl}/actuator/metrics-text`))).length;
      times.push(performance.now() - began);
    }
    took[side.name] = median(times);
  }
  const { ratio, figures } = growthOf(took, 'ms');
  return {
    ratio,
    figures: `${figures}; ${growthOf({ small: bytes.small / 1024, large: bytes.large / 1024 }, 'KiB').figures}`,
  };
}

interface Work {
  transactions: number;
  rows: number;
  /** Seconds of a processor, by process: of the server and of its sessions in PostgreSQL. */
  seconds: ReadonlyMap<number, number>;
}
const workOf = ({ databaseUrl, server, name }: Side): Promise<Work> =>
  connectedCluster(databaseUrl, async (client) => {
    await client.query('select pg_stat_force_next_flush()');
    const { rows } = await client.query<{ transactions: string; rows: string }>(
      `select xact_commit + xact_rollback as transactions, tup_returned as rows from pg_stat_database where datname = $1`,
      [name],
    );
    const { rows: sessions } = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = $1 and backend_type = 'client backend' and pid <> pg_backend_pid()`,
      [name],
    );
    const pids = [server.pid, ...sessions.map(({ pid }) => pid)];
    const seconds = new Map(pids.map((pid) => [pid, processorSeconds(pid) ?? 0]));
    return { transactions: Number(rows[0]?.transactions), rows: Number(rows[0]?.rows), seconds };
  });

/** Both at rest at once, so that the machine's other work is the same for both. */
const grownIn: Record<keyof Work, (after: Work, before: Work) => number> = {
  transactions: (after, before) => after.transactions - before.transactions,
  rows: (after, before) => after.rows - before.rows,
  // a session that ended meanwhile is left out
  seconds: (after, before) =>
    [...after.seconds].reduce((sum, [pid, seconds]) => sum + seconds - (before.seconds.get(pid) ?? 0), 0),
};

async function atRest({ site, quick }: Lab, figure: keyof Work) {
  await sleep(quick ? 1_000 : 10_000);
  const sides = [site.small, site.large];
  const before = await Promise.all(sides.map(workOf));
  const lasts = quick ? 5 : 60;
  await sleep(lasts * 1000);
  const after = await Promise.all(sides.map(workOf));
  const [small = Number.NaN, large = Number.NaN] = after.map((work, i) => {
    const earlier = before[i];
    return earlier ? grownIn[figure](work, earlier) / lasts : Number.NaN;
  });
  return { small, large };
}

export const restCases: readonly ScaleCase[] = [
  { name: 'start', title: 'start to listening', goal: FLAT, run: startTimes },
  { name: 'memory', title: 'memory of a server that was just started', goal: FLAT, run: (lab) => memory(lab, 0) },
  {
    name: 'rest-transactions',
    title: 'at rest: transactions a second',
    goal: FLAT,
    run: async (lab) => growthOf(await atRest(lab, 'transactions'), '/s'),
  },
  {
    name: 'rest-rows',
    title: 'at rest: rows that PostgreSQL reads a second',
    goal: FLAT,
    run: async (lab) => growthOf(await atRest(lab, 'rows'), '/s'),
  },
  {
    name: 'rest-processor',
    title: 'at rest: percent of a core, of server and PostgreSQL',
    goal: { atMost: 1 },
    async run(lab) {
      const { small, large } = await atRest(lab, 'seconds');
      return { ratio: large * 100, figures: `${number(small * 100)} → ${number(large * 100)} %` };
    },
  },
];

/** Last: a server that has been asked for all realms stays as it is. */
export const allRealmsCases: readonly ScaleCase[] = [
  {
    name: 'memory-all',
    title: `memory of a server after ${REQUESTS} requests, each for another realm`,
    goal: FLAT,
    run: (lab) => memory(lab, REQUESTS),
  },
  { name: 'metrics', title: 'the metrics page, after requests for every realm', goal: FLAT, run: metricsPage },
];
