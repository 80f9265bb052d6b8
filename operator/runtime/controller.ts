// The only frame: suspend → finalizer → secrets → document → plan (dry run) → apply → outcome → one status write.
// It has no diff of its own and knows no kind; the server's plan says what differs, in words that go on unchanged.
// Design "Reconciler"; decisions "Custom resources".
import { isDeepStrictEqual } from 'node:util';
import { type Client, ServerProblem } from '../../server/contract/client.ts';
import type { Plan, RealmDocument } from '../../server/contract/transfer.ts';
import { type AnyKind, secretName } from '../kinds/kind.ts';
import { ownersOf } from '../managers.ts';
import type { OperatorMetrics } from '../metrics.ts';
import { ABANDON, FINALIZER, managerOf, nameOf, type Resource, type Status } from '../resource.ts';
import type { Source } from '../source/source.ts';
import {
  appliedBefore,
  flowsNamedBy,
  mayTakeOver,
  refuseAdoption,
  refuseGuestFlows,
  type Standing,
  takenIn,
} from './claims.ts';
import { conditionsAfter } from './conditions.ts';
import { createDeletion } from './deletion.ts';
import type { Details } from './details.ts';
import { flowsFirst } from './flows-first.ts';
import { newsOf } from './news.ts';
import { type Outcome, outcomeOf, Stalled, Waiting } from './outcome.ts';
import { changeLines, oneLine, planWords } from './plan-words.ts';
import type { Realms } from './realms.ts';
import { applyPlan, dryRun } from './server-plan.ts';

export interface ControllerOptions {
  source: Source;
  client: Client;
  kinds: ReadonlyMap<string, AnyKind>;
  /** Names the cluster in managers' names. */
  clusterName: string;
  realms: Realms;
  details: Details;
  /** The revision that a pass went by. */
  looked(realm: string, revision: number): void;
  /** The revision of a realm after our own write, so that the poll doesn't take it for drift. */
  applied(realm: string, revision: number): void;
  /** Runs a write of the realm, so that the poll doesn't judge it half-way. */
  writing<T>(realm: string, write: () => Promise<T>): Promise<T>;
  metrics?: Pick<OperatorMetrics, 'applied' | 'driftFound'> | undefined;
  log(line: { resource: string; message: string }): void;
  now(): Date;
}

interface Result {
  outcome: Outcome;
  /** Kind-specific and common status fields that this pass found. */
  found: Record<string, unknown>;
}

/** What every spec holds; the kind's schema has parsed it. */
interface Common {
  realm: string;
  driftPolicy?: 'Correct' | 'Report' | undefined;
  suspend?: boolean | undefined;
  force?: boolean | undefined;
}

export function createController(options: ControllerOptions) {
  const { source, client, kinds, clusterName, realms, details, looked, applied, writing, metrics, log, now } = options;
  const remove = createDeletion({ client, clusterName, mayDeclare: realms.mayDeclare, now });

  async function reconcile(key: string): Promise<Outcome | undefined> {
    const resource = source.get(key);
    if (!resource) return undefined;
    const kind = kinds.get(resource.kind);
    if (!kind) return undefined;
    if (resource.metadata.deletionTimestamp) return finalize(resource, kind);
    const settled = await settle(resource, kind);
    if (!settled) return undefined;
    await report(resource, settled.outcome, settled.found);
    return settled.outcome;
  }

  /** The pass proper; every failure becomes an outcome. @returns undefined where the resource is gone */
  async function settle(resource: Resource, kind: AnyKind): Promise<Result | undefined> {
    try {
      const parsed = kind.spec.safeParse(resource.spec);
      if (!parsed.success) {
        const faults = parsed.error.issues.map((i) => `spec.${i.path.join('.')}: ${i.message}`);
        throw new Stalled('Invalid', faults.join('; '));
      }
      const spec: Common = parsed.data;
      if (spec.suspend) return { outcome: { is: 'Suspended' }, found: {} };
      // what is applied for a resource without it, nobody would ever take back
      if (!resource.metadata.finalizers.includes(FINALIZER) && !(await source.addFinalizer(resource))) return undefined;
      // again from the right to it: what somebody else wrote meanwhile may be whose realm it is
      return await unhurried(async () => {
        const standing = await realms.admit(resource, kind, parsed.data);
        const context = {
          metadata: resource.metadata,
          secrets: await secretsOf(resource, kind.secrets(parsed.data)),
          clusterIssuer: source.clusterIssuer,
          guest: !standing.atHome,
        };
        const document = kind.document(parsed.data, context);
        const own = kind.status(parsed.data, context);
        return converge(resource, spec, { document, own, standing, mustExist: kind.attached });
      });
    } catch (error) {
      return { outcome: outcomeOf(error, resource.kind), found: {} };
    }
  }

  async function secretsOf(resource: Resource, refs: ReturnType<AnyKind['secrets']>) {
    const values = new Map<string, string>();
    const { namespace } = resource.metadata;
    for (const name of new Set(refs.map((ref) => ref.name))) {
      const secret = await source.secret(namespace, name);
      if (!secret) throw new Waiting('SecretMissing', `waiting for the Secret ${name} in the namespace ${namespace}`);
      for (const ref of refs) {
        if (ref.name !== name) continue;
        const value = secret.get(ref.key);
        if (!value) {
          const what = `the key ${ref.key} in the Secret ${name} (namespace ${namespace})`;
          throw new Waiting('SecretMissing', `waiting for ${what}`);
        }
        values.set(secretName(ref), value);
      }
    }
    return values;
  }

  async function converge(
    resource: Resource,
    { realm, driftPolicy = 'Correct', force = false }: Common,
    {
      document,
      own,
      standing,
      mustExist,
    }: { document: RealmDocument; own: Record<string, unknown>; standing: Standing; mustExist: boolean },
  ): Promise<Result> {
    const wanted = { realm, manager: managerOf(clusterName, resource), document, force: false };
    let planned = await dryRun(client, { ...wanted, mustExist }).catch((refusal: unknown) => {
      if (mustExist) throw refusal;
      return flowsFirst(client, wanted, refusal);
    });
    looked(realm, planned.revision);
    if (standing.isNew && planned.revision > 0) throw new ServerProblem(412, `the realm ${realm} has come to be`);
    if (planned.conflicts.length > 0) {
      const taking = { resource, clusterName, trusted: standing.trusted, force };
      mayTakeOver(planned.conflicts, taking);
      wanted.force = true;
      planned = await dryRun(client, { ...wanted, mustExist });
      mayTakeOver(takenIn(planned), taking);
    }
    refuseAdoption(planned, standing);
    if (planned.inSync) return ready(resource, planned, { ...own, ...(await details(resource.kind, realm, own)) });
    // reported drift was counted when it was found
    const reported = resource.status.conditions?.some((c) => c.type === 'Drifted');
    if (appliedBefore(resource) && !reported) metrics?.driftFound(resource.kind);
    // under Report a changed spec is still applied: what is reported is what others changed since
    if (driftPolicy === 'Report' && appliedBefore(resource)) {
      const changes = changeLines(planned);
      const message = planWords(planned);
      const lastPlan = { summary: message, changes };
      return { outcome: { is: 'Drifted', message, changes }, found: { ...own, lastPlan } };
    }
    const flows = mustExist ? [] : flowsNamedBy(planned);
    if (flows.length > 0 && !standing.isNew)
      refuseGuestFlows(flows, await ownersOf(client, realm, 'flow'), { clusterName, namespaces: standing.homes });
    const plan = await writing(realm, () => applyPlan(client, { ...wanted, revision: planned.revision }));
    // whoever lost something by it is to see that the realm has changed
    if (!wanted.force) applied(realm, plan.revision);
    metrics?.applied(plan.changes.length);
    const summary = planWords(plan);
    log({ resource: nameOf(resource), message: oneLine(summary) });
    const reason = wanted.force ? 'TookOver' : appliedBefore(resource) ? 'Repaired' : 'Applied';
    await source.say(resource, { type: 'Normal', reason, message: summary });
    const last = { lastAppliedRevision: plan.revision, lastAppliedGeneration: resource.metadata.generation };
    const found = { ...own, ...(await details(resource.kind, realm, own)), ...last, lastPlan: { summary } };
    return { outcome: IN_SYNC, found };
  }

  function ready(resource: Resource, plan: Plan, own: object): Result {
    const { lastAppliedRevision = plan.revision, lastPlan } = resource.status;
    // what was reported as different isn't any more
    const kept = { lastPlan: lastPlan?.changes ? undefined : lastPlan };
    const last = { lastAppliedRevision, lastAppliedGeneration: resource.metadata.generation };
    return { outcome: IN_SYNC, found: { ...own, ...kept, ...last } };
  }

  async function finalize(resource: Resource, kind: AnyKind): Promise<Outcome | undefined> {
    if (!resource.metadata.finalizers.includes(FINALIZER)) return undefined;
    try {
      const abandoned = resource.metadata.annotations[ABANDON] === 'true';
      const message = abandoned ? 'abandoned: what is on the server stays as it is' : await remove(resource, kind);
      log({ resource: nameOf(resource), message: oneLine(message) });
      await source.removeFinalizer(resource);
      await source.say(resource, { type: 'Normal', reason: abandoned ? 'Abandoned' : 'Released', message });
      return undefined;
    } catch (error) {
      const outcome = outcomeOf(error);
      await report(resource, withWayOut(outcome, resource), {});
      return outcome;
    }
  }

  /** One status write, and none where nothing changed; a problem is told once, as an event. */
  async function report(resource: Resource, outcome: Outcome, found: Record<string, unknown>): Promise<void> {
    const { status, metadata } = resource;
    const conditions = conditionsAfter(outcome, {
      before: status.conditions,
      generation: metadata.generation,
      now: `${now().toISOString().slice(0, 19)}Z`,
    });
    const settled = outcome.is !== 'Waiting' && outcome.is !== 'Retrying';
    const next: Status = {
      ...status,
      ...found,
      conditions,
      observedGeneration: settled ? metadata.generation : (status.observedGeneration ?? -1),
    };
    if (isDeepStrictEqual(clean(next), clean(status))) return;
    await source.writeStatus(resource, clean(next));
    const news = newsOf(outcome, status.conditions);
    if (!news) return;
    log({ resource: nameOf(resource), message: oneLine(`${news.reason}: ${news.message}`) });
    await source.say(resource, news);
  }

  return { reconcile };
}

const clean = (status: Status): Status =>
  Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined));

function withWayOut(outcome: Outcome, resource: Resource): Outcome {
  if (!('message' in outcome) || outcome.is === 'Ready') return outcome;
  const { kind, metadata } = resource;
  const way = `to let it go as it is: kubectl annotate ${kind.toLowerCase()} ${metadata.name} -n ${metadata.namespace} ${ABANDON}=true`;
  return { ...outcome, message: `${outcome.message} (${way})` };
}

const IN_SYNC: Outcome = { is: 'Ready', message: 'the realm holds what is declared' };
const TRIES = 5;

/** Somebody else wrote between plan and apply (412): plan again at once, without a word to anybody. */
async function unhurried(pass: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await pass();
    } catch (error) {
      if (tries === TRIES || !(error instanceof ServerProblem && error.status === 412)) throw error;
    }
  }
}
