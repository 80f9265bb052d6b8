// Groups: what comes while something is under way goes together once that is done, so that many share one message. Alone,
// nobody waits. It knows nothing of what is asked (gather.ts, group-commit.ts).
import { Crowded } from './lanes.ts';

export interface GroupsOptions<Member> {
  /** Tells its members what came of it; it never fails. */
  run(group: readonly Member[]): Promise<void>;
  /** Tells those whom none was begun for in time, as where the database is away. */
  refuse(members: readonly Member[], error: Crowded): void;
  /** Members of a full group. */
  most: number;
  /** Groups under way, each on a connection of its own. */
  atOnce: number;
  patienceMs?: number;
}

/** A group that takes longer waits for something, perhaps on a dead connection: who comes after it doesn't wait with it. */
const LONG_MS = 200;

export function createGroups<Member>({
  run,
  refuse,
  most,
  atOnce,
  patienceMs = 5_000,
}: GroupsOptions<Member>): (member: Member) => void {
  let waiting: Member[] = [];
  /** How many ever came, and how many of them wait no more. */
  let came = 0;
  let went = 0;
  let watching = false;
  let underWay = 0;
  /** Of those under way: they will be done at any moment. */
  let brisk = 0;
  let begins = false;

  async function send(group: readonly Member[]): Promise<void> {
    underWay += 1;
    brisk += 1;
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      brisk -= 1;
      begin();
    }, LONG_MS);
    await run(group);
    clearTimeout(timer);
    if (!late) brisk -= 1;
    underWay -= 1;
    begin();
  }

  /** At once where none is soon done; else only a full one, so that who comes meanwhile goes together. */
  const ready = () => underWay < atOnce && (brisk === 0 || waiting.length >= most);

  function begin(): void {
    begins = false;
    while (waiting.length > 0 && ready()) {
      const group = waiting.slice(0, most);
      waiting = waiting.slice(most);
      went += group.length;
      void send(group);
    }
    if (waiting.length > 0 && !watching) watch();
  }

  /** Whoever waits now may do so for `patienceMs`, and is told off with whoever came soon after, by the next look. */
  function watch(): void {
    const before = came;
    watching = true;
    const look = () => {
      const late = waiting.slice(0, Math.max(0, before - went));
      waiting = waiting.slice(late.length);
      went += late.length;
      if (late.length > 0) refuse(late, new Crowded('what was asked before takes too long'));
      watching = false;
      if (waiting.length > 0) watch();
    };
    // After this process stood still its timers come first: what has ended meanwhile makes room.
    setTimeout(() => setImmediate(look), patienceMs).unref();
  }

  return (member) => {
    waiting.push(member);
    came += 1;
    // At the end of this turn of the loop, so that all requests that it read are in it.
    if (!begins) setImmediate(begin);
    begins = true;
  };
}
