// `npm run operator`: the operator alone, on a cluster or on a folder. Stops gracefully on SIGTERM and SIGINT.
// Only this file reads the environment and the arguments. Decisions "Where it listens, what it reads".
import { hostname } from 'node:os';
import v8 from 'node:v8';
import { type Client, createClient } from '../server/contract/client.ts';
import { errorWords } from '../server/contract/error-words.ts';
import { logLines } from '../server/contract/log-lines.ts';
import { helpOf } from '../server/contract/program-words.ts';
import { VERSION } from '../server/contract/version.ts';
import { startWantedTelemetry } from '../server/telemetry/wanted.ts';
import { BadConfiguration, HelpWanted, help, misspelt, type OperatorConfig, parseOperatorConfig } from './config.ts';
import type { Leadership } from './leadership.ts';
import type { Monitoring } from './monitoring.ts';
import type { Resource } from './resource.ts';
import { alwaysPermitted, permittedFetch } from './runtime/permit.ts';
import { selects } from './runtime/selector.ts';
import { servedBy } from './runtime/server-ref.ts';
import { fetchOf, type ServerConfig } from './servers.ts';
import { issuerOfTokenIn } from './service-account-token.ts';
import { serverSession } from './session.ts';
import { folderSource } from './source/folder.ts';
import { orphansOf } from './source/orphans.ts';
import type { Source } from './source/source.ts';
import { splitSource } from './source/split.ts';
import { type Operator, startOperator } from './start.ts';

// V8 lets the space of young objects grow to 128 MiB under load, more than the operator's cache of thousands of
// resources needs.
v8.setFlagsFromString('--semi-space-growth-factor=1');

const log = logLines((line) => console.error(line));
const say = (line: string) => log.info(line);

/** How long running passes may take to end before they are aborted; a kubelet kills the process after 30 seconds. */
const GRACE_MS = 10_000;

interface WatchedPlace {
  source: Source;
  clusterName: string;
}

/** A server, and the operator's connection to it. */
interface Served {
  config: ServerConfig;
  client: Client;
}

async function placeOf(
  config: OperatorConfig,
  served: readonly Served[],
  serves: (resource: Resource) => boolean,
  { permit = alwaysPermitted, connections }: Partial<Leadership>,
  watchFailed?: (kind: string) => void,
): Promise<WatchedPlace> {
  if (config.manifests === undefined) {
    // Loading takes half a second and 90 MiB, so it happens only for a cluster.
    const { clusterSource, clusterUid } = await import('./source/cluster.ts');
    const options = { kubeconfig: config.kubeconfig, log: say };
    const clusterName = config.clusterName ?? (await clusterUid(options));
    const { watchNamespaces: namespaces, secretNamespaces } = config;
    const [tokenFile] = config.servers.flatMap(({ credential }) =>
      'tokenFile' in credential ? credential.tokenFile : [],
    );
    const tokenIssuer = tokenFile === undefined ? undefined : await issuerOfTokenIn(tokenFile);
    const source = clusterSource({
      ...options,
      serves,
      watchFailed,
      permit,
      connections,
      namespaces,
      secretNamespaces,
      tokenIssuer,
    });
    return { source, clusterName };
  }
  const clusterName = config.clusterName ?? 'folder';
  const orphans = served.map(
    ({ client, config: { name } }) =>
      () =>
        orphansOf(client, { clusterName, serverName: name }),
  );
  return { source: folderSource({ dir: config.manifests, orphans, serves, log: say }), clusterName };
}

async function start(
  config: OperatorConfig,
  leadership: Leadership | undefined,
  monitoring: Monitoring | undefined,
): Promise<Whole> {
  const permit = leadership?.permit ?? alwaysPermitted;
  const served = config.servers.map((server): Served => {
    const fetch = permittedFetch(permit, fetchOf(server, leadership?.connections));
    const { url: serverUrl, credential } = server;
    const authorize = serverSession({ serverUrl, credential, fetch });
    return { config: server, client: createClient({ baseUrl: serverUrl, fetch, authorize }) };
  });
  const names = config.servers.map(({ name }) => name);
  const serves = names.map((name) => servedBy(name, names));
  const isServed = (resource: Resource) => serves.some((byOne) => byOne(resource));
  const { source, clusterName } = await placeOf(
    config,
    served,
    isServed,
    leadership ?? {},
    monitoring?.metrics.watchFailed,
  );
  const sources = splitSource(source, serves);
  const operators = await Promise.all(
    served.map(({ config: { name }, client }, at) =>
      startOperator({
        ...common(config),
        source: sources[at] ?? source,
        client,
        clusterName,
        serverName: name,
        metrics: monitoring?.metrics,
      }),
    ),
  );
  const operator = together(operators);
  monitoring?.follow(operator);
  const what = config.manifests ?? (config.watchNamespaces.join(', ') || 'the cluster');
  const where = config.servers.map(({ name, url }) => (name === undefined ? url : `${url} (${name})`)).join(', ');
  say(`Watching ${what} as ${clusterName}; server ${where}`);
  return operator;
}

const common = ({ realmNamespaces, ...config }: OperatorConfig) => ({
  operatorNamespace: config.operatorNamespace,
  undeclaredRealms: config.undeclaredRealms,
  realmNamespaces: realmNamespaces && ((labels: Readonly<Record<string, string>>) => selects(realmNamespaces, labels)),
  realmNames: config.realmNames,
  concurrency: config.concurrency,
  resyncMs: config.resyncMs,
  standby: config.leaderElection !== undefined,
  log: ({ resource, message }: { resource?: string; message: string }) =>
    resource ? log.info(`${resource}: ${message}`, { resource }) : log.info(message),
});

/** The functions that main.ts calls on the operators of all servers together. */
type Whole = Pick<Operator, 'runningSince' | 'act' | 'stop'>;
const together = (operators: readonly Operator[]): Whole => ({
  runningSince() {
    const since = operators.flatMap((one) => one.runningSince() ?? []);
    return since.length === 0 ? undefined : Math.min(...since);
  },
  async act() {
    await Promise.all(operators.map((one) => one.act()));
  },
  async stop() {
    await Promise.all(operators.map((one) => one.stop()));
  },
});

async function leadershipOf(config: OperatorConfig): Promise<Leadership | undefined> {
  if (!config.leaderElection) return undefined;
  const { createLeadership } = await import('./leadership.ts');
  return createLeadership({
    kubeconfig: config.kubeconfig,
    namespace: config.operatorNamespace,
    name: config.leaderElection.leaseName,
    leaseSeconds: config.leaderElection.leaseSeconds,
    hostname: hostname(),
    log: say,
  });
}

async function run(config: OperatorConfig): Promise<void> {
  log.info('Realmkeeper operator starts', { version: VERSION, node: process.version });
  const telemetry = await startWantedTelemetry({ env: process.env, service: 'realmkeeper-operator' });
  let operator: Whole | undefined;
  let leadership: Leadership | undefined;
  let stopping = false;
  async function stop(): Promise<void> {
    if (stopping) process.exit(1);
    stopping = true;
    setTimeout(() => leadership?.abort('it took too long to stop'), GRACE_MS).unref();
    await operator?.stop().catch((error: unknown) => log.error(errorWords(error)));
    await leadership?.stop();
    await telemetry?.stop();
    log.info('Realmkeeper operator has stopped');
    process.exit(0);
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop());

  const monitoring = config.listen && (await (await import('./monitoring.ts')).startMonitoring(config.listen));
  if (monitoring) telemetry?.measure(monitoring.metrics.registry);
  leadership = await leadershipOf(config);
  operator = await start(config, leadership, monitoring);
  monitoring?.metrics.leading(leadership === undefined);
  if (stopping) return;
  leadership?.start({
    acquired() {
      monitoring?.metrics.leading(true);
      void operator?.act();
    },
    lost: () => process.exit(1),
  });
}

async function main(): Promise<void> {
  try {
    const config = parseOperatorConfig(process.env, process.argv.slice(2));
    for (const { variable, meant } of misspelt(process.env))
      log.warn(`The variable ${variable} is not known and has no effect; did you mean ${meant}?`);
    await run(config);
  } catch (error) {
    if (error instanceof HelpWanted) return console.log(helpOf(help, process.argv[1]));
    log.error(error instanceof BadConfiguration ? error.message : `Cannot start: ${errorWords(error)}`);
    process.exit(1);
  }
}

await main();
