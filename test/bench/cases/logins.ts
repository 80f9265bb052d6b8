// Sign-ins with a password through the realm's pages, against argon2id alone; and what they do to tokens meanwhile.
import { type Bench, type Case, median, number, resultOf, windows } from '../bench.ts';
import type { FlowName } from '../flows.ts';
import type { Load, LoadAsk } from '../load.ts';
import { cores, costOf, processorSecondsOfAll } from '../machine.ts';
import { startWorker } from '../processes.ts';

/** As with tokens. With 16 the server's two threads are just busy, and answer few together. */
const LOGIN_CONNECTIONS = 32;
const TOKEN_CONNECTIONS = 4;
/** Three requests each: until what they run is compiled for good, and each of the pool's connections has prepared what it runs. */
const WARM_LOGINS = 5_000;

async function loadOf(bench: Bench, flow: FlowName, connections: number) {
  const { port, realm } = await bench.target();
  const load = startWorker<LoadAsk, Load>('load.ts');
  await load.ask({ do: 'prepare', flow, port, connections, options: { realm } });
  return {
    run: (seconds: number) => load.ask({ do: 'run', seconds }),
    async stop() {
      await load.ask({ do: 'close' }).catch(() => {});
      await load.stop();
    },
  };
}

async function everywhere(bench: Bench): Promise<void> {
  const { serverPid, postgresPid } = await bench.target();
  await bench.pin(serverPid, undefined);
  await bench.pin(postgresPid, undefined);
}

async function passwordLogins(bench: Bench) {
  await everywhere(bench);
  const logins = await loadOf(bench, 'login', LOGIN_CONNECTIONS);
  const hashing = startWorker<{ seconds: number }, number>('yardsticks/hashing.ts', [String(cores)]);
  const { serverPid, postgresPid } = await bench.target();
  const server = costOf(serverPid);
  const database = costOf(postgresPid, processorSecondsOfAll);
  const hash = costOf(hashing.pid);
  async function hashes(): Promise<number> {
    const seconds = Math.min(2, bench.seconds / 2);
    let rate = 0;
    await hash.of(async () => {
      rate = await hashing.ask({ seconds });
      return { done: rate * seconds };
    });
    return rate;
  }
  try {
    let done = 0;
    while (done < (bench.quick ? WARM_LOGINS / 10 : WARM_LOGINS)) done += (await logins.run(bench.seconds)).done;
    const taken = await windows(bench.rounds, hashes, async () => {
      const window = await server.of(() => database.of(() => logins.run(bench.seconds)));
      return window.perSecond;
    });
    return resultOf(
      taken,
      (rate, limit) =>
        `${number(rate)} people/s, three requests each, of ${number(limit)} hashes/s in ${cores} threads; ` +
        `${number(server.median())} µs of processor each and ${number(database.median())} of the database's, ` +
        `beside ${number(hash.median())} for a hash`,
    );
  } finally {
    await Promise.all([logins.stop(), hashing.stop()]);
  }
}

/** The tail of token requests while people's passwords saturate the machine, over the same tail without them. */
async function tail(bench: Bench) {
  await everywhere(bench);
  const logins = await loadOf(bench, 'login', LOGIN_CONNECTIONS);
  const tokens = await loadOf(bench, 'client-credentials', TOKEN_CONNECTIONS);
  try {
    await tokens.run(bench.seconds);
    const loads: { tokens: Load; logins: Load }[] = [];
    const taken = await windows(
      bench.rounds,
      async () => (await tokens.run(bench.seconds)).p99,
      async () => {
        const [withLogins, people] = await Promise.all([tokens.run(bench.seconds), logins.run(bench.seconds)]);
        loads.push({ tokens: withLogins, logins: people });
        return withLogins.p99;
      },
    );
    const of = (rate: (load: (typeof loads)[number]) => number) => number(median(loads.map(rate)));
    return resultOf(
      taken,
      (loaded, alone) =>
        `p99 ${number(loaded)} ms beside ${number(alone)} ms alone; meanwhile ${of((l) => l.tokens.perSecond)} tokens/s ` +
        `and ${of((l) => l.logins.perSecond)} sign-ins/s`,
    );
  } finally {
    await Promise.all([logins.stop(), tokens.stop()]);
  }
}

export const loginCases: Case[] = [
  { name: 'login', title: 'password sign-ins / argon2id limit', goal: { atLeast: 0.85 }, run: passwordLogins },
  { name: 'tail', title: 'token p99 while sign-ins saturate / alone', goal: { atMost: 3 }, run: tail },
];
