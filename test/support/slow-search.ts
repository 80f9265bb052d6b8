// Owns: a search of the audit log that takes as long as one of a very large log.
// Does not own: the search.
// Implements: tests of what follows from a search that the server ends early.
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestServer } from './server.ts';

/** A search may go on for a second. */
const LONGER_MS = 1_300;

/** Does the work while another transaction holds the log, until a search has waited for it longer than it may go on. */
export async function withSlowSearch<T>({ pool }: TestServer, work: () => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin; lock table event in access exclusive mode');
    const answer = work();
    for (let waits = 0; waits === 0; await sleep(20)) {
      const { rows } = await client.query(`select from pg_locks where relation = 'event'::regclass and not granted`);
      waits = rows.length;
    }
    await sleep(LONGER_MS);
    await client.query('commit');
    return await answer;
  } finally {
    client.release();
  }
}
