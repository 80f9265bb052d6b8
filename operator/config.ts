// The operator's environment and arguments as one schema; every fault is reported at once. Decisions "Where it listens,
// what it reads". Only main.ts reads process.env and process.argv and passes them here.
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { errorWords } from '../server/contract/error-words.ts';
import '../server/contract/field-words.ts';
import { type UnknownVariable, unknownVariables } from '../server/contract/similar.ts';
import { parseRealmNames, type RealmNames } from './runtime/realm-names.ts';
import { parseSelector, type Selector } from './runtime/selector.ts';
import { parseServer, type ServerConfig, ServerName, ServerUrl } from './servers.ts';

export interface OperatorConfig {
  /** At least one server; all have different names. */
  servers: readonly ServerConfig[];
  kubeconfig: string | undefined;
  manifests: string | undefined;
  clusterName: string | undefined;
  operatorNamespace: string | undefined;
  concurrency: number;
  /** Milliseconds. */
  resyncMs: number;
  undeclaredRealms: boolean;
  realmNamespaces: Selector | undefined;
  realmNames: RealmNames | undefined;
  /** undefined: this process is the only one, or another mechanism ensures that only one acts. */
  leaderElection: { leaseName: string; leaseSeconds: number } | undefined;
  /** Empty: all namespaces. */
  watchNamespaces: readonly string[];
  /** The namespaces whose Secrets and ConfigMaps are read; empty: all watched namespaces. */
  secretNamespaces: readonly string[];
  /** Address of metrics and probes; undefined: none are served. */
  listen: { host: string; port: number } | undefined;
}

/** All faults in environment and arguments, one per line. */
export class BadConfiguration extends Error {}
/** The command line holds `--help`: main.ts prints the help and exits. */
export class HelpWanted extends Error {}

export const help = `Keeps realms on a Realmkeeper server as custom resources declare them.

Usage: npm run operator -- [options]

Options
  --manifests DIR          read resources from a folder of YAML files instead of a cluster
  --cluster-name NAME      names this cluster in managers' names (default: the uid of the namespace kube-system;
                           for a folder: "folder")
  --namespace NAME         the operator's own namespace (default: the pod's); only there can master be declared
  --concurrency N          resources worked on at once (default 4)
  --resync MINUTES         ask the server for every resource's plan at least so often (default 10); drift is seen
                           within seconds anyway
  --undeclared-realms      let Flow, Webhook and WorkloadIdentity attach to realms that no Realm resource declares
  --realm-namespaces SEL   count Realm resources only in namespaces with these labels, e.g. team=identity,env!=dev
  --realm-names RULE       which names a namespace may give its realms. namespace: its own name, alone or with a hyphen
                           and more (shop, shop-test); label:KEY: the value of that label of the namespace, likewise
  --server-name NAME       serve the resources whose spec.serverRef is this, and no others; without it those that name none.
                           For operators of several servers in one cluster
  --server NAME=URL,…      serve another server too: the resources whose spec.serverRef is NAME; may be given again.
                           Behind commas token-file=FILE (a ServiceAccount token projected for that server alone) or
                           client-secret-file=FILE, and ca-file=FILE for the authority of its certificate. Without
                           SVC_SERVER_URL these are all there are
  --watch-namespace NS     look at this namespace alone, with rights in no other; may be given again for more.
                           Needs --cluster-name, and cannot go by labels of namespaces
  --secret-namespace NS    read Secrets and ConfigMaps in this namespace alone; may be given again for more
  --leader-elect, --no-leader-elect
                           act only while holding a Lease in the operator's own namespace, so that others can stand by
                           (default: yes on a cluster; a folder has no Lease)
  --lease-name NAME        the Lease (default realmkeeper-operator, without a default server the others' names behind it)
  --lease-duration SECONDS after so long without a sign of the leader another takes over (default 15, from 3); the
                           leader itself stops after two thirds of it
  --listen HOST:PORT       answer /healthz, /readyz and /metrics there (default: nowhere)
  --help                   this text

Environment
  SVC_SERVER_URL              where the server is, e.g. https://id.example.com (required without --server)
  SVC_OPERATOR_CLIENT_SECRET  secret of the client "operator" of master, or
  SVC_OPERATOR_TOKEN_FILE     a projected ServiceAccount token, traded by workload identity
  SVC_OPERATOR_LISTEN         as --listen
  KUBECONFIG                  the cluster; in a pod: its ServiceAccount

Examples
  SVC_SERVER_URL=http://localhost:8080 SVC_OPERATOR_CLIENT_SECRET=… npm run operator
  npm run operator -- --manifests ./realms --cluster-name laptop
  npm run operator -- --realm-namespaces team=identity --concurrency 8
  npm run operator -- --realm-names label:example.com/realms
  npm run operator -- --watch-namespace shop --namespace shop --cluster-name prod
  npm run operator -- --server eu=https://id.eu.example.com,token-file=/var/run/secrets/eu/token
`;

const Listen = z.string().transform((text, context) => {
  const [, v6, host = v6, port] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text) ?? [];
  if (host !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
  context.addIssue({ code: 'custom', message: 'must be HOST:PORT, e.g. 0.0.0.0:9090 or [::]:9090' });
  return z.NEVER;
});

const Environment = z.object({
  SVC_SERVER_URL: ServerUrl.optional(),
  SVC_OPERATOR_CLIENT_SECRET: z.string().optional(),
  SVC_OPERATOR_TOKEN_FILE: z.string().optional(),
  SVC_OPERATOR_LISTEN: Listen.optional(),
  KUBECONFIG: z.string().optional(),
  POD_NAMESPACE: z.string().optional(),
});
type Environment = z.output<typeof Environment>;

const ownVariables: ReadonlySet<string> = new Set(Object.keys(Environment.shape));
/** Variables that are nearly the operator's. An environment that it shares with the server has others, which the server names. */
export const misspelt = (env: Readonly<Record<string, string | undefined>>): UnknownVariable[] =>
  unknownVariables(env, ownVariables).filter(({ meant }) => meant !== undefined);

const filled = (message: string) => z.string().min(1, message);
const Namespaces = z
  .array(z.string().regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'must name a namespace'))
  .default([])
  .transform((names) => [...new Set(names)]);
const Arguments = z.object({
  manifests: filled('must name a folder').optional(),
  'cluster-name': z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,100}$/, 'may hold letters, digits and . _ -')
    .optional(),
  namespace: filled('must not be empty').optional(),
  concurrency: z.coerce.number().int().min(1).max(64).default(4),
  resync: z.coerce
    .number()
    .min(1, 'must be a minute or more')
    .max(24 * 60, 'must be a day or less')
    .default(10),
  'undeclared-realms': z.boolean().default(false),
  'realm-namespaces': z.string().optional(),
  'realm-names': z.string().optional(),
  'leader-elect': z.boolean().optional(),
  'lease-name': z
    .string()
    .regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/, 'must be a name as Kubernetes has them: a-z, digits, - and .')
    .optional(),
  'server-name': ServerName.optional(),
  server: z.array(z.string()).default([]),
  'lease-duration': z.coerce
    .number()
    .int('must be whole seconds')
    .min(3, 'must be 3 seconds or more')
    .max(3600, 'must be an hour or less')
    .default(15),
  'watch-namespace': Namespaces,
  'secret-namespace': Namespaces,
  listen: Listen.optional(),
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
  faults.push(...faultsOfDefault(env, given));
  const others = (args.data?.server ?? []).flatMap((text) => understood('server', text, parseServer, faults) ?? []);
  const selector = args.success
    ? understood('realm-namespaces', args.data['realm-namespaces'], parseSelector, faults)
    : undefined;
  const realmNames = args.success
    ? understood('realm-names', args.data['realm-names'], parseRealmNames, faults)
    : undefined;
  if (args.success) faults.push(...contradictions(args.data));
  const servers = [...defaultServer(environment.data ?? {}, args.data?.['server-name']), ...others];
  for (const { name } of servers.filter(isTwice)) faults.push(`--server: ${name} is there twice`);
  if (faults.length > 0 || !environment.success || !args.success) {
    throw new BadConfiguration(
      `${faults.length === 1 ? 'There is a fault' : `There are ${faults.length} faults`}:\n${faults.map((f) => `  ${f}`).join('\n')}\nSee --help.`,
    );
  }
  return {
    servers,
    kubeconfig: environment.data.KUBECONFIG,
    manifests: args.data.manifests,
    clusterName: args.data['cluster-name'],
    operatorNamespace: args.data.namespace ?? environment.data.POD_NAMESPACE,
    concurrency: args.data.concurrency,
    resyncMs: args.data.resync * 60_000,
    undeclaredRealms: args.data['undeclared-realms'],
    realmNamespaces: selector,
    realmNames,
    leaderElection:
      (args.data['leader-elect'] ?? args.data.manifests === undefined)
        ? { leaseName: args.data['lease-name'] ?? leaseNameOf(servers), leaseSeconds: args.data['lease-duration'] }
        : undefined,
    watchNamespaces: args.data['watch-namespace'],
    secretNamespaces: args.data['secret-namespace'],
    listen: args.data.listen ?? environment.data.SVC_OPERATOR_LISTEN,
  };
}

/** The server of the environment variables; `--server` contains all settings of its servers. */
function defaultServer(
  { SVC_SERVER_URL: url, SVC_OPERATOR_CLIENT_SECRET: secret, SVC_OPERATOR_TOKEN_FILE: tokenFile = '' }: Environment,
  name: string | undefined,
): ServerConfig[] {
  if (url === undefined) return [];
  return [{ name, url, credential: secret === undefined ? { tokenFile } : { secret }, caFile: undefined }];
}

function faultsOfDefault(env: Readonly<Record<string, string | undefined>>, { server, ...given }: Given): string[] {
  const signIns = [env.SVC_OPERATOR_CLIENT_SECRET, env.SVC_OPERATOR_TOKEN_FILE].filter(Boolean).length;
  const credentials = 'SVC_OPERATOR_CLIENT_SECRET and SVC_OPERATOR_TOKEN_FILE';
  if (!env.SVC_SERVER_URL && server === undefined)
    return ['SVC_SERVER_URL: is required, or --server', ...(signIns === 1 ? [] : [`set one of ${credentials}`])];
  if (!env.SVC_SERVER_URL)
    return [
      ...(signIns === 0 ? [] : [`${credentials} are of SVC_SERVER_URL, which is not set: each --server has its own`]),
      ...(given['server-name'] === undefined
        ? []
        : ['--server-name: names the server of SVC_SERVER_URL, which is not set']),
    ];
  return signIns === 1 ? [] : [`set ${signIns === 0 ? 'one' : 'only one'} of ${credentials}`];
}

const isTwice = ({ name }: ServerConfig, at: number, all: readonly ServerConfig[]): boolean =>
  all.findIndex((other) => other.name === name) !== at;

/** The Lease's name contains the servers, because operators of different servers may act at the same time. */
const leaseNameOf = (servers: readonly ServerConfig[]): string =>
  [
    'realmkeeper-operator',
    ...(servers.some(({ name }) => name === undefined) ? [] : servers.map(({ name }) => name)),
  ].join('-');

/** Faults of options that are valid alone but not together. */
function contradictions(args: z.output<typeof Arguments>): string[] {
  const faults: string[] = [];
  if (args.manifests !== undefined) {
    if (args['leader-elect']) faults.push('--leader-elect: a folder (--manifests) has no Lease to hold');
    if (args['watch-namespace'].length > 0)
      faults.push('--watch-namespace: is about a cluster, and --manifests names a folder');
  }
  if (args['watch-namespace'].length > 0) {
    if (args['secret-namespace'].length > 0)
      faults.push('--secret-namespace: with --watch-namespace Secrets are read in those namespaces alone');
    if (args['cluster-name'] === undefined) {
      const why = 'the uid of the namespace kube-system, which is the name otherwise, is outside of that namespace';
      faults.push(`--watch-namespace: needs --cluster-name too (${why})`);
    }
    if (args['realm-namespaces'] !== undefined)
      faults.push('--realm-namespaces: goes by labels of namespaces, which --watch-namespace does not let it read');
    if (args['realm-names']?.startsWith('label:'))
      faults.push('--realm-names: goes by labels of namespaces, which --watch-namespace does not let it read');
  }
  return faults;
}

type Given = Record<string, string | boolean | (string | boolean)[] | undefined>;

function argumentsOf(argv: readonly string[], faults: string[]): Given {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    const { values } = parseArgs({
      args: [...argv],
      allowNegative: true,
      options: {
        manifests: text,
        'cluster-name': text,
        namespace: text,
        concurrency: text,
        resync: text,
        'undeclared-realms': flag,
        'realm-namespaces': text,
        'realm-names': text,
        'server-name': text,
        server: { type: 'string', multiple: true },
        'leader-elect': flag,
        'lease-name': text,
        'lease-duration': text,
        'watch-namespace': { type: 'string', multiple: true },
        'secret-namespace': { type: 'string', multiple: true },
        listen: text,
        help: flag,
      },
    });
    return values;
  } catch (error) {
    faults.push(errorWords(error));
    return {};
  }
}

/** Parses an option that has a syntax of its own. */
function understood<T>(
  option: 'realm-namespaces' | 'realm-names' | 'server',
  text: string | undefined,
  parse: (text: string) => T,
  faults: string[],
): T | undefined {
  if (text === undefined) return undefined;
  try {
    return parse(text);
  } catch (error) {
    faults.push(`--${option}: ${errorWords(error)}`);
    return undefined;
  }
}
