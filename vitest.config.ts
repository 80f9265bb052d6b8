import { defineConfig } from 'vitest/config';

const operator = ['test/operator/**/*.test.ts', 'test/kubernetes/**/*.test.ts', 'test/charts/**/*.test.ts'];
const browser = ['test/browser/**/*.test.ts'];
const unit = ['test/**/*.unit.test.ts'];

export default defineConfig({
  test: {
    // of the root, so once per run; the projects see what it provides
    globalSetup: 'test/support/global-setup.ts',
    maxWorkers: 2,
    projects: [
      // a worker per file costs more than the tests in it, and pure tests have nothing to isolate
      { test: { name: 'unit', include: unit, isolate: false } },
      {
        test: {
          name: 'server',
          include: ['test/**/*.test.ts'],
          exclude: [...unit, ...operator, ...browser],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      { test: { name: 'operator', include: operator, exclude: unit, testTimeout: 30_000, hookTimeout: 120_000 } },
      { test: { name: 'browser', include: browser, exclude: unit, testTimeout: 30_000, hookTimeout: 60_000 } },
    ],
  },
});
