// Owns: running the checks of the installation: in order, each within a time limit, and shared by callers at the same time.
// Does not own: the checks (database.ts, setup.ts, work.ts), a realm's health (realms), health for load balancers (monitoring).
// Implements: decisions "Diagnostics".
import type { Logger } from 'pino';
import { type Check, checkSubjects, type Diagnostics } from '../../../contract/diagnostics.ts';
import { withTimeLimit } from '../../../schedule/time-limit.ts';
import { type Examination, skipped } from './check.ts';
import { databaseChecks } from './database.ts';
import { type Arrival, setUpChecks } from './setup.ts';
import { workChecks } from './work.ts';

type Parts = Parameters<typeof databaseChecks>[0] &
  Omit<Parameters<typeof setUpChecks>[0], 'arrival'> &
  Parameters<typeof workChecks>[0];
export type DiagnosticsDeps = Parts & {
  version: string;
  configuration: Diagnostics['configuration'];
  log: Logger;
};

const CHECK_MS = 5_000;
const KEEP_MS = 5_000;

export function createDiagnostics(deps: DiagnosticsDeps) {
  const { version, configuration, now, log } = deps;
  const shared = [...databaseChecks(deps), ...workChecks(deps)];
  let last: { at: number; checks: Promise<Check[]> } | undefined;

  async function examine({ subject, run }: Examination): Promise<Check[]> {
    const checked = run().catch((err: unknown) => {
      log.warn({ err, subject }, 'a check of the installation could not be made');
      return skipped('The check could not be made: the server’s log has the reason');
    });
    const late = () => skipped(`The check took longer than ${CHECK_MS / 1000} seconds`);
    const results = await withTimeLimit(checked, CHECK_MS, late);
    return [results].flat().map((result) => ({ subject, ...result }));
  }

  /** One after the other, so that the checks hold one connection and not the pool. */
  async function all(examinations: readonly Examination[]): Promise<Check[]> {
    const checks: Check[] = [];
    for (const examination of examinations) checks.push(...(await examine(examination)));
    return checks;
  }

  /** The checks that don't depend on the request; callers within {@link KEEP_MS} share them. */
  function remembered(): Promise<Check[]> {
    const at = performance.now();
    if (!last || at - last.at > KEEP_MS) last = { at, checks: all(shared) };
    return last.checks;
  }

  return async (arrival: Arrival): Promise<Diagnostics> => {
    const [own, others] = await Promise.all([all(setUpChecks({ ...deps, arrival })), remembered()]);
    const order = (check: Check) => checkSubjects.indexOf(check.subject);
    return {
      checkedAt: now().getTime(),
      version,
      node: process.version,
      configuration,
      checks: [...own, ...others].sort((a, b) => order(a) - order(b)),
    };
  };
}
export type Diagnose = ReturnType<typeof createDiagnostics>;
