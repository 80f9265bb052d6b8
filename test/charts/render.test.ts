// What helm makes of the chart, in every value set that people give: complete, the same each time, narrow.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { type AnyObject, chart, helm, helmAssets, objectsOf, render, root, valueSets } from './helm.ts';

const assets = await helmAssets();
const sets = Object.entries(valueSets);
const named = (objects: AnyObject[], kind: string, name?: string) =>
  objects.filter((object) => object.kind === kind && (name === undefined || object.metadata.name === name));

const Container = z.looseObject({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()).default([]),
  env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })).default([]),
  securityContext: z.looseObject({ readOnlyRootFilesystem: z.boolean() }),
  resources: z.looseObject({ requests: z.looseObject({ memory: z.string() }), limits: z.looseObject({}) }),
});
const PodSpec = z.looseObject({
  automountServiceAccountToken: z.literal(false),
  terminationGracePeriodSeconds: z.number().default(30),
  initContainers: z.array(Container).default([]),
  containers: z.array(Container),
  volumes: z.array(z.looseObject({ name: z.string() })).default([]),
});
const Workload = z.looseObject({ spec: z.looseObject({ template: z.looseObject({ spec: PodSpec }) }) });
const podOf = (object: AnyObject) => Workload.parse(object).spec.template.spec;
const workloads = (objects: AnyObject[]) => [...named(objects, 'Deployment'), ...named(objects, 'StatefulSet')];
const first = <T>(values: T[]): T => {
  const [value] = values;
  if (value === undefined) throw new Error('there is none');
  return value;
};

describe.skipIf(!assets.found)('the chart', () => {
  test.each(sets)('has no fault that helm lint --strict knows, with the values %s', async (_, args) => {
    const { code, stdout, stderr } = await helm(['lint', '--strict', chart, ...args]);
    expect(`${stdout}${stderr}`).not.toMatch(/\[(ERROR|WARNING)\]/);
    expect(code).toBe(0);
  });

  test.each(sets)(
    'every object has our labels, and stands where it was asked to, with the values %s',
    async (_, args) => {
      const objects = await render(args);
      const clusterScoped = /^(ClusterRole|ClusterRoleBinding|CustomResourceDefinition)$/;
      for (const { kind, metadata } of objects) {
        expect(metadata.labels['app.kubernetes.io/part-of'], `${kind} ${metadata.name}`).toBe('realmkeeper');
        if (clusterScoped.test(kind)) expect(metadata.namespace).toBeUndefined();
        else expect(['identity', 'team-a', 'team-b']).toContain(metadata.namespace);
      }
      const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`);
      expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    },
  );

  test.each(sets)(
    'every container is read-only and has its share, and no token comes unasked, with the values %s',
    async (_, args) => {
      for (const workload of workloads(await render(args))) {
        const { initContainers, containers } = podOf(workload);
        for (const container of [...initContainers, ...containers])
          expect(container.securityContext.readOnlyRootFilesystem, container.name).toBe(true);
      }
    },
  );

  test.each(['production', 'GitOps'])('the values %s render the same each time, and hold no Secret', async (set) => {
    const [once, again] = [await render(valueSets[set]), await render(valueSets[set])];
    expect(again).toEqual(once);
    expect(named(once, 'Secret')).toEqual([]);
  });

  test('what is generated is kept, and can’t be replaced by a rendering that knows nothing of it', async () => {
    const secrets = named(await render(), 'Secret');
    expect(secrets.map(({ metadata }) => metadata.name).sort()).toEqual([
      'realmkeeper-admin',
      'realmkeeper-master-key',
      'realmkeeper-postgresql',
    ]);
    for (const secret of secrets) {
      expect(secret.immutable).toBe(true);
      expect(secret.metadata.annotations['helm.sh/resource-policy']).toBe('keep');
    }
    const data = z
      .object({ 'master-key': z.string() })
      .parse(first(named(secrets, 'Secret', 'realmkeeper-master-key')).data);
    const key = Buffer.from(Buffer.from(data['master-key'], 'base64').toString(), 'base64');
    expect(key.length).toBe(32);
  });

  test('the CRDs are those of crds/, with nothing but labels and annotations added', async () => {
    const ours = readdirSync(path.join(root, 'crds')).filter((file) => file.endsWith('.yaml'));
    const expected = ours.flatMap((file) => objectsOf(readFileSync(path.join(root, 'crds', file), 'utf8')));
    const rendered = named(await render(), 'CustomResourceDefinition');
    const bare = (objects: AnyObject[]) =>
      new Map(objects.map((object) => [object.metadata.name, { ...object, metadata: object.metadata.name }]));
    expect(bare(rendered)).toEqual(bare(expected));
    for (const { metadata } of rendered) expect(metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
    expect(named(await render(['--set', 'crds.install=false']), 'CustomResourceDefinition')).toEqual([]);
    const unkept = first(named(await render(['--set', 'crds.keep=false']), 'CustomResourceDefinition'));
    expect(unkept.metadata.annotations).toEqual({});
  });

  test('for single namespaces there is no right over the cluster, and no CRD', async () => {
    const objects = await render(valueSets['one namespace']);
    expect(objects.filter(({ kind }) => /^Cluster|^CustomResource/.test(kind))).toEqual([]);
    const roles = named(objects, 'Role').map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    expect(roles.sort()).toEqual([
      'identity/realmkeeper-operator-lease',
      'team-a/realmkeeper-operator',
      'team-b/realmkeeper-operator',
    ]);
    const { args } = first(podOf(first(named(objects, 'Deployment', 'realmkeeper-operator'))).containers);
    expect(args).toEqual(expect.arrayContaining(['--watch-namespace=team-a', '--watch-namespace=team-b']));
  });

  test('Secrets are read in the namespaces that are named, and no right over others’ is asked for', async () => {
    const objects = await render(['--set', 'operator.secretNamespaces={team-a,team-b}']);
    const Rules = z.looseObject({ rules: z.array(z.looseObject({ resources: z.array(z.string()) })) });
    const mayRead = (object: AnyObject) =>
      Rules.parse(object).rules.some(({ resources }) => resources.includes('secrets'));
    expect(named(objects, 'ClusterRole').filter(mayRead)).toEqual([]);
    const roles = named(objects, 'Role').filter(mayRead);
    expect(roles.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).sort()).toEqual([
      'team-a/realmkeeper-operator-secrets',
      'team-b/realmkeeper-operator-secrets',
    ]);
    const { args } = first(podOf(first(named(objects, 'Deployment', 'realmkeeper-operator'))).containers);
    expect(args).toEqual(expect.arrayContaining(['--secret-namespace=team-a', '--secret-namespace=team-b']));
  });

  test('Secrets are written nowhere by default, in the namespaces that are named, or in all', async () => {
    const Rules = z.looseObject({
      rules: z.array(z.looseObject({ resources: z.array(z.string()), verbs: z.array(z.string()) })),
    });
    const writers = async (...values: string[]) => {
      const objects = await render(values.flatMap((value) => ['--set', value]));
      return [...named(objects, 'ClusterRole'), ...named(objects, 'Role')]
        .filter((object) =>
          Rules.parse(object).rules.some(
            ({ resources, verbs }) => resources.includes('secrets') && verbs.includes('create'),
          ),
        )
        .map(({ metadata }) => `${metadata.namespace ?? 'all'}/${metadata.name}`)
        .sort();
    };
    expect(await writers()).toEqual([]);
    expect(await writers('operator.writeSecretNamespaces={team-a,team-b}')).toEqual([
      'team-a/realmkeeper-operator-write-secrets',
      'team-b/realmkeeper-operator-write-secrets',
    ]);
    expect(await writers('operator.writeSecrets=true')).toEqual(['all/identity-realmkeeper-operator']);
  });

  test('the grace period follows the drain', async () => {
    const server = async (...args: string[]) =>
      podOf(first(named(await render(args), 'Deployment', 'realmkeeper-server'))).terminationGracePeriodSeconds;
    expect(await server()).toBe(30);
    expect(await server('--set', 'server.drainSeconds=60')).toBe(80);
  });

  test('a setting that changes rolls the servers, a new version of the chart alone doesn’t touch the database', async () => {
    const templates = async (...args: string[]) =>
      new Map(workloads(await render(args)).map((each) => [each.metadata.name, Workload.parse(each).spec.template]));
    const [before, after] = [await templates(), await templates('--set', 'server.registration=true,image.tag=9.9.9')];
    expect(after.get('realmkeeper-server')).not.toEqual(before.get('realmkeeper-server'));
    expect(after.get('realmkeeper-postgresql')).toEqual(before.get('realmkeeper-postgresql'));
    expect(JSON.stringify([...before.values()])).not.toContain('helm.sh/chart');
  });

  test('/actuator is not published, by an Ingress or by an HTTPRoute', async () => {
    const objects = await render(valueSets['everything that can be turned on']);
    const published = JSON.stringify([...named(objects, 'Ingress'), ...named(objects, 'HTTPRoute')]);
    expect(published).toContain('/realms');
    expect(published).not.toContain('actuator');
    const { code, stderr } = await helm(['template', 'x', chart, '--set', 'publicPaths={/realms,/actuator/info}']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('/publicPaths/1')]);
  });

  test.each([
    ['a misspelt name', 'server.replica=3', "additional properties 'replica' not allowed"],
    ['an address that is none', 'server.baseUrl=id.example.com', '/server/baseUrl'],
    ['a port that the image’s user may not listen on', 'server.port=80', 'minimum: got 80'],
    ['a key of a kind that does not check who answers', 'database.sslMode=require', '/database/sslMode'],
    ['a variable that has a value of its own', 'server.env.SVC_MASTER_KEY=x', "invalid propertyName 'SVC_MASTER_KEY'"],
    ['a variable of no program', 'server.env.PATH=x', "invalid propertyName 'PATH'"],
    ['a proxy that is no address', 'server.trustProxy={the proxy}', '/server/trustProxy/0'],
    ['a form of header that is none', 'server.clientCertificates.header=apache', '/server/clientCertificates/header'],
    ['a variable that the chart sets', 'server.extraEnv[0].name=SVC_MASTER_KEY', '/server/extraEnv/0/name'],
    [
      'a label that Pods are found by',
      'server.podLabels.app\\.kubernetes\\.io/name=x',
      "invalid propertyName 'app.kubernetes.io/name'",
    ],
    ['a selector that is none', 'operator.realmNamespaces=a b', '/operator/realmNamespaces'],
    ['a strategy that is none', 'server.updateStrategy.type=Sometimes', '/server/updateStrategy/type'],
    ['a tag that is none', 'image.tag=a b', '/image/tag'],
    ['an object without a kind', 'extraObjects[0].name=x', '/extraObjects/0'],
    ['more at least than at most', 'server.autoscaling.enabled=true,server.autoscaling.minReplicas=9', 'minReplicas'],
    ['a port that the Service has not', 'server.service.nodePort=30080', 'goes with type NodePort'],
    ['a request beyond its limit', 'operator.resources.requests.memory=1Gi', 'request of memory (1Gi) exceeds'],
    [
      'two ways to say where Secrets are',
      'operator.secretNamespaces={a},operator.watchNamespaces={a}',
      'secretNamespaces',
    ],
    [
      'the right to write Secrets twice',
      'operator.writeSecrets=true,operator.writeSecretNamespaces={a}',
      'gives the right in all namespaces already',
    ],
    [
      'to write Secrets where none are read',
      'operator.secretNamespaces={a},operator.writeSecretNamespaces={b}',
      'reads no Secrets in b',
    ],
    ['a digest that is none', 'image.digest=latest', '/image/digest'],
    ['half a spread', 'server.topologySpreadConstraints[0].maxSkew=1', "missing properties 'topologyKey'"],
    [
      'a mount of no volume',
      'operator.extraVolumeMounts[0].name=x,operator.extraVolumeMounts[0].mountPath=/x',
      'is called x',
    ],
    ['a mount at no path', 'server.extraVolumeMounts[0].name=x', "missing property 'mountPath'"],
    ['a probe that asks at no time', 'server.livenessProbe.periodSeconds=often', '/server/livenessProbe/periodSeconds'],
    ['a probe’s misspelt field', 'operator.readinessProbe.period=3', "additional properties 'period' not allowed"],
    ['a name for no address', 'server.hostAliases[0].ip=host', '/server/hostAliases/0/ip'],
    ['a container that is root', 'server.securityContext.runAsUser=0', '0 is root'],
    ['a policy of pulling that is none', 'image.pullPolicy=Sometimes', '/image/pullPolicy'],
    ['a SIEM in the clear', 'server.siem.url=http://siem.example.com', '/server/siem/url'],
    ['a registry with a scheme', 'image.registry=https://registry.example.com', '/image/registry'],
    ['a repository that is none', 'image.repository=A B', '/image/repository'],
    ['a label that is none', 'commonLabels.a/b/c=x', "'a/b/c' does not match"],
    ['an outbound host that is none', 'server.outboundAllow={not a host}', '/server/outboundAllow/0'],
    [
      'more processor asked for than allowed',
      'server.resources.requests.cpu=2,server.resources.limits.cpu=1500m',
      'request of cpu (2) exceeds',
    ],
    ['a database that is root', 'postgresql.podSecurityContext.runAsUser=0', '0 is root'],
    ['a container with the node’s rights', 'operator.securityContext.privileged=true', 'operator.securityContext'],
    ['a budget that lets no node be drained', 'server.podDisruptionBudget.maxUnavailable=0', 'maxUnavailable'],
  ])('%s is refused with where it stands', async (_, value, message) => {
    const { code, stderr } = await helm(['template', 'x', chart, '--set', value]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
  });

  test.each([
    'image.registry=localhost:5000/team/a',
    'image.repository=team/realmkeeper',
    'commonLabels.example\\.com/team=identity',
    'server.outboundAllow={10.0.0.0/8,host.internal:8080,fd00::/8}',
    'server.resources.requests.cpu=250m,server.resources.limits.cpu=1',
  ])('%s is taken', async (value) => {
    expect(await helm(['template', 'x', chart, '--set', value])).toMatchObject({ code: 0, stderr: '' });
  });

  test('what values ask of each other is told at once', async () => {
    const wrong =
      'postgresql.enabled=false,server.baseUrl=http://id.example.com,ingress.enabled=true,httpRoute.enabled=true,httpRoute.hostnames={a.example},operator.watchNamespaces={a},server.clientCertificates.header=nginx';
    const { code, stderr } = await helm(['template', 'x', chart, '--set', wrong]);
    expect(code).toBe(1);
    for (const word of [
      'httpRoute.hostnames',
      'database.existingSecret',
      'must be https',
      'server.trustProxy',
      'operator.clusterName',
      'server.clientCertificates.proxies',
    ])
      expect(stderr).toContain(word);
  });

  test('every value is described by the schema, and the schema knows no value that is not there', () => {
    const Properties = z.record(z.string(), z.unknown());
    const Node = z.object({ $ref: z.string().optional(), properties: Properties.optional() });
    const Schema = z.looseObject({ definitions: Properties });
    const schema = Schema.parse(JSON.parse(readFileSync(path.join(chart, 'values.schema.json'), 'utf8')));
    const differing: string[] = [];
    const compare = (value: unknown, described: unknown, at: string) => {
      const { $ref, properties } = Node.parse(described);
      if ($ref !== undefined) return compare(value, schema.definitions[path.basename($ref)], at);
      if (properties === undefined) return;
      const there = Properties.parse(value);
      for (const name of new Set([...Object.keys(there), ...Object.keys(properties)])) {
        if (!(name in there) || !(name in properties)) differing.push(`${at}${name}`);
        else compare(there[name], properties[name], `${at}${name}.`);
      }
    };
    compare(parse(readFileSync(path.join(chart, 'values.yaml'), 'utf8')), schema, '');
    // of Kubernetes' own objects only what is set
    expect(differing.filter((name) => !/(\.resources\.(claims|limits|requests)|Probe\.\w+)$/.test(name))).toEqual([]);
  });

  test('the operator’s metrics are for those who are named, and for nobody where nobody is', async () => {
    const ingressOf = async (args: string[]) => {
      const policy = first(named(await render(args), 'NetworkPolicy', 'realmkeeper-operator'));
      return z
        .looseObject({ spec: z.looseObject({ policyTypes: z.array(z.string()), ingress: z.unknown() }) })
        .parse(policy).spec;
    };
    expect(await ingressOf([])).toMatchObject({ policyTypes: ['Ingress', 'Egress'], ingress: [] });
    const prometheus = ['--set', 'networkPolicy.metricsFrom[0].podSelector.matchLabels.app=prometheus'];
    expect((await ingressOf(prometheus)).ingress).toEqual([
      {
        ports: [{ port: 'metrics', protocol: 'TCP' }],
        from: [{ podSelector: { matchLabels: { app: 'prometheus' } } }],
      },
    ]);
    const unseen = await helm(['template', 'realmkeeper', chart, '--set', 'monitoring.serviceMonitor.enabled=true']);
    expect(unseen.stderr).toContain('networkPolicy.metricsFrom must name your Prometheus');
  });

  test('the authority of the server’s address is where the operator looks for it', async () => {
    const args = [
      'operator.serverUrl=https://id.example.com',
      'operator.serverCa.secret=authority',
      'operator.serverCa.key=root.pem',
    ];
    const operator = podOf(first(named(await render(['--set', args.join(',')]), 'Deployment', 'realmkeeper-operator')));
    expect(first(operator.containers).env).toContainEqual({
      name: 'NODE_EXTRA_CA_CERTS',
      value: '/etc/realmkeeper/server/ca.crt',
    });
    expect(first(operator.containers).volumeMounts).toContainEqual({
      name: 'server-ca',
      mountPath: '/etc/realmkeeper/server',
      readOnly: true,
    });
    expect(JSON.stringify(operator.volumes.find(({ name }) => name === 'server-ca'))).toMatch(
      /authority.*root\.pem.*ca\.crt/,
    );
  });
});
