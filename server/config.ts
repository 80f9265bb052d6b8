// The environment as one schema, parsed once; every fault is reported at once. Decisions "Where it listens, what it
// reads". Only main.ts files read process.env and pass it here.
import { z } from 'zod';
import { issuerIn } from './cluster-token.ts';
import { databaseAddress } from './config-database.ts';
import './contract/field-words.ts';
import { loopbackHosts } from './contract/names.ts';
import { isOrigin } from './contract/passkeys.ts';
import { type UnknownVariable, unknownVariables } from './contract/similar.ts';
import {
  type ClientCertificateHeader,
  type ClientCertificateHeaderForm,
  certificateHeaderForms,
} from './http/client-certificate.ts';
import { isAllowEntry } from './http/outbound-addresses.ts';
import { keyFaults, keySettings } from './key-settings.ts';
import { number, wholeNumber } from './settings-numbers.ts';

const list = z.string().transform((s) =>
  s
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);
const isAddress = (address: string): boolean => {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, pathname, search, hash, username } = new URL(address);
  const safe = protocol === 'https:' || (protocol === 'http:' && loopbackHosts.has(hostname));
  // Browsers never send an issuer's host with a wildcard or a dot at the end.
  return safe && !/[*]|[.]$/.test(hostname) && `${pathname}${search}${hash}${username}` === '/';
};
/** Fastify's notation, which has names for three ranges. */
const named = z.enum(['loopback', 'linklocal', 'uniquelocal']);
const proxies = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6(), named]);

/** Their header has no name of its own, so that it may be given: `nginx:X-Client-Cert`. */
const NAMEABLE: readonly ClientCertificateHeaderForm[] = ['nginx', 'haproxy'];
const certificateHeader = z.string().transform((text, context): ClientCertificateHeader => {
  const [, word, name] = /^([a-z0-9-]+)(?::([A-Za-z0-9-]{1,100}))?$/.exec(text) ?? [];
  const form = certificateHeaderForms.find((one) => one === word);
  if (form && (name === undefined || NAMEABLE.includes(form))) return { form, name: name?.toLowerCase() };
  context.addIssue(
    `must be one of ${certificateHeaderForms.join(', ')}; only ${NAMEABLE.join(' and ')} may name the header: nginx:X-Client-Cert`,
  );
  return z.NEVER;
});

const Environment = z.object({
  SVC_HOST: z.string().default('127.0.0.1'),
  SVC_PORT: wholeNumber().min(0).max(65_535).default(8080),
  SVC_BASE_URL: z
    .url({ protocol: /^https?$/ })
    .transform((s) => s.replace(/(?<!\/)\/+$/, ''))
    .refine(
      (s) => s.startsWith('https:') || loopbackHosts.has(new URL(s).hostname),
      'must be https, except on loopback',
    )
    .optional(),
  SVC_OTHER_ADDRESSES: list
    .refine(
      (addresses) => addresses.every(isAddress),
      'must be addresses such as https://login.example.com, without a path, separated by commas; https, except on loopback',
    )
    .transform((addresses) => addresses.map((address) => new URL(address).origin))
    .default([])
    .describe('Further public addresses: a realm whose issuer is at one of them has its links and passkeys there'),
  SVC_TRUST_PROXY: list
    .refine(
      (entries) => entries.every((e) => proxies.safeParse(e).success),
      'must be addresses and CIDRs, separated by commas',
    )
    .optional()
    .describe('Addresses or CIDRs of proxies whose forwarding headers count'),
  SVC_LOCATION_HEADERS: list
    .transform((names) => names.map((header) => header.toLowerCase()))
    .refine(
      (names) => [1, 3].includes(names.length) && names.every((header) => /^[a-z0-9-]+$/.test(header)),
      'must name a header for the country, or three: for country, latitude and longitude, separated by commas',
    )
    .default([])
    .describe('Headers in which the proxies of SVC_TRUST_PROXY say where a browser is'),
  SVC_MTLS_PORT: wholeNumber()
    .min(0)
    .max(65_535)
    .optional()
    .describe('The port of an HTTPS listener that asks clients for a certificate (RFC 8705)'),
  SVC_MTLS_CERT_FILE: z.string().optional().describe('The certificate of this listener and its chain, PEM'),
  SVC_MTLS_KEY_FILE: z.string().optional(),
  SVC_MTLS_URL: z
    .url({ protocol: /^https$/, error: 'must be an https address' })
    .refine((s) => URL.parse(s)?.pathname === '/' && !/[?#@]/.test(s), 'must be an address without a path')
    .transform((s) => new URL(s).origin)
    .optional()
    .describe('The public address at which clients show certificates, if it is another than SVC_BASE_URL'),
  SVC_CLIENT_CERT_HEADER: certificateHeader
    .optional()
    .describe('The form of the header in which the proxies of SVC_CLIENT_CERT_PROXIES forward a client’s certificate'),
  SVC_CLIENT_CERT_PROXIES: list
    .refine(
      (entries) => entries.every((e) => proxies.safeParse(e).success),
      'must be addresses and CIDRs, separated by commas',
    )
    .optional()
    .describe(
      'Addresses or CIDRs of the proxies that end the TLS connections of clients and are themselves connected to this server',
    ),
  SVC_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  DATABASE_URL: databaseAddress.optional(),
  DATABASE_DIRECT_URL: databaseAddress
    .optional()
    .describe('The database itself, where DATABASE_URL leads to a connection pooler in transaction mode'),
  SVC_DATABASE_PREPARED: z
    .stringbool()
    .default(false)
    .describe('The pooler keeps prepared statements from one session to another; without a pooler it has no effect'),
  SVC_DATABASE_POOL: wholeNumber().min(2).max(200).default(10),
  SVC_STALE_SECONDS: wholeNumber()
    .min(0)
    .max(3600)
    .default(0)
    .describe('While the database is away: how old discovery, key sets and answers of introspection may be'),
  SVC_STALE_READINESS: z
    .stringbool()
    .default(false)
    .describe('Readiness stays on for SVC_STALE_SECONDS after the database went away'),
  SVC_DATA_DIR: z.string().min(1).default('.data'),
  ...keySettings,
  SVC_OUTBOUND_ALLOW: list
    .refine((entries) => entries.every(isAllowEntry), 'must be CIDRs, addresses and hosts, separated by commas')
    .optional()
    .describe('Hosts and CIDRs that outbound requests may reach although they are private'),
  SVC_RESERVED_MANAGERS: list.default([]).describe('More prefixes of managers’ names that are reserved as k8s: is'),
  SVC_BREACHED_PASSWORDS_URL: z
    .url({ protocol: /^https$/, error: 'must be https://…/' })
    .endsWith('/', 'must end with /, as the five characters are put behind it')
    .default('https://api.pwnedpasswords.com/range/')
    .describe('Where realms with breachedPasswordCheck ask; five characters of a SHA-1 are put behind it'),
  SVC_RELATED_ORIGINS: list
    .refine(
      (origins) => origins.every(isOrigin),
      'must be origins such as https://www.example.com, separated by commas',
    )
    .default([])
    .describe('Origins whose pages may ask for passkeys of the server’s host, which all realms share'),
  SVC_FIDO_METADATA_URL: z
    .url({ protocol: /^https$/, error: 'must be https://…' })
    .optional()
    .describe(
      'Where FIDO’s metadata on authenticators is fetched every six hours, such as https://mds3.fidoalliance.org/',
    ),
  SVC_FIDO_METADATA_FILE: z.string().optional().describe('A copy of that document here, read in place of the address'),
  SVC_FIDO_METADATA_ROOT_FILE: z
    .string()
    .optional()
    .describe('The roots that its signature leads to, PEM, in place of those of FIDO’s own service'),
  SVC_OUTBOUND_CA_FILE: z.string().optional().describe('More certificate authorities for outbound requests, PEM'),
  NODE_ENV: z.string().optional(),
  SVC_DISK_FREE_MIN_BYTES: wholeNumber()
    .min(0)
    .default(10 * 1024 * 1024)
    .describe('Health shows diskSpace DOWN below this'),
  SVC_DRAIN_SECONDS: number()
    .min(0)
    .max(300)
    .default(0)
    .describe('On a stop: how long readiness is off while requests are still served, for load balancers to notice'),
  SVC_EVENT_RETENTION_DAYS: wholeNumber()
    .min(1)
    .max(36_500)
    .optional()
    .describe('Audit events that are older are deleted; without it they are kept'),
  SVC_SIEM_URL: z
    .url({ protocol: /^(https|syslog\+tls|file)$/, error: 'must be https://…, syslog+tls://host:6514 or file:///…' })
    .transform((address) => new URL(address))
    .refine(
      ({ protocol, hostname }) => (protocol === 'file:') === (hostname === ''),
      'must name a host, or a file here',
    )
    .refine(({ username, password }) => username === '' && password === '', 'must not hold a user name or password')
    .optional()
    .describe('Where the audit log is forwarded to'),
  SVC_SIEM_FORMAT: z.enum(['ecs', 'ocsf', 'event']).default('ecs'),
  SVC_SIEM_AUTHORIZATION: z.string().min(1).optional().describe('The Authorization header of these requests'),
  SVC_SIEM_CERT_FILE: z.string().optional().describe('A client certificate for syslog, PEM'),
  SVC_SIEM_KEY_FILE: z.string().optional(),
  SVC_HTTP_HISTOGRAM: z.stringbool().default(false),
  USER_REGISTRATION_ENABLED: z.stringbool().default(false),
  SVC_BOOTSTRAP_ADMIN_USERNAME: z.string().min(1).max(255).default('admin'),
  SVC_BOOTSTRAP_ADMIN_PASSWORD: z.string().min(12, 'must have at least 12 characters').optional(),
  SVC_OPERATOR_CLIENT_SECRET: z.string().min(16, 'must have at least 16 characters').optional(),
  SVC_OPERATOR_ISSUER: z.url({ protocol: /^https$/ }).optional(),
  SVC_OPERATOR_SUBJECT: z.string().optional(),
  SVC_OPERATOR_AUDIENCE: z.string().optional(),
  SVC_CLUSTER_CA_FILE: z.string().optional(),
  SVC_CLUSTER_TOKEN_FILE: z.string().optional(),
  SVC_WORKLOAD_RATE_LIMIT: wholeNumber().min(1).default(60).describe('Exchanges a minute for a realm and address'),
  SVC_PASSWORD_THREADS: wholeNumber().min(1).max(64).optional(),
});

/** The first of each pair needs the second. */
const TOGETHER = [
  ['DATABASE_DIRECT_URL', 'DATABASE_URL'],
  ['SVC_MTLS_PORT', 'SVC_MTLS_CERT_FILE'],
  ['SVC_MTLS_PORT', 'SVC_MTLS_KEY_FILE'],
  ['SVC_MTLS_CERT_FILE', 'SVC_MTLS_PORT'],
  ['SVC_MTLS_KEY_FILE', 'SVC_MTLS_PORT'],
  ['SVC_CLIENT_CERT_HEADER', 'SVC_CLIENT_CERT_PROXIES'],
  ['SVC_CLIENT_CERT_PROXIES', 'SVC_CLIENT_CERT_HEADER'],
  ['SVC_SIEM_CERT_FILE', 'SVC_SIEM_KEY_FILE'],
  ['SVC_SIEM_KEY_FILE', 'SVC_SIEM_CERT_FILE'],
  // The headers are believed of these proxies alone.
  ['SVC_LOCATION_HEADERS', 'SVC_TRUST_PROXY'],
] as const;

/** Rules over several variables, checked even if single ones are faulty, so that every fault is reported at once. */
function faultsTogether(env: Readonly<Record<string, string | undefined>>): string[] {
  const identity = ['SVC_OPERATOR_ISSUER', 'SVC_OPERATOR_SUBJECT', 'SVC_OPERATOR_AUDIENCE'];
  const lacking = identity.filter((name) => env[name] === undefined);
  // the issuer is also that of the cluster's token
  const needed = lacking.filter((name) => name !== identity[0] || env.SVC_CLUSTER_TOKEN_FILE === undefined);
  const apart = lacking.length === identity.length ? [] : needed;
  const faults = apart.map((name) => `${name}: is needed too: ${identity.join(', ')} go together`);
  faults.push(...keyFaults(env));
  for (const [one, other] of TOGETHER) {
    if (env[one] !== undefined && env[other] === undefined) faults.push(`${other}: is needed too with ${one}`);
  }
  if (env.SVC_STALE_READINESS !== undefined && env.SVC_STALE_SECONDS === undefined) {
    faults.push('SVC_STALE_SECONDS: is needed too with SVC_STALE_READINESS');
  }
  if (env.SVC_MTLS_URL !== undefined && env.SVC_MTLS_PORT === undefined && env.SVC_CLIENT_CERT_HEADER === undefined) {
    faults.push('SVC_MTLS_URL: needs SVC_MTLS_PORT, or SVC_CLIENT_CERT_HEADER');
  }
  return faults;
}

type Parsed = z.output<typeof Environment>;
export type Config = Readonly<
  Omit<Parsed, 'SVC_BASE_URL'> & { baseUrl: string; documentEnvironment: Readonly<Record<string, string>> }
>;

/** All faults in the environment, one per line. */
export class BadEnvironment extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`;
    super(`The environment has ${count}:\n${faults.map((f) => `  ${f}`).join('\n')}`);
    this.faults = faults;
  }
}

/** The variables of the other programs of this product, which often share an environment with the server. */
const OF_OTHER_PROGRAMS = [
  'SVC_SERVER_URL',
  'SVC_OPERATOR_TOKEN_FILE',
  'SVC_OPERATOR_LISTEN',
  'SVC_DEMO_PASSWORD',
  'SVC_DEMO_CLIENT_SECRET',
];
const knownVariables: ReadonlySet<string> = new Set([...Object.keys(Environment.shape), ...OF_OTHER_PROGRAMS]);

/** Variables SVC_… that no program reads: probably misspelt. */
export const misspelt = (env: Readonly<Record<string, string | undefined>>): UnknownVariable[] =>
  unknownVariables(env, knownVariables);

/**
 * Parses the environment; throws {@link BadEnvironment} naming every faulty variable. `documentEnvironment` holds the
 * variables that placeholders of realm documents may name (`SVC_VAR_…`), and no other.
 */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const result = Environment.safeParse(set);
  const single = (result.error?.issues ?? []).map((i) => `${String(i.path[0] ?? 'environment')}: ${i.message}`);
  const faults = [...single, ...faultsTogether(set)];
  if (!result.success || faults.length > 0) throw new BadEnvironment(faults);
  const { SVC_BASE_URL, ...rest } = result.data;
  const documentEnvironment = Object.fromEntries(
    Object.entries(env).filter((e): e is [string, string] => e[0].startsWith('SVC_VAR_') && e[1] !== undefined),
  );
  return Object.freeze({
    ...rest,
    baseUrl: SVC_BASE_URL ?? `http://localhost:${rest.SVC_PORT}`,
    documentEnvironment: Object.freeze(documentEnvironment),
  });
}

const operatorIdentity = ({
  SVC_OPERATOR_ISSUER: issuer,
  SVC_OPERATOR_SUBJECT: subject,
  SVC_OPERATOR_AUDIENCE: audience,
  SVC_CLUSTER_TOKEN_FILE: tokenFile,
}: Config) => {
  if (!subject || !audience) return undefined;
  if (issuer) return { issuer, subject, audience };
  return tokenFile ? { issuer: issuerIn(tokenFile), subject, audience } : undefined;
};

/** The options for what a start creates. */
export const bootstrapOptions = (config: Config) => ({
  administrator: {
    username: config.SVC_BOOTSTRAP_ADMIN_USERNAME,
    password: config.SVC_BOOTSTRAP_ADMIN_PASSWORD,
    generatedIsTemporary: config.NODE_ENV === 'production',
  },
  operator: { secret: config.SVC_OPERATOR_CLIENT_SECRET, identity: operatorIdentity(config) },
});

/**
 * The cluster whose tokens are accepted. Its issuer is configured for the operator, or read from the cluster's token. A
 * cluster with only a CA gets the default issuer of all clusters.
 */
export const clusterOf = ({
  SVC_OPERATOR_ISSUER: issuer,
  SVC_CLUSTER_CA_FILE: caFile,
  SVC_CLUSTER_TOKEN_FILE: tokenFile,
}: Config) => {
  if (caFile === undefined) return undefined;
  const named = issuer ?? (tokenFile === undefined ? 'https://kubernetes.default.svc' : issuerIn(tokenFile));
  return { issuer: named, caFile, tokenFile };
};

/** How clients' certificates reach the server; undefined: they don't. */
export function mutualTlsOf({
  SVC_HOST: host,
  SVC_MTLS_PORT: port,
  SVC_MTLS_CERT_FILE: certificateFile,
  SVC_MTLS_KEY_FILE: keyFile,
  SVC_CLIENT_CERT_HEADER: header,
  SVC_CLIENT_CERT_PROXIES: proxies = [],
}: Config) {
  if (port === undefined && header === undefined) return undefined;
  return {
    listener: port !== undefined && certificateFile && keyFile ? { host, port, certificateFile, keyFile } : undefined,
    header: header && { ...header, proxies },
  };
}

/** The address of the endpoints at which clients show certificates; undefined: clients show none anywhere. */
export function mutualTlsAddress({
  SVC_MTLS_URL: url,
  SVC_MTLS_PORT: port,
  SVC_CLIENT_CERT_HEADER: header,
  baseUrl,
}: Pick<Config, 'SVC_MTLS_URL' | 'SVC_MTLS_PORT' | 'SVC_CLIENT_CERT_HEADER' | 'baseUrl'>): string | undefined {
  if (url !== undefined) return url;
  if (port !== undefined) return `https://${new URL(baseUrl).hostname}${port === 443 ? '' : `:${port}`}`;
  return header && baseUrl;
}

/** The receiver of the audit log. */
export const forwardingOf = ({
  SVC_SIEM_URL: url,
  SVC_SIEM_FORMAT: shape,
  SVC_SIEM_AUTHORIZATION: authorization,
  SVC_SIEM_CERT_FILE: certFile,
  SVC_SIEM_KEY_FILE: keyFile,
}: Config) =>
  url && { url, shape, authorization, certificate: certFile && keyFile ? { certFile, keyFile } : undefined };

/** The disk with the data and the configured certificates, for the health checks. */
export const watched = (config: Config) => ({
  folder: config.DATABASE_URL ? '.' : config.SVC_DATA_DIR,
  minimumBytes: config.SVC_DISK_FREE_MIN_BYTES,
  certificateFiles: [
    config.SVC_OUTBOUND_CA_FILE,
    config.SVC_CLUSTER_CA_FILE,
    config.SVC_SIEM_CERT_FILE,
    config.SVC_MTLS_CERT_FILE,
  ].filter((file) => file !== undefined),
});

/** Settings whose value may be shown: they hold no address, name or secret. */
const SHOWN = new Set(['SVC_LOG_LEVEL', 'SVC_SIEM_FORMAT', 'NODE_ENV']);

/** The configuration for reports: numbers, switches and choices by their value, everything else as `(set)`. */
export const shownSettings = (config: Config): Record<string, string | number | boolean> =>
  Object.fromEntries(
    Object.entries(Environment.shape).flatMap(([name]): [string, string | number | boolean][] => {
      const value: unknown = Reflect.get(config, name);
      if (typeof value === 'number' || typeof value === 'boolean') return [[name, value]];
      if (typeof value === 'string' && SHOWN.has(name)) return [[name, value]];
      const none = value === undefined || (Array.isArray(value) && value.length === 0);
      return none ? [] : [[name, '(set)']];
    }),
  );

interface SetUpCustody {
  status(): { custodian: string; keys: number; fault: { message: string; since: Date } | undefined };
}
/** The set-up, for reports of the installation. */
export const setUpOf = (config: Config, seal: { readonly keys: number }, custody: SetUpCustody | undefined) => ({
  baseUrl: config.baseUrl,
  production: config.NODE_ENV === 'production',
  embedded: config.DATABASE_URL === undefined,
  trustsProxies: config.SVC_TRUST_PROXY !== undefined,
  keys: () => seal.keys,
  custodian: () => custody?.status(),
  certificateFiles: watched(config).certificateFiles,
});
