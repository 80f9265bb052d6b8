// Which errors mean that the database can't be reached, that the connection to it broke, or that the server there takes no writes, as
// during a failover. Errors of pg, of postgres.js (bulk streams), of the operating system, and SQLSTATEs (PostgreSQL, appendix A).
import { codeOf } from './error-code.ts';

const CODES = new Set([
  // the operating system's, and those of Node's sockets
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT'],
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END', 'ERR_SOCKET_CLOSED', 'ERR_SOCKET_CLOSED_BEFORE_CONNECTION'],
  // postgres.js
  ...['CONNECTION_CLOSED', 'CONNECTION_ENDED', 'CONNECTION_DESTROYED', 'CONNECT_TIMEOUT'],
  // the connection: class 08 without protocol violations, which are faults of ours
  ...['08000', '08001', '08003', '08004', '08006', '08007'],
  // the server stops, restarts, recovers, or ends idle sessions
  ...['57P01', '57P02', '57P03', '57P05'],
  // the server is a standby, or the primary that was replaced: it takes no writes
  '25006',
]);
const WORDS = new RegExp(
  [
    'connection terminated',
    'timeout exceeded when trying to connect',
    '^timeout expired$',
    'client has encountered a connection error',
    'not queryable',
    'cannot use a pool after calling end',
    'the server does not support SSL connections',
    'error establishing an SSL connection',
    // PgBouncer, which has one code (08P01) for all its faults
    'pgbouncer',
    'server conn crashed',
    'server_login_retry',
    'query_wait_timeout',
  ].join('|'),
  'i',
);

/** A Unix socket whose server is not there, or has no room for one more that waits. */
const lacksSocket = (error: unknown): boolean =>
  ['ENOENT', 'EAGAIN'].includes(codeOf(error)) && Object(error).syscall === 'connect';

/** Whether the error means that the database or the connection to it is gone. */
export function unreachable(error: unknown): boolean {
  return CODES.has(codeOf(error)) || lacksSocket(error) || (error instanceof Error && WORDS.test(error.message));
}
