// Resources from a Kubernetes cluster: the four kinds and the Secrets are followed, statuses and finalizers are written.
// It decides nothing about a resource. Of Secrets it follows the metadata alone and reads values when they are needed.
// Decisions "Custom resources"; the port is source.ts.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { errorWords } from '../../server/contract/error-words.ts';
import { DNS_NAME } from '../../server/contract/resources/custom-resource.ts';
import type { Connections } from '../connections.ts';
import {
  API_VERSION,
  FINALIZER,
  keyOf,
  keyOfResource,
  kindNames,
  plurals,
  type Resource,
  resourceOf,
} from '../resource.ts';
import { always, demand, type Permit } from '../runtime/permit.ts';
import { type Api, connect, found } from './api.ts';
import { ApiFailure } from './api-failure.ts';
import { createRecorder } from './events.ts';
import { createListWatch, type Followed, type ListWatch } from './list-watch.ts';
import type { Source, SourceListener } from './source.ts';

const COMPONENT = 'realmkeeper-operator';
const REFUSALS = 4;
const JSON_TYPE = 'application/json';
/** A watch that asks for a list's metadata is answered with 200 and nothing at all, so each asks for just its own. */
const metadataOnly = (path: string) =>
  `${JSON_TYPE};as=PartialObjectMetadata${path.includes('watch=true') ? '' : 'List'};g=meta.k8s.io;v=v1`;
const SecretObject = z.object({ data: z.record(z.string(), z.string()).default({}) });
const NamespaceObject = z.object({
  metadata: z.object({ uid: z.string(), labels: z.record(z.string(), z.string()).default({}) }),
});
const Versioned = z.object({
  metadata: z.object({ uid: z.string(), resourceVersion: z.string(), finalizers: z.array(z.string()).default([]) }),
});

export interface ClusterOptions {
  kubeconfig: string | undefined;
  log(message: string): void;
  watchFailed?: ((kind: string) => void) | undefined;
  /** Only there is anything looked at; empty: everywhere. */
  namespaces?: readonly string[];
  /** Of the operator's own ServiceAccount token, in case the cluster doesn't tell or may not be asked. */
  tokenIssuer?: string | undefined;
  permit?: Permit;
  connections?: Connections | undefined;
}

/** Names the cluster where nobody gave it a name. */
export async function clusterUid({ kubeconfig, log }: Pick<ClusterOptions, 'kubeconfig' | 'log'>): Promise<string> {
  const api = connect(kubeconfig);
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        return NamespaceObject.parse(await api.call('GET', '/api/v1/namespaces/kube-system')).metadata.uid;
      } catch (error) {
        // A cluster that is away comes back. One that refuses needs somebody to act, unless it is just starting: an API
        // server answers for some seconds before it knows anybody's rights.
        const refused = error instanceof ApiFailure && error.status < 500 && error.status !== 429;
        if (refused && tries > REFUSALS) throw error;
        if (tries === 1) log(`cannot reach the Kubernetes API: ${errorWords(error)}; trying again`);
        await sleep(Math.min(10_000, 250 * 2 ** tries));
      }
    }
  } finally {
    await api.close();
  }
}

export function clusterSource(options: ClusterOptions): Source {
  const { kubeconfig, log, watchFailed, namespaces = [], permit = always } = options;
  const api = connect(kubeconfig, options.connections);
  const act: Api['call'] = async (method, path, ask) => {
    demand(permit);
    return api.call(method, path, { ...ask, signal: permit.signal });
  };
  const eventsOf = (namespace: string) => `/api/v1/namespaces/${namespace}/events`;
  const record = createRecorder({
    component: COMPONENT,
    now: Date.now,
    newId: () => randomBytes(8).toString('hex'),
    writer: {
      async create(namespace, body) {
        await act('POST', eventsOf(namespace), { body });
      },
      async patch(namespace, name, body) {
        const ask = { body, contentType: 'application/merge-patch+json' };
        return (await found(act('PATCH', `${eventsOf(namespace)}/${name}`, ask))) !== undefined;
      },
    },
  });
  let clusterIssuer: string | undefined;
  const resources = new Map<string, Resource>();
  // until everything is known, a Flow would look as if its Realm weren't there
  let listener: SourceListener | undefined;

  function upserted(kind: Resource['kind'], object: Followed): void {
    const resource = held(kind, object);
    const key = keyOfResource(resource);
    const before = resources.get(key);
    if (before && isOlder(resource, before)) return;
    resources.set(key, resource);
    if (!before || isNews(before, resource)) listener?.changed(key);
  }
  function deleted(kind: Resource['kind'], namespace: string, name: string): void {
    const key = keyOf(kind, namespace, name);
    resources.delete(key);
    listener?.changed(key);
  }
  const secretTouched = (namespace: string, name: string) => listener?.secretChanged(namespace, name);
  async function recovered(): Promise<void> {
    listener?.reached?.();
    await learnIssuer();
  }
  /** Where only single namespaces are looked at, the cluster isn't asked: the operator's own token tells. */
  async function learnIssuer(): Promise<void> {
    if (namespaces.length === 0) clusterIssuer ??= await issuerOf(api);
  }

  const labelsUnreadable =
    namespaces.length === 0
      ? undefined
      : 'this operator looks at single namespaces (--watch-namespace) and cannot read the labels of namespaces';

  type Hears = Pick<Parameters<typeof createListWatch>[0], 'upserted' | 'deleted' | 'failed'>;
  const follow = (collection: string, accept: (path: string) => string, hears: Hears) =>
    createListWatch({
      path: collection,
      open: (path, signal) => api.lines(path, { accept: accept(path), signal }),
      log,
      recovered: () => void recovered().catch((error: unknown) => log(errorWords(error))),
      ...hears,
    });
  /** One for the whole cluster, or one for each namespace: who has rights in one alone may not ask for more. */
  const everywhere = (group: string, plural: string, accept: (path: string) => string, hears: Hears): ListWatch[] =>
    namespaces.length === 0
      ? [follow(`${group}/${plural}`, accept, hears)]
      : namespaces.map((namespace) => follow(`${group}/namespaces/${namespace}/${plural}`, accept, hears));
  const watches: ListWatch[] = [
    ...kindNames.flatMap((kind) =>
      everywhere(`/apis/${API_VERSION}`, plurals[kind], () => JSON_TYPE, {
        upserted: (object) => upserted(kind, object),
        deleted: (namespace, name) => deleted(kind, namespace, name),
        failed: () => watchFailed?.(kind),
      }),
    ),
    ...everywhere('/api/v1', 'secrets', metadataOnly, {
      upserted: ({ metadata }) => secretTouched(metadata.namespace, metadata.name),
      deleted: secretTouched,
      failed: () => watchFailed?.('Secret'),
    }),
  ];

  return {
    get clusterIssuer() {
      return clusterIssuer ?? options.tokenIssuer;
    },
    labelsUnreadable,
    async start(hears) {
      await Promise.all(watches.map((watch) => watch.start()));
      // Not before: an API server that is just starting refuses this for some seconds, and who has listed has been let in.
      await learnIssuer();
      listener = hears;
      for (const key of resources.keys()) hears.changed(key);
    },
    async stop() {
      listener = undefined;
      await Promise.all(watches.map((watch) => watch.stop()));
      await api.close();
    },
    async refresh() {
      await Promise.all(watches.map((watch) => watch.refresh()));
    },
    get: (key) => resources.get(key),
    list: () => [...resources.values()],
    async secret(namespace, name) {
      // the CRD says so too; but a name that leads to another namespace must not depend on what a cluster has installed
      if (!DNS_NAME.test(name)) return undefined;
      const object = await found(act('GET', `/api/v1/namespaces/${namespace}/secrets/${name}`));
      if (object === undefined) return undefined;
      const values = Object.entries(SecretObject.parse(object).data);
      return new Map(values.map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]));
    },
    async namespaceLabels(namespace) {
      if (labelsUnreadable !== undefined) throw new Error(labelsUnreadable);
      const object = await found(act('GET', `/api/v1/namespaces/${namespace}`));
      return object === undefined ? {} : NamespaceObject.parse(object).metadata.labels;
    },
    async writeStatus(resource, status) {
      // A resource of the same name that came in the meantime is another one, and gets none of this.
      const ours = { op: 'test', path: '/metadata/uid', value: resource.metadata.uid };
      const ask = {
        body: [ours, { op: 'add', path: '/status', value: status }],
        contentType: 'application/json-patch+json',
      };
      const written = await found(act('PATCH', `${pathOf(resource)}/status?fieldManager=${COMPONENT}`, ask));
      if (written) keep(written, resource);
    },
    addFinalizer: (resource) => finalizers(resource, (all) => (all.includes(FINALIZER) ? all : [...all, FINALIZER])),
    async removeFinalizer(resource) {
      await finalizers(resource, (all) => all.filter((name) => name !== FINALIZER));
    },
    // Not worth a failed pass: a namespace that is going away takes no events.
    say: (resource, event) => record(resource, event).catch(() => undefined),
  };

  /** Known at once, before the watch tells it: the next pass must not start from an older status. */
  function keep(object: unknown, { kind }: Resource): void {
    const resource = held(kind, object);
    const key = keyOfResource(resource);
    const before = resources.get(key);
    if (!before || before.metadata.uid !== resource.metadata.uid || isOlder(resource, before)) return;
    resources.set(key, resource);
    // What somebody else changed meanwhile came with the answer: the watch will tell nothing new.
    if (isNews(before, resource)) listener?.changed(key);
  }

  /** @returns false where the resource is gone */
  async function finalizers(resource: Resource, change: (all: string[]) => string[]): Promise<boolean> {
    // As it was last seen is mostly as it is; where it isn't, the API server says so.
    let object: unknown = resource;
    for (let tries = 1; ; tries += 1) {
      const { uid, resourceVersion, finalizers: all } = Versioned.parse(object).metadata;
      const wanted = change(all);
      if (uid !== resource.metadata.uid) return false;
      if (isDeepStrictEqual(wanted, all)) return true;
      try {
        const body = { metadata: { resourceVersion, finalizers: wanted } };
        const ask = { body, contentType: 'application/merge-patch+json' };
        const written = await found(act('PATCH', `${pathOf(resource)}?fieldManager=${COMPONENT}`, ask));
        if (written !== undefined) keep(written, resource);
        return written !== undefined;
      } catch (error) {
        // somebody else wrote meanwhile
        if (!(error instanceof ApiFailure && error.status === 409) || tries === 5) throw error;
      }
      object = await found(act('GET', pathOf(resource)));
      if (object === undefined) return false;
    }
  }
}

const pathOf = ({ kind, metadata }: Resource): string =>
  `/apis/${API_VERSION}/namespaces/${metadata.namespace}/${plurals[kind]}/${metadata.name}`;

/** Who wrote which field is half of an object's size, and of no use here. */
function held(kind: Resource['kind'], object: unknown): Resource {
  const resource = resourceOf(kind, object);
  delete resource.metadata.managedFields;
  return resource;
}

/** Whether somebody else has said something: our own status is no news, nor is that our finalizer has come. */
function isNews(before: Resource, after: Resource): boolean {
  const ours = ({ metadata }: Resource) => metadata.finalizers.includes(FINALIZER);
  return (ours(before) && !ours(after)) || !isDeepStrictEqual(ofPeople(before), ofPeople(after));
}

const ofPeople = ({ spec, metadata: { uid, generation, deletionTimestamp, annotations } }: Resource) => ({
  spec,
  uid,
  generation,
  deletionTimestamp,
  annotations,
});

/** Versions of one object are decimal numbers that grow. */
function isOlder(one: Resource, other: Resource): boolean {
  if (one.metadata.uid !== other.metadata.uid) return false;
  return BigInt(one.metadata.resourceVersion || 0) < BigInt(other.metadata.resourceVersion || 0);
}

/** Of this cluster's ServiceAccount tokens; a cluster may keep it to itself. */
async function issuerOf(api: Api): Promise<string | undefined> {
  try {
    return z.object({ issuer: z.string() }).parse(await api.call('GET', '/.well-known/openid-configuration')).issuer;
  } catch {
    return undefined;
  }
}
