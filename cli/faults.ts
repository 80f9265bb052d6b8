// Owns: errors as text, and their exit codes.
// Does not own: the server's errors (server/contract/problem.ts).
// Implements: exit codes 0 done or in sync, 1 differences, 2 refused or usage, 3 unreachable.
import { CommanderError } from 'commander';
import { z } from 'zod';
import { separateWords } from '../server/contract/apart.ts';
import { ServerProblem } from '../server/contract/client.ts';
import { causeWords, codeOf, errorWords, speaksNoTls } from '../server/contract/error-words.ts';

/** A wrong or forbidden command; `hint` says what to do next. */
export class Refused extends Error {
  readonly hint: string | undefined;
  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}
/** Ctrl-C. */
export class Interrupted extends Error {
  constructor(message = 'interrupted') {
    super(message);
  }
}

/** Ends the command with this exit code, which is the result itself: for example, `diff` found differences. */
export class Outcome extends Error {
  readonly code: 1 | 2 | 3;
  constructor(code: 1 | 2 | 3) {
    super(`exit code ${code}`);
    this.code = code;
  }
}

export interface Fault {
  code: number;
  /** Empty: the command has printed its message itself. */
  lines: string[];
}

export function faultOf(error: unknown): Fault {
  if (error instanceof Outcome) return { code: error.code, lines: [] };
  // commander has printed its own message, or the requested help
  if (error instanceof CommanderError) return { code: error.exitCode === 0 ? 0 : 2, lines: [] };
  if (error instanceof Interrupted) return { code: 130, lines: [error.message] };
  if (error instanceof Refused) return { code: 2, lines: [error.message, ...(error.hint?.split('\n') ?? [])] };
  if (error instanceof ServerProblem) {
    // the cause that prevented the request from being sent
    const { cause } = error;
    return cause instanceof Refused || cause instanceof Interrupted ? faultOf(cause) : serverFault(error);
  }
  return { code: 2, lines: [errorWords(error)] };
}

/** Advice for TLS faults, since OpenSSL's message names no next step. */
function tlsHint(cause: unknown): string[] {
  const code = codeOf(cause) ?? '';
  if (speaksNoTls(code)) return ['Give the address with http://, or the port that the server has for https.'];
  return /CERT|SELF_SIGNED|LEAF_SIGNATURE/.test(code)
    ? ['Behind a private certificate authority: NODE_EXTRA_CA_CERTS=ca.pem.']
    : [];
}

/** The server is temporarily unavailable: down, starting, failing, or asking to wait. */
const away = (status: number) => status === 0 || status === 429 || status >= 500;

const Locked = z.object({ locked: z.array(z.object({ kind: z.string(), key: z.string() })).min(1) });

/** The commands by which what only documents change is changed nevertheless. */
function declaredOnlyHint({ problem }: ServerProblem): string[] {
  const [first] = Locked.safeParse(problem).data?.locked ?? [];
  const what = first ? `${separateWords(first.kind, '-')} ${quoted(first.key)}` : 'KIND NAME';
  return [
    'Declare it: realmctl apply -f FILE --manager NAME, or where its manager reads it.',
    `Or open it for a while: realmctl hold ${what} --reason WHY --for 1h`,
  ];
}
const quoted = (word: string): string => (/^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** Advice for refusals whose message from the server names no next step. */
export function hintOf(error: ServerProblem): string[] {
  if (error.is('missing-environment'))
    return ['Give them in your environment, or as NAME=VALUE in a file with --env-file.'];
  if (error.is('declared-only')) return declaredOnlyHint(error);
  return error.is('managed-by-another') ? ['Look at it with --dry-run; --force takes over what others manage.'] : [];
}

function serverFault(error: ServerProblem): Fault {
  const { status, message, problem, retryAfterSeconds, cause } = error;
  const lines = [status === 0 ? `${message}${causeWords(cause)}` : (problem?.title ?? message)];
  const { detail, title, errors = [] } = problem ?? {};
  if (detail && detail !== title && errors.length === 0) lines.push(detail);
  for (const { path, message: what } of errors) lines.push(`  ${path}: ${what}`);
  if (status === 0) lines.push(...tlsHint(cause));
  if (status === 401) lines.push('Sign in again: realmctl login <server>');
  lines.push(...hintOf(error));
  if (retryAfterSeconds) lines.push(`Try again in ${retryAfterSeconds} s.`);
  return { code: away(status) ? 3 : 2, lines };
}
