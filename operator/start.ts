// Composes the operator: a source, the queue, the controller, the revision watch. It decides nothing about a resource.
// The quick start runs it in process; main.ts runs it alone. Design "Reconciler".
import type { Client } from '../server/contract/client.ts';
import { errorWords } from '../server/contract/error-words.ts';
import { traced } from '../server/telemetry/spans.ts';
import { flow } from './kinds/flow.ts';
import { type AnyKind, objectName } from './kinds/kind.ts';
import { realm } from './kinds/realm.ts';
import { webhook } from './kinds/webhook.ts';
import { workloadIdentity } from './kinds/workload-identity.ts';
import type { OperatorMetrics } from './metrics.ts';
import { keyOfResource, nameOf, namespaceOfKey, type Resource } from './resource.ts';
import { createController } from './runtime/controller.ts';
import { createDetails } from './runtime/details.ts';
import { nextOf, type Outcome } from './runtime/outcome.ts';
import { createQueue, systemTimers, type Timers } from './runtime/queue.ts';
import type { RealmNames } from './runtime/realm-names.ts';
import { createRealms } from './runtime/realms.ts';
import { createRegistry, realmOf } from './runtime/registry.ts';
import { createRevisionWatch } from './runtime/revision-watch.ts';
import { serverRefOf } from './runtime/server-ref.ts';
import type { Source, SourceListener } from './source/source.ts';

export interface OperatorOptions {
  source: Source;
  client: Client;
  /** `<cluster>` in managers' names; two operators with the same name would treat each other's objects as their own. */
  clusterName: string;
  operatorNamespace?: string | undefined;
  undeclaredRealms?: boolean;
  realmNamespaces?: ((labels: Readonly<Record<string, string>>) => boolean) | undefined;
  realmNames?: RealmNames | undefined;
  /** This operator's server, if operators of several share the source; the source then contains only its resources. */
  serverName?: string | undefined;
  concurrency?: number;
  /**
   * How often every resource is planned again. RevisionWatch notices changes through the realms' revisions; this finds
   * the rest: a database that was changed by hand, a permission that was granted meanwhile, the state of deliveries.
   */
  resyncMs?: number;
  timers?: Timers;
  metrics?: OperatorMetrics | undefined;
  /** Follows everything and does nothing until `act` is called. */
  standby?: boolean;
  log(line: { resource?: string; message: string }): void;
}

export interface Operator {
  /** Resolves when no pass runs or waits: every known resource has had its pass. */
  idle(): Promise<void>;
  resources(): { name: string; ready: boolean; message: string }[];
  /** When the longest of the present passes began. */
  runningSince(): number | undefined;
  /** Ends the standby. */
  act(): Promise<void>;
  /** Resolves when the running passes have ended. */
  stop(): Promise<void>;
}

const RESYNC_MS = 10 * 60_000;

/** The kinds without their own spec types: the frame parses a spec with the kind's schema before it calls the kind. */
const kinds = new Map<string, AnyKind>();
for (const kind of [realm, flow, webhook, workloadIdentity]) kinds.set(kind.name, kind as AnyKind);

export async function startOperator(options: OperatorOptions): Promise<Operator> {
  const { source, client, clusterName, timers = systemTimers, log, metrics } = options;
  const { concurrency = 4, resyncMs = RESYNC_MS } = options;
  const registry = createRegistry({ source, kinds });
  // two servers may each have a realm of this name: only this server's counts
  const inRealm = (name: string) =>
    registry
      .ofRealm(name)
      .flatMap((key) => source.get(key) ?? [])
      .filter(({ spec }) => serverRefOf(spec) === options.serverName);
  const realms = createRealms({
    source,
    inRealm,
    client,
    clusterName,
    operatorNamespace: options.operatorNamespace,
    undeclaredRealms: options.undeclaredRealms ?? false,
    realmNamespaces: options.realmNamespaces,
    realmNames: options.realmNames,
  });
  metrics?.serverUp(false, options.serverName);
  /** The number of our own writes by realm. */
  const writes = new Map<string | undefined, number>();
  const writesTo = (realm: string | undefined): number => writes.get(realm) ?? 0;
  const drift = createRevisionWatch({
    client,
    timers,
    changed: enqueueRealm,
    // the resource that created the realm is still in its pass
    made: (name) => enqueueUnready(registry.ofRealm(name).filter((key) => !isRealm(key))),
    reached() {
      enqueueUnready(source.list().map(keyOfResource));
      queue.hurry();
    },
    answered: (up) => metrics?.serverUp(up, options.serverName),
    log: (message) => log({ message }),
  });
  const controller = createController({
    source,
    client,
    kinds,
    clusterName,
    realms,
    inRealm,
    serverName: options.serverName,
    pause: (ms) => new Promise((resolve) => void timers.after(ms, resolve)),
    details: createDetails({ client }),
    looked: drift.looked,
    applied(name, revision) {
      drift.applied(name, revision);
      writes.set(name, writesTo(name) + 1);
      enqueueHeldUp(name);
    },
    writing: drift.writing,
    released(name) {
      writes.set(name, writesTo(name) + 1);
      enqueueHeldUp(name);
    },
    metrics,
    log,
    now: () => new Date(timers.now()),
  });
  const queue = createQueue({
    concurrency,
    timers,
    group: namespaceOfKey,
    waited: (ms) => metrics?.waited(ms / 1000),
    failed: (key, error) => log({ resource: key, message: `will be tried again: ${errorWords(error)}` }),
    async run(key) {
      const resource = source.get(key);
      const realm = resource && realmOf(resource);
      const before = writesTo(realm);
      const attributes = resource && {
        'realmkeeper.resource': resource.metadata.name,
        'k8s.namespace.name': resource.metadata.namespace,
      };
      const pass = () => counted(key, () => controller.reconcile(key));
      const outcome = await traced(`reconcile ${kindOf(key)}`, attributes ? { attributes } : {}, pass);
      if (!outcome) return undefined;
      // Another write may have created the missing object while this pass ran: try again at once.
      if (writesTo(realm) !== before && isHeldUp(source.get(key))) return { afterMs: 0 };
      if (nextOf(outcome) === 'backoff') return 'backoff';
      // with a jitter of the same size, so that resources that started together spread
      return { afterMs: resyncMs * (0.5 + timers.random()) };
    },
  });

  async function counted(key: string, pass: () => Promise<Outcome | undefined>): Promise<Outcome | undefined> {
    const began = timers.now();
    let how = 'Error';
    try {
      const outcome = await pass();
      how = outcome?.is ?? 'Gone';
      return outcome;
    } finally {
      metrics?.reconciled({ kind: kindOf(key), outcome: how, seconds: (timers.now() - began) / 1000 });
    }
  }
  metrics?.observe({ depth: () => queue.depth(), resources: () => source.list() });

  function enqueueRealm(name: string): void {
    for (const key of registry.ofRealm(name)) queue.add(key);
  }
  function enqueueUnready(keys: readonly string[]): void {
    for (const key of keys) {
      const resource = source.get(key);
      if (resource && !isReady(resource)) queue.add(key, { leisure: true });
    }
  }

  /**
   * Another write may have created an object that a resource lacked, or freed one that was in use: retries those
   * resources.
   */
  function enqueueHeldUp(name: string): void {
    for (const key of registry.ofRealm(name)) if (isHeldUp(source.get(key))) queue.add(key, { leisure: true });
  }

  // Until the lists are complete, a Flow's Realm may only seem to be missing.
  let phase: 'listing' | 'standby' | 'acting' | 'stopped' = 'listing';
  async function act(): Promise<void> {
    if (phase !== 'standby') return;
    // The previous leader may have made changes that this process hasn't seen: a resource that it released must not be
    // applied again.
    await source.refresh();
    if (phase !== 'standby') return;
    begin();
  }
  function begin(): void {
    phase = 'acting';
    drift.start();
    const keys = source.list().map(keyOfResource);
    // resources that attach to a realm can do nothing before the realm exists
    for (const key of keys) if (isRealm(key)) queue.add(key, { leisure: true });
    for (const key of keys) if (!isRealm(key)) queue.add(key, { leisure: true });
  }

  async function stop(): Promise<void> {
    phase = 'stopped';
    drift.stop();
    // Running passes write their results before the source stops.
    await queue.stop();
    await source.stop();
  }

  function sourceChanged(namespace: string, object: Parameters<typeof objectName>[0]): void {
    for (const key of registry.sourcedFrom(namespace, objectName(object))) {
      controller.sourceChanged(key);
      queue.add(key);
    }
  }

  const listener: SourceListener = {
    changed(key) {
      const concerned = registry.note(key);
      if (phase !== 'acting') return;
      queue.add(key);
      // Attached resources wait for the Realm that admits them. Any tenant can write a Realm with any realm's name and
      // change it all day. A Realm that isn't applied admits none, so the other work of these resources comes first.
      if (isRealm(key)) {
        const resource = source.get(key);
        const leisure = !isApplied(resource);
        for (const realm of concerned) {
          for (const other of registry.ofRealm(realm)) if (!isRealm(other)) queue.add(other, { leisure });
          // the realm's name is free: a resource that was refused it may get it now
          if (!resource || resource.metadata.deletionTimestamp) enqueueHeldUp(realm);
        }
      }
    },
    secretChanged(namespace, name) {
      if (phase !== 'acting') return;
      for (const key of registry.naming(namespace, name)) {
        controller.secretChanged(key);
        queue.add(key);
      }
      sourceChanged(namespace, { name });
    },
    configMapChanged(namespace, name) {
      if (phase === 'acting') sourceChanged(namespace, { name, in: 'ConfigMap' });
    },
    namespaceChanged(namespace) {
      if (phase !== 'acting') return;
      const there = source.list().filter(({ metadata }) => metadata.namespace === namespace);
      for (const resource of there) queue.add(keyOfResource(resource), { leisure: true });
      // a Realm may be valid or not depending on its namespace's labels, and with it the resources that may attach
      for (const resource of there.filter(({ kind }) => kind === 'Realm'))
        enqueueUnready(registry.ofRealm(realmOf(resource) ?? ''));
    },
    reached: () => queue.hurry(),
  };
  try {
    await source.start(listener);
    if (options.standby) phase = 'standby';
    else begin();
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    idle: queue.idle,
    runningSince: queue.runningSince,
    resources: () =>
      source.list().map((resource) => ({
        name: nameOf(resource),
        ready: isReady(resource),
        message: resource.status.conditions?.find((c) => c.type === 'Ready')?.message ?? 'not looked at yet',
      })),
    act,
    stop,
  };
}

const kindOf = (key: string): string => key.slice(0, key.indexOf('/'));
const isRealm = (key: string): boolean => key.startsWith('Realm/');

/** Whether the present spec, or an earlier one, has been applied. */
const isApplied = (resource: Resource | undefined): boolean =>
  resource?.status.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false;

/** Whether the resource waits for an object of the realm that exists or is missing. */
const isHeldUp = (resource: Resource | undefined): boolean =>
  resource?.status.conditions?.some(
    ({ type, status, reason }) =>
      status === 'True' && (type === 'Stalled' || reason === 'InUse' || reason === 'FlowMissing'),
  ) ?? false;

const isReady = ({ status, metadata }: Resource): boolean =>
  status.conditions?.some(
    (c) => c.type === 'Ready' && c.status === 'True' && c.observedGeneration === metadata.generation,
  ) ?? false;
