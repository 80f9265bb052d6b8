// Makes a realm match a declared document: plan (dry run), takeover, apply, messages. It has no diff of its own and
// knows no kind: the server's plan names the differences, and its texts are passed on unchanged. takeover.ts decides
// permissions. Design "Reconciler"; decisions "Custom resources".
import { type Client, ServerProblem } from '../../server/contract/client.ts';
import { consequencesWithNumbers, consequenceText } from '../../server/contract/consequence-words.ts';
import type { Plan, RealmDocument } from '../../server/contract/transfer.ts';
import { ownersOf } from '../managers.ts';
import type { OperatorMetrics } from '../metrics.ts';
import { isObserveOnly, keyOfResource, managerOf, nameOf, type Resource } from '../resource.ts';
import type { ResourceEvent } from '../source/source.ts';
import type { Details } from './details.ts';
import { flowsFirst } from './flows-first.ts';
import { type Outcome, withHeld } from './outcome.ts';
import {
  changeLines,
  consequenceLines,
  heldWords,
  keptWords,
  oneLine,
  onlyPrunes,
  onlySecrets,
  planWords,
} from './plan-words.ts';
import type { EventReason } from './reasons.ts';
import { applyPlan, applyUnplanned, dryRun } from './server-import.ts';
import {
  type Admission,
  appliedBefore,
  flowsNamedBy,
  mayTakeOver,
  refuseAdoption,
  refuseGuestFlows,
  takenIn,
} from './takeover.ts';

const MOST_WARNED = 5;

export interface ConvergeOptions {
  client: Client;
  clusterName: string;
  details: Details;
  /** Reports the revision against which a pass planned. */
  looked(realm: string, revision: number): void;
  /** Reports the realm's revision after our own write, so that the poll doesn't count it as drift. */
  applied(realm: string, revision: number): void;
  /** Runs a write of the realm, so that the poll doesn't judge it half-way. */
  writing<T>(realm: string, write: () => Promise<T>): Promise<T>;
  metrics?: Pick<OperatorMetrics, 'applied' | 'driftFound'> | undefined;
  log(line: { resource: string; message: string }): void;
  say(resource: Resource, event: ResourceEvent): Promise<void>;
}

/** A resource's declared document and policies, and the permissions that it has in the realm. */
export interface Intent {
  resource: Resource;
  realm: string;
  document: RealmDocument;
  /** The kind's own status fields. */
  own: Readonly<Record<string, unknown>>;
  admission: Admission;
  /** The resource must not create the realm. */
  mustExist: boolean;
  letsNobodyIn: boolean;
  driftPolicy: 'Correct' | 'Report';
  force: boolean;
  /** Warnings about values that are applied although they are probably mistakes. */
  warnings: readonly string[];
}

export interface Result {
  outcome: Outcome;
  /** Kind-specific and common status fields that this pass found. */
  found: Record<string, unknown>;
}

/** A plan whose takeovers are permitted; `force`: it takes objects from other managers. */
interface Claimed {
  plan: Plan;
  force: boolean;
}

/**
 * Objects that are still in use stay until the resource that uses them is applied, which is often part of the same
 * commit.
 */
const outcomeOf = ({ admission, warnings }: Intent, plan: Plan): Outcome =>
  withHeld(
    plan.kept.length === 0
      ? readyWith(plan, warnings)
      : { is: 'Waiting', reason: 'InUse', message: keptWords(plan, { named: admission.trusted }) },
    heldWords(plan),
  );

/**
 * A new spec is applied as a whole once its held changes are: until then it isn't drift under Report, and `spec.force`
 * has not been used up.
 */
const appliedGeneration = ({ metadata: { generation } }: Resource, { held }: Plan) =>
  held.length === 0 ? { lastAppliedGeneration: generation } : {};

/** Warnings about declared settings without effect: the server's texts, and those of the operator. */
function readyWith({ warnings }: Plan, more: readonly string[]): Outcome {
  const message = 'the realm holds what is declared';
  const words = [...warnings.map(({ kind, key, message: what }) => `${kind} ${key} ${what}`), ...more];
  if (words.length === 0) return { is: 'Ready', message };
  return { is: 'Ready', reason: 'Incomplete', message: `${message}, but the ${words.join('; the ')}` };
}

export function createConverge(options: ConvergeOptions) {
  const { client, clusterName, details, looked, applied, writing, metrics, log, say } = options;
  /** Resources that name a Secret which has changed since they were in sync. */
  const rotated = new Set<string>();
  /** Resources whose ConfigMap values have changed since the last apply: their declaration differs from the applied one. */
  const redeclared = new Set<string>();

  const wantedBy = ({ resource, realm, document }: Intent) => ({
    realm,
    document,
    manager: managerOf(clusterName, resource),
  });

  async function converge(intent: Intent): Promise<Result> {
    const { resource, admission } = intent;
    // no takeover rule can forbid this write and it locks no user out, so it needs no plan first
    const plain = admission.trusted && (admission.isNew || intent.letsNobodyIn) && !appliedBefore(resource);
    const atOnce = plain ? await unplanned(intent) : undefined;
    if (atOnce) return atOnce.inSync ? inSync(intent, atOnce) : written(intent, { plan: atOnce, force: false });
    const claimed = await claim(intent, await planned(intent));
    if (claimed.plan.inSync) return inSync(intent, claimed.plan);
    if (isUnchanged(resource) && !onlyPrunes(claimed.plan)) {
      countDrift(resource, claimed.plan);
      // under Report a changed spec is still applied: only later changes by others are reported
      if (intent.driftPolicy === 'Report') return reported(intent, claimed.plan, 'Reported');
    }
    await refuseFlows(intent, claimed.plan);
    await warn(intent.resource, claimed.plan);
    const plan = await apply(intent, claimed);
    return written(intent, { ...claimed, plan: { ...plan, consequences: claimed.plan.consequences } });
  }

  /** Plans and applies in one request. @returns undefined: there is a conflict with another manager's objects */
  async function unplanned(intent: Intent): Promise<Plan | undefined> {
    const { realm, mustExist } = intent;
    const wanted = { ...wantedBy(intent), mustExist };
    try {
      const plan = await writing(realm, () => applyUnplanned(client, wanted));
      if (plan.inSync) looked(realm, plan.revision);
      else applied(realm, plan.revision);
      return plan;
    } catch (refusal) {
      if (refusal instanceof ServerProblem && refusal.is('managed-by-another')) return undefined;
      return refused(intent, refusal);
    }
  }

  /**
   * `Observe`: plans and writes nothing. A trusted resource's plan ignores ownership. A resource that isn't trusted may not
   * take objects, so its plan stops at conflicts and shows nothing of another manager's objects.
   */
  async function look(intent: Intent): Promise<Result> {
    const { admission, own, resource, realm } = intent;
    const plan = admission.trusted
      ? await planned(intent, { force: true })
      : (await claim(intent, await planned(intent))).plan;
    forget(keyOfResource(resource));
    if (plan.changes.length > 0) return reported(intent, plan, 'Observed');
    const shown = await details({ kind: resource.kind, realm, own, made: [] });
    const message = 'the realm holds what is declared; Observe writes nothing';
    const outcome = withHeld({ is: 'Ready', reason: 'Observed', message }, heldWords(plan));
    return { outcome, found: { ...own, ...shown, lastPlan: undefined } };
  }

  async function planned(intent: Intent, { force = false } = {}): Promise<Plan> {
    const { realm, mustExist, admission } = intent;
    const plan = await dryRun(client, { ...wantedBy(intent), mustExist, force }).catch((refusal: unknown) =>
      refused(intent, refusal),
    );
    looked(realm, plan.revision);
    if (admission.isNew && plan.revision > 0) throw new ServerProblem(412, `the realm ${realm} has come to be`);
    return plan;
  }

  async function refused(intent: Intent, refusal: unknown): Promise<never> {
    if (intent.mustExist) throw refusal;
    return flowsFirst(client, { ...wantedBy(intent), make: !isObserveOnly(intent.resource.spec) }, refusal);
  }

  /** @throws Stalled if the plan takes objects that this resource may not take */
  async function claim(intent: Intent, plan: Plan): Promise<Claimed> {
    const { resource, admission, mustExist, force } = intent;
    const { trusted } = admission;
    const taking = { resource, clusterName, trusted, force };
    mayTakeOver(plan.conflicts, taking);
    const takes = plan.conflicts.length > 0;
    const claimed = takes ? await dryRun(client, { ...wantedBy(intent), mustExist, force: true }) : plan;
    mayTakeOver(takenIn(claimed), taking);
    refuseAdoption(claimed, admission);
    return { plan: claimed, force: takes };
  }

  async function refuseFlows({ realm, admission, mustExist }: Intent, plan: Plan): Promise<void> {
    const flows = mustExist || admission.isNew ? [] : flowsNamedBy(plan);
    if (flows.length === 0) return;
    refuseGuestFlows(flows, await ownersOf(client, realm, 'flow'), { clusterName, namespaces: admission.homes });
  }

  async function apply(intent: Intent, { plan: { revision }, force }: Claimed): Promise<Plan> {
    const { realm } = intent;
    const plan = await writing(realm, () => applyPlan(client, { ...wantedBy(intent), revision, force }));
    // managers that lost objects by it must notice that the realm has changed
    if (!force) applied(realm, plan.revision);
    return plan;
  }

  /** Emits the LocksOut event before the write, so that the event exists even if the write breaks something. */
  async function warn(resource: Resource, plan: Plan): Promise<void> {
    const lockingOut = consequencesWithNumbers(plan).filter(({ locksOut }) => locksOut);
    if (lockingOut.length === 0) return;
    const message = lockingOut.slice(0, MOST_WARNED).map(consequenceText).join('; ');
    log({ resource: nameOf(resource), message: oneLine(`LocksOut: ${message}`) });
    await say(resource, { type: 'Warning', reason: 'LocksOut', message });
  }

  /** Whether the realm has fully matched this declaration before, so that a difference is drift. */
  const isUnchanged = (resource: Resource): boolean =>
    appliedBefore(resource) && !redeclared.has(keyOfResource(resource));

  function forget(key: string): void {
    rotated.delete(key);
    redeclared.delete(key);
  }

  const isRotation = (resource: Resource, plan: Plan): boolean =>
    rotated.has(keyOfResource(resource)) && onlySecrets(plan);

  function countDrift(resource: Resource, plan: Plan): void {
    // reported drift was counted when it was found
    const reported = resource.status.conditions?.some((c) => c.type === 'Drifted');
    if (!reported && !isRotation(resource, plan)) metrics?.driftFound(resource.kind);
  }

  function reported({ own }: Intent, plan: Plan, because: 'Reported' | 'Observed'): Result {
    const changes = changeLines(plan);
    const message = planWords(plan);
    return {
      outcome: withHeld({ is: 'Drifted', message, because }, heldWords(plan)),
      found: { ...own, lastPlan: { summary: message, changes, ...consequenceLines(plan) } },
    };
  }

  /** Counts and logs the changes, and sends an event. */
  async function written(intent: Intent, { plan, force }: Claimed): Promise<Result> {
    const { resource, realm, own } = intent;
    metrics?.applied(plan.changes.length);
    const summary = planWords(plan);
    log({ resource: nameOf(resource), message: oneLine(summary) });
    await say(resource, { type: 'Normal', reason: reasonOf(resource, { plan, force }), message: summary });
    forget(keyOfResource(resource));
    const last = { lastAppliedRevision: plan.revision, ...appliedGeneration(resource, plan) };
    const shown = await details({ kind: resource.kind, realm, own, made: plan.changes });
    return {
      outcome: outcomeOf(intent, plan),
      found: { ...own, ...shown, ...last, lastPlan: { summary, ...consequenceLines(plan) } },
    };
  }

  function reasonOf(resource: Resource, { plan, force }: Claimed): EventReason {
    if (force) return 'TookOver';
    if (!isUnchanged(resource) || onlyPrunes(plan)) return 'Applied';
    return isRotation(resource, plan) ? 'SecretRotated' : 'Repaired';
  }

  async function inSync(intent: Intent, plan: Plan): Promise<Result> {
    const { resource, realm, own } = intent;
    forget(keyOfResource(resource));
    const { lastAppliedRevision = plan.revision, lastPlan } = resource.status;
    // reported differences are gone
    const kept = { lastPlan: lastPlan?.changes ? undefined : lastPlan };
    const last = { lastAppliedRevision, ...appliedGeneration(resource, plan) };
    const shown = await details({ kind: resource.kind, realm, own, made: [] });
    return { outcome: outcomeOf(intent, plan), found: { ...own, ...shown, ...kept, ...last } };
  }

  return {
    converge,
    look,
    warn,
    /** A Secret that the resource names has changed. */
    secretChanged: (key: string): void => void rotated.add(key),
    /** A ConfigMap that the resource names has changed, or a Secret that holds no secret. */
    sourceChanged: (key: string): void => void redeclared.add(key),
    forget,
  };
}
