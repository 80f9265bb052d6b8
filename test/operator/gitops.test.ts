// What a GitOps tool sees of resources that the operator keeps: nothing to fight about, and no difference from Git.
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { getSettings } from '../../server/contract/settings.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { landscape } from '../support/landscape.ts';
import { atRest, eventually, type Manifest, resource } from '../support/operator.ts';

const assets = await clusterAssets();
const examples = path.resolve(import.meta.dirname, '../../crds/examples');
const names = ['realm/demo', 'flow/demo-browser', 'webhook/demo-audit', 'workloadidentity/demo-ci'];
const OPERATOR = 'realmkeeper-operator';

const Entry = z.object({
  manager: z.string(),
  operation: z.string(),
  subresource: z.string().optional(),
  fieldsV1: z.record(z.string(), z.unknown()),
});
const Stored = z.object({
  metadata: z.object({ resourceVersion: z.string(), managedFields: z.array(Entry), finalizers: z.array(z.string()) }),
});

describe.skipIf(!assets.found)('a GitOps tool beside the operator', () => {
  const land = landscape();

  const run = async (args: string[], manifest?: Manifest) =>
    land.cluster.kubectl(args, manifest && JSON.stringify(manifest));
  const serverSide = (manager: string, ...more: string[]) => ['--server-side', `--field-manager=${manager}`, ...more];
  const ready = () => land.kubectl('wait', '--for=condition=Ready', '--timeout=120s', ...names);
  const stored = async (name: string) =>
    Stored.parse(JSON.parse(await land.kubectl('get', name, '-o', 'json', '--show-managed-fields')));
  const versions = () => Promise.all(names.map(async (name) => (await stored(name)).metadata.resourceVersion));
  /** What each manager holds: `manager subresource` → paths of the first two levels. */
  const held = async (name: string) =>
    Object.fromEntries(
      (await stored(name)).metadata.managedFields.map(({ manager, operation, subresource, fieldsV1 }) => [
        [manager, operation, subresource].filter(Boolean).join(' '),
        Object.keys(fieldsV1).sort(),
      ]),
    );

  // argocd-controller and kustomize-controller are the names that Argo CD and Flux apply under
  test.for(['argocd-controller', 'kustomize-controller'])(
    '%s applies, and the operator keeps to its own fields',
    async (manager) => {
      const apply = ['apply', '-f', examples, ...serverSide(manager)];
      expect(await run([...apply, '--force-conflicts'])).toMatchObject({ code: 0 });
      await ready();
      for (const name of names) {
        const fields = await held(name);
        expect(fields[`${manager} Apply`]).toContain('f:spec');
        expect(fields[`${OPERATOR} Update status`]).toEqual(['f:status']);
        expect(fields[`${OPERATOR} Update`]).toEqual(['f:metadata']);
        expect(
          JSON.stringify((await stored(name)).metadata.managedFields.filter((e) => e.manager === OPERATOR)),
        ).not.toMatch(/f:(spec|annotations|labels)/);
      }
      const before = await atRest(versions);
      // without force: a field of somebody else's would be a conflict
      expect(await run(apply)).toMatchObject({ code: 0, stderr: '' });
      expect(await run(['diff', '-f', examples, ...serverSide(manager)])).toMatchObject({ code: 0, stdout: '' });
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      expect(await versions()).toEqual(before);
    },
  );

  test('what leaves Git leaves the resource and the realm, though the operator has written to it since', async () => {
    const realm = (settings: object) => resource('Realm', 'acme', { realm: 'acme', settings });
    const apply = (settings: object) => run(['apply', '-f', '-', ...serverSide('argocd-controller')], realm(settings));
    const live = async () => (await land.client.call(getSettings, { params: { realm: 'acme' } })).body;
    expect((await apply({ accessTokenTtlSeconds: 77, displayName: 'Acme' })).code).toBe(0);
    await land.kubectl('wait', '--for=condition=Ready', '--timeout=120s', 'realm/acme');
    expect((await live())?.accessTokenTtlSeconds).toBe(77);
    expect((await apply({ displayName: 'Acme' })).code).toBe(0);
    await eventually(async () => expect((await live())?.accessTokenTtlSeconds).not.toBe(77));
    expect(await land.kubectl('get', 'realm', 'acme', '-o', 'jsonpath={.spec.settings}')).toBe(
      '{"displayName":"Acme"}',
    );
  });

  test('two teams’ Gits keep clients of their own in one Realm', async () => {
    const apply = (manager: string, ...clients: object[]) =>
      run(['apply', '-f', '-', ...serverSide(manager)], resource('Realm', 'shared', { realm: 'shared', clients }));
    const clients = () => land.kubectl('get', 'realm', 'shared', '-o', 'jsonpath={.spec.clients[*].clientId}');
    expect((await apply('platform', { clientId: 'portal', name: 'Portal' })).code).toBe(0);
    expect((await apply('shop', { clientId: 'shop' })).code).toBe(0);
    expect(await clients()).toBe('portal shop');
    const { code, stderr } = await apply('shop', { clientId: 'shop' }, { clientId: 'portal', name: 'Mine' });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/conflict with "platform".*spec\.clients.*name/s)]);
    expect((await apply('shop')).code).toBe(0);
    expect(await clients()).toBe('portal');
  });

  test('kubectl apply by the client, with its annotation, sees no difference either', async () => {
    await land.kubectl('delete', '-f', examples, '--timeout=120s');
    await land.kubectl('apply', '-f', examples);
    await ready();
    const before = await atRest(versions);
    expect(await run(['diff', '-f', examples])).toMatchObject({ code: 0, stdout: '' });
    const again = await land.kubectl('apply', '-f', examples);
    expect(
      again
        .trim()
        .split('\n')
        .every((line) => line.endsWith('unchanged') || line.startsWith('secret/')),
    ).toBe(true);
    expect(await versions()).toEqual(before);
    expect((await stored('realm/demo')).metadata.finalizers).toEqual(['realmkeeper.dev/release']);
  });

  test('the finalizer survives a tool that keeps finalizers of its own', async () => {
    const manifest = resource('Realm', 'kept', { realm: 'kept' });
    Object.assign(manifest.metadata, { finalizers: ['example.com/backup'] });
    const apply = () => run(['apply', '-f', '-', ...serverSide('argocd-controller')], manifest);
    expect((await apply()).code).toBe(0);
    await land.kubectl('wait', '--for=condition=Ready', '--timeout=120s', 'realm/kept');
    expect(await apply()).toMatchObject({ code: 0 });
    expect((await stored('realm/kept')).metadata.finalizers.sort()).toEqual([
      'example.com/backup',
      'realmkeeper.dev/release',
    ]);
    await land.kubectl(
      'patch',
      'realm',
      'kept',
      '--type=json',
      '-p',
      '[{"op":"remove","path":"/metadata/finalizers/0"}]',
    );
  });

  test('a status in Git is not taken for the operator’s', async () => {
    const manifest = { ...resource('Realm', 'exported', { realm: 'exported' }), status: { observedGeneration: 9 } };
    expect(await run(['apply', '-f', '-', ...serverSide('argocd-controller')], manifest)).toMatchObject({ code: 0 });
    await land.kubectl('wait', '--for=condition=Ready', '--timeout=120s', 'realm/exported');
    expect(await land.kubectl('get', 'realm', 'exported', '-o', 'jsonpath={.status.observedGeneration}')).toBe('1');
  });

  // `realmctl export --as manifests` writes nulls. To server-side apply null is a value; kubectl's own apply leaves it out,
  // so that the field is nobody's.
  test.for([
    ['--server-side', { issuer: null, displayName: 'N' }],
    ['--server-side=false', { displayName: 'N' }],
  ] as const)('an explicit null makes no difference under %s', async ([way, kept]) => {
    const manifest = resource('Realm', 'nulls', { realm: 'nulls', settings: { issuer: null, displayName: 'N' } });
    expect(await run(['apply', '-f', '-', way], manifest)).toMatchObject({ code: 0 });
    await land.kubectl('wait', '--for=condition=Ready', '--timeout=120s', 'realm/nulls');
    expect(JSON.parse(await land.kubectl('get', 'realm', 'nulls', '-o', 'json')).spec.settings).toEqual(kept);
    expect(await run(['diff', '-f', '-', way], manifest)).toMatchObject({ code: 0, stdout: '' });
    await land.kubectl('delete', 'realm', 'nulls', '--timeout=120s');
  });
});
