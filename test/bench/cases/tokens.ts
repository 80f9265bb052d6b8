// Token requests against what the processor can sign: client_credentials on one core and on two, refresh and code exchange.
import { type Bench, type Case, median, number, resultOf, windows } from '../bench.ts';
import type { FlowName } from '../flows.ts';
import type { Load, LoadAsk } from '../load.ts';
import { costOf } from '../machine.ts';
import { startWorker } from '../processes.ts';

const CONNECTIONS = 32;
/** A server that is bound by signing needs some 40,000 requests to reach full speed (the compiler of V8). */
const WARM_REQUESTS = 40_000;

interface TokenCase {
  flow: FlowName;
  cores: 1 | 2;
  warmRequests: number;
  /** Codes and proofs are used once, so each window needs its own: more than it can use. */
  stockPerSecond?: number;
}

/** Signs on the cores of the case: the sum of a process for each. */
export async function signing(bench: Bench, cores: 1 | 2) {
  const workers = Array.from({ length: cores }, () =>
    startWorker<{ seconds: number }, number>('yardsticks/signing.ts'),
  );
  if (cores === 1) await Promise.all(workers.map(({ pid }) => bench.pin(pid, 0)));
  const rates = (seconds: number) => Promise.all(workers.map((worker) => worker.ask({ seconds })));
  await rates(0.5);
  const [first] = workers;
  const cost = costOf(first?.pid ?? 0);
  const seconds = Math.min(1, bench.seconds / 3);
  return {
    async rate(): Promise<number> {
      let sum = 0;
      await cost.of(async () => {
        const each = await rates(seconds);
        sum = each.reduce((total, rate) => total + rate, 0);
        return { done: (each[0] ?? 0) * seconds };
      });
      return sum;
    },
    cost: cost.median,
    stop: () => Promise.all(workers.map((worker) => worker.stop())),
  };
}

async function place(bench: Bench, cores: 1 | 2, load: number): Promise<void> {
  const { serverPid, postgresPid } = await bench.target();
  // On one core the server has it alone: its database and its clients are on the other.
  await bench.pin(serverPid, cores === 1 ? 0 : undefined);
  await bench.pin(postgresPid, cores === 1 ? 1 : undefined);
  await bench.pin(load, cores === 1 ? 1 : undefined);
}

async function run(bench: Bench, { flow, cores, warmRequests, stockPerSecond }: TokenCase) {
  const { port, realm, serverPid, baseUrl } = await bench.target();
  const load = startWorker<LoadAsk, Load>('load.ts');
  const limit = await signing(bench, cores);
  try {
    await place(bench, cores, load.pid);
    await load.ask({ do: 'prepare', flow, port, connections: CONNECTIONS, options: { realm, baseUrl } });
    const stock = (seconds: number) =>
      load.ask({ do: 'stock', count: Math.ceil(((stockPerSecond ?? 0) * seconds) / CONNECTIONS) });
    let done = 0;
    while (done < (bench.quick ? warmRequests / 4 : warmRequests)) {
      await stock(2);
      done += (await load.ask({ do: 'run', seconds: 2 })).done;
    }
    const p99: number[] = [];
    const cost = costOf(serverPid);
    const taken = await windows(bench.rounds, limit.rate, async () => {
      await stock(bench.seconds);
      const window = await cost.of(() => load.ask({ do: 'run', seconds: bench.seconds }));
      p99.push(window.p99);
      return window.perSecond;
    });
    const [ours, signature] = [cost.median(), limit.cost()];
    return resultOf(
      taken,
      (rate, signs) =>
        `${number(rate)}/s of ${number(signs)} signatures/s; p99 ${number(median(p99))} ms; ` +
        `${number(ours)} µs of processor each beside ${number(signature)} for a signature (${number(signature / ours)})`,
    );
  } finally {
    await load.ask({ do: 'close' }).catch(() => {});
    await Promise.all([load.stop(), limit.stop()]);
  }
}

export const tokenCases: Case[] = [
  {
    name: 'token',
    title: 'client_credentials / signing limit, one core',
    goal: { atLeast: 0.78 },
    run: (bench) => run(bench, { flow: 'client-credentials', cores: 1, warmRequests: WARM_REQUESTS }),
  },
  {
    name: 'token-two-cores',
    title: 'client_credentials / signing limit, two cores',
    goal: { atLeast: 0.7 },
    run: (bench) => run(bench, { flow: 'client-credentials', cores: 2, warmRequests: WARM_REQUESTS / 4 }),
  },
  {
    name: 'refresh',
    title: 'refresh with rotation, durable / signing limit (it signs twice: at most 0.50)',
    goal: { atLeast: 0.36 },
    run: (bench) => run(bench, { flow: 'refresh', cores: 1, warmRequests: WARM_REQUESTS / 8 }),
  },
  {
    name: 'code',
    title: 'code exchange, durable / signing limit (it signs twice: at most 0.50)',
    goal: { atLeast: 0.3 },
    run: (bench) => run(bench, { flow: 'code', cores: 1, warmRequests: WARM_REQUESTS / 16, stockPerSecond: 2200 }),
  },
  {
    name: 'dpop',
    title: 'client_credentials bound to a key, each proof once, durable / signing limit',
    goal: { atLeast: 0.2 },
    run: (bench) => run(bench, { flow: 'dpop', cores: 1, warmRequests: WARM_REQUESTS / 8, stockPerSecond: 3000 }),
  },
  {
    name: 'mtls',
    title: 'client_credentials by a certificate, which binds the token / signing limit',
    goal: { atLeast: 0.3 },
    run: (bench) => run(bench, { flow: 'mtls', cores: 1, warmRequests: WARM_REQUESTS / 4 }),
  },
  {
    name: 'par',
    title: 'pushed request, authorization and code, three requests / signing limit (it signs twice: at most 0.50)',
    goal: { atLeast: 0.1 },
    run: (bench) => run(bench, { flow: 'par', cores: 1, warmRequests: WARM_REQUESTS / 16 }),
  },
  {
    name: 'fapi2',
    title:
      'FAPI 2.0: the same with private_key_jwt and DPoP / signing limit (it signs twice and checks four signatures)',
    goal: { atLeast: 0.08 },
    run: (bench) => run(bench, { flow: 'fapi2', cores: 1, warmRequests: WARM_REQUESTS / 16 }),
  },
  {
    name: 'exchange',
    title: 'token exchange / signing limit',
    goal: { atLeast: 0.25 },
    run: (bench) => run(bench, { flow: 'exchange', cores: 1, warmRequests: WARM_REQUESTS / 8 }),
  },
  {
    name: 'decisions',
    title: 'UMA decisions over 1,000 policies, for people / signing limit (nothing is signed)',
    goal: { atLeast: 0.1 },
    run: (bench) => run(bench, { flow: 'decision', cores: 1, warmRequests: WARM_REQUESTS / 16 }),
  },
  {
    name: 'ciba',
    title: 'CIBA: polls of a request that waits / signing limit (nothing is signed)',
    goal: { atLeast: 0.1 },
    run: (bench) => run(bench, { flow: 'backchannel', cores: 1, warmRequests: WARM_REQUESTS / 16 }),
  },
  {
    name: 'authzen',
    title: 'AuthZEN evaluations over 1,000 policies, of people / signing limit (nothing is signed)',
    goal: { atLeast: 0.1 },
    run: (bench) => run(bench, { flow: 'evaluation', cores: 1, warmRequests: WARM_REQUESTS / 16 }),
  },
  {
    name: 'saml',
    title: 'SAML sign-ons in a session, each request once, assertions signed, durable / signing limit',
    goal: { atLeast: 0.15 },
    run: (bench) => run(bench, { flow: 'saml', cores: 1, warmRequests: WARM_REQUESTS / 16, stockPerSecond: 2000 }),
  },
];
