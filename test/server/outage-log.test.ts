import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { openPool } from '../../server/db/sql.ts';
import { createLog } from '../../server/log.ts';
import { createOutageLog } from '../../server/outage-log.ts';

const releases: (() => unknown)[] = [];
afterEach(async () => {
  for (const release of releases.splice(0)) await release();
});

function listen(everyMs = 1_000) {
  const lines: Record<string, unknown>[] = [];
  let clock = 5_000_000;
  const outages = createOutageLog({ now: () => clock, everyMs });
  const log = createLog('info', { outages, to: { write: (line) => void lines.push(JSON.parse(line)) } });
  const later = (ms: number) => {
    clock += ms;
  };
  return { outages, log, lines, later };
}
/** What the pool says of a database that isn't there. */
async function refusal(): Promise<unknown> {
  const pool = openPool('postgres://nobody@127.0.0.1:1/nothing');
  releases.push(() => pool.end());
  return pool.query('select 1').catch((error: unknown) => error);
}

test('however many requests fail of it, a line a second says so: with level, request and code, and without a stack', async () => {
  const { log, lines, later } = listen();
  const err = await refusal();
  for (let i = 0; i < 100; i += 1) log.child({ reqId: `req-${i}` }).error({ err }, 'Service unavailable');
  log.warn({ err: new Error('wrapped', { cause: err }) }, 'another matter');
  later(999);
  log.warn({ err }, 'a database connection was lost');
  later(1);
  log.warn({ err }, 'a database connection was lost');
  expect(lines.map(({ msg, level, reqId, during, suppressed }) => ({ msg, level, reqId, during, suppressed }))).toEqual(
    [
      { msg: 'the database cannot be reached', level: 'error', reqId: 'req-0', during: 'Service unavailable' },
      { msg: 'another matter', level: 'warn' },
      {
        msg: 'the database cannot be reached',
        level: 'warn',
        during: 'a database connection was lost',
        suppressed: 100,
      },
    ],
  );
  expect(lines[0]?.err).toEqual({ type: 'Error', message: expect.any(String), code: 'ECONNREFUSED' });
});

test('one line says that it is back, and whatever fails later is told at once', async () => {
  const { outages, log, lines } = listen(5);
  let back = false;
  let tries = 0;
  releases.push(
    outages.watch(log, async () => {
      tries += 1;
      if (!back) throw new Error('not yet');
    }),
  );
  const err = await refusal();
  log.error({ err }, 'Service unavailable');
  log.error({ err }, 'Service unavailable');
  await expect.poll(() => tries).toBeGreaterThan(2);
  expect(lines).toHaveLength(1);
  back = true;
  await expect.poll(() => lines.length).toBe(2);
  expect(lines[1]).toMatchObject({ msg: 'the database can be reached again', level: 'warn', suppressed: 1 });
  const asked = tries;
  await sleep(50);
  expect([lines.length, tries]).toEqual([2, asked]);
  log.error({ err }, 'Service unavailable');
  expect(lines[2]).toMatchObject({ msg: 'the database cannot be reached' });
});

test('what fails of anything else, or says no error, is logged as ever', () => {
  const { log, lines } = listen();
  for (let i = 0; i < 3; i += 1) log.error({ err: new TypeError('a fault of ours') }, 'Internal error');
  log.info('listening');
  log.info({ realm: 'acme' });
  expect(lines.map(({ msg }) => msg)).toEqual([
    'Internal error',
    'Internal error',
    'Internal error',
    'listening',
    undefined,
  ]);
  expect(lines[0]?.err).toMatchObject({ stack: expect.stringContaining('a fault of ours') });
});
