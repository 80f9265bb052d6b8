// Group commit: what many requests write at the same moment is one transaction, so that they share its messages and its sync.
// It knows no table: `work` is the feature's, one statement over all that is asked. Each gets its own result, after the commit.
// Whoever the group's statement passes over, for whatever reason, goes the single way (the caller's own transaction).
import { codeOf, type Transact, type Tx } from './transact.ts';

export interface GroupCommitOptions<Ask, Told> {
  transact: Transact;
  /** In the order of `asks`; undefined: passed over, and nothing was written for it. It must not wait for locks. */
  work(tx: Tx, asks: readonly Ask[]): Promise<readonly (Told | undefined)[]>;
  /** Members of a full group. */
  most?: number;
  /** Groups under way, each on a connection of its own. */
  atOnce?: number;
}

interface Member<Ask, Told> {
  ask: Ask;
  resolve(told: Told | undefined): void;
  reject(error: unknown): void;
}

class Nothing extends Error {}

/** What the data made fail, or a lock (55P03): the whole group is rolled back for what may be one's alone. SQLSTATE. */
const OF_ONE = /^(22|23|40|55P03)/;
/** A group that takes longer waits for something, perhaps on a dead connection: who comes after it doesn't wait with it. */
const LONG_MS = 200;

export function createGroupCommit<Ask, Told>({
  transact,
  work,
  most = 8,
  atOnce = 4,
}: GroupCommitOptions<Ask, Told>): (ask: Ask) => Promise<Told | undefined> {
  let waiting: Member<Ask, Told>[] = [];
  let underWay = 0;
  /** Of those under way: they will be done at any moment. */
  let brisk = 0;
  let begins = false;

  async function run(group: readonly Member<Ask, Told>[]): Promise<void> {
    underWay += 1;
    brisk += 1;
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      brisk -= 1;
      begin();
    }, LONG_MS);
    await commit(group);
    clearTimeout(timer);
    if (!late) brisk -= 1;
    underWay -= 1;
    begin();
  }

  async function commit(group: readonly Member<Ask, Told>[]): Promise<void> {
    try {
      const asks = group.map(({ ask }) => ask);
      const told = await transact(undefined, async (tx) => {
        const each = await work(tx, asks);
        // It may have locked rows and nothing else, which isn't worth a commit.
        if (each.every((one) => one === undefined)) throw new Nothing();
        return each;
      });
      for (const [i, member] of group.entries()) member.resolve(told[i]);
    } catch (error) {
      const alone = error instanceof Nothing || OF_ONE.test(codeOf(error));
      for (const member of group) {
        if (alone) member.resolve(undefined);
        else member.reject(error);
      }
    }
  }

  /** At once where none is soon done; else only a full one, so that who comes meanwhile goes together. */
  const ready = () => underWay < atOnce && (brisk === 0 || waiting.length >= most);

  function begin(): void {
    begins = false;
    while (waiting.length > 0 && ready()) {
      const group = waiting.slice(0, most);
      waiting = waiting.slice(most);
      void run(group);
    }
  }

  return (ask) =>
    new Promise((resolve, reject) => {
      waiting.push({ ask, resolve, reject });
      // At the end of this turn of the loop, so that all requests that it read are in it.
      if (!begins) setImmediate(begin);
      begins = true;
    });
}
