// `npm run operator`: the operator alone, on a cluster or on a folder. Stops gracefully on SIGTERM and SIGINT.
// It reads the environment and the arguments, and nothing else does. Decisions "Where it listens, what it reads".
import { createClient } from '../server/contract/client.ts';
import { BadConfiguration, HelpWanted, help, type OperatorConfig, parseOperatorConfig } from './config.ts';
import type { Monitoring } from './monitoring.ts';
import { selects } from './runtime/selector.ts';
import { serverSession } from './session.ts';
import { folderSource } from './source/folder.ts';
import { orphansOf } from './source/orphans.ts';
import type { Source } from './source/source.ts';
import { type Operator, startOperator } from './start.ts';

const say = (line: string) => console.error(line);

interface Place {
  source: Source;
  clusterName: string;
}

async function placeOf(
  config: OperatorConfig,
  client: ReturnType<typeof createClient>,
  watchFailed?: (kind: string) => void,
): Promise<Place> {
  if (config.manifests === undefined) {
    // Half a second and 90 MiB to load, so only where a cluster is asked for.
    const { clusterSource, clusterUid } = await import('./source/cluster.ts');
    const options = { kubeconfig: config.kubeconfig, log: say, watchFailed };
    return { source: await clusterSource(options), clusterName: config.clusterName ?? (await clusterUid(options)) };
  }
  const clusterName = config.clusterName ?? 'folder';
  const orphans = () => orphansOf(client, clusterName);
  return { source: folderSource({ dir: config.manifests, orphans, log: say }), clusterName };
}

async function start(config: OperatorConfig, monitoring: Monitoring | undefined): Promise<Operator> {
  const { serverUrl, credential, realmNamespaces } = config;
  const client = createClient({
    baseUrl: serverUrl,
    fetch,
    authorize: serverSession({ serverUrl, credential, fetch }),
  });
  const { source, clusterName } = await placeOf(config, client, monitoring?.metrics.watchFailed);
  const operator = await startOperator({
    source,
    client,
    clusterName,
    operatorNamespace: config.operatorNamespace,
    undeclaredRealms: config.undeclaredRealms,
    realmNamespaces: realmNamespaces && ((labels) => selects(realmNamespaces, labels)),
    concurrency: config.concurrency,
    metrics: monitoring?.metrics,
    log: ({ resource, message }) => say(resource ? `${resource}: ${message}` : message),
  });
  monitoring?.follow(operator);
  say(`Watching ${config.manifests ?? 'the cluster'} as ${clusterName}; server ${serverUrl}`);
  return operator;
}

async function main(): Promise<void> {
  let monitoring: Monitoring | undefined;
  try {
    const config = parseOperatorConfig(process.env, process.argv.slice(2));
    monitoring = config.listen && (await (await import('./monitoring.ts')).startMonitoring(config.listen));
    const operator = await start(config, monitoring);
    let stopping = false;
    const stop = async () => {
      if (stopping) return;
      stopping = true;
      await operator.stop();
      process.exit(0);
    };
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop());
  } catch (error) {
    if (error instanceof HelpWanted) return console.log(help);
    say(
      error instanceof BadConfiguration
        ? error.message
        : `Cannot start: ${error instanceof Error ? error.message : String(error)}`,
    );
    await monitoring?.stop();
    process.exitCode = 1;
  }
}

await main();
