// Users in an import: plans and merges their rows by the statements of features/users/, checks names, doubles and rights.
// Rows never come into memory; what is wrong is told by their place in the document.
import type { By } from '../../contract/events.ts';
import { type FieldError, Problem, unknownName } from '../../contract/problem.ts';
import type { Conflict, Consequence, Plan } from '../../contract/transfer.ts';
import type { Sql } from '../../db/sql.ts';
import type { Tx } from '../../db/transact.ts';
import type { Principal } from '../../domain/principal.ts';
import { hasNoRules, profileFaults, profileIn, profileWith, readProfile } from '../../domain/user-profile.ts';
import type { PlannedChange } from '../../resource/part.ts';
import { prunedName } from '../../resource/references.ts';
import { escalation, holdsAll } from '../../resource/rights.ts';
import type { BulkInsert } from '../users/bulk-insert.ts';
import type { Declares } from '../users/document-user.ts';
import type * as store from '../users/import-store.ts';
import type { UserMerge } from '../users/merge.ts';
import type { Stage } from '../users/transfer.ts';
import { refuse } from './document.ts';
import type { PlanOptions } from './plan.ts';

/** The statements of features/users/import-store.ts. */
export type ImportStore = typeof store;

export interface UserPlan {
  counts: ReadonlyMap<string, number>;
  conflicts: Conflict[];
  /** Something is written for users. */
  writes: boolean;
  /** Of a dry run: whom the manager owns and the document doesn't declare, nor prune. */
  undeclared: Plan['undeclaredUsers'];
}
export const NOBODY: UserPlan['undeclared'] = { count: 0, usernames: [] };

const WORDS = {
  delete: 'go, with all that is theirs',
  disable: 'sign in no more',
  lose: 'lose roles or groups',
} as const;
const WRITES = ['create', 'update', 'delete', 'take'];
/** A few dozen rows need no statistics. */
const MANY = 1000;
const MOST_FAULTS = 100;

const fresh = (count: number): Map<string, number> => new Map(count > 0 ? [['create', count]] : []);
const keysOf = (changes: readonly PlannedChange[], kind: string, action: PlannedChange['action']): string[] =>
  changes.filter((c) => c.kind === kind && c.action === action).map((c) => c.key);

/** Whether the importer may be told that what a user names isn't there. */
type MayAsk = (by: 'user', of: string) => boolean;

const declaresTies = (declares: Declares): boolean => Object.values(declares).includes(true);

interface UserPlanOptions extends PlanOptions {
  dryRun: boolean;
  /** Whether what a document says is older than the user profile needn't fit it. */
  mayKeepUnfit: boolean;
}

/** The users of one import, in its transaction. */
export interface People {
  /** Of the rows that they wait in. */
  importId: string;
  /** @throws Problem `invalid-request` naming `users[n]` for doubles and unknown names */
  plan(sql: Sql, options: UserPlanOptions, changes: readonly PlannedChange[], mayAsk: MayAsk): Promise<UserPlan>;
  /** @throws Problem `privilege-escalation` where a user who is changed or deleted holds more than the importer */
  refuseEscalation(sql: Sql, principal: Principal): Promise<void>;
  /** Of a dry run, once it is planned. */
  consequences(sql: Sql, at: Date): Promise<Consequence[]>;
  merge(tx: Tx, by: By, options: PlanOptions, at: Date, counts: UserPlan['counts']): Promise<void>;
}

/** Users whose rows are staged, to be compared with whom the realm has. */
export function stagedPeople(rows: ImportStore, mergeUsers: UserMerge, realm: string, stage: Stage): People {
  const { importId, declares } = stage;
  const many = () => stage.count() > MANY;
  return {
    importId,
    plan: (sql, options, changes, mayAsk) => rows.ofMany(sql, many(), () => planOf(sql, options, changes, mayAsk)),
    async refuseEscalation(sql, principal) {
      for (const { holder, role, permissions, target_realm } of await rows.administrators(sql, realm, importId))
        if (!holdsAll(principal, target_realm, permissions))
          throw escalation(`The user ${holder}, by the admin role ${role},`);
    },
    consequences: async (sql, at) =>
      (await rows.touched(sql, realm, importId, at)).map(({ effect, people, sessions }) => ({
        ...{ kind: 'user', key: '*', message: WORDS[effect], locksOut: true },
        ...{ people, sessions, clients: 0 },
      })),
    merge: (tx, by, { manager }, at, counts) =>
      mergeUsers(tx, { realm, importId, by, manager, at, declares, many: many(), has: (action) => counts.has(action) }),
  };

  async function planOf(
    sql: Sql,
    options: UserPlanOptions,
    changes: readonly PlannedChange[],
    mayAsk: MayAsk,
  ): Promise<UserPlan> {
    const ties = declaresTies(declares);
    const known = await rows.anybody(sql, realm);
    // A plan before this one, which somebody overtook, has left its marks.
    if (stage.planned) await rows.reset(sql, importId);
    stage.planned = true;
    if (many() && (known || ties)) await rows.analyze(sql, importId);
    if (known) await rows.compare(sql, realm, importId, { ...options, declares });
    if (known && options.prune) await rows.stageDropped(sql, realm, importId, options.manager);
    // Whoever is staged is new until somebody is found.
    const counts = known ? await rows.counts(sql, importId) : fresh(stage.count());
    // Two new users of one name meet at the unique index; two that are one stored user would not, nor would a dry run's.
    if (options.dryRun || [...counts.keys()].some((action) => action !== 'create'))
      await refuseDoubles(rows, sql, importId);
    await refuseUnfit(rows, sql, { realm, importId, changes, mayKeepUnfit: options.mayKeepUnfit });
    if (ties) await refuseUnknownNames(rows, sql, { realm, importId, changes, mayAsk });
    // Otherwise the unique index finds them.
    const taken = options.dryRun && known ? await emailsTaken(rows, sql, realm, importId) : undefined;
    if (taken) throw taken;
    const { dryRun, prune, manager } = options;
    const lost = known && dryRun && !prune;
    const conflicts = counts.has('conflict') ? await rows.conflicts(sql, realm, importId) : [];
    return {
      counts,
      conflicts: conflicts.map((c) => ({ kind: 'user', ...c })),
      writes: WRITES.some((action) => counts.has(action)),
      undeclared: lost ? await rows.undeclared(sql, { realm, manager, importId }) : NOBODY,
    };
  }
}

/** So many are looked at in one go. */
const PAGE = 2000;

/**
 * People must fit the realm's profile as it will be, whichever of the two the document says first; but for what it says is older
 * than the profile, where the importer could as well change the profile.
 */
async function refuseUnfit(
  rows: ImportStore,
  sql: Sql,
  {
    realm,
    importId,
    changes,
    mayKeepUnfit,
  }: { realm: string; importId: string; changes: readonly PlannedChange[]; mayKeepUnfit: boolean },
): Promise<void> {
  const declared = profileIn(changes.map(({ kind, key, save: fields }) => ({ kind, key, fields })));
  const profile = await profileWith(await readProfile(sql, realm), declared);
  if (hasNoRules(profile)) return;
  const faults: FieldError[] = [];
  let after = -1;
  for (let full = true; full && faults.length < MOST_FAULTS; ) {
    const page = await rows.profiles(sql, realm, importId, { after, limit: PAGE });
    for (const { n, before, olderThanProfile, ...person } of page)
      for (const fault of profileFaults(profile, { by: 'document', before: before ?? undefined, after: person }))
        if (!mayKeepUnfit || !olderThanProfile.includes(fault.path))
          faults.push({ ...fault, path: `users[${n}].${fault.path}` });
    after = page.at(-1)?.n ?? after;
    full = page.length === PAGE;
  }
  refuse(faults);
}

/** Users who are in the realm's table already, all of them new. */
export function insertedPeople(rows: ImportStore, realm: string, inserts: BulkInsert): People {
  const { importId, declares } = inserts;
  const counts = fresh(inserts.count());
  return {
    importId,
    async plan(sql, _options, changes, mayAsk) {
      if (declaresTies(declares)) {
        await rows.analyze(sql, importId);
        await refuseUnknownNames(rows, sql, { realm, importId, changes, mayAsk });
      }
      return { counts, conflicts: [], writes: counts.size > 0, undeclared: NOBODY };
    },
    refuseEscalation: async () => {},
    // who is new was never signed in
    consequences: async () => [],
    merge: ({ sql }, _by, _options, at) =>
      rows.ofMany(sql, true, async () => {
        await rows.mergeTies(sql, realm, importId, { at, declares, has: (action) => counts.has(action) });
        await rows.giveDefaultsToWritten(sql, realm, importId);
      }),
  };
}

async function refuseUnknownNames(
  rows: ImportStore,
  sql: Sql,
  {
    realm,
    importId,
    changes,
    mayAsk,
  }: { realm: string; importId: string; changes: readonly PlannedChange[]; mayAsk: MayAsk },
): Promise<void> {
  const kinds = { roles: 'role', groups: 'group', clientRoles: 'clientRole', identities: 'identityProvider' } as const;
  const namesOf = (action: PlannedChange['action']) => ({
    roles: keysOf(changes, kinds.roles, action),
    groups: keysOf(changes, kinds.groups, action),
    clientRoles: keysOf(changes, kinds.clientRoles, action),
    identities: keysOf(changes, kinds.identities, action),
  });
  const gone = namesOf('delete');
  const unknown = await rows.unknownNames(sql, realm, importId, { made: namesOf('create'), gone });
  refuse(
    unknown.flatMap(({ n, field, name }) => {
      const [path, kind] = [`users[${n}].${field}`, kinds[field]];
      if (!mayAsk('user', kind)) return [];
      return gone[field].includes(name) ? prunedName(path, kind, name) : unknownName(path, kind, name);
    }),
  );
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
  return emailsTaken(rows, sql, realm, stage.importId);
}

async function emailsTaken(rows: ImportStore, sql: Sql, realm: string, importId: string): Promise<Problem | undefined> {
  const taken = await rows.takenEmails(sql, realm, importId);
  if (taken.length === 0) return undefined;
  const errors = taken.map(({ n, owner }) => ({ path: `users[${n}].email`, message: `is ${owner}'s already` }));
  return new Problem('invalid-request', `${errors[0]?.path}: ${errors[0]?.message}`, { errors });
}
