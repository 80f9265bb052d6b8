// Audit rows off the request path, for events that change no state: one insert per 50 ms or 500 events, flushed on stop.
// They go through the same outbox as all others, so webhooks get them too. Performance technique 6.
import type { DomainEvent } from '../contract/events.ts';
import { codeOf, type Transact } from '../db/transact.ts';

const EVERY_MS = 50;
const MOST = 500;
/** While the database is away; beyond it the oldest are lost, and the log says how many. */
const KEPT = 50_000;
const AGAIN_MS = 1_000;
/** Its id is there: it was committed after all, and only the answer was lost. */
const WRITTEN = '23505';

export function createEventBatch({
  transact,
  newId,
  failed,
}: {
  transact: Transact;
  newId(): string;
  failed(error: unknown, lost: number): void;
}) {
  let waiting: DomainEvent[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;

  const put = (events: readonly DomainEvent[]) =>
    transact(undefined, async ({ record }) => {
      for (const event of events) record(event);
    });

  /** One that the database will never take, as of a realm that is gone, must not hold up the others. */
  async function putEach(events: DomainEvent[]): Promise<void> {
    for (let event = events[0]; event; event = events[0]) {
      try {
        await put([event]);
      } catch (error) {
        if (!isFaulty(error)) throw error;
        if (codeOf(error) !== WRITTEN) failed(error, 1);
      }
      events.shift();
    }
  }

  async function write(): Promise<void> {
    const events = waiting.slice(0, MOST);
    waiting = waiting.slice(MOST);
    try {
      await put(events).catch((error: unknown) => {
        if (!isFaulty(error)) throw error;
        return putEach(events);
      });
    } catch (error) {
      waiting = [...events, ...waiting];
      const lost = Math.max(0, waiting.length - KEPT);
      waiting = waiting.slice(lost);
      failed(error, lost);
      throw error;
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing ??= write()
      .then(
        () => EVERY_MS,
        () => AGAIN_MS,
      )
      .then((pause) => {
        writing = undefined;
        schedule(pause === EVERY_MS && waiting.length >= MOST ? 0 : pause);
      });
    return writing;
  }

  function schedule(ms: number): void {
    if (waiting.length > 0) timer ??= setTimeout(() => void flush(), ms);
  }

  return {
    record(event: DomainEvent): void {
      // Named already, so that it is known again where it is written twice.
      waiting.push(event.id === undefined ? { ...event, id: newId() } : event);
      if (waiting.length >= MOST && !writing) void flush();
      else if (!writing) schedule(EVERY_MS);
    },
    /** Writes what is waiting; gives up when the database is away. */
    async stop(): Promise<void> {
      await writing;
      clearTimeout(timer);
      while (waiting.length > 0) await write();
    },
  };
}
/** SQLSTATE classes 22 and 23: the data itself is refused, now and ever. */
const isFaulty = (error: unknown): boolean => /^2[23]/.test(codeOf(error));
export type EventBatch = ReturnType<typeof createEventBatch>;
