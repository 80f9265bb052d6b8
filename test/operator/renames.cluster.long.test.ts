// A rename over several resources in one commit, as a GitOps tool applies it to a real API server: it comes to rest, whatever
// comes first, and at no moment does anything name what isn't there.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { KindName } from '../../operator/resource.ts';
import { getRealm } from '../../server/contract/realms.ts';
import { exportRealm } from '../../server/contract/transfer.ts';
import { clusterAssets } from '../kubernetes/cluster.ts';
import { type Landscape, startLandscape } from '../support/landscape.ts';
import { atRest, eventually, type Manifest, resource } from '../support/operator.ts';

const assets = await clusterAssets();
const executions = [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }];
const app = (clientId: string, more: object = {}) => ({ clientId, grantTypes: ['client_credentials'], ...more });

/** What is renamed, and what names it, each with the part of a Realm's spec that holds it. */
interface Rename {
  inRealm(name: string): object;
  attached(realm: string, name: string): Manifest;
}
const workload = (realm: string, clientId: string) =>
  resource('WorkloadIdentity', `${realm}-ci`, {
    realm,
    issuer: 'https://issuer.example.com',
    subject: realm,
    audience: 'it',
    clientId,
  });
const flow = (realm: string, alias: string) => resource('Flow', `${realm}-steps`, { realm, alias, executions });
const renames: Record<string, Rename> = {
  'a client and its WorkloadIdentity': { inRealm: (name) => ({ clients: [app(name)] }), attached: workload },
  'a flow and a client’s flowOverride': {
    inRealm: (name) => ({ clients: [app('app', { flowOverride: name })] }),
    attached: flow,
  },
  'a flow and the realm’s browserFlow': {
    inRealm: (name) => ({ settings: { browserFlow: name } }),
    attached: flow,
  },
};
const splits = ['one Realm resource', 'two Realm resources'] as const;
const orders = ['the Realm first', 'what attaches first', 'all at once'] as const;
const all = Object.keys(renames).flatMap((what) =>
  splits.flatMap((split) => orders.map((order) => [what, split, order] as const)),
);

describe.skipIf(!assets.found)('a rename in one commit', () => {
  let land: Landscape;
  let tests = 0;
  beforeAll(async () => {
    land = await startLandscape();
    await land.server.start();
    await land.operator.start();
  });
  afterAll(() => land?.stop());

  const fresh = () => {
    tests += 1;
    return `renamed-${tests}`;
  };
  const document = async (realm: string) =>
    (await land.client.call(exportRealm, { params: { realm }, query: { users: 'false' } })).body;
  const Named = z.looseObject({
    metadata: z.looseObject({ name: z.string(), generation: z.number() }),
    status: z.unknown(),
  });
  const Conditions = z.object({
    observedGeneration: z.number(),
    conditions: z.array(z.object({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() })),
  });
  const get = async ({ kind, metadata }: Manifest) => Named.parse(await land.object(kind as KindName, metadata.name));
  const isReady = async (manifest: Manifest) => {
    const { metadata, status } = await get(manifest);
    const { observedGeneration, conditions } = Conditions.parse(status);
    const ready = conditions.find(({ type }) => type === 'Ready');
    expect([manifest.kind, ready?.status, ready?.message, observedGeneration]).toEqual([
      manifest.kind,
      'True',
      expect.anything(),
      metadata.generation,
    ]);
  };
  const areReady = (manifests: readonly Manifest[]) =>
    eventually(async () => {
      for (const manifest of manifests) await isReady(manifest);
    }, 60_000);

  /** Looks as often as it can; answers what was named and not there. */
  function watch(realm: string): () => Promise<string[]> {
    const missing: string[] = [];
    let done = false;
    const look = async () => {
      while (!done) {
        const { flows = [], clients = [], workloadIdentity = [], realm: settings } = (await document(realm)) ?? {};
        const aliases = new Set(flows.map(({ alias }) => alias));
        const ids = new Set(clients.map(({ clientId }) => clientId));
        const named = [settings?.browserFlow, ...clients.map((one) => one.flowOverride)];
        for (const alias of named) if (alias && !aliases.has(alias)) missing.push(`flow ${alias}`);
        for (const { clientId } of workloadIdentity)
          if (clientId && !ids.has(clientId)) missing.push(`client ${clientId}`);
      }
    };
    const looking = look();
    return async () => {
      done = true;
      await looking;
      return missing;
    };
  }

  async function renamed(
    realm: string,
    { before, after }: { before: Manifest[]; after: Manifest[][] },
  ): Promise<string> {
    await land.apply(...before);
    await areReady(before);
    const missing = watch(realm);
    for (const [at, manifests] of after.entries()) {
      await land.apply(...manifests);
      // the operator has come across it before the next comes
      if (at < after.length - 1)
        await eventually(async () => {
          for (const manifest of manifests) {
            const { metadata, status } = await get(manifest);
            const { conditions } = z
              .object({ conditions: z.array(z.object({ observedGeneration: z.number() })) })
              .parse(status);
            expect(conditions.map((c) => c.observedGeneration)).toContain(metadata.generation);
          }
        });
    }
    await areReady(after.flat());
    expect(await missing()).toEqual([]);
    const revision = async () => (await land.client.call(getRealm, { params: { realm } })).body?.revision;
    const versions = () =>
      Promise.all([revision(), ...after.flat().map(async (one) => (await get(one)).metadata.resourceVersion)]);
    await atRest(versions, 2_500);
    return JSON.stringify(await document(realm));
  }

  test.for(all)('of %s, declared by %s, %s: comes to rest', async ([what, split, order]) => {
    const rename = renames[what];
    if (!rename) throw new Error(what);
    const realm = fresh();
    const inRealm = (name: string): Manifest[] =>
      split === 'one Realm resource'
        ? [resource('Realm', realm, { realm, ...rename.inRealm(name) })]
        : [
            resource('Realm', realm, { realm, roles: [{ name }] }),
            resource('Realm', `${realm}-part`, { realm, ...rename.inRealm(name) }),
          ];
    const attached = (name: string) => [rename.attached(realm, name)];
    const after = {
      'the Realm first': [inRealm('new'), attached('new')],
      'what attaches first': [attached('new'), inRealm('new')],
      'all at once': [[...inRealm('new'), ...attached('new')]],
    }[order];
    const exported = await renamed(realm, { before: [...inRealm('old'), ...attached('old')], after });
    expect(exported).toContain('"new"');
    expect(exported).not.toContain('"old"');
  });

  test.for([
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0],
  ])('of a client, its flow and its WorkloadIdentity, in the order %j: comes to rest', async (order) => {
    const realm = fresh();
    const manifests = (name: string) => [
      resource('Realm', realm, {
        realm,
        clients: [app(name, { flowOverride: name })],
        settings: { browserFlow: name },
      }),
      flow(realm, name),
      workload(realm, name),
    ];
    const after = order.map((at) => manifests('new').slice(at, at + 1));
    const exported = await renamed(realm, { before: manifests('old'), after });
    expect(exported).toContain('"new"');
    expect(exported).not.toContain('"old"');
  });

  test('a chain, x to y and y to z, each with its own Flow: y changes hands and is there all the time', async () => {
    const realm = fresh();
    const named = (name: string, alias: string) => resource('Flow', `${realm}-${name}`, { realm, alias, executions });
    const users = (one: string, two: string) =>
      resource('Realm', realm, {
        realm,
        clients: [app('one', { flowOverride: one }), app('two', { flowOverride: two })],
      });
    const before = [users('x', 'y'), named('first', 'x'), named('second', 'y')];
    const after = [[users('y', 'z'), named('first', 'y'), named('second', 'z')]];
    const exported = await renamed(realm, { before, after });
    expect(exported).not.toContain('"x"');
  });
});
