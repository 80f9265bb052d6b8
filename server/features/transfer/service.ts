// Owns: applying a realm document: one transaction from plan to audit rows, ownership, revisions, the importer's rights.
// Does not own: comparing (plan.ts), sections (each feature's transfer.ts), exporting (export.ts).
// Implements: decisions "Import, export, plan"; specification 2.10, 4.2.
import type { By } from '../../contract/events.ts';
import { Problem } from '../../contract/problem.ts';
import { type ImportQuery, type Plan, sections } from '../../contract/transfer.ts';
import type { Sql } from '../../db/sql.ts';
import { codeOf, type Transact, type Tx } from '../../db/transact.ts';
import type { Denial } from '../../events/denials.ts';
import { names } from '../../http/etag.ts';
import { type Principal, permissionsIn } from '../../http/principal.ts';
import type { Realms } from '../realms/service.ts';
import type { Stage, UserTransfer } from '../users/transfer.ts';
import { readDocument, type Section } from './document.ts';
import { applyMoves, applyRealm, type EnginePlan, planRealm } from './engine.ts';
import { createGate } from './gate.ts';
import type { RealmPart } from './part.ts';
import { eventsOf, planOf } from './present.ts';
import { refuseEscalation, refuseGuesses, requirePermission, requireSections } from './rights.ts';
import { declaresSecret, resolvePlaceholders } from './secrets.ts';
import * as store from './store.ts';
import { type ImportStore, mergeUsers, planUsers, refuseUserEscalation, takenNames, type UserPlan } from './users.ts';

export interface TransferDeps {
  sql: Sql;
  transact: Transact;
  /** In dependency order: a part's objects refer to those before it. */
  parts: readonly RealmPart[];
  users: UserTransfer;
  userRows: ImportStore;
  realms: Pick<Realms, 'seedInto'>;
  documentEnvironment: Readonly<Record<string, string>>;
  /** Audits a refusal, as the admin surface does. */
  denied(denial: Denial): Promise<void>;
  now: () => Date;
}

export interface ImportRequest {
  principal: Principal;
  by: By;
  realm: string;
  body: AsyncIterable<Buffer>;
  query: ImportQuery;
  ifMatch?: string | undefined;
}

/** The plan, but for the users' changes: those are read from the staging area by `importId`, then discarded. */
export interface Imported {
  plan: Plan;
  importId: string | undefined;
}

/** Ends a transaction that must not stay, with its result. */
class Unwritten extends Error {
  readonly result: Plan;
  constructor(result: Plan) {
    super('dry run');
    this.result = result;
  }
}

/** The realm that wasn't there when we looked is there now: look again. */
class CameToBe extends Error {}

const NO_USERS: UserPlan = { counts: new Map(), conflicts: [], writes: false };
const UNIQUE = '23505';
const FOREIGN_KEY = '23503';
const REPLANS = 5;
/** Imports that write at the same time in this process: fewer than the pool has connections. */
const AT_ONCE = 3;
const LEFTOVER_MS = 3_600_000;
/** Users that somebody may declare who can only have them compared: rows are staged before the plan says who writes. */
const MOST_COMPARED = 1_000;

/** What a unique index refuses and no rule sees before. */
const takenWords: Record<string, string> = {
  workload_identity_match: 'Another workload identity has the same issuer, subject and audience',
};

export function createTransfer({
  transact,
  sql,
  parts,
  users,
  userRows,
  realms,
  documentEnvironment,
  denied,
  now,
}: TransferDeps) {
  const gate = createGate({ atOnce: AT_ONCE });
  const everyKind = new Map(parts.map((part) => [part.kind, part]));

  /** A refusal for want of rights is audited like any other on the admin surface, which does it for escalations itself. */
  async function auditing<T>(
    { principal, by, realm }: Pick<ImportRequest, 'principal' | 'by' | 'realm'>,
    { method, path }: { method: string; path: string },
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Problem && error.status === 403 && error.code !== 'privilege-escalation') {
        const permission = error.extra?.permission;
        const what = typeof permission === 'string' ? permission : error.code;
        await denied({ realm, home: principal.realm, by, permission: what, method, path });
      }
      throw error;
    }
  }

  const importRealm = (request: ImportRequest): Promise<Imported> =>
    auditing(request, { method: 'POST', path: `/admin/realms/${request.realm}/import` }, () => staged(request));

  async function staged(request: ImportRequest): Promise<Imported> {
    const { principal, realm, body } = request;
    // Before anything is read: who holds nothing here learns nothing, not even whether the realm exists.
    if (permissionsIn(principal, realm).size === 0)
      throw new Problem('forbidden', `You hold no permission in the realm ${realm}`);
    const stage = users.stage(realm);
    const begin = async () => {
      requirePermission(principal, realm, 'users:read');
      await userRows.discardOld(sql, new Date(now().getTime() - LEFTOVER_MS));
      await stage.begin();
    };
    const add: Stage['add'] = (value, path, n) => {
      if (n >= MOST_COMPARED) requirePermission(principal, realm, 'users:write');
      return stage.add(value, path, n);
    };
    let kept = false;
    try {
      const document = await readDocument(body, { parts, users: { ...stage, begin, add } });
      await stage.finish();
      // Before the environment is asked and any secret compared: a plan would tell a reader whether they guessed it.
      requireSections(principal, realm, {
        declared: document.declared.map(({ part }) => part),
        written: document.declared.filter(declaresSecret).map(({ part }) => part),
      });
      resolvePlaceholders(document.declared, { environment: documentEnvironment, home: principal.realm });
      const plan = await inTransaction(request, document.declared, document.users ? stage : undefined);
      kept = document.users && plan.summary.create + plan.summary.update + plan.summary.delete > 0;
      return { plan, importId: kept ? stage.importId : undefined };
    } catch (error) {
      await stage.abort();
      throw error;
    } finally {
      if (!kept && stage.count() > 0) await userRows.discard(sql, stage.importId);
    }
  }

  async function inTransaction(
    request: ImportRequest,
    declared: readonly Section[],
    stage: Stage | undefined,
  ): Promise<Plan> {
    for (let tries = 1; ; tries += 1) {
      try {
        const work = () => transact((tx) => run(tx, request, declared, stage), { bookkeeping: true });
        return await (request.query.dryRun ? work() : gate.pass(request.realm, work));
      } catch (error) {
        if (error instanceof Unwritten) return error.result;
        if (error instanceof CameToBe) {
          if (tries < REPLANS) continue;
          throw new Problem('name-taken', error.message);
        }
        const code = codeOf(error);
        if (code !== UNIQUE && code !== FOREIGN_KEY) throw error;
        // Somebody was faster between our look and our write: look again; a name that is taken for good is told.
        if (tries >= 2) throw await nameTaken(error, request.realm, stage);
      }
    }
  }

  async function nameTaken(error: unknown, realm: string, stage: Stage | undefined): Promise<unknown> {
    const address = stage && (await takenNames(userRows, sql, realm, stage));
    if (address) return address;
    const constraint = error instanceof Error && 'constraint' in error ? String(error.constraint) : '';
    return new Problem('name-taken', takenWords[constraint], { cause: error, reason: constraint });
  }

  async function run(
    tx: Tx,
    request: ImportRequest,
    declared: readonly Section[],
    stage: Stage | undefined,
  ): Promise<Plan> {
    const { principal, by, realm, query } = request;
    await tx.sql`set local statement_timeout = '10min'`;
    let revision = await store.readRevision(tx.sql, realm);
    // A dry run of a realm that is there waits for nobody: a plan that was overtaken fails by its revision.
    if (!query.dryRun || revision === undefined) {
      await store.lockRealm(tx.sql, realm);
      revision = await store.readRevision(tx.sql, realm);
    }
    const created = revision === undefined;
    expectRevision(request.ifMatch, revision);
    if (created) {
      if (!principal.permissions.get('*')?.has('realm:create'))
        throw new Problem('forbidden', 'This needs the permission realm:create over every realm', {
          extra: { permission: 'realm:create' },
        });
      await realms.seedInto(tx, by, realm, displayNameIn(declared), query.manager).catch((error: unknown) => {
        throw error instanceof Problem && error.code === 'name-taken' ? new CameToBe(error.message) : error;
      });
    }
    for (let tries = 1; ; tries += 1) {
      const planned = await plan(tx.sql, { realm, declared, stage, ask: query, principal });
      const { config, people } = planned;
      const writes = created || config.changes.length + config.moves.length > 0;
      const wire = (at: number) =>
        planOf({ realm, manager: query.manager, revision: at, created }, config, { parts, users: people });
      if (query.dryRun) {
        if (created) throw new Unwritten(wire(0));
        return wire(revision ?? 0);
      }
      refuseConflicts(wire(revision ?? 0));
      if (!writes && !people.writes) return wire(revision ?? 0);
      const held = await store.holdRevision(tx.sql, realm);
      if (!created && held !== revision && tries < REPLANS) {
        // A configuration write came between: what was planned may no longer hold.
        expectRevision(request.ifMatch, held);
        revision = held;
        continue;
      }
      await carryOut(tx, { request, stage, config, people, writes });
      return wire((held ?? 0) + (writes ? 1 : 0));
    }
  }

  async function plan(
    on: Sql,
    {
      realm,
      declared,
      stage,
      ask,
      principal,
    }: {
      realm: string;
      declared: readonly Section[];
      stage: Stage | undefined;
      ask: ImportQuery;
      principal: Principal;
    },
  ): Promise<{ config: EnginePlan; people: UserPlan }> {
    requireSections(principal, realm, { declared: declared.map((s) => s.part), written: [] });
    await refuseGuesses(on, principal, realm, declared);
    const config = await planRealm(on, { realm, parts, declared, ask });
    const touched = new Set([...config.changes, ...config.moves].map((c) => c.kind));
    requireSections(principal, realm, {
      declared: [],
      written: [...touched].flatMap((kind) => everyKind.get(kind) ?? []),
    });
    await refuseEscalation(on, principal, realm, config.changes);
    if (!stage) return { config, people: NO_USERS };
    const people = await planUsers(userRows, on, { realm, stage, ask, changes: config.changes });
    if (people.writes) requirePermission(principal, realm, 'users:write');
    if (people.counts.has('update') || people.counts.has('delete'))
      await refuseUserEscalation(userRows, on, principal, { realm, stage });
    return { config, people };
  }

  async function carryOut(
    tx: Tx,
    {
      request,
      stage,
      config,
      people,
      writes,
    }: { request: ImportRequest; stage: Stage | undefined; config: EnginePlan; people: UserPlan; writes: boolean },
  ): Promise<void> {
    const { by, realm, query } = request;
    const { manager } = query;
    const at = now();
    await store.touchManager(tx.sql, realm, manager, { at, users: people.writes });
    await applyRealm(tx.sql, { realm, parts, changes: config.changes });
    await applyMoves(tx.sql, realm, config.moves);
    const counted = { manager, ...Object.fromEntries(people.counts) };
    if (stage && people.writes)
      await mergeUsers(userRows, tx.sql, { realm, stage, ask: query, at, counts: people.counts });
    await store.forgetIdleManagers(tx.sql, realm);
    for (const event of eventsOf({ realm, by, manager }, parts, config.changes)) tx.record(event);
    const subject = { type: 'manager', id: null, name: manager } as const;
    if (writes)
      tx.record({
        type: 'REALM_IMPORTED',
        realm,
        by,
        subject,
        data: {
          manager,
          changes: config.changes.length,
          ownership: config.moves.length,
          prune: query.prune,
          force: query.force,
        },
      });
    if (people.writes) tx.record({ type: 'USERS_IMPORTED', realm, by, subject, data: counted });
  }

  return {
    import: importRealm,
    auditing,

    /** For callers in this process, with the document at hand. */
    apply: ({ document, ...request }: Omit<ImportRequest, 'body'> & { document: object }): Promise<Imported> =>
      importRealm({ ...request, body: once(Buffer.from(JSON.stringify(document))) }),

    /** What users come to, a JSON object a line; then their staging rows go. */
    userChanges: (importId: string) => users.changes(importId),
    discard: (importId: string) => userRows.discard(sql, importId),

    /** Releases all that a manager owns, or takes it away too, as an empty document with `prune` would. */
    release(
      request: Pick<ImportRequest, 'principal' | 'by' | 'realm'> & { manager: string },
      objects: 'keep' | 'delete',
    ) {
      const { principal, by, realm, manager } = request;
      const path = `/admin/realms/${realm}/managers/${manager}`;
      const released = async (tx: Tx) => {
        await store.lockRealm(tx.sql, realm);
        if (!(await store.managerExists(tx.sql, realm, manager)))
          throw new Problem('not-found', `Nothing here is managed by ${manager}`);
        const ask = { manager, prune: true, force: false, dryRun: false };
        const changes =
          objects === 'keep'
            ? []
            : (await plan(tx.sql, { realm, declared: [], stage: undefined, ask, principal })).config.changes;
        await store.holdRevision(tx.sql, realm);
        await applyRealm(tx.sql, { realm, parts, changes });
        await store.releaseUsers(tx.sql, realm, manager);
        await store.dropManager(tx.sql, realm, manager);
        for (const event of eventsOf({ realm, by, manager }, parts, changes)) tx.record(event);
        const subject = { type: 'manager', id: null, name: manager } as const;
        tx.record({
          type: 'MANAGER_RELEASED',
          realm,
          by,
          subject,
          data: { manager, objects, deleted: changes.length },
        });
      };
      return auditing(request, { method: 'DELETE', path }, () => gate.pass(realm, () => transact(released)));
    },
  };
}
export type Transfer = ReturnType<typeof createTransfer>;

async function* once(chunk: Buffer): AsyncGenerator<Buffer> {
  yield chunk;
}

/** `If-Match: "<revision>"`, quotes or not; 0 is the realm that doesn't exist, `*` any that does. */
function expectRevision(ifMatch: string | undefined, revision: number | undefined): void {
  if (ifMatch === undefined) return;
  const holds =
    ifMatch.trim() === '*' ? revision !== undefined : names(ifMatch.replaceAll('"', ''), String(revision ?? 0));
  if (!holds)
    throw new Problem('precondition-failed', `The realm is at revision ${revision ?? 0}; plan again`, {
      extra: { revision: revision ?? 0 },
    });
}

function refuseConflicts({ conflicts }: Plan): void {
  const [first] = conflicts;
  if (!first) return;
  const what = `${first.kind} ${first.key}${first.path === undefined ? '' : `.${first.path}`}`;
  const more = conflicts.length > 1 ? ` (and ${conflicts.length - 1} more conflicts)` : '';
  throw new Problem('managed-by-another', `${what} is managed by ${first.manager}${more}`, { extra: { conflicts } });
}

function displayNameIn(declared: readonly Section[]): string | undefined {
  const item = declared.find((s) => s.part.section === 'realm')?.items.find((i) => i.key === 'displayName');
  return typeof item?.fields.value === 'string' ? item.fields.value : undefined;
}

/** Sections in the order of their keys, as an export has them. */
export const sectionKeys = [...Object.keys(sections), 'users', 'formatVersion', 'requiredEnv'].sort();
