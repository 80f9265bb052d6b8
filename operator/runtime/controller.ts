// Runs a pass of a resource: suspend → finalizer → secrets → document → converge (plan, apply) → outcome → one status write.
// It knows no kind, and leaves comparisons to converge.ts. Design "Reconciler"; decisions "Custom resources".
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { ServerProblem } from '../../server/contract/client.ts';
import { unknownFieldWords } from '../../server/contract/field-words.ts';
import { GROUP } from '../../server/contract/resources/custom-resource.ts';
import { type AnyKind, brokenLines, objectName, secretName } from '../kinds/kind.ts';
import { pathWords } from '../kinds/spec-path.ts';
import {
  ABANDON,
  FINALIZER,
  isAbandoned,
  isObserveOnly,
  keyOfResource,
  nameOf,
  type Resource,
  type Status,
} from '../resource.ts';
import type { Source } from '../source/source.ts';
import { conditionsAfter } from './conditions.ts';
import { type ConvergeOptions, createConverge, type Result } from './converge.ts';
import { createDeletion } from './deletion.ts';
import { createHandOver, type HandOverOptions } from './hand-over.ts';
import { type Outcome, outcomeOf, Stalled, Waiting } from './outcome.ts';
import { oneLine } from './plan-words.ts';
import type { Realms } from './realms.ts';
import { realmOf } from './registry.ts';
import { eventOf } from './resource-event.ts';
import { createSecretOutputs } from './secret-outputs.ts';
import { isFresh, serverRefOf } from './server-ref.ts';
import { appliedBefore } from './takeover.ts';

export interface ControllerOptions extends Omit<ConvergeOptions, 'say'>, Pick<HandOverOptions, 'inRealm' | 'pause'> {
  source: Source;
  kinds: ReadonlyMap<string, AnyKind>;
  realms: Realms;
  /** The value of spec.serverRef that selects this server; undefined: a resource without serverRef. */
  serverName: string | undefined;
  /** Releases what a resource had blocked, and retries resources that waited for it. */
  released(realm: string): void;
  now(): Date;
}

/** The fields that every kind's spec has; the kind's schema has parsed them. */
interface Common {
  realm: string;
  managementPolicy?: 'Manage' | 'Observe' | undefined;
  driftPolicy?: 'Correct' | 'Report' | undefined;
  suspend?: boolean | undefined;
  force?: boolean | undefined;
}

export function createController(options: ControllerOptions) {
  const { source, client, kinds, clusterName, realms, log, now, released } = options;
  const { converge, look, warn, secretChanged, sourceChanged, forget } = createConverge({
    ...options,
    say: source.say,
  });
  const remove = createDeletion({ client, clusterName, realms, warn, now });
  const handOver = createHandOver(options);
  const secretOutputs = createSecretOutputs(options);
  /** Resources that a warning about long waiting was sent for. */
  const warned = new Set<string>();

  async function reconcile(key: string): Promise<Outcome | undefined> {
    const resource = source.get(key);
    if (!resource) {
      warned.delete(key);
      forget(key);
      return undefined;
    }
    const kind = kinds.get(resource.kind);
    if (!kind) return undefined;
    const elsewhere = otherServer(resource);
    if (resource.metadata.deletionTimestamp) return finalize(resource, kind, elsewhere);
    if (elsewhere && isFresh(resource, now())) return elsewhere;
    const result = elsewhere ? { outcome: elsewhere, found: {} } : await reconcileOnce(resource, kind);
    if (!result) return undefined;
    await report(resource, result.outcome, result.found);
    return result.outcome;
  }

  /** The resource names another server than this operator serves, and no operator of that server has written its status yet. */
  function otherServer({ spec }: Resource): Outcome | undefined {
    const named = serverRefOf(spec);
    if (named === options.serverName) return undefined;
    const message = `waiting for an operator that serves ${named}: no operator with this --server or --server-name has processed the resource`;
    return { is: 'Waiting', reason: 'ServerUnknown', message };
  }

  /** The pass itself; every failure becomes an outcome. @returns undefined: the resource no longer exists */
  async function reconcileOnce(resource: Resource, kind: AnyKind): Promise<Result | undefined> {
    try {
      const parsed = kind.spec.safeParse(resource.spec);
      if (!parsed.success) {
        throw new Stalled('Invalid', parsed.error.issues.flatMap(faultWords).join('; '));
      }
      const spec: Common = parsed.data;
      if (spec.suspend) return { outcome: { is: 'Suspended' }, found: {} };
      const observe = isObserveOnly(spec);
      // without the finalizer, a deleted resource would leave its objects on the server
      const held = observe || resource.metadata.finalizers.includes(FINALIZER);
      if (!held && !(await source.addFinalizer(resource))) return undefined;
      // each try checks the right to the realm again, since a concurrent write may have changed its owner
      return await unhurried(async () => {
        const admission = await realms.admit(resource, kind, parsed.data);
        const refs = kind.secrets(parsed.data);
        const secrets = await secretsOf(resource, refs);
        const outputs = await secretOutputs.provideAll(resource, kind.outputs?.(parsed.data) ?? [], { make: !observe });
        for (const [name, value] of outputs.values) secrets.set(name, value);
        const context = {
          metadata: resource.metadata,
          secrets,
          clusterIssuer: source.clusterIssuer,
          guest: !admission.atHome,
        };
        const { realm, driftPolicy = 'Correct', force = false } = spec;
        const document = kind.document(parsed.data, context);
        const own = kind.status(parsed.data, context);
        const warnings = [...brokenLines(refs, secrets), ...outputs.warnings];
        const mustExist = kind.attached;
        const { letsNobodyIn = false } = kind;
        const declared = { resource, realm, document, own, warnings };
        const intent = { ...declared, admission, mustExist, letsNobodyIn, driftPolicy, force };
        if (observe) return look(intent);
        if (!appliedBefore(resource) && (await handOver(resource, realm, { going: false }))) released(realm);
        const result = await converge(intent);
        await outputs.finish(realm, result.outcome);
        return result;
      });
    } catch (error) {
      return { outcome: outcomeOf(error, resource.kind), found: {} };
    }
  }

  async function secretsOf(resource: Resource, refs: ReturnType<AnyKind['secrets']>) {
    const values = new Map<string, string>();
    const { namespace } = resource.metadata;
    const missing: { reason: 'SecretMissing' | 'ConfigMapMissing'; what: string }[] = [];
    for (const of of Map.groupBy(refs, objectName).values()) {
      const [{ name = '', in: kind = 'Secret' } = {}] = of;
      const held = kind === 'Secret' ? await source.secret(namespace, name) : await source.configMap(namespace, name);
      const reason = `${kind}Missing` as const;
      if (!held) missing.push({ reason, what: `the ${kind} ${name} in the namespace ${namespace}` });
      for (const ref of held ? of : []) {
        const value = held?.get(ref.key);
        if (value || (value !== undefined && ref.form)) values.set(secretName(ref), value);
        else missing.push({ reason, what: `the key ${ref.key} in the ${kind} ${name} (namespace ${namespace})` });
      }
    }
    const [first] = missing;
    if (first) throw new Waiting(first.reason, `waiting for ${missing.map(({ what }) => what).join(', ')}`);
    return values;
  }

  async function letGo(resource: Resource, kind: AnyKind): Promise<string> {
    if (isObserveOnly(resource.spec)) return 'only looked at: what is on the server stays as it is';
    const realm = realmOf(resource);
    await secretOutputs.leave(resource);
    if (realm !== undefined) await handOver(resource, realm, { going: true });
    return remove(resource, kind);
  }

  async function finalize(
    resource: Resource,
    kind: AnyKind,
    elsewhere: Outcome | undefined,
  ): Promise<Outcome | undefined> {
    if (!resource.metadata.finalizers.includes(FINALIZER)) return undefined;
    const abandoned = isAbandoned(resource);
    if (elsewhere && !abandoned) {
      await report(resource, withWayOut(elsewhere, resource), {});
      return elsewhere;
    }
    try {
      const message = abandoned ? 'abandoned: what is on the server stays as it is' : await letGo(resource, kind);
      log({ resource: nameOf(resource), message: oneLine(message) });
      const realm = realmOf(resource);
      if (realm !== undefined) released(realm);
      await source.removeFinalizer(resource);
      await source.say(resource, { type: 'Normal', reason: abandoned ? 'Abandoned' : 'Released', message });
      return undefined;
    } catch (error) {
      const outcome = outcomeOf(error);
      await report(resource, withWayOut(outcome, resource), {});
      return outcome;
    }
  }

  /** Writes the status once, or not at all if nothing changed; a problem is reported once, as an event. */
  async function report(resource: Resource, outcome: Outcome, found: Record<string, unknown>): Promise<void> {
    const { status, metadata } = resource;
    const conditions = conditionsAfter(outcome, {
      before: status.conditions,
      generation: metadata.generation,
      now: `${now().toISOString().slice(0, 19)}Z`,
    });
    const result = outcome.is !== 'Waiting' && outcome.is !== 'Retrying';
    const next: Status = {
      ...status,
      ...found,
      conditions,
      observedGeneration: result ? metadata.generation : (status.observedGeneration ?? -1),
    };
    if (!isDeepStrictEqual(clean(next), clean(status))) await source.writeStatus(resource, clean(next));
    // the conditions from before the write: the source may share the resource, whose status is new by now
    await tell(resource, outcome, status.conditions);
  }

  async function tell(resource: Resource, outcome: Outcome, before: Status['conditions']): Promise<void> {
    const key = keyOfResource(resource);
    const event = eventOf(outcome, { before, now: now(), warned: warned.has(key) });
    if (outcome.is !== 'Waiting' && outcome.is !== 'Retrying') warned.delete(key);
    else if (event?.type === 'Warning') warned.add(key);
    if (!event) return;
    log({ resource: nameOf(resource), message: oneLine(`${event.reason}: ${event.message}`) });
    await source.say(resource, event);
  }

  return { reconcile, secretChanged, sourceChanged };
}

/** Each unknown field by its own path, as the API server reports it. */
const faultWords = (issue: z.core.$ZodIssue): string[] =>
  issue.code === 'unrecognized_keys'
    ? issue.keys.map((key, index) => `${pathWords(['spec', ...issue.path, key])}: ${unknownFieldWords(issue, index)}`)
    : [`${pathWords(['spec', ...issue.path])}: ${issue.message}`];

const clean = (status: Status): Status =>
  Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined));

function withWayOut(outcome: Outcome, resource: Resource): Outcome {
  if (!('message' in outcome) || outcome.is === 'Ready') return outcome;
  const { kind, metadata } = resource;
  const way = `to let it go as it is: kubectl annotate ${kind.toLowerCase()}.${GROUP} ${metadata.name} -n ${metadata.namespace} ${ABANDON}=true`;
  return { ...outcome, message: `${outcome.message} (${way})` };
}

const TRIES = 5;

/** A concurrent write between plan and apply (412): plans again at once, without an event. */
async function unhurried(pass: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await pass();
    } catch (error) {
      if (tries === TRIES || !(error instanceof ServerProblem && error.status === 412)) throw error;
    }
  }
}
