// Group commit: writes of many requests at the same moment share one transaction, with its messages and its sync. This file
// knows no table: the feature passes `work`, one statement over all requests. Each request gets its own result after the commit.
// If the statement passes a request over, its caller handles it in a transaction of its own.

import { createBatcher } from '../schedule/batcher.ts';
import { keepCause } from '../telemetry/spans.ts';
import { codeOf } from './error-code.ts';
import type { Transact, Tx } from './transact.ts';

export interface GroupCommitOptions<Request, Result> {
  transact: Transact;
  /** Returns results in the order of `requests`; undefined: passed over, nothing was written for it. It must not wait for locks. */
  work(tx: Tx, requests: readonly Request[]): Promise<readonly (Result | undefined)[]>;
  /** The most requests in one group. */
  most?: number;
  /** The most groups at once, each on a connection of its own. */
  concurrency?: number;
  /** As of a transaction (transact.ts): `work` writes rows that are no state, and records no event. */
  bookkeeping?: boolean;
}

interface Member<Request, Result> {
  request: Request;
  resolve(results: Result | undefined): void;
  reject(error: unknown): void;
}

class Nothing extends Error {}

/** SQLSTATEs of refused data, or of a lock (55P03): the group is rolled back although it may concern one request alone. */
const OF_ONE = /^(22|23|40|55P03)/;

/** Commits the same write of several requests in one transaction. @param most requests in a group @param concurrency groups at once */
export function createGroupCommit<Request, Result>({
  transact,
  work,
  most = 8,
  concurrency = 4,
  bookkeeping = false,
}: GroupCommitOptions<Request, Result>): (request: Request) => Promise<Result | undefined> {
  async function commit(group: readonly Member<Request, Result>[]): Promise<void> {
    try {
      const requests = group.map(({ request }) => request);
      const results = await transact(
        undefined,
        async (tx) => {
          const each = await work(tx, requests);
          // It may have locked rows and nothing else, which isn't worth a commit.
          if (each.every((one) => one === undefined)) throw new Nothing();
          return each;
        },
        { bookkeeping },
      );
      for (const [i, member] of group.entries()) member.resolve(results[i]);
    } catch (error) {
      const alone = error instanceof Nothing || OF_ONE.test(codeOf(error));
      for (const member of group) {
        if (alone) member.resolve(undefined);
        else member.reject(error);
      }
    }
  }

  const refuse = (members: readonly Member<Request, Result>[], error: Error) => {
    for (const { reject } of members) reject(error);
  };
  const join = createBatcher({ run: commit, refuse, most, concurrency });
  return (request) =>
    new Promise((resolve, reject) => {
      keepCause(request);
      join({ request, resolve, reject });
    });
}
