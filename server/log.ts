// The process log: JSON lines by pino, with levels by name and times by ISO 8601, without secrets and without internal data
// of errors. Operators of the server read it; users' actions are in the audit log (events/). ASVS 5.0 V16.
import { type DestinationStream, type Logger, pino } from 'pino';
import { unreachable } from './db/unreachable.ts';
import type { OutageLog } from './outage-log.ts';
import { isTraced, traceIds } from './telemetry/spans.ts';

interface LoggedError {
  type: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: LoggedError | string;
}

const DEPTH = 4;

/** The logged part of an error: pg's errors have their whole connection, parameters included, as ordinary properties. */
export function loggedError(error: unknown, depth = 0): LoggedError | string {
  if (!(error instanceof Error)) return String(error);
  return {
    type: error.constructor.name,
    message: error.message,
    ...('code' in error && typeof error.code === 'string' && { code: error.code }),
    ...(error.stack !== undefined && !unreachable(error) && { stack: error.stack }),
    ...(error.cause !== undefined && depth < DEPTH && { cause: loggedError(error.cause, depth + 1) }),
  };
}

/** @param lines receives every line besides, as JSON */
export const createLog = (
  level: string,
  { outages, to, lines }: { outages?: OutageLog; to?: DestinationStream; lines?: DestinationStream | undefined } = {},
): Logger => {
  const options = {
    level,
    formatters: { level: (name: string) => ({ level: name }) },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ['req.headers.authorization', 'req.headers.cookie'],
    serializers: { err: (error: unknown) => loggedError(error), error: (error: unknown) => loggedError(error) },
    ...(outages && { hooks: { logMethod: outages.logMethod } }),
    ...(isTraced() && { mixin: () => traceIds() ?? {} }),
  };
  if (!lines) return to ? pino(options, to) : pino(options);
  const streams = [to ?? pino.destination(1), lines].map((stream) => ({ level: 'trace', stream }) as const);
  return pino(options, pino.multistream(streams));
};
