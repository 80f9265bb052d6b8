import { expect, test } from 'vitest';
import { problemOf } from '../../../server/http/problems.ts';

test('what was deleted at the same moment is not found, rather than a failure of the server', () => {
  const { status, detail } = problemOf(Object.assign(new Error('violates foreign key constraint'), { code: '23503' }));
  expect([status, detail]).toEqual([404, 'What this refers to was deleted meanwhile']);
});

test.each([
  ...['55P03', '57014', '57P01', '57P05', '53100', '58030', '08001', '25006', '40001', '40P01'],
  ...['ETIMEDOUT', 'EHOSTUNREACH', 'EAI_AGAIN', 'ERR_STREAM_DESTROYED', 'CONNECTION_CLOSED', 'CONNECT_TIMEOUT'],
  'OVERLOADED',
])('a database that fails with %s is no fault of the request: it may come again', (code) => {
  const { status, retryAfterSeconds } = problemOf(Object.assign(new Error('of the database'), { code }));
  expect([status, retryAfterSeconds]).toEqual([503, 2]);
});

test.each([
  'timeout expired',
  'Connection terminated',
  'Cannot use a pool after calling end on the pool',
  'There was an error establishing an SSL connection',
  'server conn crashed?',
  'query_wait_timeout',
])('“%s” of pg or a pooler, which has no code of its own, is no failure of the server', (words) => {
  expect(problemOf(new Error(words))).toMatchObject({ code: 'unavailable', status: 503 });
});

test('a Unix socket that is not there is a database that is away; a missing file is not', () => {
  const missing = Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
  expect(problemOf(missing).status).toBe(500);
  expect(problemOf(Object.assign(missing, { syscall: 'connect' })).status).toBe(503);
});

test.each(['ECONNRESET', 'EPIPE', 'ERR_STREAM_DESTROYED'])(
  'a body that broke off with %s is no word of the database',
  (code) => {
    const broke = Object.assign(new Error('aborted'), { code, statusCode: 400 });
    expect(problemOf(broke)).toMatchObject({ code: 'invalid-request', status: 400 });
  },
);
