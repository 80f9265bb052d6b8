// Owns: importing a realm document: reading it, choosing bulk or staged users, the importer's first permission checks, retries.
// Does not own: the transaction (apply.ts), comparing (plan.ts), sections (each feature's part), export.ts.
// Implements: decisions "Import, export, plan"; specification 2.10, 4.2.
import type { Readable } from 'node:stream';
import { Problem, type ProblemCode } from '../../../contract/problem.ts';
import type { Plan } from '../../../contract/transfer.ts';
import type { UsersImported } from '../../../contract/user-import.ts';
import { cancelledBy } from '../../../db/cancel.ts';
import { constraintOf, isTaken, refersToNothing } from '../../../db/error-code.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { hasPermission, requirePermission } from '../../../domain/principal.ts';
import { freshProfile, hasNoRules, profileIn, profileWith, readProfile } from '../../../domain/user-profile.ts';
import { type Denial, noteAudited } from '../../../events/denials.ts';
import type { RealmPart, Section } from '../../../resource/part.ts';
import { createSemaphore } from '../../../schedule/semaphore.ts';
import type { Realms } from '../../configuration/realms/service.ts';
import type { BulkInsert } from '../../people/users/bulk-insert.ts';
import * as userRows from '../../people/users/import-store.ts';
import type { Stage, UserTransfer } from '../../people/users/transfer.ts';
import { CreatedMeanwhile, createApply, type Opened, PlannedOnly, REPLANS, type Request } from './apply.ts';
import { type BufferedBody, createBodyBuffer } from './buffered-body.ts';
import { type Document, readDocument, refuse } from './document.ts';
import { type Guesses, NONE } from './guesses.ts';
import { insertedPeople, stagedPeople, takenNames } from './people.ts';
import { requireAny, requireManager, requireSections, rightsOf } from './rights.ts';
import { type RowsRequest, rowsImported } from './rows.ts';
import { declaresSecret, resolveSecrets } from './secrets.ts';

export interface TransferDeps {
  sql: Sql;
  transact: Transact;
  /** The parts in dependency order: a part's objects refer only to those of earlier parts. */
  parts: readonly RealmPart[];
  users: UserTransfer;
  realms: Pick<Realms, 'seedInto'>;
  documentEnvironment: Readonly<Record<string, string>>;
  /** Prefixes of managers' names, beside the operator's. */
  reservedManagers: readonly string[];
  guesses: Guesses;
  /** Audits a refusal, as the admin surface does. */
  denied(denial: Denial): Promise<void>;
  /** Logs why a document could not be inserted in bulk, if the slower staged import then succeeded. */
  bulkFailed(because: unknown): void;
  now: () => Date;
  newId: () => string;
}

export interface ImportRequest extends Omit<Request, 'guessCount'> {
  body: AsyncIterable<Buffer>;
}

/** The plan. The users' changes are separate, since they may be many. */
export interface Imported {
  plan: Plan;
  users: UserChanges | undefined;
}

export interface UserChanges {
  /** One JSON object per line, each preceded by a comma. */
  lines(): Promise<Readable>;
  /** Deletes the staged rows. Call it once the lines have been read or the client has disconnected. */
  discard(): Promise<void>;
}

const OF_ROWS = { manager: 'import', dryRun: false, prune: false, force: false };
const AUDITED: ReadonlySet<ProblemCode> = new Set(['forbidden', 'too-many-requests']);
/** Imports that write at the same time in this process: fewer than the pool has connections. */
const AT_ONCE = 3;
const LEFTOVER_MS = 3_600_000;
/** The fewest bytes of a user in a document. */
const LEAST_BYTES = 100;
/** The time limit of each statement, waits for other transactions included. */
const oneImport = (users: number) => ({
  bookkeeping: true,
  longestMs: Math.min(600_000, 120_000 + Math.round(2 * users)),
});
/** Users in a document of a principal that may only compare them: rows are staged before the plan knows the permissions. */
const MOST_COMPARED = 1_000;
/** The largest document that is written while it is parsed; a longer one is staged as it arrives. */
const BUFFER_BYTES = 32 * 1024 * 1024;
/** In a shorter document the difference between the two imports doesn't matter. */
const MANY_BYTES = 256 * 1024;

/** Messages for refusals of a unique index that no rule finds before. */
const takenWords: Record<string, string> = {
  realm_user_pkey: 'The id of one of the users is that of another',
  workload_identity_match: 'Another workload identity has the same issuer, subject and audience',
  realm_own_issuer: 'Another realm has this issuer',
  realm_user_subject:
    'Two people would be one to applications, or a person would have the name of a client: by the value of subjectAttribute',
  client_subject: 'The name of one of the clients is what applications know a person by',
  realm_user_names_apart: 'The username or address of one of the users is the address or username of another',
};

/** The document's users can't be inserted in bulk. */
class NotInsertable extends Error {}

export function createTransfer({
  transact,
  sql,
  parts,
  users,
  realms,
  documentEnvironment,
  reservedManagers,
  guesses,
  denied,
  bulkFailed,
  now,
  newId,
}: TransferDeps) {
  const oneAtATime = createSemaphore({ perKey: 1, inAll: AT_ONCE });
  const buffer = createBodyBuffer(BUFFER_BYTES);
  const { open, conclude, release, applyPlan } = createApply({ parts, realms, now, newId });

  /** Audits refusals for missing permissions or too many guesses. The admin surface itself audits escalations. */
  async function auditing<T>(
    { principal, by, realm }: Pick<ImportRequest, 'principal' | 'by' | 'realm'>,
    { method, path }: { method: string; path: string },
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Problem && AUDITED.has(error.code)) {
        const permission = error.extra?.permission;
        const what = typeof permission === 'string' ? permission : error.code;
        await denied({ realm, home: principal.realm, by, permission: what, method, path });
        noteAudited(error);
      }
      throw error;
    }
  }

  async function importRealm({ body: stream, ...asked }: ImportRequest): Promise<Imported> {
    const { principal, realm } = asked;
    requireAny(principal, realm);
    if (!asked.query.dryRun) requireManager(principal, asked.query.manager, reservedManagers);
    // The body is buffered first, so that no transaction waits for a slow peer.
    const body = await buffer(stream);
    try {
      const writes = !asked.query.dryRun;
      return await guesses.counted({ principal, realm }, { writes }, (guessCount) =>
        importDocument({ ...asked, guessCount }, body),
      );
    } finally {
      await body.release();
    }
  }

  async function importDocument(request: Request, body: BufferedBody): Promise<Imported> {
    if (!(await canInsertInBulk(request, body))) return staged(request, body);
    try {
      return await inBulk(request, body);
    } catch (error) {
      request.signal.throwIfAborted();
      // After any fault: the staged import finds it too, and reports faults in the order of the rules.
      const imported = await staged(request, body);
      bulkFailed(error);
      return imported;
    }
  }

  /** Checked before placeholders are resolved and secrets are compared: a plan could confirm a reader's guess. */
  function ready(request: Request, declared: Section[]): void {
    requireSections(request, {
      planned: declared.map(({ part }) => part),
      written: declared.filter(declaresSecret).map(({ part }) => part),
    });
    const { principal } = request;
    resolveSecrets(declared, { environment: documentEnvironment, principal, mayWrite: rightsOf(request).write });
  }

  async function canInsertInBulk({ principal, realm, query }: Request, body: BufferedBody): Promise<boolean> {
    if (!body.whole || body.bytes < MANY_BYTES || query.dryRun) return false;
    if (!hasPermission(principal, realm, 'users:read') || !hasPermission(principal, realm, 'users:write')) return false;
    return !(await userRows.hasUsers(sql, realm)) && hasNoRules(await readProfile(sql, realm));
  }

  /** Writes users while they are parsed, into a realm that has no users to compare them with. */
  async function inBulk(request: Request, body: BufferedBody): Promise<Imported> {
    const people = users.bulkInsert(request.realm);
    const discard = () => userRows.discard(sql, request.realm, people.importId);
    try {
      await userRows.prepare(sql, request.realm, people.importId);
      const work = () => inTime(request, body.bytes / LEAST_BYTES, (tx) => insertInBulk(tx, request, body, people));
      const plan = await oneAtATime(request.realm, work);
      return { plan, users: { lines: async () => people.changes(), discard } };
    } catch (error) {
      await discard().catch(() => {}); // the janitor takes it
      throw error;
    }
  }

  async function insertInBulk(tx: Tx, request: Request, body: BufferedBody, people: BulkInsert): Promise<Plan> {
    const { realm, query } = request;
    let opened: Opened | undefined;
    let displayName: string | undefined;
    const begin = async (before: readonly Section[]) => {
      // If the transaction runs again after a deadlock, it would count all users twice.
      if (people.count() > 0) throw new NotInsertable();
      displayName = displayNameIn(before);
      opened = await open(tx, request, displayName);
      if (await userRows.hasUsers(tx.sql, realm)) throw new NotInsertable();
      people.into(tx, { manager: query.manager, at: opened.at });
    };
    // The first fault ends this import; the staged one collects all of them.
    const add: BulkInsert['add'] = (...user) => {
      refuse(people.add(...user));
      return [];
    };
    try {
      const document = await readDocument(body.read(), { parts, users: { ...people, begin, add } });
      const { declared } = document;
      // The realm was created before the users were read, so a display name after the users came too late for it.
      if (!opened || displayNameIn(declared) !== displayName) throw new NotInsertable();
      // A profile with rules requires a check of each user.
      if (!hasNoRules(await profileDeclared(declared))) throw new NotInsertable();
      await people.finish();
      ready(request, declared);
      return await conclude(tx, request, { opened, document, people: insertedPeople(realm, people) });
    } catch (error) {
      await people.abort();
      throw error;
    }
  }

  /** Stages the document's users, and so compares them with the realm's users. */
  async function staged(request: Request, body: BufferedBody): Promise<Imported> {
    const { realm } = request;
    const stage = users.stage(realm);
    const discard = () => userRows.discard(sql, realm, stage.importId);
    const sink = { ...stage, begin: () => beginStage(request, stage) };
    return discardingAfterFailure(stage, realm, async () => {
      const document = await readDocument(body.read(), { parts, users: { ...sink, add: addingTo(stage, request) } });
      await stage.finish();
      ready(request, document.declared);
      const plan = await inTransaction(request, document, document.users ? { stage, aside: false } : undefined);
      if (document.users && plan.summary.create + plan.summary.update + plan.summary.delete > 0)
        return { plan, users: { lines: () => users.changes(realm, stage.importId), discard } };
      if (document.users) await discard();
      return { plan, users: undefined };
    });
  }

  /** Outside any transaction. */
  async function beginStage({ principal, realm }: Request, stage: Stage): Promise<void> {
    requirePermission(principal, realm, 'users:read');
    await userRows.discardOld(sql, new Date(now().getTime() - LEFTOVER_MS));
    await userRows.prepare(sql, realm, stage.importId);
    await stage.begin([]);
  }

  const addingTo =
    (stage: Stage, { principal, realm }: Request): Stage['add'] =>
    (value, path, n) => {
      if (n >= MOST_COMPARED) requirePermission(principal, realm, 'users:write');
      return stage.add(value, path, n);
    };

  async function discardingAfterFailure<T>(stage: Stage, realm: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await stage.abort();
      await userRows.discard(sql, realm, stage.importId).catch(() => {}); // the janitor takes it
      throw error;
    }
  }

  /** Judges each row by itself: rows that the realm can't accept are set aside, the others are written in one transaction. */
  async function importRows({ body: stream, read, ...asked }: RowsRequest): Promise<UsersImported> {
    const { realm } = asked;
    const request = { ...asked, query: OF_ROWS, guessCount: NONE };
    requireAny(asked.principal, realm);
    // The body is buffered first: nothing starts for a peer that doesn't send all of it.
    const body = await buffer(stream);
    const stage = users.stage(realm);
    try {
      return await discardingAfterFailure(stage, realm, async () => {
        await beginStage(request, stage);
        const add = addingTo(stage, request);
        for await (const piece of read(body.read())) {
          for (const { n, value, errors } of piece) {
            const faults = errors ?? add(value, '', n);
            if (faults.length > 0) stage.refuse(n, faults);
          }
          await stage.flush();
        }
        await stage.finish();
        await inTransaction(request, { declared: [], users: true, whole: false }, { stage, aside: true });
        const imported = await rowsImported(sql, realm, stage);
        await userRows.discard(sql, realm, stage.importId);
        return imported;
      });
    } finally {
      await body.release();
    }
  }

  /** Runs the work in a transaction with a time limit for so many users, cancelled when the client goes. */
  const inTime = <T>({ realm, signal }: Request, count: number, work: (tx: Tx) => Promise<T>): Promise<T> =>
    transact(
      realm,
      (tx) => cancelledBy(signal, { tx: tx.sql, beside: sql }, (live) => work({ ...tx, sql: live })),
      oneImport(count),
    );

  async function inTransaction(
    request: Request,
    document: Document,
    of: { stage: Stage; aside: boolean } | undefined,
  ): Promise<Plan> {
    const people = of && stagedPeople(now, request.realm, of);
    const work = () =>
      inTime(request, of?.stage.count() ?? 0, async (tx) => {
        const opened = await open(tx, request, displayNameIn(document.declared));
        return conclude(tx, request, { opened, document, people });
      });
    for (let tries = 1; ; tries += 1) {
      try {
        return await (request.query.dryRun ? work() : oneAtATime(request.realm, work));
      } catch (error) {
        if (error instanceof PlannedOnly) return error.result;
        if (error instanceof CreatedMeanwhile) {
          if (tries < REPLANS) continue;
          throw new Problem('name-taken', error.message);
        }
        if (!isTaken(error) && !refersToNothing(error)) throw error;
        // Another write came after the check, so the import runs again. A name that stays taken is reported.
        if (tries >= (of?.aside ? REPLANS : 2))
          throw await nameTaken(error, request.realm, of?.aside ? undefined : of?.stage);
      }
    }
  }

  async function nameTaken(error: unknown, realm: string, stage: Stage | undefined): Promise<unknown> {
    const address = stage && (await takenNames(sql, realm, stage));
    if (address) return address;
    const constraint = constraintOf(error);
    const words =
      takenWords[constraint] ?? 'Another write took a name or an address of this document meanwhile: plan again';
    return new Problem('name-taken', words, { cause: error, reason: constraint });
  }

  return {
    auditing,
    applyPlan,
    /** Runs one import at a time in a realm. */
    alone: <T>(
      { path, ...asked }: Pick<ImportRequest, 'principal' | 'by' | 'realm'> & { path: string },
      work: () => Promise<T>,
    ): Promise<T> => auditing(asked, { method: 'POST', path }, () => oneAtATime(asked.realm, work)),

    import: (request: ImportRequest): Promise<Imported> =>
      auditing(request, { method: 'POST', path: `/admin/realms/${request.realm}/import` }, () => importRealm(request)),

    importRows: (request: RowsRequest): Promise<UsersImported> =>
      auditing(request, { method: 'POST', path: `/admin/realms/${request.realm}/users/import` }, () =>
        importRows(request),
      ),

    /** Plans a document for another import. That import itself audits its refusals, so this one doesn't. */
    async check({ body, query, ...request }: ImportRequest): Promise<void> {
      await (await importRealm({ ...request, query: { ...query, dryRun: true }, body })).users?.discard();
    },

    /** Releases all objects that a manager owns, or deletes them too. */
    release(
      request: Pick<ImportRequest, 'principal' | 'by' | 'realm'> & { manager: string },
      objects: 'keep' | 'delete',
    ) {
      const { realm, manager } = request;
      const path = `/admin/realms/${realm}/managers/${manager}`;
      return auditing(request, { method: 'DELETE', path }, () =>
        oneAtATime(realm, () => transact(realm, (tx) => release(tx, request, objects))),
      );
    },
  };
}
export type Transfer = ReturnType<typeof createTransfer>;

const profileDeclared = (declared: readonly Section[]) =>
  profileWith(
    freshProfile,
    profileIn(declared.flatMap(({ part: { kind }, items }) => items.map(({ key, fields }) => ({ kind, key, fields })))),
  );

function displayNameIn(declared: readonly Section[]): string | undefined {
  const item = declared.find((s) => s.part.section === 'realm')?.items.find((i) => i.key === 'displayName');
  return typeof item?.fields.value === 'string' ? item.fields.value : undefined;
}

/** Sections in the order of their keys, as an export has them. */
