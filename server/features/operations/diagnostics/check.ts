// The form of a check of the installation, and the words of its result. service.ts runs the checks.
import type { Check, CheckSubject } from '../../../contract/diagnostics.ts';

export type Result = Pick<Check, 'status' | 'message' | 'advice' | 'details'>;

/** Returns the results that need attention, or one that all is well. If it throws, the check could not be made. */
export interface Examination {
  subject: CheckSubject;
  run(): Promise<Result | readonly Result[]>;
}

const MOST_DETAILS = 20;

const result =
  (status: Check['status']) =>
  (message: string, advice: string | null = null, details: readonly string[] = []): Result => ({
    status,
    message,
    advice,
    details: details.slice(0, MOST_DETAILS),
  });
export const ok = result('ok');
export const warning = result('warning');
export const failure = result('failure');
export const skipped = result('skipped');

/** The results that need attention; without any, that all is well. */
export const orWell = (found: readonly (Result | undefined | false)[], well: Result): readonly Result[] => {
  const all = found.filter((one) => one !== undefined && one !== false);
  return all.length > 0 ? all : [well];
};

const UNITS: readonly [number, string][] = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
];
/** `2 hours`, in the largest unit that is reached. */
export function spanWords(seconds: number): string {
  const [size, name] = UNITS.find(([unit]) => seconds >= unit) ?? ([1, 'second'] as const);
  return count(Math.floor(seconds / size), name);
}

export const count = (n: number, thing: string, things = `${thing}s`): string =>
  `${n.toLocaleString('en')} ${n === 1 ? thing : things}`;
