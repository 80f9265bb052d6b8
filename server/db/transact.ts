// Transactions: state, audit rows and what consumers want of events are written together, and listeners are told after the commit.
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
import { type Sql, sqlOver } from './sql.ts';
import { type Statement, statement } from './statement.ts';

/** Inside a transaction: `sql` runs on it, `record` collects what happened. */
export interface Tx {
  sql: Sql;
  record(event: DomainEvent): void;
  /** A write that nothing reads: it runs last, in the same message as the commit where that can be. */
  atLast(strings: TemplateStringsArray, ...values: readonly unknown[]): void;
  /** Rows in bulk. Not as the first statement, and no other statement until it has finished. */
  copy(target: string): Promise<CopyIn>;
}
export interface TransactionOptions {
  /** `work` may write rows that are no state (the import's staging area, what has expired) and record nothing. */
  bookkeeping?: boolean;
  /** For what takes longer than a request's statement may: what each may take, waiting for locks included. */
  longestMs?: number;
}
interface AttemptOptions extends TransactionOptions {
  /** Of several realms, or of none. */
  ofMany?: boolean;
  /** On one of the last connections: what is locked is not waited for. */
  shortLocks?: boolean;
  /** Somebody wants events since the outbox looked: consumers are asked about all of them. */
  lookUpAll?: boolean;
  /** The state before was no better than the one that the safeguard refuses. */
  unguarded?: boolean;
}
/** @param realm counted against its share of connections; undefined: of many realms or none, which waits for no lock */
export type Transact = <T>(
  realm: string | undefined,
  work: (tx: Tx) => Promise<T>,
  options?: TransactionOptions,
) => Promise<T>;

/** Writes audit rows and what consumers want of events, in the transaction that the events are of. */
export interface Outbox {
  /** Those of the realms where somebody wants events, as far as is known; what is not known it asks for. */
  subscribed(sql: Sql, realms: readonly string[]): Promise<ReadonlySet<string>>;
  /** Forgets what is known of a realm, or of all. */
  drop(realm: string | undefined): void;
  /** Fails with a division by zero where there is somebody in one of the realms after all. */
  nobodyIn(realms: readonly string[]): Statement;
  /** The audit rows and what consumers take. */
  write(sql: Sql, events: readonly DomainEvent[]): Promise<void>;
  /** The audit rows alone, for realms where nobody wants events. */
  log(events: readonly DomainEvent[]): Statement[];
  /** The same for COPY. */
  rows(events: readonly DomainEvent[]): { target: string; text: string };
}

/** What must hold of the state that a transaction leaves, unless it didn't hold before. */
export interface Safeguard {
  /** Whether the writes of these events could break it: any other transaction costs nothing. */
  concerns(events: readonly DomainEvent[]): boolean;
  /** Judges what the transaction has written. @throws its refusal */
  verify(sql: Sql): Promise<void>;
  /** Asked once the transaction is rolled back: whether the error is its refusal, of a state that is no worse than the one before. */
  isExcused(error: unknown, sql: Sql): Promise<boolean>;
}

/**
 * The outbox's guard (`nobodyIn`) goes in the same message as COMMIT, so the server can't look at a result before it commits: only an
 * error stops PostgreSQL there. Plain SQL raises one on purpose by nothing but an impossible expression, as a division by zero. Any
 * other division by zero costs a second try, and is thrown then.
 */
const DIVISION_BY_ZERO = '22012';
/** From here on COPY, which PostgreSQL does in two thirds of the time, is worth two more messages. */
const MANY = 50;

/** A PostgreSQL serialization failure or deadlock: the transaction may be run again. */
const AGAIN = new Set(['40001', '40P01']);
const TRIES = 3;

export interface TransactOptions {
  pool: pg.Pool;
  /** Of the pool; its own by default. */
  bulkhead?: Bulkhead;
  outbox: Outbox;
  safeguard?: Safeguard;
  /** Called with the events of a committed transaction; may lose them (metrics, cache drops, worker wake-up). */
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
  safeguard,
  committed,
  strict,
}: TransactOptions): Transact {
  /** A transaction on one connection, in as few messages as can be. */
  function conversation(client: pg.PoolClient, options: AttemptOptions) {
    const { bookkeeping, longestMs, ofMany, shortLocks, lookUpAll, unguarded } = options;
    let begun = false;
    /** Goes in the message of the next statement. */
    const ahead: Statement[] = [];
    const first = shortLocks && longestMs === undefined ? [BEGIN, SHORT_LOCK_TIMEOUT] : [BEGIN];
    /** The transaction begins in the same message as its first statement: a round trip less. */
    const sql: Sql = async <Row extends object>(strings: TemplateStringsArray, ...values: readonly unknown[]) => {
      if (!begun && longestMs !== undefined) await begin([patience(longestMs)]);
      return (await run([...ahead.splice(0), statement(strings, ...values)])).at(-1) as Row[];
    };
    const begin = async (statements: readonly Statement[]): Promise<object[][]> => {
      begun = true;
      return (await runPipeline(client, [...first, ...statements])).slice(first.length);
    };
    const run = (statements: readonly Statement[]) => (begun ? runPipeline(client, statements) : begin(statements));
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
    /** Writes what is left and the events, and commits: in one message where nobody in the events' realms wants them. */
    const end = async (): Promise<readonly DomainEvent[]> => {
      if (events.length === 0) {
        if (last.length > 0) await run(last);
        if (strict && !bookkeeping && begun) await refuseUnrecordedWrite(sql);
        if (begun) await run([COMMIT]);
        return events;
      }
      if (!unguarded && safeguard?.concerns(events)) {
        if (last.length > 0) await run(last.splice(0));
        await safeguard.verify(sql);
      }
      const subscribed = await subscribedOf(events);
      const logged = subscribed ? events.filter(({ realm }) => !subscribed.has(realm)) : [];
      const delivered = subscribed ? events.filter(({ realm }) => subscribed.has(realm)) : events;
      const copied = logged.length >= MANY;
      // What consumers write refers to a subscription, which may be locked for long: no realm waits for another's (55P03).
      if (ofMany && delivered.length > 0) last.push(SHORT_LOCK_TIMEOUT);
      if (logged.length > 0 && !copied) last.push(...outbox.log(logged));
      const commit = [
        ...(logged.length > 0 ? [outbox.nobodyIn(realmsOf(logged))] : []),
        ...revisionsOf(events),
        COMMIT,
      ];
      if (delivered.length === 0 && !copied) await run([...last, ...commit]);
      else {
        ahead.push(...last);
        if (copied) {
          await run(ahead.splice(0));
          await copyRows(outbox.rows(logged));
        }
        if (delivered.length > 0) await outbox.write(sql, delivered);
        await run([...ahead.splice(0), ...commit]);
      }
      return events;
    };
    /** Undefined: consumers are asked about all, as for a change of configuration, which may be a subscription's. */
    const subscribedOf = async (of: readonly DomainEvent[]): Promise<ReadonlySet<string> | undefined> =>
      lookUpAll || of.some(isConfiguration) ? undefined : outbox.subscribed(sql, realmsOf(of));
    const copyRows = async ({ target, text }: { target: string; text: string }): Promise<void> => {
      const copy = await copyOver(client, target);
      await copy.write(text);
      await copy.finish();
    };
    /** Throws if the connection is broken. */
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
    let [lookUpAll, unguarded] = [false, false];
    for (let tries = 1; ; tries += 1) {
      try {
        return await attempt(work, { ...options, lookUpAll, unguarded });
      } catch (error) {
        if (!unguarded && (await safeguard?.isExcused(error, sqlOver(pool)))) {
          unguarded = true;
          continue;
        }
        const code = codeOf(error);
        const outdated = code === DIVISION_BY_ZERO && !lookUpAll;
        if (tries >= TRIES || !(outdated || AGAIN.has(code))) throw error;
        if (!outdated) continue;
        lookUpAll = true;
        outbox.drop(undefined);
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

/**
 * A long transaction holds locks itself, so it also waits for them as long. Its statements are large, and some are kept from ways
 * that PostgreSQL then takes for endlessly dear: it would compile each of them first, for seconds, however few rows there are.
 */
const patience = (longestMs: number): Statement => statement`
  select set_config('statement_timeout', ${String(longestMs)}, true), set_config('lock_timeout', '0', true),
    set_config('jit', 'off', true)`;

const isConfiguration = ({ type }: DomainEvent): boolean => eventTypes[type].configuration;
const realmsOf = (events: readonly DomainEvent[]): string[] => [...new Set(events.map(({ realm }) => realm))].sort();

/** Last before commit, so that the realm's row is locked as briefly as can be; sorted, so that two never deadlock. */
function revisionsOf(events: readonly DomainEvent[]): Statement[] {
  return realmsOf(events.filter(isConfiguration)).flatMap((realm) => [
    statement`update realm set revision = revision + 1 where realm_id = ${realm}`,
    statement`select pg_notify('realm_changed', ${realm})`,
  ]);
}

async function refuseUnrecordedWrite(sql: Sql): Promise<void> {
  const [row] = await sql<{ wrote: boolean }>`select pg_current_xact_id_if_assigned() is not null as wrote`;
  if (row?.wrote) throw new Error('a transaction wrote and recorded no event');
}
