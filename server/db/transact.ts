// The way to write what others hear of: state, audit rows and webhook deliveries in one transaction, told of after commit.
// It knows no feature: the outbox (events/outbox.ts) and the bus come as arguments. Design "One transaction".
import type pg from 'pg';
import type { DomainEvent } from '../contract/events.ts';
import { eventTypes } from '../contract/events.ts';
import { type Bulkhead, createBulkhead } from '../schedule/bulkhead.ts';
import { type CopyIn, copyOver } from './copy.ts';
import { allowLonger } from './dead-peer.ts';
import { codeOf } from './error-code.ts';
import { BEGIN, COMMIT, ROLLBACK, runPipeline } from './pipeline.ts';
import { SHORT_LOCK_TIMEOUT, withinShare } from './realm-share.ts';
import type { Sql } from './sql.ts';
import { type Statement, statement } from './statement.ts';

/** Inside a transaction: `sql` runs on it, `record` collects what happened. */
export interface Tx {
  sql: Sql;
  record(event: DomainEvent): void;
  /** A write that nothing reads: it runs last, in the same message as the commit where that can be. */
  atLast(strings: TemplateStringsArray, ...values: readonly unknown[]): void;
  /** Rows in bulk, once something else was asked; until they are all there nothing else can be. */
  copy(target: string): Promise<CopyIn>;
}
export interface TransactionOptions {
  /** `work` may write rows that are no state (the import's staging area) and record nothing. */
  bookkeeping?: boolean;
  /** For what takes longer than a request's statement may: what each may take, waiting for locks included. */
  longestMs?: number;
}
interface AttemptOptions extends TransactionOptions {
  /** Of several realms, or of none. */
  ofMany?: boolean;
  /** On one of the last connections: what is locked is not waited for. */
  shortLocks?: boolean;
}
/** @param realm whose connections it counts among; undefined where it is of many realms or of none, and waits for no lock */
export type Transact = <T>(
  realm: string | undefined,
  work: (tx: Tx) => Promise<T>,
  options?: TransactionOptions,
) => Promise<T>;

/** Writes what others hear of events, in the transaction that they are of. */
export interface Outbox {
  /** The audit rows and the deliveries. */
  write(sql: Sql, events: readonly DomainEvent[]): Promise<void>;
  /** The audit rows alone, for where nobody subscribes to anything. */
  log(events: readonly DomainEvent[]): Statement[];
  /** The same for COPY. */
  rows(events: readonly DomainEvent[]): { target: string; text: string };
}

const SUBSCRIBED = statement`select exists (select from webhook) as subscribed`;
/** Fails where there is a webhook. */
const UNHEARD = statement`select 1 / (not exists (select from webhook))::int as unheard`;
const DIVISION_BY_ZERO = '22012';
/** From here on COPY, which PostgreSQL does in two thirds of the time, pays for two messages more. */
const MANY = 50;

/** A PostgreSQL serialization failure or deadlock: the transaction may be run again. */
const AGAIN = new Set(['40001', '40P01']);
const TRIES = 3;

export interface TransactOptions {
  pool: pg.Pool;
  /** Of the pool; its own by default. */
  bulkhead?: Bulkhead;
  outbox: Outbox;
  /** Hears the events of a committed transaction; may lose them (metrics, cache drops, worker wake-up). */
  committed(events: readonly DomainEvent[]): void;
  /** Outside production: a transaction that wrote and recorded nothing is a bug, so that audit can't be forgotten. */
  strict: boolean;
}

/**
 * `transact(realm, work)`: commits what `work` wrote with its events, or nothing. A configuration event raises its realm's
 * revision once and tells other replicas by NOTIFY. Deadlocks and serialization failures are tried again, so `work`
 * must be repeatable: no side effect but through `sql` and `record`.
 */
export function createTransact({
  pool,
  bulkhead = createBulkhead({ most: pool.options.max }),
  outbox,
  committed,
  strict,
}: TransactOptions): Transact {
  /** Whether there was a webhook when it was last looked; no is checked where it is relied on. */
  let subscribers = true;

  /** A transaction on one connection, said in as few messages as can be. */
  function conversation(client: pg.PoolClient, { bookkeeping, longestMs, ofMany, shortLocks }: AttemptOptions) {
    let begun = false;
    const first = shortLocks && longestMs === undefined ? [BEGIN, SHORT_LOCK_TIMEOUT] : [BEGIN];
    // A subscription that is made after this look is made beside this transaction, and may miss its events.
    let subscribed = true;
    /** The transaction begins in the same message as its first statement: a round trip less. */
    const sql: Sql = async <Row extends object>(strings: TemplateStringsArray, ...values: readonly unknown[]) => {
      const wanted = statement(strings, ...values);
      if (!begun && longestMs !== undefined) await begin([patience(longestMs)]);
      const [rows = []] = await (begun ? runPipeline(client, [wanted]) : begin([wanted]));
      return rows as Row[];
    };
    const begin = async (statements: readonly Statement[]): Promise<object[][]> => {
      begun = true;
      const [found, ...rows] = (await runPipeline(client, [...first, SUBSCRIBED, ...statements])).slice(first.length);
      subscribed = !found?.some((row) => 'subscribed' in row && row.subscribed === false);
      subscribers = subscribed;
      return rows;
    };
    const last: Statement[] = [];
    const events: DomainEvent[] = [];
    const tx: Tx = {
      sql,
      record: (event) => void events.push(event),
      atLast: (strings, ...values) => void last.push(statement(strings, ...values)),
      async copy(target) {
        if (!begun) throw new Error("a COPY can't begin a transaction");
        return copyOver(client, target);
      },
    };
    /** The whole transaction, where nothing was asked and nobody subscribes. */
    const logAlone = async (): Promise<void> => {
      if (events.length < MANY || last.length > 0) {
        await runPipeline(client, [...first, ...last, ...outbox.log(events), UNHEARD, COMMIT]);
        return;
      }
      const { target, text } = outbox.rows(events);
      await runPipeline(client, [BEGIN]);
      const copy = await copyOver(client, target);
      await copy.write(text);
      await copy.finish();
      await runPipeline(client, [UNHEARD, COMMIT]);
    };
    /** Writes what is left, and what is told of it, and commits; in one message where nobody subscribes to anything. */
    const end = async (): Promise<readonly DomainEvent[]> => {
      const tells = events.length > 0 && !events.some((event) => eventTypes[event.type].configuration);
      if (tells && !begun && !subscribers) {
        begun = true;
        await logAlone().catch((error: unknown) => {
          subscribers = codeOf(error) === DIVISION_BY_ZERO;
          throw subscribers ? new Heard() : error;
        });
      } else if (tells && begun && !subscribed) {
        await runPipeline(client, [...last, ...outbox.log(events), COMMIT]);
      } else {
        // A delivery refers to its webhook, which somebody may hold for long: nobody waits for what is another realm's (55P03).
        if (ofMany && events.length > 0) last.push(SHORT_LOCK_TIMEOUT);
        if (last.length > 0) await (begun ? runPipeline(client, last) : begin(last));
        if (events.length > 0) await outbox.write(sql, events);
        else if (strict && !bookkeeping && begun) await refuseSilentWrite(sql);
        if (begun) await runPipeline(client, [...revisionsOf(events), COMMIT]);
      }
      return events;
    };
    /** Throws where the connection is no good any more. */
    const undo = async (): Promise<void> => {
      if (begun) await runPipeline(client, [ROLLBACK]);
    };
    return { tx, end, undo };
  }

  async function attempt<T>(work: (tx: Tx) => Promise<T>, options: AttemptOptions): Promise<T> {
    const client = await pool.connect();
    const { longestMs } = options;
    const restore = longestMs === undefined ? () => {} : allowLonger(client, longestMs);
    const { tx, end, undo } = conversation(client, options);
    let broken: Error | undefined;
    try {
      const result = await work(tx);
      committed(await end());
      return result;
    } catch (error) {
      // A connection whose rollback fails is not given back to the pool.
      await undo().catch((e: Error) => {
        broken = e;
      });
      throw error;
    } finally {
      restore();
      client.release(broken);
    }
  }

  async function attempts<T>(work: (tx: Tx) => Promise<T>, options: AttemptOptions): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await attempt(work, options);
      } catch (error) {
        if (tries === TRIES || !(error instanceof Heard || AGAIN.has(codeOf(error)))) throw error;
      }
    }
  }

  return async (realm, work, options = {}) => {
    if (realm === undefined) return attempts(work, { ...options, ofMany: true });
    return withinShare(bulkhead, realm, (shortLocks) =>
      attempts(work, shortLocks ? { ...options, shortLocks } : options),
    );
  };
}

/** Locks are waited for as long: whoever takes its time holds them itself. */
const patience = (longestMs: number): Statement => statement`
  select set_config('statement_timeout', ${String(longestMs)}, true), set_config('lock_timeout', '0', true)`;

/** There is a webhook after all, so the transaction goes the longer way. */
class Heard extends Error {}

/** Last before commit, so that the realm's row is locked as briefly as can be; sorted, so that two never deadlock. */
function revisionsOf(events: readonly DomainEvent[]): Statement[] {
  const realms = [...new Set(events.filter((e) => eventTypes[e.type].configuration).map((e) => e.realm))].sort();
  return realms.flatMap((realm) => [
    statement`update realm set revision = revision + 1 where realm_id = ${realm}`,
    statement`select pg_notify('realm_changed', ${realm})`,
  ]);
}

async function refuseSilentWrite(sql: Sql): Promise<void> {
  const [row] = await sql<{ wrote: boolean }>`select pg_current_xact_id_if_assigned() is not null as wrote`;
  if (row?.wrote) throw new Error('a transaction wrote and recorded no event');
}
