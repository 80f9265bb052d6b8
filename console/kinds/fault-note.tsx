// What is wrong in a form: how many fields need a change and which, and the focus on the first of them.
import { useEffect } from 'react';
import type { ServerProblem } from '../api/client.ts';
import { adviceOn, Note } from '../ui/state.tsx';
import { faultsOf } from './plan.ts';

export type Faults = ReadonlyMap<string, string>;

/** A dialog that closes gives the focus back first. */
const AFTER_DIALOGS_MS = 120;
const WRONG = '[aria-invalid="true"]:not(:disabled), [data-invalid] button.input:not(:disabled)';

/** Leads to the first field that is wrong, each time that faults are found. */
export function useFaultFocus(faults: Faults): void {
  useEffect(() => {
    if (faults.size === 0) return;
    const timer = setTimeout(() => {
      const within = document.querySelector('[role=dialog]') ?? document.querySelector('main');
      within?.querySelector<HTMLElement>(WRONG)?.focus();
    }, AFTER_DIALOGS_MS);
    return () => clearTimeout(timer);
  }, [faults]);
}

/** The refusal names fields: they say it, and a form needs no other note. */
export const isOfFields = (problem: ServerProblem | null): boolean => faultsOf(problem).size > 0;

/** @param problem the refusal that found them */
export function FaultNote({ faults, problem }: { faults: Faults; problem?: ServerProblem | null }) {
  useFaultFocus(faults);
  const advice = problem && adviceOn(problem);
  return (
    <Note tone="bad" live>
      <strong>{faults.size === 1 ? 'One field needs a change.' : `${faults.size} fields need a change.`}</strong>
      <ul>
        {[...faults].map(([path, message]) => (
          <li key={path}>
            <code>{path || 'the whole'}</code>: {message}
          </li>
        ))}
      </ul>
      {advice && <span>{advice}</span>}
    </Note>
  );
}
