// Owns: counting a run's tests per suite, the table and closing line made of it, and which files took the time.
// Does not own: running them (run.ts).
// Implements: `npm test` ends with `N passed, N failed`, and says loudly what was skipped.
import { stripVTControlCharacters } from 'node:util';
import { experimental_getRunnerTask, type TestModule } from 'vitest/node';

/** One vitest project's share of the run. */
export interface Suite {
  name: string;
  files: number;
  passed: number;
  failed: number;
  skipped: number;
  seconds: number;
  /** How much of them passes before the first test of a file begins. */
  setUp: number;
}

/** A part that could not be tested on this machine. */
export interface Missing {
  suite: string;
  files: number;
  tests: number;
  reason: string;
  /** No fault of the machine's set-up: not one that was promised to have it. */
  excused?: boolean;
}

/**
 * Counts per project. A file that fails apart from its tests, by an import or a hook, counts as one failure.
 * `byName` says that the caller selected tests by name: the others count for nothing.
 */
export function countSuites(modules: TestModule[], missing: Missing[], byName: boolean): Suite[] {
  const suites = new Map<string, Suite>();
  const suiteOf = (name: string) => {
    const suite = suites.get(name) ?? { name, files: 0, passed: 0, failed: 0, skipped: 0, seconds: 0, setUp: 0 };
    suites.set(name, suite);
    return suite;
  };
  for (const module of modules) {
    const suite = suiteOf(module.project.name);
    const states = [...module.children.allTests()].map((test) => test.result().state);
    const count = (wanted: string) => states.filter((state) => state === wanted).length;
    const failed = count('failed');
    suite.files += 1;
    suite.passed += count('passed');
    suite.failed += failed || (module.ok() ? 0 : 1);
    // 'pending' at the end: never begun, as when the run was cut short
    suite.skipped += byName ? 0 : count('skipped') + count('pending');
    suite.seconds += secondsOf(module);
    suite.setUp += setUpOf(module);
  }
  for (const { suite: name, files, tests } of missing) {
    const suite = suiteOf(name);
    suite.files += files;
    suite.skipped += tests;
  }
  return [...suites.values()].sort((a, b) => a.name.localeCompare(b.name));
}

/** A file's seconds, with its imports. */
function secondsOf(module: TestModule): number {
  const { collectDuration, duration } = module.diagnostic();
  return (collectDuration + duration) / 1000;
}

/** A file's seconds until its first test begins: its imports, and what it starts before. */
function setUpOf(module: TestModule): number {
  const begun = experimental_getRunnerTask(module).result?.startTime;
  const tests = [...module.children.allTests()].flatMap((test) => test.diagnostic()?.startTime ?? []);
  const before = begun === undefined || tests.length === 0 ? 0 : Math.min(...tests) - begun;
  return (module.diagnostic().collectDuration + Math.max(0, before)) / 1000;
}

/** The files that took longest, a line each. */
export function slowest(modules: TestModule[], most = 20): string {
  const files = modules.map((module) => ({ module, seconds: secondsOf(module) }));
  const rows = files
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, most)
    .map(({ module, seconds }) => [module.relativeModuleId, inSeconds(seconds), inSeconds(setUpOf(module))]);
  return columns([['slowest files', 'time', 'set-up'], ...rows]);
}

const inSeconds = (seconds: number): string => `${seconds.toFixed(1)} s`;

/** The suites as a table, a line each. */
export function table(suites: Suite[]): string {
  const rows = suites.map((suite) => [
    suite.name,
    ...[suite.files, suite.passed, suite.failed, suite.skipped].map(String),
    inSeconds(suite.seconds),
    inSeconds(suite.setUp),
    inSeconds(suite.files > 0 ? suite.setUp / suite.files : 0),
  ]);
  return columns([['suite', 'files', 'passed', 'failed', 'skipped', 'time', 'set-up', 'a file'], ...rows]);
}

function columns(lines: string[][]): string {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((row) => row[column]!.length)));
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!);
  return lines.map((row) => row.map(pad).join('  ')).join('\n');
}

/** A line for each test that failed, and for each file that did apart from its tests: where it is, and how its error begins. */
export function failures(modules: TestModule[]): string[] {
  const line = (name: string, message = '') => `FAILED ${name}: ${stripVTControlCharacters(message).split('\n')[0]}`;
  return modules.flatMap((module) => {
    const tests = [...module.children.allTests('failed')].map((test) =>
      line(`${module.relativeModuleId} > ${test.fullName}`, test.result().errors?.[0]?.message),
    );
    return tests.length > 0 || module.ok() ? tests : [line(module.relativeModuleId, module.errors()[0]?.message)];
  });
}

/** A line for each test that failed, and passed at its second try: it is to be mended. */
export const unsteady = (modules: TestModule[]): string[] =>
  modules.flatMap((module) =>
    [...module.children.allTests('passed')].flatMap((test) =>
      test.diagnostic()?.flaky ? [`UNSTEADY ${module.relativeModuleId} > ${test.fullName}`] : [],
    ),
  );

/** The sums of all suites. */
export function total(suites: Suite[]): Pick<Suite, 'passed' | 'failed' | 'skipped'> {
  const sum = (key: 'passed' | 'failed' | 'skipped') => suites.reduce((all, suite) => all + suite[key], 0);
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
}

/** The last line of a run. */
export function closingLine({ passed, failed, skipped }: ReturnType<typeof total>): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
