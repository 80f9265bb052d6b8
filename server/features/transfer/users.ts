// Users in an import: plans and merges the staged rows by the statements of features/users/import-store.ts, checks
// names, doubles and rights. Rows never come into memory; what is wrong is told by their place in the document.
import { Problem } from '../../contract/problem.ts';
import type { Conflict } from '../../contract/transfer.ts';
import type { Sql } from '../../db/sql.ts';
import type { Principal } from '../../http/principal.ts';
import type * as store from '../users/import-store.ts';
import type { Stage } from '../users/transfer.ts';
import { refuse } from './document.ts';
import type { Ask, PlannedChange } from './plan.ts';
import { escalation, holdsAll } from './rights.ts';

/** The statements of features/users/import-store.ts. */
export type ImportStore = typeof store;

export interface UserPlan {
  counts: ReadonlyMap<string, number>;
  conflicts: Conflict[];
  /** Something is written for users. */
  writes: boolean;
}

const WRITES = ['create', 'update', 'delete', 'take'];
/** A few dozen rows need no statistics. */
const MANY = 1000;

const fresh = (count: number): Map<string, number> => new Map(count > 0 ? [['create', count]] : []);
const created = (changes: readonly PlannedChange[], kind: string): string[] =>
  changes.filter((c) => c.kind === kind && c.action === 'create').map((c) => c.key);

/** @throws Problem `invalid-request` naming `users[n]` for doubles, unknown names and taken addresses */
export async function planUsers(
  rows: ImportStore,
  sql: Sql,
  {
    realm,
    stage,
    ask,
    changes,
  }: { realm: string; stage: Stage; ask: Ask & { dryRun: boolean }; changes: readonly PlannedChange[] },
): Promise<UserPlan> {
  const { importId, declares } = stage;
  const ties = declares.roles || declares.groups || declares.clientRoles;
  const known = await rows.anybody(sql, realm);
  // A plan before this one, which somebody overtook, has left its marks.
  if (stage.planned) await rows.reset(sql, importId);
  stage.planned = true;
  if (stage.count() > MANY && (known || ties)) await rows.analyze(sql);
  if (known) await rows.compare(sql, realm, importId, { ...ask, declares });
  if (known && ask.prune) await rows.stageDropped(sql, realm, importId, ask.manager);
  // Whoever is staged is new until somebody is found.
  const counts = known ? await rows.counts(sql, importId) : fresh(stage.count());
  // Two new users of one name meet at the unique index; two that are one stored user would not, nor would a dry run's.
  if (ask.dryRun || [...counts.keys()].some((action) => action !== 'create')) await refuseDoubles(rows, sql, importId);
  if (ties) {
    const planned = {
      roles: created(changes, 'role'),
      groups: created(changes, 'group'),
      clientRoles: created(changes, 'clientRole'),
    };
    refuse(
      (await rows.unknownNames(sql, realm, importId, planned)).map(({ n, field, name }) => ({
        path: `users[${n}].${field}`,
        message: `there is no ${name}`,
      })),
    );
  }
  const conflicts = counts.has('conflict') ? await rows.conflicts(sql, realm, importId) : [];
  return {
    counts,
    conflicts: conflicts.map((c) => ({ kind: 'user', ...c })),
    writes: WRITES.some((action) => counts.has(action)),
  };
}

/** @throws Problem `privilege-escalation` where a user who is changed or deleted holds more than the importer */
export async function refuseUserEscalation(
  rows: ImportStore,
  sql: Sql,
  principal: Principal,
  { realm, stage }: { realm: string; stage: Stage },
): Promise<void> {
  for (const { holder, role, permissions, target_realm } of await rows.administrators(sql, realm, stage.importId))
    if (!holdsAll(principal, target_realm, permissions))
      throw escalation(`The user ${holder}, by the admin role ${role},`);
}

export async function mergeUsers(
  rows: ImportStore,
  sql: Sql,
  { realm, stage, ask, at, counts }: { realm: string; stage: Stage; ask: Ask; at: Date; counts: UserPlan['counts'] },
): Promise<void> {
  await rows.merge(sql, realm, stage.importId, {
    manager: ask.manager,
    at,
    declares: stage.declares,
    has: (action) => counts.has(action),
  });
}

async function refuseDoubles(rows: ImportStore, sql: Sql, importId: string): Promise<void> {
  refuse(
    (await rows.doubles(sql, importId)).map(({ field, value, places: [first, second] }) => ({
      path: `users[${second}].${field}`,
      message: `declares ${value} again: users[${first}] does already`,
    })),
  );
}

/** What a unique index refused, in the document's words. */
export async function takenNames(
  rows: ImportStore,
  sql: Sql,
  realm: string,
  stage: Stage,
): Promise<Problem | undefined> {
  await refuseDoubles(rows, sql, stage.importId);
  const taken = await rows.takenEmails(sql, realm, stage.importId);
  if (taken.length === 0) return undefined;
  const errors = taken.map(({ n, owner }) => ({ path: `users[${n}].email`, message: `is ${owner}'s already` }));
  return new Problem('invalid-request', `${errors[0]?.path}: ${errors[0]?.message}`, { errors });
}
