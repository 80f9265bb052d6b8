import { expect, test } from 'vitest';
import { problemOf } from '../../../server/http/problems.ts';

test('what was deleted at the same moment is not found, rather than a failure of the server', () => {
  const { status, detail } = problemOf(Object.assign(new Error('violates foreign key constraint'), { code: '23503' }));
  expect([status, detail]).toEqual([404, 'What this refers to was deleted meanwhile']);
});

test.each(['55P03', '57014', '57P01', '53100', 'ETIMEDOUT', 'OVERLOADED'])(
  'a database that fails with %s is no fault of the request: it may come again',
  (code) => {
    const { status, retryAfterSeconds } = problemOf(Object.assign(new Error('of the database'), { code }));
    expect([status, retryAfterSeconds]).toEqual([503, 2]);
  },
);

test.each(['ECONNRESET', 'EPIPE'])('a body that broke off with %s is no word of the database', (code) => {
  const broke = Object.assign(new Error('aborted'), { code, statusCode: 400 });
  expect(problemOf(broke)).toMatchObject({ code: 'invalid-request', status: 400 });
});
