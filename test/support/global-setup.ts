// Owns: starting the run's PostgreSQL before the first test and stopping it after the last.
// Does not own: what is in it (cluster.ts).
// Implements: vitest's global setup; runs once per run whatever the number of projects.
import type { TestProject } from 'vitest/node';
import { startCluster } from './cluster.ts';
import type {} from './database.ts';

/** Called by vitest; what it returns is called at the end. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { cluster, stop } = await startCluster();
  project.provide('cluster', cluster);
  return stop;
}
