// Limits the process log while the database can't be reached: one line a second at most, however many requests fail,
// without a stack (which would not help), and one line when it is back. Other lines stay unchanged.
import type { LogFn, Logger } from 'pino';
import { unreachable } from './db/unreachable.ts';

const EVERY_MS = 1_000;

export interface OutageLogOptions {
  now?: () => number;
  /** The least time between two such lines, and between two checks whether the database is back. */
  everyMs?: number;
}

export function createOutageLog({ now = Date.now, everyMs = EVERY_MS }: OutageLogOptions = {}) {
  let suppressUntil = 0;
  let suppressed = 0;
  let timer: NodeJS.Timeout | undefined;
  let asked: { log: Pick<Logger, 'warn'>; answers(): Promise<unknown> } | undefined;

  function checkLater(): void {
    if (timer || !asked) return;
    const { log, answers } = asked;
    timer = setTimeout(() => {
      answers().then(
        () => {
          timer = undefined;
          if (!asked) return;
          log.warn(suppressed > 0 ? { suppressed } : {}, 'the database can be reached again');
          suppressUntil = 0;
          suppressed = 0;
        },
        () => {
          timer = undefined;
          checkLater();
        },
      );
    }, everyMs).unref();
  }

  return {
    /** Pino's hook `logMethod`. */
    logMethod(this: Logger, args: Parameters<LogFn>, method: LogFn): void {
      const [fields, message]: unknown[] = args;
      if (typeof fields !== 'object' || fields === null || !('err' in fields) || !unreachable(fields.err)) {
        method.apply(this, args);
        return;
      }
      checkLater();
      if (now() < suppressUntil) {
        suppressed += 1;
        return;
      }
      suppressUntil = now() + everyMs;
      const said = { ...fields, during: message, ...(suppressed > 0 && { suppressed }) };
      suppressed = 0;
      method.apply(this, [said, 'the database cannot be reached']);
    },
    /** Logs when the database is back, until the returned function is called. */
    watch(log: Pick<Logger, 'warn'>, answers: () => Promise<unknown>): () => void {
      asked = { log, answers };
      return () => {
        asked = undefined;
        clearTimeout(timer);
      };
    },
  };
}
export type OutageLog = ReturnType<typeof createOutageLog>;
