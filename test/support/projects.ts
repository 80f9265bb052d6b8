// Owns: which test file is in which vitest project, by its name and folder.
// Does not own: how each runs (vitest.config.ts), what it needs on the machine (needs.ts).

const unit = ['test/**/*.unit.test.ts'];
const long = ['test/**/*.long.test.ts'];
const cluster = ['test/{operator,kubernetes,charts}/**/*.test.ts', 'test/**/*.cluster.test.ts'];
const browser = ['test/{browser,console}/**/*.test.ts'];

export const projects = {
  /** Pure logic: no database, no process, no network. */
  unit: { include: unit, exclude: [] },
  server: { include: ['test/**/*.test.ts'], exclude: [...unit, ...long, ...cluster, ...browser] },
  cluster: { include: cluster, exclude: [...unit, ...long] },
  browser: { include: browser, exclude: [...unit, ...long] },
  /** Slow tests: large data, hundreds of random cases, chaos. Not part of `npm test`. */
  long: { include: long, exclude: [] },
} satisfies Record<string, { include: string[]; exclude: string[] }>;
