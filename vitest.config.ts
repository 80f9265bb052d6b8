import { defineConfig } from 'vitest/config';

const operator = ['test/operator/**/*.test.ts', 'test/kubernetes/**/*.test.ts', 'test/charts/**/*.test.ts'];
const browser = ['test/browser/**/*.test.ts'];
const unit = ['test/**/*.unit.test.ts'];

// Limits tell a run that hangs from one that goes on, and nothing else: what passes in seconds may take minutes where the
// processors are shared, and how fast it must be is for `npm run bench`.
const limits = {
  testTimeout: 240_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 100_000 } },
};

export default defineConfig({
  test: {
    // of the root, so once per run; the projects see what it provides
    globalSetup: 'test/support/global-setup.ts',
    maxWorkers: 2,
    projects: [
      // a worker per file costs more than the tests in it, and pure tests have nothing to isolate
      { test: { name: 'unit', include: unit, isolate: false, ...limits } },
      {
        test: {
          name: 'server',
          include: ['test/**/*.test.ts'],
          exclude: [...unit, ...operator, ...browser],
          ...limits,
        },
      },
      { test: { name: 'operator', include: operator, exclude: unit, ...limits } },
      { test: { name: 'browser', include: browser, exclude: unit, ...limits } },
    ],
  },
});
