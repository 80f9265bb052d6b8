// Conditions as kstatus reads them: Ready sums up, Reconciling and Stalled exist only while they are true, Drifted
// and Held report. Pure: an unchanged outcome returns the same conditions, so that nothing is written. Decisions "Custom
// resources".
import type { Condition } from '../../server/contract/resources/custom-resource.ts';
import type { Outcome } from './outcome.ts';
import type { Reason } from './reasons.ts';

type Draft = Omit<Condition, 'lastTransitionTime' | 'observedGeneration' | 'reason'> & { reason: Reason };

const notCorrected = {
  Reported: 'Drift is reported and not corrected',
  Observed: 'Only looked at: nothing is written',
};

/** The conditions that an outcome sets to true; types that are absent here are removed from the status. */
function draftsOf(outcome: Outcome): Draft[] {
  const drafts = ownDraftsOf(outcome);
  if (!('held' in outcome) || outcome.held === undefined) return drafts;
  return [...drafts, { type: 'Held', status: 'True', reason: 'Held', message: outcome.held }];
}

function ownDraftsOf(outcome: Outcome): Draft[] {
  switch (outcome.is) {
    case 'Ready':
      // Incomplete has no type of its own: the CRDs of the release before would refuse the whole status.
      return [{ type: 'Ready', status: 'True', reason: outcome.reason ?? 'Applied', message: outcome.message }];
    case 'Drifted':
      return [
        { type: 'Ready', status: 'True', reason: outcome.because, message: notCorrected[outcome.because] },
        { type: 'Drifted', status: 'True', reason: 'DriftFound', message: outcome.message },
      ];
    case 'Suspended':
      // No Ready: whether the realm holds the spec is unknown. kstatus takes Ready=Unknown for "in progress", so one
      // suspended resource would make every wait of Flux and Helm fail for all the others.
      return [{ type: 'Suspended', status: 'True', reason: 'Suspended', message: 'spec.suspend is true' }];
    case 'Stalled': {
      const { reason, message } = outcome;
      return [
        { type: 'Ready', status: 'False', reason, message },
        { type: 'Stalled', status: 'True', reason, message },
      ];
    }
    case 'Waiting':
    case 'Retrying': {
      const { reason, message } = outcome;
      const said = outcome.is === 'Waiting' ? 'Waiting' : reason;
      // `kubectl get` shows the first condition, whose reason names the dependency
      return [
        { type: 'Reconciling', status: 'True', reason, message },
        { type: 'Ready', status: 'False', reason: said, message },
      ];
    }
  }
}

/** @param now RFC 3339; it becomes a condition's lastTransitionTime only if the condition's status changed */
export function conditionsAfter(
  outcome: Outcome,
  { before = [], generation, now }: { before?: readonly Condition[] | undefined; generation: number; now: string },
): Condition[] {
  return draftsOf(outcome).map((draft) => {
    const was = before.find((c) => c.type === draft.type);
    const message = draft.message.slice(0, 4000);
    const lastTransitionTime = was?.status === draft.status ? was.lastTransitionTime : now;
    return { ...draft, message, observedGeneration: generation, lastTransitionTime };
  });
}
