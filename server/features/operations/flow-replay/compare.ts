// One sign-in by two flows: what the difference is for the user, and why, in words. Pure.
import type { ReplayOutcome } from '../../../contract/flow-replay.ts';
import type { Path, PathStep } from '../../authentication/sign-in/path.ts';
import { actionVerb } from '../sign-in-report/words.ts';

export interface Difference {
  outcome: ReplayOutcome;
  message: string;
  more: string[];
  less: string[];
}

/** The way that the user takes: the first one that they have. */
const takenIn = ({ authenticatorId, able, others }: PathStep): string | null =>
  able ? authenticatorId : (others.find((way) => way.able)?.authenticatorId ?? authenticatorId);

const row = new Intl.ListFormat('en');
const inARow = (steps: readonly string[]): string => row.format(steps);

export function createCompare({
  nameOf,
  endWords,
}: {
  nameOf(authenticatorId: string): string;
  endWords(path: Path): string;
}) {
  /** What the user does: `set up One-time code (TOTP)`. */
  function wordsOf(step: PathStep): string {
    const taken = takenIn(step);
    if (taken === null) return step.action === null ? '' : actionVerb(step.action);
    return `${step.kind === 'set-up' ? 'set up' : 'use'} ${nameOf(taken)}`;
  }
  /** The steps of a path that the other one lacks. */
  function beyond(path: Path, other: Path): string[] {
    const left = other.steps.map(wordsOf);
    return path.steps.map(wordsOf).filter((words) => {
      const at = left.indexOf(words);
      if (at >= 0) left.splice(at, 1);
      return at < 0;
    });
  }

  return function compare(before: Path, after: Path): Difference {
    const more = beyond(after, before);
    const less = beyond(before, after);
    const steps = { more, less };
    if (after.ends !== 'signed-in')
      return {
        outcome: before.ends === 'signed-in' ? 'locked-out' : 'blocked-already',
        message: endWords(after),
        ...steps,
      };
    if (before.ends !== 'signed-in') return { outcome: 'let-in', message: `Until now: ${endWords(before)}`, ...steps };
    if (more.length > 0) return { outcome: 'asks-more', message: `Must also ${inARow(more)}`, ...steps };
    if (less.length > 0) return { outcome: 'asks-less', message: `Need no longer ${inARow(less)}`, ...steps };
    return { outcome: 'unchanged', message: 'The same steps', ...steps };
  };
}
