// What a change of a resource's standing is told as: a Kubernetes event, once for each change. Pure.
// Decisions "Custom resources"; the plan's own words are told by the controller where it applies.
import type { Condition } from '../../server/contract/resources/custom-resource.ts';
import type { ResourceEvent } from '../source/source.ts';
import type { Outcome } from './outcome.ts';

/** @returns undefined where nobody needs to be told, or it has been told: `before` says so */
export function newsOf(outcome: Outcome, before: readonly Condition[] = []): ResourceEvent | undefined {
  const news = draftOf(outcome);
  if (!news || before.some(({ reason, message }) => reason === news.reason && message === news.message)) return;
  return news;
}

function draftOf(outcome: Outcome): ResourceEvent | undefined {
  switch (outcome.is) {
    case 'Ready':
      return undefined;
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
