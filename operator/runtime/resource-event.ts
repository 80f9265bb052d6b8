// The Kubernetes event for a change of a resource's state, once for each change. Waiting is a normal event for a
// minute, and then a warning. Pure. The controller itself sends the messages of an applied plan. Decisions "Custom
// resources".
import type { Condition } from '../../server/contract/resources/custom-resource.ts';
import type { ResourceEvent } from '../source/source.ts';
import type { Outcome } from './outcome.ts';
import type { Reason } from './reasons.ts';

/**
 * Reasons that are normal for a while, since the missing resource, Secret or server usually appears. They become
 * warnings later.
 */
const heals: ReadonlySet<Reason> = new Set<Reason>([
  'SecretMissing',
  'ConfigMapMissing',
  'RealmMissing',
  'FlowMissing',
  'RealmNotDeclared',
  'ServerUnreachable',
  'ServerUnavailable',
  'ServerUnknown',
  'InUse',
  'BeingDeleted',
  'Held',
  'Changed',
]);
const PATIENCE_MS = 60_000;

/**
 * @param warned whether a warning about long waiting was sent already
 * @returns undefined if no event is needed, or `before` shows that it was sent
 */
export function eventOf(
  outcome: Outcome,
  { before = [], now, warned }: { before?: readonly Condition[] | undefined; now: Date; warned: boolean },
): ResourceEvent | undefined {
  const event = draftOf(outcome);
  if (!event) return undefined;
  const told = before.some(({ reason, message }) => reason === event.reason && message === event.message);
  if (!('reason' in outcome && heals.has(outcome.reason))) return told ? undefined : event;
  const since = before.find(({ type }) => type === 'Reconciling')?.lastTransitionTime;
  const late = since !== undefined && now.getTime() - Date.parse(since) >= PATIENCE_MS;
  if (told && (!late || warned)) return undefined;
  return { ...event, type: late ? 'Warning' : 'Normal' };
}

function draftOf(outcome: Outcome): ResourceEvent | undefined {
  switch (outcome.is) {
    case 'Ready':
      if (outcome.held !== undefined) return { type: 'Warning', reason: 'Held', message: outcome.held };
      return outcome.reason === 'Incomplete'
        ? { type: 'Warning', reason: outcome.reason, message: outcome.message }
        : undefined;
    case 'Suspended':
      return { type: 'Normal', reason: 'Suspended', message: 'spec.suspend is true' };
    case 'Drifted':
      return { type: 'Warning', reason: 'DriftFound', message: outcome.message };
    case 'Waiting':
    case 'Stalled':
    case 'Retrying':
      return { type: 'Warning', reason: outcome.reason, message: outcome.message };
  }
}
