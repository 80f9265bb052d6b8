// Which errors mean that the database can't be reached, or that the connection to it broke.
import { codeOf } from './error-code.ts';

const CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'ETIMEDOUT',
  '57P01',
  '57P02',
  '57P03',
  '08000',
  '08003',
  '08006',
]);
const WORDS =
  /connection terminated|timeout exceeded when trying to connect|client has encountered a connection error|not queryable/i;

/** Whether the error means that the database or the connection to it is gone. */
export function unreachable(error: unknown): boolean {
  return CODES.has(codeOf(error)) || (error instanceof Error && WORDS.test(error.message));
}
