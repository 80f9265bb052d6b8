// What platforms and companies ask of a chart: their registry, their users, their sidecars, their objects.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type AnyObject, chart, helm, helmAssets, render } from './helm.ts';

const assets = await helmAssets();
const Pod = z.looseObject({
  securityContext: z.record(z.string(), z.unknown()),
  imagePullSecrets: z.array(z.object({ name: z.string() })).default([]),
  runtimeClassName: z.string().optional(),
  dnsPolicy: z.string().optional(),
  initContainers: z.array(z.looseObject({ name: z.string() })).default([]),
  containers: z.array(
    z.looseObject({
      name: z.string(),
      image: z.string(),
      securityContext: z.record(z.string(), z.unknown()).optional(),
      livenessProbe: z.record(z.string(), z.unknown()).optional(),
      volumeMounts: z.array(z.looseObject({ name: z.string() })).optional(),
    }),
  ),
  volumes: z.array(z.looseObject({ name: z.string() })),
});
const Workload = z.looseObject({ spec: z.looseObject({ template: z.looseObject({ spec: Pod }) }) });
const podsOf = (objects: AnyObject[]) =>
  objects
    .filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
    .map((object) => Workload.parse(object).spec.template.spec);
const set = (...values: string[]) => values.flatMap((value) => ['--set', value]);
const json = (...values: string[]) => values.flatMap((value) => ['--set-json', value]);

describe.skipIf(!assets.found)('the chart', () => {
  test('asks for no user and no group where the platform assigns them: seen, or said', async () => {
    const fixed = ['runAsUser', 'runAsGroup', 'fsGroup'];
    const ids = (pods: z.output<typeof Pod>[]) =>
      pods.flatMap(({ securityContext }) => fixed.filter((name) => name in securityContext));
    expect(ids(podsOf(await render()))).toHaveLength(9);
    const seen = ['--api-versions', 'security.openshift.io/v1'];
    expect(ids(podsOf(await render(seen)))).toEqual([]);
    expect(ids(podsOf(await render(set('openshift=enabled'))))).toEqual([]);
    expect(ids(podsOf(await render([...seen, ...set('openshift=disabled')])))).toHaveLength(9);
    for (const { securityContext } of podsOf(await render(seen))) expect(securityContext.runAsNonRoot).toBe(true);
  });

  test.each(['server', 'operator'])(
    'takes what a %s’s Pod needs elsewhere, over what it says itself',
    async (component) => {
      const values = json(
        `${component}.podSecurityContext={"fsGroup":1234}`,
        `${component}.securityContext={"readOnlyRootFilesystem":false}`,
        `${component}.livenessProbe={"periodSeconds":77}`,
        `${component}.dnsPolicy="Default"`,
        `${component}.runtimeClassName="gvisor"`,
        `${component}.extraContainers=[{"name":"beside","image":"other"}]`,
        `${component}.extraInitContainers=[{"name":"before","image":"other"}]`,
        `${component}.extraVolumes=[{"name":"more","emptyDir":{}}]`,
        `${component}.extraVolumeMounts=[{"name":"more","mountPath":"/more"}]`,
      );
      const pods = podsOf(await render(values));
      const pod = pods.find(({ containers }) => containers.some(({ name }) => name === component));
      expect(pod).toMatchObject({
        securityContext: { fsGroup: 1234, runAsNonRoot: true },
        dnsPolicy: 'Default',
        runtimeClassName: 'gvisor',
      });
      expect(pod?.initContainers.at(-1)?.name).toBe('before');
      expect(pod?.volumes.map(({ name }) => name)).toContain('more');
      const [main, beside] = pod?.containers ?? [];
      expect(beside?.name).toBe('beside');
      expect(main?.volumeMounts?.map(({ name }) => name)).toContain('more');
      expect(main).toMatchObject({
        securityContext: { readOnlyRootFilesystem: false, allowPrivilegeEscalation: false },
        livenessProbe: { periodSeconds: 77, timeoutSeconds: 5, httpGet: { path: expect.any(String) } },
      });
    },
  );

  test('takes registry and pull secrets of a parent chart, beside its own', async () => {
    const values = set('global.imageRegistry=mirror.example.com', 'image.registry=registry.example.com');
    const secrets = set('global.imagePullSecrets={theirs,both}', 'image.pullSecrets={ours,both}');
    const pods = podsOf(await render([...values, ...secrets, ...set('postgresql.image=postgres:18')]));
    for (const { containers, imagePullSecrets } of pods) {
      expect(imagePullSecrets.map(({ name }) => name)).toEqual(['ours', 'both', 'theirs']);
      for (const { name, image } of containers)
        if (name !== 'postgresql') expect(image).toMatch(/^mirror\.example\.com\/realmkeeper:/);
    }
  });

  test('brings more objects, with templates filled in', async () => {
    const text = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"{{ .Release.Name }}-more"}}';
    const objects = await render(json(`extraObjects=[${text},${JSON.stringify(text.replace('more', 'text'))}]`));
    const names = objects.map(({ metadata }) => metadata.name);
    expect(names).toEqual(expect.arrayContaining(['realmkeeper-more', 'realmkeeper-text']));
  });

  test('gives the Service what the cloud wants, but not another selector', async () => {
    const values = set('server.service.type=LoadBalancer', 'server.service.nodePort=30080');
    const extra = (fields: object) => json(`server.service.extraSpec=${JSON.stringify(fields)}`);
    const objects = await render([
      ...values,
      ...extra({ loadBalancerClass: 'internal', externalTrafficPolicy: 'Local' }),
    ]);
    const service = objects.find(({ kind, metadata }) => kind === 'Service' && metadata.name === 'realmkeeper-server');
    expect(service?.spec).toMatchObject({
      type: 'LoadBalancer',
      loadBalancerClass: 'internal',
      externalTrafficPolicy: 'Local',
      ports: [{ nodePort: 30080, port: 80 }],
    });
    const refused = await helm(['template', 'realmkeeper', chart, ...extra({ selector: { app: 'other' } })]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('extraSpec')]);
  });
});
