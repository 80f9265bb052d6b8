// `npm run operator`: the operator alone, on a cluster or on a folder. Stops gracefully on SIGTERM and SIGINT.
// It reads the environment and the arguments, and nothing else does. Decisions "Where it listens, what it reads".
import { hostname } from 'node:os';
import v8 from 'node:v8';
import { type Client, createClient } from '../server/contract/client.ts';
import { errorWords } from '../server/contract/error-words.ts';
import { helpOf } from '../server/contract/program-words.ts';
import { BadConfiguration, HelpWanted, help, type OperatorConfig, parseOperatorConfig } from './config.ts';
import type { Leadership } from './leadership.ts';
import type { Monitoring } from './monitoring.ts';
import { always, permittedFetch } from './runtime/permit.ts';
import { selects } from './runtime/selector.ts';
import { servedBy } from './runtime/server-ref.ts';
import { issuerOfTokenIn } from './service-account-token.ts';
import { serverSession } from './session.ts';
import { folderSource } from './source/folder.ts';
import { orphansOf } from './source/orphans.ts';
import type { Source } from './source/source.ts';
import { type Operator, startOperator } from './start.ts';

// V8 lets the space of young objects grow to 128 MiB under load, more than all that is kept of thousands of resources.
v8.setFlagsFromString('--semi-space-growth-factor=1');

const say = (line: string) => console.error(line);

/** How long passes may take to end before they are cut off; a kubelet kills after 30 seconds. */
const GRACE_MS = 10_000;

interface Place {
  source: Source;
  clusterName: string;
}

async function placeOf(
  config: OperatorConfig,
  client: Client,
  { permit = always, connections }: Partial<Leadership>,
  watchFailed?: (kind: string) => void,
): Promise<Place> {
  const serves = servedBy(config.serverName);
  if (config.manifests === undefined) {
    // Half a second and 90 MiB to load, so only where a cluster is asked for.
    const { clusterSource, clusterUid } = await import('./source/cluster.ts');
    const options = { kubeconfig: config.kubeconfig, log: say };
    const clusterName = config.clusterName ?? (await clusterUid(options));
    const namespaces = config.watchNamespaces;
    const { credential } = config;
    const tokenIssuer = 'tokenFile' in credential ? await issuerOfTokenIn(credential.tokenFile) : undefined;
    const source = clusterSource({ ...options, serves, watchFailed, permit, connections, namespaces, tokenIssuer });
    return { source, clusterName };
  }
  const clusterName = config.clusterName ?? 'folder';
  const orphans = () => orphansOf(client, { clusterName, serverName: config.serverName });
  return { source: folderSource({ dir: config.manifests, orphans, serves, log: say }), clusterName };
}

async function start(
  config: OperatorConfig,
  leadership: Leadership | undefined,
  monitoring: Monitoring | undefined,
): Promise<Operator> {
  const { serverUrl, credential, realmNamespaces } = config;
  const permit = leadership?.permit ?? always;
  const fetch = permittedFetch(permit, globalThis.fetch);
  const client = createClient({
    baseUrl: serverUrl,
    fetch,
    authorize: serverSession({ serverUrl, credential, fetch }),
  });
  const { source, clusterName } = await placeOf(config, client, leadership ?? {}, monitoring?.metrics.watchFailed);
  const operator = await startOperator({
    source,
    client,
    clusterName,
    operatorNamespace: config.operatorNamespace,
    undeclaredRealms: config.undeclaredRealms,
    realmNamespaces: realmNamespaces && ((labels) => selects(realmNamespaces, labels)),
    realmNames: config.realmNames,
    serverName: config.serverName,
    concurrency: config.concurrency,
    resyncMs: config.resyncMs,
    metrics: monitoring?.metrics,
    standby: config.leaderElection !== undefined,
    log: ({ resource, message }) => say(resource ? `${resource}: ${message}` : message),
  });
  monitoring?.follow(operator);
  const what = config.manifests ?? (config.watchNamespaces.join(', ') || 'the cluster');
  const name = config.serverName === undefined ? '' : ` (${config.serverName})`;
  say(`Watching ${what} as ${clusterName}; server ${serverUrl}${name}`);
  return operator;
}

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
  let operator: Operator | undefined;
  let leadership: Leadership | undefined;
  let stopping = false;
  async function stop(): Promise<void> {
    if (stopping) process.exit(1);
    stopping = true;
    setTimeout(() => leadership?.abort('it took too long to stop'), GRACE_MS).unref();
    await operator?.stop().catch((error: unknown) => say(errorWords(error)));
    await leadership?.stop();
    process.exit(0);
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop());

  const monitoring = config.listen && (await (await import('./monitoring.ts')).startMonitoring(config.listen));
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
    await run(parseOperatorConfig(process.env, process.argv.slice(2)));
  } catch (error) {
    if (error instanceof HelpWanted) return console.log(helpOf(help, process.argv[1]));
    say(error instanceof BadConfiguration ? error.message : `Cannot start: ${errorWords(error)}`);
    process.exit(1);
  }
}

await main();
