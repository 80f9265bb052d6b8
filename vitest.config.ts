import { defineConfig } from 'vitest/config';
import { projects } from './test/support/projects.ts';
import { LongestFirst } from './test/support/sequencer.ts';

// Limits tell a run that hangs from one that goes on, and nothing else: what passes in seconds may take minutes where the
// processors are shared, and how fast it must be is for `npm run bench`.
const limits = {
  testTimeout: 240_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 100_000 } },
};

/**
 * Tests that wait for a browser, and long ones, have a second try where nobody is there to repeat them: a press that a busy browser
 * loses is no fault of ours. The run names each that needed it (test/support/report.ts).
 */
const second = (name: string) => ({ retry: process.env.CI && ['browser', 'long'].includes(name) ? 1 : 0 });

export default defineConfig({
  test: {
    // one more than the machines that it is meant for have processors: many tests wait
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // A worker goes from file to file: a process and all modules anew for each file cost more than most tests. Node loads them itself,
    // as it does in production: what Vite makes of a module runs at half the speed, by its indirect access to each import.
    projects: Object.entries(projects).map(([name, files]) => ({
      test: {
        name,
        ...files,
        isolate: false,
        experimental: { viteModuleRunner: false, nodeLoader: false },
        ...limits,
        ...second(name),
      },
    })),
  },
});
