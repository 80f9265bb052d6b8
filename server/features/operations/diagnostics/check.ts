// The form of a check of the installation, and the words of its result. service.ts runs the checks.
import type { Check, CheckSubject } from '../../../contract/diagnostics.ts';
import { BUILT_IN_LOCALE, spanIn } from '../../configuration/messaging/words.ts';

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

/** `2 hours` */
export const spanWords = (seconds: number): string => spanIn(BUILT_IN_LOCALE, seconds);

export const count = (n: number, thing: string, things = `${thing}s`): string =>
  `${n.toLocaleString('en')} ${n === 1 ? thing : things}`;
