// How a CRD gets a new version (docs/upgrade.md): objects stored by the first release live through it, and back again.
// Each step is what the document tells people to do. fixtures/crds-0.1.0 are the CRDs that the first release had.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CrdVersion, renderCrds } from '../../operator/crd.ts';
import { kindNames, plurals } from '../../operator/resource.ts';
import { getRealm } from '../../server/contract/realms.ts';
import { getSettings } from '../../server/contract/settings.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { type Landscape, startLandscape } from '../support/landscape.ts';
import { atRest, eventually } from '../support/operator.ts';

const assets = await clusterAssets();
const root = path.resolve(import.meta.dirname, '../..');
const firstRelease = path.join(import.meta.dirname, 'fixtures/crds-0.1.0');
const names = ['realm/demo', 'flow/demo-browser', 'webhook/demo-audit', 'workloadidentity/demo-ci'];
const crds = kindNames.map((kind) => `crd/${plurals[kind]}.realmkeeper.dev`);
const OLD = 'v1alpha1';
const NEW = 'v1beta1';

describe.skipIf(!assets.found)('a new version of the custom resources', () => {
  let land: Landscape;
  let folder: string;
  let before: unknown;

  beforeAll(async () => {
    land = await startLandscape({ own: {} });
    folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-versions-'));
    await land.kubectl('apply', '--server-side', '--force-conflicts', '-f', firstRelease);
    await land.start();
  });
  afterAll(async () => {
    await land?.stop();
    if (folder) await rm(folder, { recursive: true });
  });

  const kubectl = (...args: string[]) => land.kubectl(...args);
  async function install(...versions: CrdVersion[]): Promise<void> {
    const dir = path.join(folder, 'crds');
    await mkdir(dir, { recursive: true });
    for (const [name, text] of renderCrds(versions)) await writeFile(path.join(dir, path.basename(name)), text);
    await kubectl('apply', '--server-side', '--force-conflicts', '-f', dir);
    await kubectl('wait', '--for=condition=Established', '--timeout=120s', ...crds);
  }
  /** Spec, status and identity, as one version shows them. */
  const shown = async (version: string) =>
    Promise.all(
      kindNames.map(async (kind, index) => {
        const name = names[index]?.split('/')[1] ?? '';
        const of = `${plurals[kind]}.${version}.realmkeeper.dev`;
        return eventually(async () => {
          const { apiVersion, metadata, spec, status } = JSON.parse(await kubectl('get', of, name, '-o', 'json'));
          expect(apiVersion).toBe(`realmkeeper.dev/${version}`);
          return { uid: metadata.uid, generation: metadata.generation, spec, status };
        });
      }),
    );
  const storedVersions = async () =>
    (await kubectl('get', ...crds, '-o', 'jsonpath={range .items[*]}{.status.storedVersions}{"\\n"}{end}'))
      .trim()
      .split('\n');
  const each = (version: string) => Array(4).fill(JSON.stringify([version]));
  const revision = async () => (await land.client.call(getRealm, { params: { realm: 'demo' } })).body?.revision;
  const ttl = async () =>
    (await land.client.call(getSettings, { params: { realm: 'demo' } })).body?.accessTokenTtlSeconds;
  const ready = () => kubectl('wait', '--for=condition=Ready', '--timeout=120s', ...names);
  /** As docs/upgrade.md says. */
  async function migrate(version: string): Promise<void> {
    for (const kind of kindNames) {
      const all = await kubectl('get', `${plurals[kind]}.${version}.realmkeeper.dev`, '-A', '-o', 'json');
      const { code, stderr } = await land.cluster.kubectl(['replace', '-f', '-'], all);
      expect(code, stderr).toBe(0);
    }
    const patch = JSON.stringify({ status: { storedVersions: [version] } });
    for (const crd of crds) await kubectl('patch', crd, '--subresource=status', '--type=merge', '-p', patch);
  }

  test('objects of the first release are applied', async () => {
    await kubectl('apply', '-f', path.join(root, 'crds/examples'));
    await ready();
    expect(await storedVersions()).toEqual(each(OLD));
    before = await atRest(async () => ({ objects: await shown(OLD), revision: await revision() }));
  });

  test('a version that comes beside them changes nothing, and both are read', async () => {
    await install({ name: OLD, storage: true }, { name: NEW, storage: false });
    expect({ objects: await shown(NEW), revision: await revision() }).toEqual(before);
    expect({ objects: await shown(OLD), revision: await revision() }).toEqual(before);
  });

  test('as storage version it still changes nothing; the old one warns', async () => {
    const deprecationWarning = `realmkeeper.dev/${OLD} is deprecated: use ${NEW}`;
    await install({ name: OLD, storage: false, deprecationWarning }, { name: NEW, storage: true });
    expect({ objects: await shown(NEW), revision: await revision() }).toEqual(before);
    const { stderr } = await land.cluster.kubectl(['get', `realms.${OLD}.realmkeeper.dev`, 'demo']);
    expect(stderr).toContain(deprecationWarning);
    expect(await storedVersions()).toEqual(Array(4).fill(JSON.stringify([OLD, NEW])));
  });

  test('an operator that reads the old version reconciles what is written in the new one', async () => {
    const change = (seconds: number) =>
      kubectl(
        ...['patch', `realms.${NEW}.realmkeeper.dev`, 'demo', '--type=merge', '-p'],
        JSON.stringify({ spec: { settings: { accessTokenTtlSeconds: seconds } } }),
      );
    await change(450);
    await eventually(async () => expect(await ttl()).toBe(450));
    await land.operator.kill();
    await land.operator.start();
    await change(600);
    await eventually(async () => expect(await ttl()).toBe(600));
    await ready();
  });

  test('everything is stored anew in the new version, and the old one can go', async () => {
    const objects = await atRest(() => shown(NEW));
    await migrate(NEW);
    expect(await storedVersions()).toEqual(each(NEW));
    expect(await shown(NEW)).toEqual(objects);
    // an object that were still stored in the old version could not be read without it
    await land.operator.kill();
    await install({ name: NEW, storage: true });
    expect(await shown(NEW)).toEqual(objects);
    const { stderr } = await land.cluster.kubectl(['get', '--raw', `/apis/realmkeeper.dev/${OLD}/realms`]);
    expect(stderr).toContain('NotFound');
  });

  test('the API server refuses CRDs without the version that things are stored in', async () => {
    const { code, stderr } = await land.cluster.kubectl([
      'apply',
      '--server-side',
      '--force-conflicts',
      '-f',
      firstRelease,
    ]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('storedVersions')]);
  });

  test('back again: the first release’s CRDs and operator find everything in sync', async () => {
    await install({ name: OLD, storage: true }, { name: NEW, storage: false });
    await shown(OLD);
    await migrate(OLD);
    await kubectl('apply', '--server-side', '--force-conflicts', '-f', firstRelease);
    const objects = await eventually(() => shown(OLD));
    const at = await revision();
    await land.operator.start();
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    expect({ objects: await shown(OLD), revision: await revision() }).toEqual({ objects, revision: at });
    expect(await storedVersions()).toEqual(each(OLD));
    await kubectl('delete', '-f', path.join(root, 'crds/examples'), '--timeout=120s');
  });
});
