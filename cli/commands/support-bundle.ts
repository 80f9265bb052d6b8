// `realmctl support-bundle`: one file with what a supporter needs to know of an installation, and without what is secret or personal.
import type { TarFileInput } from 'nanotar';
import { allRows } from '../../server/contract/client.ts';
import { getAuditConfig, getMetricsSummary } from '../../server/contract/monitoring.ts';
import { listRealms } from '../../server/contract/realms.ts';
import type { ClusterOptions } from '../cluster.ts';
import { type Cli, type Connection, examples, type Register } from '../command.ts';
import { faultOf, Interrupted, Refused } from '../faults.ts';
import { clusterFindings, serverFindings } from '../installation.ts';
import { writeLine } from '../output.ts';
import { createRedaction, type Redaction } from '../redaction.ts';
import { writeWhole } from '../whole-file.ts';

interface Options extends Omit<ClusterOptions, 'namespace'> {
  file?: string;
  cluster?: true;
  realmNames?: true;
}

export const registerSupportBundle: Register = (program, cli) => {
  const command = program
    .command('support-bundle')
    .description('write a file for support: checks, health, metrics, states; no secrets, no personal data')
    .option('-f, --file <file>', 'this file; - is standard output (default: realmkeeper-support-TIME.tar.gz)')
    .option('--cluster', 'also the states of the resources in the cluster that kubectl uses')
    .option('--kube-context <name>', 'that context of the kubeconfig')
    .option('--kubeconfig <file>', 'that kubeconfig')
    .option('--realm-names', 'with the names of realms, which are replaced otherwise');
  examples(
    command,
    'realmctl support-bundle',
    'realmctl support-bundle --cluster -f bundle.tar.gz',
    'realmctl support-bundle -f - | tar -xzO support/README.txt',
    '',
    'Needs realm:read and events:read over every realm. What can’t be had is listed in README.txt.',
  ).action((options: Options) => bundle(cli, options));
};

/** A file of the bundle; `make` throws where it can't be had. */
interface Part {
  name: string;
  make(): Promise<string>;
}

async function bundle(cli: Cli, { file, cluster, realmNames, ...options }: Options): Promise<void> {
  const connection = await cli.connect();
  const wanted = cluster ?? (options.kubeContext !== undefined || options.kubeconfig !== undefined);
  const redaction = createRedaction(realmNames ? [] : await allRealms(connection, cli.signal));
  const parts = [...serverParts(cli, connection, redaction), ...(wanted ? [clusterPart(cli, options, redaction)] : [])];
  const files: TarFileInput[] = [];
  const missing: string[] = [];
  for (const { name, make } of parts) {
    try {
      files.push({ name: `support/${name}`, data: await make() });
    } catch (error) {
      if (error instanceof Interrupted) throw error;
      const reason = redaction.text(faultOf(error).lines.join(' '));
      missing.push(`${name}: ${reason}`);
      writeLine(cli.io, `Left out ${name}: ${reason}`);
    }
  }
  if (files.length === 0) throw new Refused('nothing could be gathered', missing[0]);
  files.unshift({ name: 'support/README.txt', data: readMe(files, missing, { realmNames: realmNames ?? false }) });
  const { createTarGzip } = await import('nanotar');
  const bytes = await createTarGzip(files, { attrs: { mode: '600' } });
  if (file === '-') {
    cli.io.stdout.write(bytes);
    return;
  }
  const target = file ?? `realmkeeper-support-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}.tar.gz`;
  await writeWhole(target, [bytes], { secret: true });
  writeLine(cli.io, `Wrote ${target}: ${files.length} files. Look through it before you send it: tar -xzf ${target}`);
}

async function allRealms({ client }: Connection, signal: AbortSignal): Promise<string[]> {
  const names: string[] = [];
  for await (const { realm } of allRows(client, listRealms, { signal })) names.push(realm);
  return names;
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

function serverParts({ signal }: Cli, connection: Connection, redaction: Redaction): Part[] {
  const { client, fetch } = connection;
  return [
    {
      name: 'checks.json',
      async make() {
        const { report, findings } = await serverFindings(connection, signal);
        return json(redaction.value({ ...report, checks: findings }));
      },
    },
    {
      name: 'health.json',
      make: async () => json(redaction.value(await (await fetch('/actuator/health', { signal })).json())),
    },
    {
      name: 'metrics.txt',
      make: async () => redaction.metrics(await (await fetch('/actuator/metrics-text', { signal })).text()),
    },
    {
      name: 'sums.json',
      make: async () => json((await client.call(getMetricsSummary, { signal })).body),
    },
    {
      name: 'audit.json',
      make: async () => json(redaction.value((await client.call(getAuditConfig, { signal })).body)),
    },
  ];
}

const clusterPart = (cli: Cli, options: ClusterOptions, redaction: Redaction): Part => ({
  name: 'cluster.json',
  async make() {
    const { resources, findings } = await clusterFindings(cli, options);
    const states = resources.map(({ kind, metadata, spec, status }) => ({
      kind,
      metadata,
      realm: spec.realm,
      managementPolicy: spec.managementPolicy,
      observedGeneration: status.observedGeneration,
      conditions: status.conditions,
    }));
    return json(redaction.value({ checks: findings, resources: states }));
  },
});

function readMe(
  files: readonly TarFileInput[],
  missing: readonly string[],
  { realmNames }: { realmNames: boolean },
): string {
  return [
    `Realmkeeper, ${new Date().toISOString()}`,
    '',
    'Files:',
    ...files.map(({ name }) => `  ${name.replace(/^support\//, '')}`),
    ...(missing.length === 0 ? [] : ['', 'Left out:', ...missing.map((one) => `  ${one}`)]),
    '',
    'Replaced: e-mail and IP addresses, hosts and queries of URLs, tokens and other long values.',
    realmNames ? 'Names of realms are as they are.' : 'Names of realms are replaced by numbers.',
    'As they are: names of webhooks, directories, clients and resources; addresses of the server’s components in names.',
    'No configuration of a realm, no user, no event and no log is in here.',
    '',
  ].join('\n');
}
