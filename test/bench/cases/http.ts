// Documents that everybody asks for, against node:http answering the same bytes: discovery and the key set, one core.
import { type Bench, type Case, number, resultOf, windows } from '../bench.ts';
import type { Load, LoadAsk } from '../load.ts';
import { costOf } from '../machine.ts';
import { startProgram, startWorker } from '../processes.ts';
import { freePort } from '../target.ts';

const CONNECTIONS = 64;
const raw = new URL('../yardsticks/http.ts', import.meta.url).pathname;

async function document(bench: Bench, path: string) {
  const { port, realm, serverPid, postgresPid, baseUrl } = await bench.target();
  const body = await (await fetch(baseUrl + path)).text();
  const plainPort = await freePort();
  const plain = await startProgram([raw], { env: { PORT: String(plainPort), BODY: body }, ready: 'listening' });
  const loads = [plainPort, port].map(() => startWorker<LoadAsk, Load>('load.ts'));
  try {
    await bench.pin(plain.pid, 0);
    await bench.pin(serverPid, 0);
    await bench.pin(postgresPid, 1);
    for (const { pid } of loads) await bench.pin(pid, 1);
    const [toPlain, toServer] = loads;
    if (!toPlain || !toServer) throw new Error('no load');
    const prepare = { do: 'prepare', flow: 'get', connections: CONNECTIONS } as const;
    await toPlain.ask({ ...prepare, port: plainPort, options: { realm, path } });
    await toServer.ask({ ...prepare, port, options: { realm, path } });
    for (const load of loads) await load.ask({ do: 'run', seconds: bench.seconds });
    const seconds = bench.seconds / 2;
    const costs = { plain: costOf(plain.pid), server: costOf(serverPid) };
    const taken = await windows(
      bench.rounds,
      async () => (await costs.plain.of(() => toPlain.ask({ do: 'run', seconds }))).perSecond,
      async () => (await costs.server.of(() => toServer.ask({ do: 'run', seconds }))).perSecond,
    );
    const [theirCost, ourCost] = [costs.plain.median(), costs.server.median()];
    return resultOf(
      taken,
      (ours, theirs) =>
        `${number(ours)}/s of ${number(theirs)}/s by node:http; ${number(ourCost)} µs of processor each of ` +
        `${number(theirCost)} (${number(theirCost / ourCost)}); ${body.length} bytes, 64 connections`,
    );
  } finally {
    await Promise.all([...loads.map((load) => load.stop()), plain.stop()]);
  }
}

export const httpCases: Case[] = [
  {
    name: 'discovery',
    title: 'discovery document / raw node:http',
    goal: { atLeast: 0.8 },
    run: (bench) => document(bench, '/realms/bench/.well-known/openid-configuration'),
  },
  {
    name: 'jwks',
    title: 'key set / raw node:http',
    goal: { atLeast: 0.8 },
    run: (bench) => document(bench, '/realms/bench/oauth2/jwks'),
  },
];
