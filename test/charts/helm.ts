// Owns: running the real helm on the chart, and the value sets that every test of it goes through.
// Does not own: the cluster (test/kubernetes).
// Implements: "the chart is linted, rendered and installed with helm, in several value sets".
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { findAssets, helm as helmBundle } from '../kubernetes/assets.ts';
import { type Outcome, run } from '../kubernetes/processes.ts';

export const root = path.resolve(import.meta.dirname, '../..');
export const chart = path.join(root, 'charts/realmkeeper');
const example = (name: string) => ['-f', path.join(chart, 'examples', `values-${name}.yaml`)];

/** Everything that can be turned on, at once. */
const everything = [
  'server.autoscaling.enabled=true',
  'server.baseUrl=https://id.example.com',
  'server.trustProxy={10.0.0.0/8}',
  'ingress.enabled=true',
  'httpRoute.enabled=true',
  'httpRoute.parentRefs[0].name=public',
  'monitoring.serviceMonitor.enabled=true',
  'networkPolicy.metricsFrom[0].podSelector.matchLabels.app=prometheus',
  'monitoring.rules.enabled=true',
  'monitoring.dashboards.enabled=true',
  'server.outboundCa.configMap=authorities',
  'server.siem.url=https://siem.example.com/ingest',
  'server.siem.existingSecret=siem',
  'server.mutualTls.existingSecret=mutual-tls',
  'server.mutualTls.url=https://mtls.example.com',
  'server.clientCertificates.header=nginx:X-Client-Cert',
  'server.clientCertificates.proxies={10.0.0.0/8}',
  'operator.undeclaredRealms=true',
  'operator.clusterName=here',
];

/** What people give: name → arguments of helm. */
export const valueSets: Record<string, string[]> = {
  default: [],
  trial: example('trial'),
  production: example('production'),
  'one namespace': [...example('one-namespace'), '--set', 'operator.watchNamespaces={team-a,team-b}'],
  GitOps: example('gitops'),
  CloudNativePG: example('cloudnative-pg'),
  'everything that can be turned on': ['--set', everything.join(',')],
};

/** An object as far as tests look at all of them. */
export const AnyObject = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    labels: z.record(z.string(), z.string()).default({}),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
});
export type AnyObject = z.output<typeof AnyObject>;

export const helmAssets = () => findAssets(helmBundle);

/** Runs helm; a refusal is an outcome. */
export async function helm(args: string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  const assets = await helmAssets();
  if (!assets.found) throw new Error(assets.reason);
  return run(path.join(assets.dir, 'helm'), args, { env: { PATH: process.env.PATH, HOME: '/nonexistent', ...env } });
}

/** The objects that `helm template` prints. */
export async function render(args: string[] = [], namespace = 'identity'): Promise<AnyObject[]> {
  const { code, stdout, stderr } = await helm(['template', 'realmkeeper', chart, '-n', namespace, ...args]);
  if (code !== 0) throw new Error(stderr);
  return objectsOf(stdout);
}

/** Every document of a YAML text that isn't empty. */
export function objectsOf(text: string): AnyObject[] {
  return parseAllDocuments(text)
    .map((document) => {
      if (document.errors.length > 0) throw document.errors[0];
      return document.toJS();
    })
    .filter((object) => object !== null)
    .map((object) => AnyObject.parse(object));
}
