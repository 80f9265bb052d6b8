// Resources from a Kubernetes cluster. It follows the four kinds (object-cache.ts stores them) and the metadata of
// Secrets, whose values are read when they are needed. writes.ts writes. Decisions "Custom resources"; source.ts is the
// port.
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { errorWords } from '../../server/contract/error-words.ts';
import { DNS_NAME } from '../../server/contract/resources/custom-resource.ts';
import type { Connections } from '../connections.ts';
import { API_VERSION, keyOf, kindNames, plurals, type Resource } from '../resource.ts';
import { Stalled } from '../runtime/outcome.ts';
import { alwaysPermitted, demandPermit, type Permit } from '../runtime/permit.ts';
import { type Api, connect, undefinedIfMissing } from './api.ts';
import { ApiFailure } from './api-failure.ts';
import { createListWatch, type ListWatch } from './list-watch.ts';
import { createObjectCache } from './object-cache.ts';
import { createOwnSecrets, createSecretOwners } from './own-secrets.ts';
import type { Source, SourceListener } from './source.ts';
import { createWrites } from './writes.ts';

const REFUSALS = 4;
const JSON_TYPE = 'application/json';
/**
 * A watch with the Accept header for a list of metadata gets 200 and no events, so lists and watches have headers of
 * their own.
 */
const metadataOnly = (path: string) =>
  `${JSON_TYPE};as=PartialObjectMetadata${path.includes('watch=true') ? '' : 'List'};g=meta.k8s.io;v=v1`;
const DataObject = z.object({ data: z.record(z.string(), z.string()).default({}) });
const NamespaceObject = z.object({
  metadata: z.object({ uid: z.string(), labels: z.record(z.string(), z.string()).default({}) }),
});
export interface ClusterOptions {
  kubeconfig: string | undefined;
  log(message: string): void;
  watchFailed?: ((kind: string) => void) | undefined;
  /** The namespaces to watch; empty: all. */
  namespaces?: readonly string[];
  /** The namespaces whose Secrets and ConfigMaps are read; empty: all watched ones. */
  secretNamespaces?: readonly string[];
  /** The issuer in the operator's own ServiceAccount token, if the cluster may not be asked or doesn't answer. */
  tokenIssuer?: string | undefined;
  /** Whether this operator serves a resource. */
  serves?: (resource: Resource) => boolean;
  permit?: Permit;
  connections?: Connections | undefined;
}

/** The UID of kube-system: the cluster's name if `--cluster-name` sets none. */
export async function clusterUid({ kubeconfig, log }: Pick<ClusterOptions, 'kubeconfig' | 'log'>): Promise<string> {
  const api = connect(kubeconfig);
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        return NamespaceObject.parse(await api.call('GET', '/api/v1/namespaces/kube-system')).metadata.uid;
      } catch (error) {
        // An unreachable cluster is retried. A refusal needs an administrator, unless the API server is just starting:
        // for some seconds it answers before it has loaded any account's rights.
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
  const { kubeconfig, log, watchFailed, namespaces = [], secretNamespaces = [], permit = alwaysPermitted } = options;
  const api = connect(kubeconfig);
  const acting = options.connections ? api.over(options.connections) : api;
  const act: Api['call'] = async (method, path, ask) => {
    demandPermit(permit);
    return acting.call(method, path, { ...ask, signal: permit.signal });
  };
  let clusterIssuer: string | undefined;
  // until the lists are complete, a Flow's Realm may only seem to be missing
  let listener: SourceListener | undefined;
  const cache = createObjectCache({ changed: (key) => listener?.changed(key), serves: options.serves });
  const owners = createSecretOwners();
  async function recovered(): Promise<void> {
    listener?.reached?.();
    await learnIssuer();
  }
  /** If only single namespaces are watched, the operator's own token names the issuer and the cluster isn't asked. */
  async function learnIssuer(): Promise<void> {
    if (namespaces.length === 0) clusterIssuer ??= await issuerOf(api);
  }

  const labelsUnreadable =
    namespaces.length === 0
      ? undefined
      : 'this operator looks at single namespaces (--watch-namespace) and cannot read the labels of namespaces';

  type Listener = Pick<Parameters<typeof createListWatch>[0], 'upserted' | 'deleted' | 'failed'>;
  const follow = (collection: string, accept: (path: string) => string, listener: Listener) =>
    createListWatch({
      path: collection,
      open: (path, signal) => api.lines(path, { accept: accept(path), signal }),
      log,
      recovered: () => void recovered().catch((error: unknown) => log(errorWords(error))),
      ...listener,
    });
  /**
   * One watch for the whole cluster, or one per namespace: an account with rights in one namespace may not watch more.
   */
  const everywhere = (
    group: string,
    plural: string,
    accept: (path: string) => string,
    listener: Listener,
    among = namespaces,
  ): ListWatch[] =>
    among.length === 0
      ? [follow(`${group}/${plural}`, accept, listener)]
      : among.map((namespace) => follow(`${group}/namespaces/${namespace}/${plural}`, accept, listener));
  /** Watches of Secrets or ConfigMaps; if single namespaces are watched, only in those. */
  const valued = (plural: string, listener: Listener): ListWatch[] =>
    everywhere('/api/v1', plural, metadataOnly, listener, namespaces.length === 0 ? secretNamespaces : namespaces);
  /** @throws Stalled */
  function demandReadable(namespace: string): void {
    if (secretNamespaces.length === 0 || secretNamespaces.includes(namespace)) return;
    const what = `Secrets and ConfigMaps of the namespace ${namespace} are not this operator’s to read (--secret-namespace)`;
    throw new Stalled('NamespaceNotAllowed', what);
  }
  const watches: ListWatch[] = [
    ...kindNames.flatMap((kind) =>
      everywhere(`/apis/${API_VERSION}`, plurals[kind], () => JSON_TYPE, {
        upserted: (object, listedAt) => cache.seen(kind, object, listedAt),
        deleted: (namespace, name) => cache.gone(keyOf(kind, namespace, name)),
        failed: () => watchFailed?.(kind),
      }),
    ),
    ...valued('secrets', {
      upserted(secret) {
        owners.seen(secret);
        listener?.secretChanged(secret.metadata.namespace, secret.metadata.name);
      },
      deleted(namespace, name) {
        owners.forget(namespace, name);
        listener?.secretChanged(namespace, name);
      },
      failed: () => watchFailed?.('Secret'),
    }),
  ];

  // A change only triggers a pass, as with labels. An operator without the right works without it.
  const configMaps = valued('configmaps', {
    upserted: ({ metadata }) => listener?.configMapChanged?.(metadata.namespace, metadata.name),
    deleted: (namespace, name) => listener?.configMapChanged?.(namespace, name),
    failed: () => watchFailed?.('ConfigMap'),
  });

  const labels = new Map<string, string>();
  /**
   * A change only triggers a pass, which reads the labels itself. So nothing waits for this watch, and without the right the
   * next pass sees a changed label.
   */
  const labelled =
    namespaces.length > 0
      ? undefined
      : follow('/api/v1/namespaces', metadataOnly, {
          upserted({ metadata }) {
            const [before, now] = [labels.get(metadata.name), JSON.stringify(metadata.labels ?? {})];
            labels.set(metadata.name, now);
            if (before !== undefined && before !== now) listener?.namespaceChanged?.(metadata.name);
          },
          deleted: (_, name) => void labels.delete(name),
          failed: () => watchFailed?.('Namespace'),
        });

  return {
    get clusterIssuer() {
      return clusterIssuer ?? options.tokenIssuer;
    },
    labelsUnreadable,
    async start(given) {
      await Promise.all(watches.map((watch) => watch.start()));
      // Only now, after the lists: an API server that is just starting refuses this request for some seconds.
      await learnIssuer();
      listener = given;
      for (const watch of [...configMaps, labelled]) void watch?.start();
      for (const key of cache.keys()) listener.changed(key);
    },
    async stop() {
      listener = undefined;
      await Promise.all([...watches, ...configMaps, labelled].map((watch) => watch?.stop()));
      await Promise.all([api.close(), acting.close()]);
    },
    async refresh() {
      await Promise.all(watches.map((watch) => watch.refresh()));
    },
    get: cache.get,
    list: cache.list,
    async secret(namespace, name) {
      // the CRD checks it too, but a name that leads to another namespace must not depend on the installed CRD
      if (!DNS_NAME.test(name)) return undefined;
      demandReadable(namespace);
      const object = await undefinedIfMissing(act('GET', `/api/v1/namespaces/${namespace}/secrets/${name}`));
      if (object === undefined) return undefined;
      const values = Object.entries(DataObject.parse(object).data);
      return new Map(values.map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]));
    },
    async configMap(namespace, name) {
      if (!DNS_NAME.test(name)) return undefined;
      demandReadable(namespace);
      const object = await undefinedIfMissing(act('GET', `/api/v1/namespaces/${namespace}/configmaps/${name}`));
      return object === undefined ? undefined : new Map(Object.entries(DataObject.parse(object).data));
    },
    async namespaceLabels(namespace) {
      if (labelsUnreadable !== undefined) throw new Error(labelsUnreadable);
      const object = await undefinedIfMissing(act('GET', `/api/v1/namespaces/${namespace}`));
      return object === undefined ? {} : NamespaceObject.parse(object).metadata.labels;
    },
    ownSecrets: createOwnSecrets({ act, owners, demandReadable }),
    ...createWrites({ act, cache }),
  };
}

/** The issuer of this cluster's ServiceAccount tokens; undefined: the cluster doesn't reveal it. */
async function issuerOf(api: Api): Promise<string | undefined> {
  try {
    return z.object({ issuer: z.string() }).parse(await api.call('GET', '/.well-known/openid-configuration')).issuer;
  } catch {
    return undefined;
  }
}
