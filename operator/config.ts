// The operator's environment and arguments as one schema; every fault is reported at once. Decisions "Where it listens".
// Only main.ts reads process.env and process.argv and hands them here.
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { parseSelector, type Selector } from './runtime/selector.ts';
import type { Credential } from './session.ts';

export interface OperatorConfig {
  serverUrl: string;
  credential: Credential;
  kubeconfig: string | undefined;
  manifests: string | undefined;
  clusterName: string | undefined;
  operatorNamespace: string | undefined;
  concurrency: number;
  undeclaredRealms: boolean;
  realmNamespaces: Selector | undefined;
}

/** Every fault in environment and arguments, a line each. */
export class BadConfiguration extends Error {}
/** Somebody asked for `--help`. */
export class HelpWanted extends Error {}

export const help = `Keeps realms on a Realmkeeper server as custom resources declare them.

Usage: npm run operator -- [options]

Options
  --manifests DIR          read resources from a folder of YAML files instead of a cluster
  --cluster-name NAME      names this cluster in managers' names (default: the uid of the namespace kube-system;
                           for a folder: "folder")
  --namespace NAME         the operator's own namespace (default: the pod's); only there can master be declared
  --concurrency N          resources worked on at once (default 4)
  --undeclared-realms      let Flow, Webhook and WorkloadIdentity attach to realms that no Realm resource declares
  --realm-namespaces SEL   count Realm resources only in namespaces with these labels, e.g. team=identity,env!=dev
  --help                   this text

Environment
  SVC_SERVER_URL              where the server is, e.g. https://id.example.com (required)
  SVC_OPERATOR_CLIENT_SECRET  secret of the client "operator" of master, or
  SVC_OPERATOR_TOKEN_FILE     a projected ServiceAccount token, traded by workload identity
  KUBECONFIG                  the cluster; in a pod: its ServiceAccount

Examples
  SVC_SERVER_URL=http://localhost:8080 SVC_OPERATOR_CLIENT_SECRET=… npm run operator
  npm run operator -- --manifests ./realms --cluster-name laptop
  npm run operator -- --realm-namespaces team=identity --concurrency 8
`;

const Environment = z.object({
  SVC_SERVER_URL: z
    .url({ protocol: /^https?$/, error: 'must be the server’s address, e.g. https://id.example.com' })
    .transform((s) => s.replace(/\/+$/, '')),
  SVC_OPERATOR_CLIENT_SECRET: z.string().optional(),
  SVC_OPERATOR_TOKEN_FILE: z.string().optional(),
  KUBECONFIG: z.string().optional(),
  POD_NAMESPACE: z.string().optional(),
});

const label = (message: string) => z.string().min(1, message);
const Arguments = z.object({
  manifests: label('must name a folder').optional(),
  'cluster-name': z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,100}$/, 'may hold letters, digits and . _ -')
    .optional(),
  namespace: label('must not be empty').optional(),
  concurrency: z.coerce.number().int().min(1).max(64).default(4),
  'undeclared-realms': z.boolean().default(false),
  'realm-namespaces': z.string().optional(),
});

/** @throws BadConfiguration, HelpWanted */
export function parseOperatorConfig(
  env: Readonly<Record<string, string | undefined>>,
  argv: readonly string[],
): OperatorConfig {
  const faults: string[] = [];
  const given = argumentsOf(argv, faults);
  if (given.help) throw new HelpWanted();
  const environment = Environment.safeParse(Object.fromEntries(Object.entries(env).filter(([, v]) => v !== '')));
  const args = Arguments.safeParse(given);
  for (const issue of environment.error?.issues ?? []) faults.push(`${String(issue.path[0])}: ${issue.message}`);
  for (const issue of args.error?.issues ?? []) faults.push(`--${String(issue.path[0])}: ${issue.message}`);
  const signIns = [env.SVC_OPERATOR_CLIENT_SECRET, env.SVC_OPERATOR_TOKEN_FILE].filter(Boolean).length;
  if (signIns !== 1) {
    faults.push(`set ${signIns === 0 ? 'one' : 'only one'} of SVC_OPERATOR_CLIENT_SECRET and SVC_OPERATOR_TOKEN_FILE`);
  }
  const selector = args.success ? selectorOf(args.data['realm-namespaces'], faults) : undefined;
  if (faults.length > 0 || !environment.success || !args.success) {
    throw new BadConfiguration(
      `${faults.length === 1 ? 'There is a fault' : `There are ${faults.length} faults`}:\n${faults.map((f) => `  ${f}`).join('\n')}\nSee --help.`,
    );
  }
  const {
    SVC_SERVER_URL,
    SVC_OPERATOR_CLIENT_SECRET: secret,
    SVC_OPERATOR_TOKEN_FILE: tokenFile = '',
  } = environment.data;
  return {
    serverUrl: SVC_SERVER_URL,
    credential: secret === undefined ? { tokenFile } : { secret },
    kubeconfig: environment.data.KUBECONFIG,
    manifests: args.data.manifests,
    clusterName: args.data['cluster-name'],
    operatorNamespace: args.data.namespace ?? environment.data.POD_NAMESPACE,
    concurrency: args.data.concurrency,
    undeclaredRealms: args.data['undeclared-realms'],
    realmNamespaces: selector,
  };
}

function argumentsOf(argv: readonly string[], faults: string[]): Record<string, string | boolean | undefined> {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        manifests: text,
        'cluster-name': text,
        namespace: text,
        concurrency: text,
        'undeclared-realms': flag,
        'realm-namespaces': text,
        help: flag,
      },
    });
    return values;
  } catch (error) {
    faults.push(error instanceof Error ? error.message : String(error));
    return {};
  }
}

function selectorOf(text: string | undefined, faults: string[]): Selector | undefined {
  if (text === undefined) return undefined;
  try {
    return parseSelector(text);
  } catch (error) {
    faults.push(`--realm-namespaces: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}
