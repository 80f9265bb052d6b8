// Owns: the operator's metrics and their text form.
// Does not own: serving them (monitoring.ts), the meaning of an outcome or of drift (runtime).
// Implements: metrics `svc_operator_*`. Status gauges are read at each scrape, so a series ends with its resource, or with
// its drift.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { kindNames, type Resource } from './resource.ts';

const states = ['Ready', 'Drifted', 'Stalled', 'Waiting', 'Suspended', 'Unknown'] as const;
export type State = (typeof states)[number];

export interface OperatorMetrics {
  /** Counts a finished pass over a resource. */
  reconciled(pass: { kind: string; outcome: string; seconds: number }): void;
  waited(seconds: number): void;
  /** Counts the changes of an applied plan. */
  applied(changes: number): void;
  driftFound(kind: string): void;
  watchFailed(kind: string): void;
  leading(leads: boolean): void;
  serverUp(up: boolean, server?: string | undefined): void;
  /** Registers one server's operator, whose queue depth and resource states each scrape reads; the scrape adds them up. */
  observe(what: { depth(): number; resources(): readonly Resource[] }): void;
  contentType: string;
  registry: Registry;
  text(): Promise<string>;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const WAIT_SECONDS = [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800];
const CHANGES = [1, 2, 5, 10, 20, 50, 100, 500, 1_000, 10_000];

/** @param processMetrics false in tests: Node's own metrics need observers that outlive the registry */
export function createOperatorMetrics({ processMetrics = true } = {}): OperatorMetrics {
  const registry = new Registry();
  const registers = [registry];
  if (processMetrics) {
    collectDefaultMetrics({ register: registry });
    // Gauges whose names are those of counters; the ones without `_total` say the same by type.
    for (const what of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${what}_total`);
  }
  const observed: { depth(): number; resources(): readonly Resource[] }[] = [];
  const resources = () => observed.flatMap((one) => one.resources());

  const reconciles = new Counter({
    name: 'svc_operator_reconciles_total',
    help: 'Passes over resources by how they ended',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const duration = new Histogram({
    name: 'svc_operator_reconcile_duration_seconds',
    help: 'Duration of a pass over a resource',
    labelNames: ['kind'],
    buckets: SECONDS,
    registers,
  });
  const wait = new Histogram({
    name: 'svc_operator_queue_wait_seconds',
    help: 'How long a resource that is due waited for its turn',
    buckets: WAIT_SECONDS,
    registers,
  });
  const changes = new Histogram({
    name: 'svc_operator_plan_changes',
    help: 'Changes of the plans that were applied',
    buckets: CHANGES,
    registers,
  });
  const found = new Counter({
    name: 'svc_operator_drift_found_total',
    help: 'Times that the server was found to differ from a spec that had been applied before',
    labelNames: ['kind'],
    registers,
  });
  const failures = new Counter({
    name: 'svc_operator_watch_failures_total',
    help: 'Lists and watches of the Kubernetes API that failed',
    labelNames: ['kind'],
    registers,
  });
  const leader = new Gauge({ name: 'svc_operator_leader', help: '1: this operator leads', registers });
  const up = new Gauge({
    name: 'svc_operator_server_up',
    help: '1: the server answered when it was last asked for changes; server: its name, where it has one',
    labelNames: ['server'],
    registers,
  });
  new Gauge({
    name: 'svc_operator_queue_depth',
    help: 'Resources that are due and wait for their turn',
    registers,
    collect() {
      this.set(observed.reduce((sum, one) => sum + one.depth(), 0));
    },
  });
  new Gauge({
    name: 'svc_operator_resources',
    help: 'Resources by their state',
    labelNames: ['kind', 'state'],
    registers,
    collect() {
      const counts = new Map<string, number>();
      for (const resource of resources()) {
        const key = `${resource.kind} ${stateOf(resource)}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      for (const kind of kindNames)
        for (const state of states) this.set({ kind, state }, counts.get(`${kind} ${state}`) ?? 0);
    },
  });
  new Gauge({
    name: 'svc_operator_drifted',
    help: '1: the server differs from this resource, and that is only reported',
    labelNames: ['kind', 'namespace', 'name'],
    registers,
    collect() {
      this.reset();
      for (const resource of resources()) {
        const { namespace, name } = resource.metadata;
        if (stateOf(resource) === 'Drifted') this.set({ kind: resource.kind, namespace, name }, 1);
      }
    },
  });
  new Gauge({
    name: 'svc_operator_drift_age_seconds',
    help: 'How long the longest of the reported differences has stood',
    registers,
    collect() {
      const since = resources().flatMap(({ status }) =>
        (status.conditions ?? []).flatMap((c) =>
          c.type === 'Drifted' && c.status === 'True' ? [Date.parse(c.lastTransitionTime)] : [],
        ),
      );
      this.set(since.length === 0 ? 0 : Math.max(0, Date.now() - Math.min(...since)) / 1000);
    },
  });

  new Gauge({
    name: 'svc_operator_held',
    help: '1: the server differs from this resource, and an administrator’s hold keeps that for a while',
    labelNames: ['kind', 'namespace', 'name'],
    registers,
    collect() {
      this.reset();
      for (const { kind, metadata, status } of resources())
        if (status.conditions?.some((c) => c.type === 'Held' && c.status === 'True'))
          this.set({ kind, namespace: metadata.namespace, name: metadata.name }, 1);
    },
  });

  for (const kind of kindNames) found.inc({ kind }, 0);
  for (const kind of [...kindNames, 'Secret']) failures.inc({ kind }, 0);

  return {
    reconciled({ kind, outcome, seconds }) {
      reconciles.inc({ kind, outcome });
      duration.observe({ kind }, seconds);
    },
    waited: (seconds) => wait.observe(seconds),
    applied: (count) => changes.observe(count),
    driftFound: (kind) => found.inc({ kind }),
    watchFailed: (kind) => failures.inc({ kind }),
    leading: (leads) => leader.set(leads ? 1 : 0),
    serverUp: (answers, server) => up.set(server === undefined ? {} : { server }, answers ? 1 : 0),
    observe: (what) => void observed.push(what),
    registry,
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}

/** A status as one state. A status that observed an earlier generation of the spec counts as `Unknown`. */
export function stateOf({ status, metadata }: Resource): State {
  const holds = (type: string) => status.conditions?.find((c) => c.type === type && c.status === 'True');
  const ready = status.conditions?.find((c) => c.type === 'Ready' || c.type === 'Suspended');
  if (!ready || ready.observedGeneration !== metadata.generation) return 'Unknown';
  if (ready.type === 'Suspended') return 'Suspended';
  if (holds('Drifted')) return 'Drifted';
  if (holds('Stalled')) return 'Stalled';
  if (holds('Reconciling')) return 'Waiting';
  return ready.status === 'True' ? 'Ready' : 'Unknown';
}
