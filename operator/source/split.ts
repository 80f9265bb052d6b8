// One source for the operators of several servers: each sees only the resources of its own server, and the cluster is
// followed once. Its only state is which operator was notified of which resource.
import { keyOfResource, type Resource } from '../resource.ts';
import type { Source, SourceListener } from './source.ts';

/** @param serves for each operator: whether it serves a resource */
export function splitSource(source: Source, serves: readonly ((resource: Resource) => boolean)[]): Source[] {
  const listening: Listening[] = [];
  let started: Promise<void> | undefined;
  let running = serves.length;
  const mux: SourceListener = {
    changed(key) {
      for (const one of listening) one.changed(key);
    },
    secretChanged(namespace, name) {
      for (const { listener } of listening) listener.secretChanged(namespace, name);
    },
    configMapChanged(namespace, name) {
      for (const { listener } of listening) listener.configMapChanged?.(namespace, name);
    },
    namespaceChanged(namespace) {
      for (const { listener } of listening) listener.namespaceChanged?.(namespace);
    },
    reached() {
      for (const { listener } of listening) listener.reached?.();
    },
  };

  return serves.map((isOurs): Source => {
    const get = (key: string): Resource | undefined => {
      const resource = source.get(key);
      return resource && isOurs(resource) ? resource : undefined;
    };
    const list = () => source.list().filter(isOurs);
    return {
      async start(listener) {
        started ??= source.start(mux);
        await started;
        const one = listeningWith(listener, get);
        listening.push(one);
        for (const resource of list()) one.changed(keyOfResource(resource));
      },
      async stop() {
        running -= 1;
        if (running === 0) await source.stop();
      },
      get,
      list,
      refresh: source.refresh,
      secret: source.secret,
      configMap: source.configMap,
      namespaceLabels: source.namespaceLabels,
      writeStatus: source.writeStatus,
      addFinalizer: source.addFinalizer,
      removeFinalizer: source.removeFinalizer,
      say: source.say,
      ...(source.ownSecrets && { ownSecrets: source.ownSecrets }),
      get clusterIssuer() {
        return source.clusterIssuer;
      },
      labelsUnreadable: source.labelsUnreadable,
    };
  });
}

interface Listening {
  listener: SourceListener;
  changed(key: string): void;
}

/** Reports every resource of its server, and once each resource that has gone. */
function listeningWith(listener: SourceListener, get: (key: string) => Resource | undefined): Listening {
  const known = new Set<string>();
  return {
    listener,
    changed(key) {
      const knew = known.delete(key);
      const is = get(key) !== undefined;
      if (is) known.add(key);
      if (is || knew) listener.changed(key);
    },
  };
}
