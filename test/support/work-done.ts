// Owns: the work of a server in the test's process for a request, counted in statements and hashes, and the parts of the answer that a
// client can observe: so that two answers can be compared without a clock.
// Does not own: which parts must be the same (enumeration*.test.ts).
// Implements: specification 8.
import { Worker } from 'node:worker_threads';
import pg from 'pg';
import { expect } from 'vitest';

/** Headers that differ between any two answers. */
const VARIES = new Set(['date', 'content-length', 'connection', 'keep-alive', 'etag']);

/** @param counts whether a statement counts: background jobs run others meanwhile */
export function watchWork(counts: (statement: string) => boolean) {
  const done = { statements: [] as string[], hashes: 0 };
  const texts = new Map<string, string>();
  const { bind, parse, query } = pg.Connection.prototype;
  const { postMessage } = Worker.prototype;
  pg.Connection.prototype.parse = function (statement, ...of) {
    if (statement.name) texts.set(statement.name, statement.text);
    else texts.set('', statement.text);
    return parse.call(this, statement, ...of);
  };
  pg.Connection.prototype.bind = function (statement, ...of) {
    done.statements.push(texts.get(statement?.statement || '') ?? `?${statement?.statement}`);
    return bind.call(this, statement, ...of);
  };
  pg.Connection.prototype.query = function (text, ...of) {
    done.statements.push(String(text));
    return query.call(this, text, ...of);
  };
  Worker.prototype.postMessage = function (...of) {
    done.hashes += 1;
    return postMessage.apply(this, of);
  };
  const quiet = () =>
    expect
      .poll(async () => {
        const before = done.statements.length;
        await new Promise((resolve) => setTimeout(resolve, 150));
        return done.statements.length - before;
      })
      .toBe(0);
  return {
    /** The result of `act`, with its statements and hashes. */
    async of<T>(act: () => Promise<T>): Promise<{ result: T; statements: string[]; hashes: number }> {
      await quiet();
      done.statements.length = 0;
      const { hashes } = done;
      const result = await act();
      await quiet();
      return {
        result,
        statements: done.statements
          .map((one) => one.replaceAll(/\s+/g, ' ').trim().slice(0, 200))
          .filter(counts)
          .toSorted(),
        hashes: done.hashes - hashes,
      };
    },
    stop() {
      Object.assign(pg.Connection.prototype, { bind, parse, query });
      Object.assign(Worker.prototype, { postMessage });
    },
  };
}

/** Of an answer's headers and cookies all but what is another one each time. */
export const headersSeen = (headers: Headers): string[] =>
  [
    ...[...headers].filter(([name]) => !VARIES.has(name) && name !== 'set-cookie').map((one) => one.join(': ')),
    ...headers
      .getSetCookie()
      .map((cookie) => cookie.replace(/^([^=]+)=([^;]*)/, (_, name, value) => `${name}=${value.length}`)),
  ].toSorted();
