// Start-up of the bundle against bare Node, with PostgreSQL up and the schema current; memory at rest and after load.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, type Case, number, type Result, resultOf, windows } from '../bench.ts';
import type { Load, LoadAsk } from '../load.ts';
import { residentMiB } from '../machine.ts';
import { startProgram, startWorker } from '../processes.ts';
import { freePort, serverFile } from '../target.ts';

/**
 * Another server on the same database, which nobody has asked for anything yet: a replica. It has an address of its own where it
 * is to be asked by it; else, as replicas do, it has that of the first.
 */
export async function second(bench: Bench, { ownAddress = false } = {}) {
  const { env, baseUrl: shared } = await bench.target();
  const port = await freePort();
  const baseUrl = ownAddress ? `http://localhost:${port}` : shared;
  const more = { ...env, SVC_PORT: String(port), SVC_BASE_URL: baseUrl };
  return { port, baseUrl, env, program: await startProgram([serverFile], { env: more, ready: 'listens on' }) };
}

async function start(bench: Bench): Promise<Result> {
  const bare = async () => {
    const times: number[] = [];
    for (let i = 0; i < 5; i += 1)
      times.push((await startProgram(['-e', '0'], { env: {}, ready: undefined })).milliseconds);
    return times.toSorted((a, b) => a - b)[2] ?? Number.NaN;
  };
  const ours = async () => {
    const { program } = await second(bench);
    await program.stop();
    return program.milliseconds;
  };
  await ours();
  const taken = await windows(bench.rounds + 2, bare, ours);
  return resultOf(
    taken,
    (server, node) => `${number(server)} ms to listening of ${number(node)} ms for node -e 0; bundle and compile cache`,
  );
}

/** A second server on the same database: the first has a history. */
async function memory(bench: Bench, seconds: number): Promise<Result> {
  const { realm } = await bench.target();
  const { port, program } = await second(bench);
  const load = startWorker<LoadAsk, Load>('load.ts');
  try {
    await sleep(2000);
    let most = residentMiB(program.pid) ?? Number.NaN;
    const peak = setInterval(() => {
      most = Math.max(most, residentMiB(program.pid) ?? most);
    }, 100);
    if (seconds > 0) {
      const options = { realm };
      await load.ask({ do: 'prepare', flow: 'client-credentials', port, connections: 32, options });
      await load.ask({ do: 'run', seconds });
    }
    clearInterval(peak);
    const figures = `${number(most)} MiB ${seconds > 0 ? 'at most under 32 connections of client_credentials' : 'two seconds after listening'}`;
    return { ratio: most, windows: 1, quietWindows: 1, figures };
  } finally {
    await load.stop();
    await program.stop();
  }
}

export const startCases: Case[] = [
  { name: 'start', title: 'start to listening / bare Node', goal: { atMost: 8 }, run: start },
  { name: 'memory-idle', title: 'resident memory at rest, MiB', goal: { atMost: 90 }, run: (b) => memory(b, 0) },
  {
    name: 'memory-loaded',
    title: 'resident memory under token load, MiB',
    goal: { atMost: 170 },
    run: (b) => memory(b, b.quick ? 3 : 15),
  },
];
