// Owns: a fresh, migrated database for a test file.
// Does not own: the cluster that it lies in (cluster.ts).
// Implements: tests on a real database, without one test seeing another's rows.
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError } from 'pg';
import { inject } from 'vitest';
import { connectedCluster, onDatabase, type TestCluster } from './cluster.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    cluster: TestCluster;
  }
}

/** A database that a test has for itself. */
export interface TestDatabase {
  url: string;
  /** Removes it, ending the sessions that are left in it. */
  drop(): Promise<void>;
}

let made = 0;

/** Clones the migrated template, which takes about 50 ms. Call `drop` in `afterAll`. */
export async function createDatabase(): Promise<TestDatabase> {
  const cluster = inject('cluster');
  if (cluster.failure) throw new Error(cluster.failure);
  return clone(cluster);
}

/** An empty database without any migration, for the tests of the migrations themselves. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  return clone({ ...inject('cluster'), template: 'template0' });
}

async function clone({ url, template, prefix }: TestCluster): Promise<TestDatabase> {
  made += 1;
  const name = `${prefix}${process.pid}_${made}_${performance.now().toString(36).replace('.', '')}`;
  await connectedCluster(url, async (admin) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await admin.query(`create database ${name} template ${template}`);
      } catch (error) {
        // 55006: the template is in use for a moment, as by a clone that another worker makes
        if (attempt === 20 || !(error instanceof DatabaseError && error.code === '55006')) throw error;
        await sleep(50);
      }
    }
  });
  const drop = async () => {
    await connectedCluster(url, (admin) => admin.query(`drop database if exists ${name} with (force)`));
  };
  return { url: onDatabase(url, name), drop };
}

/** How many sessions of the database wait for a lock. */
export const lockWaits = (url: string): Promise<number> =>
  connectedCluster(url, async (client) => {
    const { rows } = await client.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length;
  });
