// Transactions: state, audit rows and the rows that consumers take from events are written together; listeners get the events
// after the commit. This file knows no feature: the outbox (events/outbox.ts) and the bus come as arguments. Design "One transaction".
import type pg from 'pg';
import type { DomainEvent } from '../contract/events.ts';
import { eventTypes } from '../contract/events.ts';
import { type Bulkhead, createBulkhead } from '../schedule/bulkhead.ts';
import { isTraced, traceparent } from '../telemetry/spans.ts';
import { type CopyIn, copyOver } from './copy.ts';
import { allowLonger } from './dead-peer.ts';
import { codeOf } from './error-code.ts';
import { BEGIN, COMMIT, ROLLBACK, runPipeline } from './pipeline.ts';
import { SHORT_LOCK_TIMEOUT, withinShare } from './realm-share.ts';
import { type Sql, sqlOver } from './sql.ts';
import { type Statement, statement } from './statement.ts';

/** An open transaction: `sql` runs statements in it, `record` collects its events. */
export interface Tx {
  sql: Sql;
  record(event: DomainEvent): void;
  /** A write whose result the work doesn't need: it runs last, in the commit's message if possible. */
  atLast(strings: TemplateStringsArray, ...values: readonly unknown[]): void;
  /** Opens a COPY. It can't be the first statement, and no other statement may run until it has finished. */
  copy(target: string): Promise<CopyIn>;
}
export interface TransactionOptions {
  /** `work` may write rows that are no state (the import's staging area, what has expired) and record nothing. */
  bookkeeping?: boolean;
  /** Milliseconds for each statement, including waiting for locks, if they may take longer than a request's. */
  longestMs?: number;
}
interface AttemptOptions extends TransactionOptions {
  /** The transaction is of several realms, or of none. */
  ofMany?: boolean;
  /** The transaction has one of the last connections, so it waits only briefly for locks. */
  shortLocks?: boolean;
  /** A subscription was added after the outbox had looked, so it asks the consumers about all events. */
  lookUpAll?: boolean;
  /** The safeguard is off: the state before was no better than the one that it refuses. */
  unguarded?: boolean;
}
/**
 * @param realm the transaction counts against this realm's share of connections; undefined: it is of many realms or of none and
 *   waits for no lock
 * @throws what `work` throws, after the rollback
 */
export type Transact = <T>(
  realm: string | undefined,
  work: (tx: Tx) => Promise<T>,
  options?: TransactionOptions,
) => Promise<T>;

/** Writes the audit rows and the consumers' rows of events, in the events' own transaction. */
export interface Outbox {
  /** Those of the realms that have a subscription to events. The answer may come from a cache. */
  subscribed(sql: Sql, realms: readonly string[]): Promise<ReadonlySet<string>>;
  /** Clears the cache of a realm, or of all realms. */
  drop(realm: string | undefined): void;
  /** A statement that fails with a division by zero if one of the realms has a subscription after all. */
  nobodyIn(realms: readonly string[]): Statement;
  /** Writes the audit rows and the consumers' rows. */
  write(sql: Sql, events: readonly DomainEvent[]): Promise<void>;
  /** The statements for the audit rows alone, for realms without a subscription. */
  log(events: readonly DomainEvent[]): Statement[];
  /** The audit rows alone in COPY's format. */
  rows(events: readonly DomainEvent[]): { target: string; text: string };
}

/** A rule for the state that a transaction leaves. It may be broken only if it was broken before. */
export interface Safeguard {
  /** Whether the writes of these events could break the rule; other transactions skip the check. */
  concerns(events: readonly DomainEvent[]): boolean;
  /** Checks the state that the transaction has written. @throws the rule's refusal */
  verify(sql: Sql): Promise<void>;
  /** Called after the rollback: whether the error is the rule's refusal of a state that is no worse than the one before. */
  isExcused(error: unknown, sql: Sql): Promise<boolean>;
}

/**
 * The outbox's guard (`nobodyIn`) goes in the same message as COMMIT, so the server can't look at a result before the commit: only an
 * error stops PostgreSQL there. In plain SQL only an impossible expression, such as a division by zero, raises an error on purpose.
 * Any other division by zero costs a second try, which throws it.
 */
const DIVISION_BY_ZERO = '22012';
/** From this number of events on, COPY is faster than INSERT: two thirds of the time for two more messages. */
const MANY = 50;

/** A PostgreSQL serialization failure or deadlock: the transaction may be run again. */
const AGAIN = new Set(['40001', '40P01']);
const TRIES = 3;

/** The event with the trace that it belongs to, if traces are sent. */
const withCause = (event: DomainEvent): DomainEvent => (isTraced() ? { cause: traceparent(), ...event } : event);

export interface TransactOptions {
  pool: pg.Pool;
  /** The shares of the pool's connections; by default a bulkhead of its own. */
  bulkhead?: Bulkhead;
  outbox: Outbox;
  safeguard?: Safeguard;
  /** Statements of the commit that tell other replicas of events; absent: of configuration events alone. */
  tell?: ((events: readonly DomainEvent[]) => Statement[]) | undefined;
  /** Called with the events of a committed transaction. A crash may lose the call (metrics, cache drops, worker wake-up). */
  committed(events: readonly DomainEvent[]): void;
  /** Outside production: a transaction that writes without recording an event throws, so that no audit event is forgotten. */
  strict: boolean;
}

/**
 * `transact(realm, work)`: commits what `work` wrote with its events, or nothing. A configuration event raises its realm's
 * revision once and notifies other replicas by NOTIFY. Deadlocks and serialization failures are tried again, so `work`
 * must be repeatable: no side effect but through `sql` and `record`.
 */
export function createTransact({
  pool,
  bulkhead = createBulkhead({ most: pool.options.max }),
  outbox,
  safeguard,
  tell = () => [],
  committed,
  strict,
}: TransactOptions): Transact {
  /** A transaction on one connection, in as few messages as can be. */
  function conversation(client: pg.PoolClient, options: AttemptOptions) {
    const { bookkeeping, longestMs, ofMany, shortLocks, lookUpAll, unguarded } = options;
    let begun = false;
    /** Statements that go in the next statement's message. */
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
      record: (event) => void events.push(withCause(event)),
      atLast: (strings, ...values) => void last.push(statement(strings, ...values)),
      async copy(target) {
        if (!begun) throw new Error("a COPY can't begin a transaction");
        return copyOver(client, target);
      },
    };
    /** Writes the rest and the events, and commits: in one message if the events' realms have no subscription. */
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
      // Consumers' rows refer to a subscription, which may be locked for long. No realm waits for another's (55P03).
      if (ofMany && delivered.length > 0) last.push(SHORT_LOCK_TIMEOUT);
      if (logged.length > 0 && !copied) last.push(...outbox.log(logged));
      const commit = [
        ...(logged.length > 0 ? [outbox.nobodyIn(realmsOf(logged))] : []),
        ...revisionsOf(events),
        ...tell(events),
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
    /** Undefined: the outbox asks the consumers about all events. A change of configuration may itself add a subscription. */
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
 * Settings of a long transaction. It holds locks for long, so it also waits for them for long. JIT is off: some of its large
 * statements forbid certain plans, PostgreSQL therefore estimates a huge cost and would compile each for seconds, even for few rows.
 */
const patience = (longestMs: number): Statement => statement`
  select set_config('statement_timeout', ${String(longestMs)}, true), set_config('lock_timeout', '0', true),
    set_config('jit', 'off', true)`;

const isConfiguration = ({ type }: DomainEvent): boolean => eventTypes[type].configuration;
const realmsOf = (events: readonly DomainEvent[]): string[] => [...new Set(events.map(({ realm }) => realm))].sort();

/** Raises the realms' revisions. It runs last, so that a realm's row is locked briefly; sorted, so that two transactions never deadlock. */
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
