// Owns: the custom resources of a cluster as kubectl returns them, with the rights of kubectl's user.
// Does not own: the resources' meaning (operator/), files (files.ts).
// Implements: docs/cli.md: `status`, as a plugin of kubectl too.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';
import { type KindName, kindNames, plurals } from '../operator/resource.ts';
import { Condition, GROUP } from '../server/contract/resources/custom-resource.ts';
import type { Cli } from './command.ts';
import { Interrupted, Refused } from './faults.ts';

export interface ClusterOptions {
  namespace?: string;
  kubeContext?: string;
  kubeconfig?: string;
}

const Listed = z.object({
  items: z.array(
    z.object({
      kind: z.enum(kindNames),
      metadata: z.object({
        name: z.string(),
        namespace: z.string(),
        generation: z.number().default(1),
        deletionTimestamp: z.string().optional(),
      }),
      spec: z.looseObject({ realm: z.string().default(''), managementPolicy: z.string().optional() }),
      status: z
        .looseObject({ conditions: z.array(Condition).default([]), observedGeneration: z.number().optional() })
        .default({ conditions: [] }),
    }),
  ),
});
export type ClusterResource = z.infer<typeof Listed>['items'][number];

const LARGEST = 512 * 1024 * 1024;
const execute = promisify(execFile);

/** The resources of one namespace, or of all. */
export async function clusterResources(
  cli: Pick<Cli, 'io' | 'signal'>,
  options: ClusterOptions,
): Promise<ClusterResource[]> {
  const kinds = Object.values(plurals).map((plural) => `${plural}.${GROUP}`);
  const { namespace } = options;
  const where = namespace === undefined ? ['--all-namespaces'] : ['--namespace', namespace];
  return Listed.parse(await kubectlJson(cli, options, ['get', kinds.join(','), ...where])).items.sort(inOrder);
}

/** The JSON that kubectl prints. @throws Refused with kubectl's reason and a next step */
export async function kubectlJson(
  { io, signal }: Pick<Cli, 'io' | 'signal'>,
  { kubeContext, kubeconfig }: Omit<ClusterOptions, 'namespace'>,
  command: readonly string[],
): Promise<unknown> {
  const args = [
    ...command,
    ...['-o', 'json'],
    ...(kubeContext === undefined ? [] : ['--context', kubeContext]),
    ...(kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig]),
  ];
  try {
    const { stdout } = await execute('kubectl', args, { env: { ...io.env }, signal, maxBuffer: LARGEST });
    return JSON.parse(stdout);
  } catch (error) {
    if (signal.aborted) throw new Interrupted();
    const { code, stderr = '' } = Object(error);
    if (code === 'ENOENT')
      throw new Refused('kubectl was not found', 'realmctl reads the cluster by kubectl: put it on the PATH.');
    if (typeof stderr === 'string' && stderr !== '') throw kubectlRefused(stderr);
    throw error;
  }
}

/** A line of kubectl's own log (klog): `E1126 10:02:11.004 4242 memcache.go:265] "Unhandled Error" err="…"`. */
const LOGGED = /^[IWEF]\d{4} \d\d:\d\d:\d\d/;

/** kubectl logs each try before the sentence that says what is wrong. */
function kubectlRefused(stderr: string): Refused {
  const lines = stderr.split('\n').map((line) => line.trim());
  const all = lines.filter((line) => line !== '');
  const said = all.filter((line) => !LOGGED.test(line));
  const [first = '', ...rest] = [...new Set(said.length > 0 ? said : all.slice(-1))];
  return new Refused(`kubectl: ${first}`, [...rest, ...adviceFor(first)].join('\n') || undefined);
}

const AWAY = /was refused|unable to connect|no such host|no configuration|connection|timeout/i;
/** Without a kubeconfig kubectl asks localhost:8080, where Realmkeeper itself may listen. */
const NO_CLUSTER = /could not find the requested resource/i;
const NO_KINDS = /doesn't have a resource type/i;

function adviceFor(refusal: string): string[] {
  const choose = 'Choose a cluster with --kube-context, --kubeconfig or KUBECONFIG.';
  if (NO_CLUSTER.test(refusal)) return [`The server that kubectl asks is no Kubernetes API server. ${choose}`];
  if (NO_KINDS.test(refusal)) return ['Install the four kinds first: realmctl crds | kubectl apply --server-side -f -'];
  return AWAY.test(refusal) ? [choose] : [];
}

const rank = (kind: KindName): number => kindNames.indexOf(kind);
function inOrder(one: ClusterResource, other: ClusterResource): number {
  const names = ({ metadata }: ClusterResource) => `${metadata.namespace}/${metadata.name}`;
  return rank(one.kind) - rank(other.kind) || names(one).localeCompare(names(other));
}
