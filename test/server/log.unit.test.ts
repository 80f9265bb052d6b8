import { expect, test } from 'vitest';
import { loggedError } from '../../server/log.ts';

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
