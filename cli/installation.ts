// Owns: the checks that only a client can make: the server's version, address, clock and certificate as seen from here, and a cluster's
// resources and operator.
// Does not own: the server's own checks (GET /admin/diagnostics), their printed form (commands/doctor.ts).
// Implements: docs/troubleshooting.md: `realmctl doctor`.
import { connect } from 'node:tls';
import { z } from 'zod';
import { plurals } from '../operator/resource.ts';
import { type CheckStatus, type Diagnostics, getDiagnostics } from '../server/contract/diagnostics.ts';
import { DAY_MS } from '../server/contract/durations.ts';
import { MASTER } from '../server/contract/realms.ts';
import { GROUP } from '../server/contract/resources/custom-resource.ts';
import { VERSION } from '../server/contract/version.ts';
import { type ClusterOptions, type ClusterResource, clusterResources, kubectlJson } from './cluster.ts';
import type { Cli, Connection } from './command.ts';
import { standingOf, titleOf } from './standing.ts';

/** A check's result, of the server or of realmctl. */
export interface Finding {
  subject: string;
  status: CheckStatus;
  message: string;
  advice: string | null;
  details: readonly string[];
}

const finding = (
  subject: string,
  status: CheckStatus,
  message: string,
  advice: string | null = null,
  details: readonly string[] = [],
): Finding => ({ subject, status, message, advice, details });

const SECOND_MS = 1_000;
/** The header `Date` has whole seconds, and the answer took its time. */
const APART_MS = 10 * SECOND_MS;
const SOON_MS = 30 * DAY_MS;
const TLS_MS = 5_000;

/** The server's report, and what this request for it shows besides. */
export async function serverFindings(
  { server, client, fetch }: Connection,
  signal: AbortSignal,
): Promise<{ report: Diagnostics; findings: Finding[] }> {
  const from = Date.now();
  const answer = await fetch(`/realms/${MASTER}/.well-known/openid-configuration`, { signal });
  const until = Date.now();
  const { issuer } = z.object({ issuer: z.string() }).parse(await answer.json());
  const { body: report } = await client.call(getDiagnostics, { signal });
  if (!report) throw new Error('the server answered no report');
  const date = Date.parse(answer.headers.get('date') ?? '');
  const own = [
    version(report.version),
    address(server, issuer),
    clock(date, { from, until }),
    await certificate(server),
  ];
  return { report, findings: [...own, ...report.checks] };
}

const minor = (release: string) => release.split('.').slice(0, 2).join('.');
const version = (of: string): Finding =>
  minor(of) === minor(VERSION)
    ? finding('version', 'ok', `The server is ${of}, realmctl ${VERSION}`)
    : finding(
        'version',
        'warning',
        `The server is ${of}, realmctl ${VERSION}`,
        'Use the realmctl of the server’s release: docs/upgrade.md.',
      );

function address(server: string, issuer: string): Finding {
  const named = new URL(issuer).origin;
  return named === new URL(server).origin
    ? finding('address', 'ok', `${server} is the address that the server calls itself by`)
    : finding(
        'address',
        'warning',
        `realmctl asks ${server}; the server calls itself ${named}`,
        'Fine for another way to the same server. If browsers use the first address, set SVC_BASE_URL to it.',
      );
}

function clock(date: number, { from, until }: { from: number; until: number }): Finding {
  if (Number.isNaN(date)) return finding('clock-here', 'skipped', 'The answer has no Date header');
  const apart = Math.max(0, from - date - SECOND_MS, date - until);
  return apart < APART_MS
    ? finding('clock-here', 'ok', 'The clocks of the server and this machine agree')
    : finding(
        'clock-here',
        'warning',
        `The clocks of the server and this machine are ${Math.round(apart / 1000)} seconds apart`,
        'Synchronize both by NTP: signed requests and tokens are refused before their time.',
      );
}

async function certificate(server: string): Promise<Finding> {
  const { protocol, hostname, port } = new URL(server);
  if (protocol !== 'https:') return finding('certificate', 'skipped', `${server} has none: it is not https`);
  const end = await new Promise<string | undefined>((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) || 443, servername: hostname, timeout: TLS_MS });
    const done = (value?: string) => {
      resolve(value);
      socket.destroy();
    };
    socket.once('secureConnect', () => done(socket.getPeerCertificate().valid_to));
    socket.once('timeout', () => done());
    socket.once('error', () => done());
  });
  if (end === undefined)
    return finding('certificate', 'skipped', `No direct TLS connection to ${hostname}: behind a proxy?`);
  const left = Date.parse(end) - Date.now();
  return left > SOON_MS
    ? finding('certificate', 'ok', `The certificate of ${hostname} is valid until ${end}`)
    : finding(
        'certificate',
        'warning',
        `The certificate of ${hostname} ends ${end}`,
        'Renew it, or look why its renewal fails.',
      );
}

const Established = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      status: z
        .object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]) })
        .default({ conditions: [] }),
    }),
  ),
});
const Leases = z.object({
  items: z.array(
    z.object({
      metadata: z.object({
        name: z.string(),
        namespace: z.string(),
        labels: z.record(z.string(), z.string()).default({}),
      }),
      spec: z
        .object({ holderIdentity: z.string().default(''), renewTime: z.string().optional() })
        .default({ holderIdentity: '' }),
    }),
  ),
});

const CRDS = Object.values(plurals).map((plural) => `${plural}.${GROUP}`);
const RENEWED_MS = 60_000;

/** The operator's side, as kubectl's user may see it. */
export async function clusterFindings(
  cli: Pick<Cli, 'io' | 'signal'>,
  options: ClusterOptions,
): Promise<{ resources: ClusterResource[]; findings: Finding[] }> {
  const { items: crds } = Established.parse(await kubectlJson(cli, options, ['get', 'crds']));
  const established = new Set(
    crds.flatMap(({ metadata, status }) =>
      status.conditions.some((one) => one.type === 'Established' && one.status === 'True') ? [metadata.name] : [],
    ),
  );
  const missing = CRDS.filter((name) => !established.has(name));
  if (missing.length > 0) {
    const advice = 'Install them: realmctl crds | kubectl apply --server-side -f -';
    return {
      resources: [],
      findings: [finding('custom-resources', 'failure', 'Not all kinds are installed', advice, missing)],
    };
  }
  const resources = await clusterResources(cli, options);
  const { items: leases } = Leases.parse(await kubectlJson(cli, options, ['get', 'leases', '--all-namespaces']));
  const findings = [
    finding('custom-resources', 'ok', `All ${CRDS.length} kinds are installed`),
    operator(leases.filter(isOurs)),
    standing(resources),
  ];
  return { resources, findings };
}

/** Operators of earlier releases set no label. */
const isOurs = ({ metadata: { name, labels } }: z.infer<typeof Leases>['items'][number]): boolean =>
  labels['app.kubernetes.io/part-of'] === 'realmkeeper' || name.includes('realmkeeper');

function operator(leases: z.infer<typeof Leases>['items']): Finding {
  const leads = ({ spec }: (typeof leases)[number]) =>
    spec.holderIdentity !== '' && Date.now() - Date.parse(spec.renewTime ?? '') < RENEWED_MS;
  const leading = leases
    .filter(leads)
    .map(({ metadata, spec }) => `${metadata.namespace}/${metadata.name}: ${spec.holderIdentity}`);
  return leading.length > 0
    ? finding('operator', 'ok', 'An operator leads', null, leading)
    : finding(
        'operator',
        'failure',
        'No operator leads: no Lease of its was renewed within a minute',
        'Look at its pods: kubectl get pods -A -l app.kubernetes.io/component=operator. If it runs outside the cluster, look there.',
      );
}

function standing(resources: readonly ClusterResource[]): Finding {
  const all = resources.map((one) => ({ ...standingOf(one, resources), title: titleOf(one) }));
  const waiting = all.filter(({ ready }) => !ready);
  return waiting.length === 0
    ? finding('resources', 'ok', `All ${all.length} resources are in order`)
    : finding(
        'resources',
        'warning',
        `${waiting.length} of ${all.length} resources are not in order`,
        'realmctl status says why each waits.',
        waiting.slice(0, 20).map(({ title, reason, message }) => `${title}: ${reason}: ${message}`),
      );
}
