// Owns: the applied plans of a realm: recording, reading, and undoing one in one transaction.
// Does not own: the inverse (undo.ts), planning documents (apply.ts), writing (resource/write.ts).
// Implements: decisions "Import, export, plan".
import type { By } from '../../../contract/events.ts';
import type { AppliedPlan, AppliedPlanDetail } from '../../../contract/history.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Change, Plan } from '../../../contract/transfer.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { hasPermission, type Principal } from '../../../domain/principal.ts';
import { wantedOf } from '../../../resource/compare.ts';
import { ofConfiguration, refuseDeclaredOnly } from '../../../resource/declared-only.ts';
import type { PlannedChange, RealmPart } from '../../../resource/part.ts';
import { chunks, danglingReferences, nameOf } from '../../../resource/references.ts';
import { refuseEscalation } from '../../../resource/rights.ts';
import { faultsOf } from '../../../resource/write.ts';
import type { RecordedChange } from './applied-plan.ts';
import { type ApplyPlan, expectRevision, NO_USERS, REPLANS } from './apply.ts';
import { consequencesOf } from './consequences.ts';
import { refuse } from './document.ts';
import type { EnginePlan } from './engine.ts';
import * as store from './history-store.ts';
import { keepNeeded, refuseKept } from './kept.ts';
import { refuseWithoutAdministrator } from './last-administrator.ts';
import { objectsOf } from './objects.ts';
import { byObject, planOf } from './present.ts';
import { needsOf } from './references.ts';
import { requireAny, requireManager, requireSections, rightsOf } from './rights.ts';
import { lockRealm, lockRevision, readRevision } from './store.ts';
import { type Inverse, invertChange, invertMove } from './undo.ts';

interface Deps {
  sql: Sql;
  transact: Transact;
  parts: readonly RealmPart[];
  /** Applies a plan as an import does. */
  applyPlan: ApplyPlan;
  /** Runs one import at a time in a realm, and audits refusals. */
  alone<T>(asked: { principal: Principal; by: By; realm: string; path: string }, work: () => Promise<T>): Promise<T>;
  reservedManagers: readonly string[];
  now: () => Date;
}

const MOST_TOLD = 100;

export interface Undo {
  principal: Principal;
  by: By;
  realm: string;
  revision: number;
  dryRun: boolean;
  ifMatch: string | undefined;
}

export function createHistory({ sql, transact, parts, applyPlan, alone, reservedManagers, now }: Deps) {
  const byKind = new Map(parts.map((part) => [part.kind, part]));
  const shown = (principal: Principal, realm: string, row: store.Listed): AppliedPlan => ({
    revision: row.revision,
    appliedAt: row.appliedAt.getTime(),
    manager: row.manager,
    by: hasPermission(principal, realm, 'events:read') ? row.actor : null,
    undoes: row.undoes,
    ...row.counts,
  });

  /** A recorded change without fields that name users, which aren't recorded. Secrets show only whether they were set. */
  const shownChange = ({ action, kind, key, fields }: RecordedChange): Change => {
    const people = byKind.get(kind)?.people ?? [];
    return { action, kind, key, fields: fields.filter(({ path }) => !people.includes(path)) };
  };

  async function find(on: Sql, realm: string, revision: number) {
    const row = await store.readPlan(on, realm, revision);
    if (!row) throw new Problem('not-found', `No plan is kept that made revision ${revision} of the realm ${realm}`);
    return row;
  }

  async function detail(principal: Principal, realm: string, revision: number): Promise<AppliedPlanDetail> {
    const { recorded, ...row } = await find(sql, realm, revision);
    const readable = ({ kind }: { kind: string }) => {
      const area = byKind.get(kind)?.area;
      return area !== undefined && hasPermission(principal, realm, `${area}:read`);
    };
    return {
      ...shown(principal, realm, row),
      changes: byObject(realm, (recorded?.changes ?? []).filter(readable).map(shownChange)),
      ownership: (recorded?.moves ?? []).filter(readable).map(({ before, after: _, ...move }) => ({
        ...move,
        ...(before && move.action === 'take' && { from: before.manager }),
      })),
      complete: recorded !== undefined,
    };
  }

  async function invert(on: Sql, realm: string, recorded: store.Recorded): Promise<Inverse> {
    const there = await objectsOf(on, realm, parts, recorded.changes);
    const owners = new Map<string, { manager: string; fields: string[]; kept: boolean }>();
    for (const chunk of chunks(recorded.moves))
      for (const { kind, key, ...owner } of await store.readOwnersOf(on, realm, chunk))
        owners.set(nameOf(kind, key), owner);
    const inverse: Inverse = { changes: [], moves: [], obstacles: [], keptSecrets: [] };
    for (const change of recorded.changes) {
      const part = byKind.get(change.kind);
      if (!part) throw new Error(`no part has the kind ${change.kind}`);
      const one = invertChange(part, realm, change, there.get(nameOf(change.kind, change.key)));
      inverse.changes.push(...one.changes);
      inverse.obstacles.push(...one.obstacles);
      inverse.keptSecrets.push(...one.keptSecrets);
    }
    for (const move of recorded.moves) {
      const one = invertMove(move, owners.get(nameOf(move.kind, move.key)));
      inverse.moves.push(...one.moves);
      inverse.obstacles.push(...one.obstacles);
    }
    return inverse;
  }

  /** @throws Problem if undoing would grant more than the caller holds, change what is declared only, or leave the realm inconsistent */
  async function check(on: Sql, { principal, realm }: Undo, manager: string, changes: readonly PlannedChange[]) {
    const touched = parts.filter(({ kind }) => changes.some((change) => change.kind === kind));
    await refuseEscalation(on, { realm, principal, parts, changes });
    // an administrator undoes it, not its manager
    await refuseDeclaredOnly(on, realm, ofConfiguration(parts, changes));
    const wanted = changes.map((change) => wantedOf({ ...change, path: nameOf(change.kind, change.key) }));
    for (const part of touched)
      refuse(
        faultsOf(
          part,
          realm,
          // the fields of a deleted object aren't checked
          wanted.filter(({ kind, action }) => kind === part.kind && action !== 'delete'),
        ),
      );
    const declared = touched.map((part) => ({
      part,
      items: changes
        .filter(({ kind, action }) => kind === part.kind && action !== 'delete')
        .map(({ key, save }) => ({ key, fields: save, path: `${part.kind} ${key}` })),
    }));
    refuse(await danglingReferences(on, { realm, parts, declared, changes }));
    const needs = await needsOf(on, { realm, parts, declared, manager, changes });
    const owners = new Map(changes.map(({ kind, key }) => [nameOf(kind, key), { manager, fields: [] }]));
    refuseKept(keepNeeded({ changes: [...changes], moves: [], conflicts: [], faults: [] }, needs, owners));
    for (const part of parts) refuse((await part.whole?.(on, realm, wanted)) ?? []);
  }

  /** Plans the reversal of a revision against the present realm. */
  async function planned(on: Sql, asked: Undo): Promise<{ manager: string; plan: EnginePlan }> {
    const { principal, realm, revision, dryRun } = asked;
    const { manager, recorded } = await find(on, realm, revision);
    if (!dryRun) requireManager(principal, manager, reservedManagers);
    if (!recorded)
      throw new Problem(
        'changed-since',
        `The plan of revision ${revision} was too large to be kept, or named a user who was erased: it can’t be undone`,
      );
    const kinds = new Set([...recorded.changes, ...recorded.moves].map(({ kind }) => kind));
    const touched = parts.filter(({ kind }) => kinds.has(kind));
    requireSections({ principal, realm, query: { dryRun } }, { planned: touched, written: touched });
    const { obstacles, ...inverse } = await invert(on, realm, recorded);
    const [first] = obstacles;
    if (first)
      throw new Problem('changed-since', `${first.path} ${first.message}`, { errors: obstacles.slice(0, MOST_TOLD) });
    await check(on, asked, manager, inverse.changes);
    await refuseWithoutAdministrator(on, realm, inverse);
    return {
      manager,
      plan: { ...inverse, conflicts: [], kept: [], held: [], warnings: [], undeclared: [], deletions: [] },
    };
  }

  async function undo(tx: Tx, asked: Undo): Promise<Plan> {
    const { principal, by, realm, revision, dryRun, ifMatch } = asked;
    if (!dryRun) await lockRealm(tx.sql, realm);
    for (let tries = 1; ; tries += 1) {
      const current = await readRevision(tx.sql, realm);
      expectRevision(ifMatch, current);
      const { manager, plan } = await planned(tx.sql, asked);
      const { read } = rightsOf({ principal, realm, query: { dryRun } });
      const mayRead = (kind: string) => read(byKind.get(kind)?.area ?? 'realm');
      const tells = dryRun && hasPermission(principal, realm, 'sessions:read');
      const told = tells ? plan.changes.filter(({ kind }) => mayRead(kind)) : [];
      const consequences = await consequencesOf(tx.sql, realm, { planned: told, now: now() });
      const shown = { parts, users: NO_USERS, mayRead, mayPlan: mayRead, consequences };
      const wire = (at: number) => planOf({ realm, manager, revision: at, created: false, dryRun }, plan, shown);
      const writes = plan.changes.length + plan.moves.length > 0;
      if (dryRun || !writes) return wire(current ?? 0);
      // another write changed the realm meanwhile: plan again
      if ((await lockRevision(tx.sql, realm)) !== current && tries < REPLANS) continue;
      const at = now();
      const next = (current ?? 0) + 1;
      const owners = [...new Set(plan.moves.flatMap(({ owner }) => owner?.manager ?? []))];
      await store.recallManagers(tx.sql, realm, owners, at);
      await applyPlan(
        tx,
        { by, realm, query: { manager, prune: false, force: false } },
        { people: undefined, config: plan, users: NO_USERS, writes, at, revision: next, undoes: revision },
      );
      return wire(next);
    }
  }

  return {
    list: async (
      principal: Principal,
      realm: string,
      page: { before: number | undefined; manager: string | undefined; limit: number },
    ): Promise<AppliedPlan[]> => (await store.listPlans(sql, realm, page)).map((row) => shown(principal, realm, row)),
    detail,
    undo: (asked: Undo): Promise<Plan> => {
      const { principal, by, realm, revision } = asked;
      const path = `/admin/realms/${realm}/history/${revision}/undo`;
      return alone({ principal, by, realm, path }, async () => {
        requireAny(principal, realm);
        return transact(realm, (tx) => undo(tx, asked));
      });
    },
  };
}
export type History = ReturnType<typeof createHistory>;
