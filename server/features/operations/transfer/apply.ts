// Owns: a document in its transaction: opening the realm, planning until no other write intervenes, writing, audit rows.
// Does not own: reading the document (service.ts), comparing (engine.ts), users' rows (people.ts).
// Implements: decisions "Import, export, plan"; specification 2.10, 4.2.

import { isByHand } from '../../../contract/declared-only.ts';
import type { By } from '../../../contract/events.ts';
import type { Area } from '../../../contract/permissions.ts';
import { Problem } from '../../../contract/problem.ts';
import { freshSettings } from '../../../contract/settings.ts';
import type { ImportQuery, Plan } from '../../../contract/transfer.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import { releaseOwnership as disown, saveOwnership } from '../../../domain/ownership.ts';
import { hasPermission, type Principal, requirePermission } from '../../../domain/principal.ts';
import { namesTag } from '../../../http/etag.ts';
import { hasManager, NO_MANAGER, refuseDocumentByHand } from '../../../resource/declared-only.ts';
import type { PlannedChange, RealmPart, Section } from '../../../resource/part.ts';
import { linkPeople, namesPeople, unknownPeople } from '../../../resource/people.ts';
import { chunks, nameOf } from '../../../resource/references.ts';
import { refuseEscalation } from '../../../resource/rights.ts';
import type { GuessCount } from '../../../resource/secrets.ts';
import { writeChanges } from '../../../resource/write.ts';
import type { Realms } from '../../configuration/realms/service.ts';
import * as userRows from '../../people/users/import-store.ts';
import { type HeldChange, holdsOf } from '../holds/holds.ts';
import { readHeld } from '../holds/store.ts';
import { MOST_RECORDED, type RecordedOwner, recordedChange, recordedMove } from './applied-plan.ts';
import { consequencesOf } from './consequences.ts';
import { inDefaultLanguage } from './default-language.ts';
import { type Document, refuse } from './document.ts';
import { type EnginePlan, planRealm } from './engine.ts';
import { NONE } from './guesses.ts';
import * as history from './history-store.ts';
import { refuseKept } from './kept.ts';
import { refuseWithoutAdministrator } from './last-administrator.ts';
import { NOBODY, type People, type UserPlan } from './people.ts';
import type { Move, Owner } from './plan.ts';
import { planOf } from './present.ts';
import { refuseGuesses, requireSections, rightsOf } from './rights.ts';
import * as store from './store.ts';
import { watchTies } from './ties.ts';

/** The caller, the realm and the options of an import. */
export interface Request {
  principal: Principal;
  by: By;
  realm: string;
  query: ImportQuery;
  ifMatch?: string | undefined;
  guessCount: GuessCount;
  /** Aborted when the client no longer waits for the answer. */
  signal: AbortSignal;
}

/** The realm at the beginning of the transaction; without a revision it was made there. */
export interface Opened {
  revision: number | undefined;
  at: Date;
}

/** Ends a transaction that must not stay, with its result. */
export class PlannedOnly extends Error {
  readonly result: Plan;
  constructor(result: Plan) {
    super('dry run');
    this.result = result;
  }
}

/** Another transaction has created the realm since it was looked up: look it up again. */
export class CreatedMeanwhile extends Error {}

export const NO_USERS: UserPlan = { counts: new Map(), conflicts: [], writes: false, undeclared: NOBODY };
/** How often a document is planned again after another write intervened. */
export const REPLANS = 5;

/** A plan that is being applied. */
export interface Application {
  people: People | undefined;
  config: EnginePlan;
  users: UserPlan;
  /** Whether the plan changes anything besides users. */
  writes: boolean;
  at: Date;
  /** The realm's revision after the write. */
  revision: number;
  /** The revision whose plan this one undoes. */
  undoes?: number | undefined;
}
export type ApplyPlan = (
  tx: Tx,
  asked: { by: By; realm: string; query: Omit<ImportQuery, 'dryRun'> },
  application: Application,
) => Promise<void>;

export function createApply({
  parts,
  realms,
  now,
  newId,
}: {
  parts: readonly RealmPart[];
  realms: Pick<Realms, 'seedInto'>;
  now: () => Date;
  newId: () => string;
}) {
  const everyKind = new Map(parts.map((part) => [part.kind, part]));

  /** Locks the realm against other imports, and creates it if it doesn't exist. */
  async function open(
    tx: Tx,
    { principal, by, realm, query, ifMatch }: Request,
    displayName: string | undefined,
  ): Promise<Opened> {
    // A dry run of an existing realm takes no lock: an overtaken plan fails by its revision.
    let revision = query.dryRun ? await store.readRevision(tx.sql, realm) : undefined;
    if (revision === undefined) {
      await store.lockRealm(tx.sql, realm);
      revision = await store.readRevision(tx.sql, realm);
    }
    expectRevision(ifMatch, revision);
    if (revision === undefined) {
      const everywhere = principal.permissions.get('*');
      if (!everywhere?.has('realm:create') && !(query.dryRun && everywhere?.has('realm:plan')))
        throw new Problem('forbidden', 'This needs the permission realm:create over every realm', {
          extra: { permission: 'realm:create' },
        });
      await realms.seedInto(tx, by, realm, displayName, query.manager).catch((error: unknown) => {
        throw error instanceof Problem && error.code === 'name-taken' ? new CreatedMeanwhile(error.message) : error;
      });
    }
    return { revision, at: now() };
  }

  /** @throws PlannedOnly a dry run's plan of a realm that doesn't exist */
  async function conclude(
    tx: Tx,
    request: Request,
    { opened, document: given, people }: { opened: Opened; document: Document; people: People | undefined },
  ): Promise<Plan> {
    const { principal, realm, query, ifMatch, guessCount } = request;
    const document = await inDefaultLanguage(tx.sql, realm, given);
    const { declared } = document;
    const created = opened.revision === undefined;
    const anew = created && document.whole;
    let { revision } = opened;
    const rights = rightsOf(request);
    const holds = (right: (area: Area) => boolean) => (kind: string) => {
      const part = everyKind.get(kind);
      return part !== undefined && right(part.area);
    };
    const [mayRead, mayPlan] = [holds(rights.read), holds(rights.plan)];
    if (!query.dryRun) for (const { part, items } of declared) await part.hold?.(tx.sql, realm, items);
    for (let tries = 1; ; tries += 1) {
      const asked = { principal, realm, query, guessCount };
      const { config, users } = await plan(tx.sql, asked, { declared, people, anew });
      if (isByHand(query.manager) && !created) await refuseDocumentByHand(tx.sql, realm, { parts, ...config });
      const writes = created || config.changes.length + config.moves.length > 0;
      const { manager, dryRun } = query;
      const tells = dryRun && !created && hasPermission(principal, realm, 'sessions:read');
      const planned = tells ? config.changes.filter(({ kind }) => mayRead(kind)) : [];
      const consequences = [
        ...((tells && users.counts.size > 0 && (await people?.consequences(tx.sql, opened.at))) || []),
        ...(await consequencesOf(tx.sql, realm, { planned, now: opened.at })),
      ];
      const shown = { parts, users, mayRead, mayPlan, consequences };
      const wire = (at: number) => planOf({ realm, manager, revision: at, created, dryRun }, config, shown);
      if (query.dryRun) {
        if (created) throw new PlannedOnly(wire(0));
        return wire(revision ?? 0);
      }
      refuseConflicts(wire(revision ?? 0));
      if (!writes && !users.writes) return wire(revision ?? 0);
      const current = await store.lockRevision(tx.sql, realm);
      if (current === undefined) throw new Problem('not-found', `The realm ${realm} was deleted meanwhile`);
      if (!created && current !== revision && tries < REPLANS) {
        // Another write changed the configuration meanwhile: the plan may no longer fit.
        expectRevision(ifMatch, current);
        revision = current;
        continue;
      }
      const next = current + (writes ? 1 : 0);
      await applyPlan(tx, request, { people, config, users, writes, at: opened.at, revision: next });
      return wire(next);
    }
  }

  /** @throws Problem if the importer lacks a permission, or the document doesn't fit the realm */
  async function plan(
    on: Sql,
    asked: Pick<Request, 'principal' | 'realm' | 'guessCount' | 'query'>,
    { declared, people, anew }: { declared: readonly Section[]; people: People | undefined; anew: boolean },
  ): Promise<{ config: EnginePlan; users: UserPlan }> {
    const { principal, realm, query, guessCount } = asked;
    const rights = rightsOf(asked);
    const areaOf = (kind: string): Area | undefined => (kind === 'user' ? 'users' : everyKind.get(kind)?.area);
    const holds = (right: (area: Area) => boolean, kind: string) => {
      const area = areaOf(kind);
      return area !== undefined && right(area);
    };
    /** Whether the caller may learn that a name exists: a caller with write permission could find out anyway. */
    const mayAsk = (by: string, of: string) => !query.dryRun || holds(rights.write, by) || holds(rights.plan, of);
    requireSections(asked, { planned: declared.map((s) => s.part), written: [] });
    if (declared.some(namesPeople)) requirePermission(principal, realm, 'users:read');
    await refuseGuesses(on, principal, realm, declared);
    const permit = (touched: ReadonlySet<string>) =>
      requireSections(asked, { planned: [], written: [...touched].flatMap((kind) => everyKind.get(kind) ?? []) });
    const holdOn = holdsOf(await readHeld(on, realm));
    const of = { realm, parts, declared, options: query, guessCount, permit, anew, mayAsk, holdOn };
    const config = await planRealm(on, of);
    if (isByHand(query.manager) && locksByHand(config) && !(await hasManager(on, realm)))
      config.warnings.push({ kind: 'settings', key: DECLARED_ONLY, message: NO_MANAGER });
    // Changes that the caller may not write can't escalate permissions, since they aren't applied.
    const theirs = config.changes.filter(({ kind }) => holds(rights.write, kind));
    await refuseEscalation(on, { realm, principal, parts, changes: theirs });
    const users = people
      ? await people.plan(on, { ...query, principal, mayKeepUnfit: rights.write('settings') }, config.changes, mayAsk)
      : await withoutUsers(on, asked);
    refuse(await unknownPeople(on, { realm, parts, changes: config.changes, importId: people?.importId }));
    const leaves = people && (users.counts.has('update') || users.counts.has('delete'));
    const leaving = leaves ? userRows.deletedOrDisabledUserIds(realm, people.importId) : undefined;
    await refuseWithoutAdministrator(on, realm, { changes: config.changes, leaving });
    if (!people) return { config, users };
    if (users.writes && !query.dryRun) requirePermission(principal, realm, 'users:write');
    const changed = users.counts.has('update') || users.counts.has('delete');
    if (changed && rights.write('users')) await people.refuseEscalation(on, principal);
    return { config, users };
  }

  /** The user plan of a document that declares no users. */
  async function withoutUsers(on: Sql, asked: Pick<Request, 'principal' | 'realm' | 'query'>): Promise<UserPlan> {
    const { manager, dryRun, prune } = asked.query;
    if (!dryRun || prune || !rightsOf(asked).plan('users')) return NO_USERS;
    return { ...NO_USERS, undeclared: await userRows.undeclaredUsers(on, { realm: asked.realm, manager }) };
  }

  const applyPlan: ApplyPlan = async (
    tx,
    { by, realm, query },
    { people, config, users, writes, at, revision, undoes },
  ) => {
    const { manager } = query;
    await store.touchManager(tx.sql, realm, manager, { at, users: users.writes });
    const eventId = newId();
    // before the write: afterwards the objects' former owners can't be found
    const planned = writes ? await recordedOf(tx.sql, realm, config) : undefined;
    const withTies = planned && (await watchTies(tx.sql, realm, { parts, changes: config.changes }));
    await writeChanges(tx, { realm, by, written: 'byManager', parts, changes: config.changes, manager, newId });
    await applyMoves(tx.sql, realm, config.moves);
    if (people && users.writes) await people.merge(tx, by, query, at, users.counts);
    await linkPeople(tx.sql, { realm, parts, changes: config.changes });
    await store.forgetIdleManagers(tx.sql, realm);
    const recorded = planned && (await withTies?.(planned));
    if (writes) await keepPlan(tx.sql, { realm, manager, config, at, revision, undoes, eventId, recorded });
    const subject = { type: 'manager', id: null, name: manager } as const;
    if (writes)
      tx.record({
        id: eventId,
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
          ...(undoes !== undefined && { undoes }),
        },
      });
    const counted = { manager, ...Object.fromEntries(users.counts) };
    if (users.writes) tx.record({ type: 'USERS_IMPORTED', realm, by, subject, data: counted });
  };

  async function keepPlan(
    sql: Sql,
    plan: Omit<Application, 'people' | 'users' | 'writes'> & {
      realm: string;
      manager: string;
      eventId: string;
      recorded: history.Recorded | undefined;
    },
  ): Promise<void> {
    const { realm, config } = plan;
    const of = (action: PlannedChange['action']) => config.changes.filter((change) => change.action === action).length;
    const counts = { create: of('create'), update: of('update'), delete: of('delete') };
    await history.keepPlan(sql, realm, { ...plan, counts }, freshSettings(realm).mostAppliedPlans);
  }

  async function recordedOf(
    sql: Sql,
    realm: string,
    { changes, moves }: EnginePlan,
  ): Promise<history.Recorded | undefined> {
    if (changes.length + moves.length > MOST_RECORDED) return undefined;
    const owners = new Map<string, RecordedOwner>();
    for (const chunk of chunks(moves))
      for (const { kind, key, ...owner } of await history.readOwnersOf(sql, realm, chunk))
        owners.set(nameOf(kind, key), owner);
    return {
      changes: changes.flatMap((change) => {
        const part = everyKind.get(change.kind);
        return part ? [recordedChange(part, change)] : [];
      }),
      moves: moves.map((move) => recordedMove(move, owners.get(nameOf(move.kind, move.key)))),
    };
  }

  /** Releases all objects that a manager owns, or deletes them, as an empty document with `prune` would. */
  async function release(
    tx: Tx,
    { principal, by, realm, manager }: Pick<Request, 'principal' | 'by' | 'realm'> & { manager: string },
    objects: 'keep' | 'delete',
  ): Promise<void> {
    await store.lockRealm(tx.sql, realm);
    if (!(await store.managerExists(tx.sql, realm, manager)))
      throw new Problem('not-found', `Nothing here is managed by ${manager}`);
    // Locks the realm's revision until the transaction ends.
    await store.lockRevision(tx.sql, realm);
    const asked = {
      principal,
      realm,
      guessCount: NONE,
      query: { manager, prune: true, force: false, dryRun: false },
    };
    const nothing = { declared: [], people: undefined, anew: false };
    const { changes, kept, held } =
      objects === 'keep' ? { changes: [], kept: [], held: [] } : (await plan(tx.sql, asked, nothing)).config;
    refuseHeld(held);
    refuseKept(kept);
    // who releases managers may lift the setting declaredOnly, too
    await writeChanges(tx, { realm, by, written: 'byManager', parts, changes, manager, newId });
    await store.releaseUsers(tx.sql, realm, manager);
    await store.dropManager(tx.sql, realm, manager);
    const subject = { type: 'manager', id: null, name: manager } as const;
    tx.record({
      type: 'MANAGER_RELEASED',
      realm,
      by,
      subject,
      data: { manager, objects, deleted: changes.length },
    });
  }

  return { open, conclude, release, applyPlan };
}

/** `If-Match: "<revision>"`, with or without quotes; 0: the realm must not exist; `*`: it must exist. */
export function expectRevision(ifMatch: string | undefined, revision: number | undefined): void {
  if (ifMatch === undefined) return;
  const holds =
    ifMatch.trim() === '*' ? revision !== undefined : namesTag(ifMatch.replaceAll('"', ''), String(revision ?? 0));
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

const DECLARED_ONLY = 'declaredOnly';
const locksByHand = ({ changes }: EnginePlan): boolean =>
  changes.some(
    ({ kind, key, save: { value } }) =>
      kind === 'settings' && key === DECLARED_ONLY && Array.isArray(value) && value.length > 0,
  );

/** A release with deletion waits for the end of a hold. @throws Problem `held` */
function refuseHeld(held: readonly HeldChange[]): void {
  const [first] = held;
  if (!first) return;
  const { change, hold } = first;
  const until = new Date(hold.until);
  const more = held.length > 1 ? ` (and ${held.length - 1} more)` : '';
  throw new Problem(
    'held',
    `${change.kind} ${change.key}${more} is held by ${hold.by ?? 'an administrator'} until ${until.toISOString()}: ${hold.reason}`,
    { extra: { until: hold.until } },
  );
}

/** Writes the planned changes of ownership. */
async function applyMoves(sql: Sql, realm: string, moves: readonly Move[]): Promise<void> {
  const owned = moves.flatMap(({ kind, key, owner }) => (owner ? [{ kind, key, ...ownedBy(owner) }] : []));
  for (const chunk of chunks(owned)) await saveOwnership(sql, realm, chunk);
  for (const chunk of chunks(moves.filter((m) => !m.owner))) await disown(sql, realm, chunk);
}
const ownedBy = ({ manager, fields, kept = false }: Owner) => ({ manager, fields: [...fields], kept });
