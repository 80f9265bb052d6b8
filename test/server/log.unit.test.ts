import { expect, test } from 'vitest';
import { logLines } from '../../server/contract/log-lines.ts';
import { createLog, loggedError } from '../../server/log.ts';

test('a logged error shows its message, code and cause, and nothing that hangs on it', () => {
  const cause = Object.assign(new Error('connection lost'), { code: '57P01', client: { password: 'hunter2' } });
  const shown = JSON.stringify(
    loggedError(Object.assign(new TypeError('cannot save', { cause }), { parameters: ['secret'] })),
  );
  expect(shown).toContain('cannot save');
  expect(shown).toContain('57P01');
  expect(shown).not.toContain('hunter2');
  expect(shown).not.toContain('secret');
});

test('a chain of causes that bites its own tail is cut', () => {
  const error = new Error('again');
  error.cause = error;
  expect(JSON.stringify(loggedError(error)).split('"message"').length).toBeLessThan(10);
});

test('every line is an object with its level by name and its time, by the logger and before there is one', () => {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const log = createLog('info', { to: { write } });
  log.info('one');
  log.error({ err: new Error('bad') }, 'two');
  log.debug('unseen');
  const early = logLines(write, () => new Date(0));
  early.info('three', { resource: 'identity/Realm/acme' });
  early.error('four:\n  \n  - five');
  const parsed = lines.map((line) => JSON.parse(line));
  expect(parsed.map(({ level, msg }) => [level, msg])).toEqual([
    ['info', 'one'],
    ['error', 'two'],
    ['info', 'three'],
    ['error', 'four:'],
    ['error', '  - five'],
  ]);
  for (const { time } of parsed) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(parsed[2]).toMatchObject({ resource: 'identity/Realm/acme', time: '1970-01-01T00:00:00.000Z' });
});
