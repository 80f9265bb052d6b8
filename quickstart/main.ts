// `npm start`: runs server, examples and the operator's own reconcilers in one process; then it prints the addresses.
// It has no logic of its own: the server starts as usual, and the operator reads crds/examples/ like any folder.
// Decisions "Where it listens, what it reads" (quick start).
import path from 'node:path';
import { serverSession } from '../operator/session.ts';
import { folderSource } from '../operator/source/folder.ts';
import { orphansOf } from '../operator/source/orphans.ts';
import { type Operator, startOperator } from '../operator/start.ts';
import { BadEnvironment, type Config, parseConfig } from '../server/config.ts';
import { createClient } from '../server/contract/client.ts';
import { ClientSecret } from '../server/contract/clients.ts';
import { errorWords } from '../server/contract/error-words.ts';
import { checkAddress, type RunningServer, startServer } from '../server/start.ts';
import { answerArguments } from '../server/usage.ts';
import { personFaults, seedPerson } from './person.ts';
import { demoSecrets } from './secrets.ts';
import { welcome } from './welcome.ts';

const examples = path.join(import.meta.dirname, '..', 'crds', 'examples');
const CLUSTER = 'quickstart';
const say = (line: string) => console.log(line);

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws BadEnvironment with the server's faults and the demonstration's, all at once */
async function configOf(env: Environment): Promise<Config> {
  const { SVC_DEMO_PASSWORD: password, SVC_DEMO_CLIENT_SECRET: secret } = env;
  const faults = [
    ...(password ? (await personFaults(password)).map((fault) => `SVC_DEMO_PASSWORD: ${fault}`) : []),
    ...(secret ? issuesOf(ClientSecret, secret).map((fault) => `SVC_DEMO_CLIENT_SECRET: ${fault}`) : []),
  ];
  let config: Config | undefined;
  try {
    config = parseConfig(env);
  } catch (error) {
    if (!(error instanceof BadEnvironment)) throw error;
    faults.unshift(...error.faults);
  }
  if (!config || faults.length > 0) throw new BadEnvironment(faults);
  return config;
}

const issuesOf = (schema: typeof ClientSecret, value: string) =>
  schema.safeParse(value).error?.issues.map(({ message }) => message) ?? [];

/** @param interrupt also ends the start: the running parts are stopped, and the function throws */
async function start(env: Environment, interrupt: AbortSignal): Promise<{ server: RunningServer; operator: Operator }> {
  // before anything is created: users easily miss a password that is printed once, above an error
  await checkAddress(await configOf(env));
  const secrets = await demoSecrets(env, path.resolve(env.SVC_DATA_DIR || '.data'));
  const environment = { SVC_LOG_LEVEL: 'warn', ...env, SVC_OPERATOR_CLIENT_SECRET: secrets.operator };
  say('Starting the server…');
  const server = await startServer(environment, say);
  let operator: Operator | undefined;
  try {
    interrupt.throwIfAborted();
    const serverUrl = server.address;
    const authorize = serverSession({ serverUrl, credential: { secret: secrets.operator }, fetch });
    const client = createClient({ baseUrl: serverUrl, fetch, authorize });
    say('Applying crds/examples/…');
    const source = folderSource({
      dir: examples,
      secrets: new Map([
        ['default/demo-secrets/demo-service', secrets.demoClientSecret],
        ['default/demo-secrets/webhook', secrets.webhook],
      ]),
      orphans: [() => orphansOf(client, { clusterName: CLUSTER })],
      log: say,
    });
    operator = await startOperator({
      source,
      client,
      clusterName: CLUSTER,
      log: ({ resource, message }) => say(resource ? `${resource}: ${message}` : message),
    });
    await settled(operator, interrupt);
    await seedPerson(client, secrets.demoPassword);
    say(
      welcome({
        baseUrl: server.config.baseUrl,
        administrator: server.administrator,
        secrets: secrets.shown ? undefined : secrets,
        keptIn: path.relative('', secrets.file),
        resources: operator.resources(),
      }),
    );
    await secrets.markShown();
    return { server, operator };
  } catch (error) {
    await operator?.stop();
    await server.stop();
    throw error;
  }
}

const PATIENCE_MS = 60_000;
const LOOK_EVERY_MS = 100;

/**
 * Waits until all resources are ready, or for a while: attached resources wait for their Realm, so one pass isn't
 * enough.
 */
async function settled(operator: Operator, interrupt: AbortSignal): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  do {
    interrupt.throwIfAborted();
    await operator.idle();
    if (operator.resources().every(({ ready }) => ready)) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  } while (Date.now() < until);
}

async function main(): Promise<void> {
  const interrupt = new AbortController();
  // a closed terminal (SIGHUP) breaks the output, but the shutdown must still run in order
  process.stdout.on('error', () => {});
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => {
      // a terminal's Ctrl-C comes twice: from the terminal itself and from npm
      if (!interrupt.signal.aborted) say('Stopping…');
      interrupt.abort();
    });
  let running: { server: RunningServer; operator: Operator };
  try {
    running = await start(process.env, interrupt.signal);
  } catch (error) {
    if (interrupt.signal.aborted) process.exit(0);
    const why = errorWords(error);
    say(error instanceof BadEnvironment ? why : `Cannot start: ${why}`);
    process.exitCode = 1;
    return;
  }
  let stopping = false;
  const stop = async (code: number) => {
    if (stopping) return;
    stopping = true;
    await running.operator.stop();
    await running.server.stop();
    process.exit(code);
  };
  if (interrupt.signal.aborted) return stop(0);
  interrupt.signal.addEventListener('abort', () => void stop(0));
  const failure = await running.server.failed;
  say(failure.message);
  await stop(1);
}

const args = process.argv.slice(2);
if (args.length === 0) await main();
else process.exitCode = answerArguments(args, 'quick start', { out: say, fault: console.error });
