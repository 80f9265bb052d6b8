// Group commit: writes of many requests at the same moment share one transaction, with its messages and its sync. It knows no
// table: `work` is the feature's, one statement over all requests. Each gets its own result, after the commit. A request that
// the statement passes over, for whatever reason, is left to the caller's own transaction.

import { createBatcher } from '../schedule/batcher.ts';
import { codeOf } from './error-code.ts';
import type { Transact, Tx } from './transact.ts';

export interface GroupCommitOptions<Request, Result> {
  transact: Transact;
  /** In the order of `requests`; undefined: passed over, and nothing was written for it. It must not wait for locks. */
  work(tx: Tx, requests: readonly Request[]): Promise<readonly (Result | undefined)[]>;
  /** Members of a full group. */
  most?: number;
  /** Groups under way, each on a connection of its own. */
  concurrency?: number;
  /** It writes what is no state, and records nothing. */
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
  return (request) => new Promise((resolve, reject) => join({ request, resolve, reject }));
}
