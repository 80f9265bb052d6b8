// The outcome of a pass, and its effect on conditions and on the next try. Without clock and I/O. Decisions "Custom
// resources": Stalled (a person must act), Waiting (a dependency is missing), back-off.
import { ServerProblem } from '../../server/contract/client.ts';
import { errorWords } from '../../server/contract/error-words.ts';
import { Conflict } from '../../server/contract/transfer.ts';
import { Unusable } from '../kinds/kind.ts';
import { specPath } from '../kinds/spec-path.ts';
import type { KindName } from '../resource.ts';
import { SecretForbidden } from '../source/source.ts';
import type { Reason } from './reasons.ts';

export type Outcome =
  | { is: 'Ready'; message: string; reason?: 'Incomplete' | 'Observed'; held?: string }
  | { is: 'Drifted'; message: string; because: 'Reported' | 'Observed'; held?: string }
  | { is: 'Suspended' }
  | { is: 'Waiting'; reason: Reason; message: string; held?: string }
  | { is: 'Stalled'; reason: Reason; message: string }
  | { is: 'Retrying'; reason: Reason; message: string };

/** The outcome with the differences that holds keep, in words, if there are any. */
export const withHeld = (outcome: Outcome, held: string | undefined): Outcome =>
  held === undefined || outcome.is === 'Suspended' || outcome.is === 'Stalled' || outcome.is === 'Retrying'
    ? outcome
    : { ...outcome, held };

/** A dependency is missing. The resource is tried again later, and at once when the source reports the dependency. */
export class Waiting extends Error {
  readonly reason: Reason;
  constructor(reason: Reason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A person must act: the spec, or something else that the message names, has to change. */
export class Stalled extends Error {
  readonly reason: Reason;
  constructor(reason: Reason, message: string) {
    super(message);
    this.reason = reason;
  }
}

const reasons: Record<number, Reason> = {
  400: 'Refused',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  413: 'TooLarge',
  422: 'Refused',
};

/**
 * The outcome for any error of a pass; only unexpected errors are retried for ever.
 * @param kind of the resource whose document was refused: faults are reported by the paths of its spec
 */
export function outcomeOf(error: unknown, kind?: KindName): Outcome {
  if (error instanceof Stalled) return { is: 'Stalled', reason: error.reason, message: error.message };
  if (error instanceof Waiting) return { is: 'Waiting', reason: error.reason, message: error.message };
  if (error instanceof SecretForbidden) return { is: 'Stalled', reason: 'SecretForbidden', message: error.message };
  if (error instanceof Unusable) return { is: 'Stalled', reason: 'Invalid', message: error.message };
  if (!(error instanceof ServerProblem)) {
    return { is: 'Retrying', reason: 'Error', message: errorWords(error) };
  }
  // 412: the realm changed between plan and apply, so plan again. 401: the operator's own sign-in expired, and is
  // renewed.
  if (error.status === 412) return { is: 'Retrying', reason: 'Changed', message: error.message };
  if (error.status === 0) return { is: 'Waiting', reason: 'ServerUnreachable', message: error.message };
  if (error.status === 401) return { is: 'Waiting', reason: 'SignInRefused', message: error.message };
  if (error.is('being-deleted')) return { is: 'Waiting', reason: 'BeingDeleted', message: error.message };
  if (error.status === 429 || error.status >= 500) {
    return { is: 'Retrying', reason: 'ServerUnavailable', message: error.message };
  }
  return { is: 'Stalled', reason: reasons[error.status] ?? 'Refused', message: wordsOf(error, kind) };
}

/** The server's message, with every faulty field and every conflicting owner that the problem names. */
export function wordsOf({ message, problem }: ServerProblem, kind?: KindName): string {
  const faults = problem?.errors ?? [];
  const fields = faults.map(({ path, message: what }) => `${kind ? specPath(kind, path) : path}: ${what}`);
  const conflicts = Conflict.array().safeParse(problem?.conflicts);
  const named = [...fields, ...(conflicts.success ? conflicts.data.map(conflictText) : [])];
  return named.length === 0 ? message : named.join('; ');
}

export const conflictText = ({ kind, key, path, manager }: Conflict): string =>
  `${kind} ${key}${path ? ` (${path})` : ''} is managed by ${manager}`;

/** Whether to retry soon with growing delays, or only when the realm changes and at the resync. */
export function nextOf(outcome: Outcome): 'backoff' | 'resync' {
  return outcome.is === 'Waiting' || outcome.is === 'Retrying' ? 'backoff' : 'resync';
}
