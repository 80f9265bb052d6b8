// Audit rows off the request path, for events that change no state: one insert per 50 ms or 500 events, flushed on stop.
// They go through the same outbox as all others, so webhooks get them too.
import type { DomainEvent } from '../contract/events.ts';
import { codeOf, isTaken, LOCKED } from '../db/error-code.ts';
import type { Transact } from '../db/transact.ts';

const EVERY_MS = 50;
const MOST = 500;
/** The most waiting events while the database is away. Beyond it the oldest are lost, and the log has their number. */
const KEPT = 50_000;
const AGAIN_MS = 1_000;

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
  /** Being written now. */
  let inFlight = new Set<DomainEvent>();
  /** Events of locked realms, tried again by `later`. */
  let deferred: DomainEvent[] = [];
  let later: NodeJS.Timeout | undefined;

  const put = (events: readonly DomainEvent[], realm?: string) =>
    transact(realm, async ({ record }) => {
      for (const event of events) record(event);
    });

  /** Splits a batch that fails, so that an event the database refuses, or whose realm is locked, delays no other. */
  async function writeOrSplit(events: readonly DomainEvent[]): Promise<void> {
    try {
      await put(events);
    } catch (error) {
      if (!isOfOne(error)) throw error;
      const parts = partsOf(events, codeOf(error));
      if (parts.length > 1) {
        for (const part of parts) await writeOrSplit(part);
        return;
      }
      if (codeOf(error) === LOCKED) defer(events, error);
      else if (!isTaken(error)) failed(error, events.length);
    }
    for (const event of events) inFlight.delete(event);
  }

  function defer(events: readonly DomainEvent[], error: unknown): void {
    deferred.push(...events);
    const lost = deferred.splice(0, Math.max(0, deferred.length - KEPT)).length;
    if (lost > 0) failed(error, lost);
    later ??= setTimeout(() => {
      takeBack();
      if (!writing) schedule(EVERY_MS);
    }, AGAIN_MS);
  }

  function takeBack(): void {
    clearTimeout(later);
    later = undefined;
    waiting = [...waiting, ...deferred];
    deferred = [];
  }

  async function write(): Promise<void> {
    inFlight = new Set(waiting.slice(0, MOST));
    waiting = waiting.slice(MOST);
    try {
      await writeOrSplit([...inFlight]);
    } catch (error) {
      waiting = [...inFlight, ...waiting];
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
      // The id is given now, so that a second write of it is recognised.
      waiting.push(event.id === undefined ? { ...event, id: newId() } : event);
      if (waiting.length >= MOST && !writing) void flush();
      else if (!writing) schedule(EVERY_MS);
    },
    /** Writes the waiting events; gives up if the database is away. */
    async stop(): Promise<void> {
      await writing;
      clearTimeout(timer);
      takeBack();
      while (waiting.length > 0) await write();
      if (deferred.length > 0) {
        takeBack();
        const realms = [...Map.groupBy(waiting, ({ realm }) => realm)];
        waiting = [];
        // There is no later attempt: each realm's events now wait for its lock.
        await Promise.all(realms.map(([realm, events]) => put(events, realm).catch((e) => failed(e, events.length))));
      }
    },
  };
}
/** SQLSTATE classes 22 and 23 (the data is refused for good), or a lock: the cause may be a single event. */
const isOfOne = (error: unknown): boolean => codeOf(error) === LOCKED || /^2[23]/.test(codeOf(error));

/** Splits a batch that failed: by realm if it has several, or after a lock, which affects a whole realm; else by event. */
function partsOf(events: readonly DomainEvent[], why: string): readonly (readonly DomainEvent[])[] {
  const realms = [...Map.groupBy(events, ({ realm }) => realm).values()];
  return realms.length > 1 || why === LOCKED ? realms : events.map((event) => [event]);
}

export type EventBatch = ReturnType<typeof createEventBatch>;
