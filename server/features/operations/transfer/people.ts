// Users in an import: plans and merges their rows by the statements of features/people/users/, checks names, duplicates and
// rights. Rows are never loaded into memory; a fault names the row's place in the document.

import type { By } from '../../../contract/events.ts';
import { type FieldError, fieldErrorOf, Problem, unknownName } from '../../../contract/problem.ts';
import type { Conflict, Consequence, Plan } from '../../../contract/transfer.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import type { Principal } from '../../../domain/principal.ts';
import { hasNoRules, profileFaults, profileIn, profileWith, readProfile } from '../../../domain/user-profile.ts';
import type { PlannedChange } from '../../../resource/part.ts';
import { prunedName } from '../../../resource/references.ts';
import { escalation, holdsAll } from '../../../resource/rights.ts';
import type { BulkInsert } from '../../people/users/bulk-insert.ts';
import type { Declares } from '../../people/users/document-user.ts';
import * as rows from '../../people/users/import-store.ts';
import { mergeUsers } from '../../people/users/merge.ts';
import type { Stage } from '../../people/users/transfer.ts';
import { refuse } from './document.ts';
import { setLastAdministratorAside } from './last-administrator.ts';
import type { PlanOptions } from './plan.ts';

export interface UserPlan {
  counts: ReadonlyMap<string, number>;
  conflicts: Conflict[];
  /** Whether the plan writes users. */
  writes: boolean;
  /** For a dry run: users that the manager owns and the document neither declares nor prunes. */
  undeclared: Plan['undeclaredUsers'];
}
export const NOBODY: UserPlan['undeclared'] = { count: 0, usernames: [] };

const WORDS = {
  delete: 'are deleted, with all their data',
  disable: 'sign in no more',
  lose: 'lose roles or groups',
} as const;
const WRITES = ['create', 'update', 'delete', 'take'];
/** Imports of more rows refresh PostgreSQL's statistics and read the realm's users at once. */
const MANY = 1000;
const MOST_FAULTS = 100;

const fresh = (count: number): Map<string, number> => new Map(count > 0 ? [['create', count]] : []);
const keysOf = (changes: readonly PlannedChange[], kind: string, action: PlannedChange['action']): string[] =>
  changes.filter((c) => c.kind === kind && c.action === action).map((c) => c.key);

/** Whether the importer may learn that a name in a user's row doesn't exist. */
type MayAsk = (by: 'user', of: string) => boolean;

const declaresTies = (declares: Declares): boolean => Object.values(declares).includes(true);

interface UserPlanOptions extends PlanOptions {
  dryRun: boolean;
  /** Whether values older than the user profile may violate it. */
  mayKeepUnfit: boolean;
  principal: Principal;
}

/** The users of one import, in its transaction. */
export interface People {
  /** The id of the staged rows. */
  importId: string;
  /** @throws Problem `invalid-request` naming `users[n]` for doubles and unknown names */
  plan(sql: Sql, options: UserPlanOptions, changes: readonly PlannedChange[], mayAsk: MayAsk): Promise<UserPlan>;
  /** @throws Problem `privilege-escalation` if a changed or deleted user holds more than the importer */
  refuseEscalation(sql: Sql, principal: Principal): Promise<void>;
  /** The consequences of a planned dry run. */
  consequences(sql: Sql, at: Date): Promise<Consequence[]>;
  merge(tx: Tx, by: By, options: PlanOptions, at: Date, counts: UserPlan['counts']): Promise<void>;
}

/**
 * Users whose rows are staged for a comparison with the realm's users.
 * @param aside rows that the realm can't accept are set aside, and the others are imported
 */
export function stagedPeople(
  now: () => Date,
  realm: string,
  { stage, aside }: { stage: Stage; aside: boolean },
): People {
  const { importId, declares } = stage;
  const many = () => stage.count() > MANY;
  return {
    importId,
    plan: (sql, options, changes, mayAsk) => rows.hashing(sql, () => planOf(sql, options, changes, mayAsk)),
    async refuseEscalation(sql, principal) {
      const holder = (await rows.administrators(sql, realm, importId)).find(beyond(principal));
      if (holder) throw escalationBy(holder);
    },
    consequences: async (sql, at) =>
      (await rows.affectedUsers(sql, realm, importId, at)).map(({ effect, people, sessions }) => ({
        kind: 'user',
        key: '*',
        message: WORDS[effect],
        locksOut: true,
        people,
        sessions,
        clients: 0,
      })),
    merge: (tx, by, { manager }, at, counts) =>
      mergeUsers(tx, {
        realm,
        importId,
        by,
        now,
        manager,
        at,
        declares,
        many: many(),
        has: (action) => counts.has(action),
      }),
  };

  async function planOf(
    sql: Sql,
    options: UserPlanOptions,
    changes: readonly PlannedChange[],
    mayAsk: MayAsk,
  ): Promise<UserPlan> {
    const ties = declaresTies(declares);
    const known = await rows.hasUsers(sql, realm);
    // An earlier plan, overtaken by another write, has marked the rows.
    if (stage.planned) await rows.reset(sql, realm, importId);
    stage.planned = true;
    if (many() && (known || ties || aside)) await rows.analyze(sql, realm, importId);
    const setAside = asideOf(sql, { realm, importId, changes, ties, options });
    if (aside) await setAside.beforeComparing();
    if (known)
      await rows.compare(sql, realm, importId, { ...options, declares, profile: await readProfile(sql, realm) });
    if (known && options.prune) await rows.stageDropped(sql, realm, importId, options.manager);
    if (aside) await setAside.afterComparing();
    // Counted from the rows: a user may have been erased since the rows were staged.
    const counts = await rows.counts(sql, realm, importId);
    if (!aside) await refuseFaults(sql, { options, changes, mayAsk, known, ties, counts });
    const { dryRun, prune, manager } = options;
    const lost = known && dryRun && !prune;
    const conflicts = counts.has('conflict') ? await rows.conflicts(sql, realm, importId) : [];
    return {
      counts,
      conflicts: conflicts.map((c) => ({ kind: 'user', ...c })),
      writes: WRITES.some((action) => counts.has(action)),
      undeclared: lost ? await rows.undeclaredUsers(sql, { realm, manager, importId }) : NOBODY,
    };
  }

  async function refuseFaults(
    sql: Sql,
    {
      options,
      changes,
      mayAsk,
      known,
      ties,
      counts,
    }: {
      options: UserPlanOptions;
      changes: readonly PlannedChange[];
      mayAsk: MayAsk;
      known: boolean;
      ties: boolean;
      counts: UserPlan['counts'];
    },
  ): Promise<void> {
    // The unique index refuses two new users with one name. It would not notice two rows for one stored user, nor does
    // a dry run write.
    if (options.dryRun || [...counts.keys()].some((action) => action !== 'create'))
      await refuseDoubles(sql, realm, importId);
    await refuseUnfit(sql, { realm, importId, changes, mayKeepUnfit: options.mayKeepUnfit });
    if (ties) await refuseUnknownNames(sql, { realm, importId, changes, mayAsk });
    // Only for dry runs: in other imports the unique index finds taken addresses.
    const taken = options.dryRun && known ? await emailsTaken(sql, realm, importId) : undefined;
    if (taken) throw taken;
  }
}

interface Fitting {
  realm: string;
  importId: string;
  changes: readonly PlannedChange[];
  mayKeepUnfit: boolean;
}

/**
 * Sets aside the rows that the realm can't accept. Which of two conflicting rows is kept doesn't depend on the order of
 * these checks.
 */
function asideOf(
  sql: Sql,
  {
    realm,
    importId,
    changes,
    ties,
    options,
  }: Omit<Fitting, 'mayKeepUnfit'> & { ties: boolean; options: UserPlanOptions },
) {
  const { asides } = rows;
  return {
    async beforeComparing(): Promise<void> {
      if (ties) await asides.refuseUnknown(sql, realm, importId);
      await asides.refuseRepeated(sql, realm, importId);
    },
    async afterComparing(): Promise<void> {
      await asides.refuseManaged(sql, realm, importId);
      for await (const unfit of unfitRows(sql, { realm, importId, changes, mayKeepUnfit: options.mayKeepUnfit }))
        await asides.refuseRows(sql, realm, importId, unfit);
      const holders = (await rows.administrators(sql, realm, importId)).filter(beyond(options.principal));
      const errors = (of: (typeof holders)[number]) => [{ path: '', message: escalationBy(of).detail ?? '' }];
      await asides.refuseRows(
        sql,
        realm,
        importId,
        holders.map((of) => ({ n: of.n, errors: errors(of) })),
      );
      await asides.refuseNamesOfOthers(sql, realm, importId);
      await asides.refuseIdsOfOthers(sql, realm, importId);
      await asides.refuseSubjectsOfOthers(sql, realm, importId);
      await asides.refuseTakenEmails(sql, realm, importId);
      // Checks the remaining rows.
      await setLastAdministratorAside(sql, realm, importId);
    },
  };
}

type Administrator = Awaited<ReturnType<typeof rows.administrators>>[number];
const beyond =
  (principal: Principal) =>
  ({ permissions, target_realm: target }: Administrator): boolean =>
    !holdsAll(principal, target, permissions);
const escalationBy = ({ holder, role }: Administrator): Problem =>
  escalation(`The user ${holder}, by the admin role ${role},`);

/**
 * Users must fit the realm's profile after the import, even if the document has the profile last. Values older than the
 * profile may violate it if the importer may change the profile anyway.
 */
async function* unfitRows(
  sql: Sql,
  { realm, importId, changes, mayKeepUnfit }: Fitting,
): AsyncGenerator<{ n: number; errors: FieldError[] }[]> {
  const declared = profileIn(changes.map(({ kind, key, save: fields }) => ({ kind, key, fields })));
  const profile = await profileWith(await readProfile(sql, realm), declared);
  if (hasNoRules(profile)) return;
  await rows.openProfiles(sql, realm, importId);
  for (;;) {
    const people = await rows.nextProfiles(sql);
    if (people.length === 0) break;
    yield people.flatMap(({ n, before, olderThanProfile, ...person }) => {
      const found = profileFaults(profile, { by: 'document', before: before ?? undefined, after: person });
      const errors = found.filter(({ path }) => !mayKeepUnfit || !olderThanProfile.includes(path)).map(fieldErrorOf);
      return errors.length > 0 ? [{ n, errors }] : [];
    });
  }
  await rows.closeProfiles(sql);
}

async function refuseUnfit(sql: Sql, of: Fitting): Promise<void> {
  const faults: FieldError[] = [];
  for await (const unfit of unfitRows(sql, of)) {
    for (const { n, errors } of unfit)
      for (const fault of errors) faults.push({ ...fault, path: `users[${n}].${fault.path}` });
    if (faults.length >= MOST_FAULTS) break;
  }
  refuse(faults);
}

/** New users whose rows are in the realm's table already. */
export function insertedPeople(realm: string, inserts: BulkInsert): People {
  const { importId, declares } = inserts;
  const counts = fresh(inserts.count());
  return {
    importId,
    async plan(sql, _options, changes, mayAsk) {
      if (declaresTies(declares)) {
        await rows.analyze(sql, realm, importId);
        await refuseUnknownNames(sql, { realm, importId, changes, mayAsk });
      }
      return { counts, conflicts: [], writes: counts.size > 0, undeclared: NOBODY };
    },
    refuseEscalation: async () => {},
    // new users have no sessions
    consequences: async () => [],
    merge: ({ sql }, _by, _options, at) =>
      rows.hashing(sql, async () => {
        await rows.mergeTies(sql, realm, importId, { at, declares, many: true, has: (action) => counts.has(action) });
        await rows.giveDefaultsToWritten(sql, realm, importId);
      }),
  };
}

async function refuseUnknownNames(
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

async function refuseDoubles(sql: Sql, realm: string, importId: string): Promise<void> {
  refuse(
    (await rows.duplicateUsers(sql, realm, importId)).map(({ field, value, places: [first, second] }) => ({
      path: `users[${second}].${field}`,
      message: `declares ${value} again: users[${first}] does already`,
    })),
  );
}

/** A unique index's refusal, as a problem that names the document's values. */
export async function takenNames(sql: Sql, realm: string, stage: Stage): Promise<Problem | undefined> {
  await refuseDoubles(sql, realm, stage.importId);
  return emailsTaken(sql, realm, stage.importId);
}

async function emailsTaken(sql: Sql, realm: string, importId: string): Promise<Problem | undefined> {
  const taken = await rows.takenEmails(sql, realm, importId);
  if (taken.length === 0) return undefined;
  const errors = taken.map(({ n, owner }) => ({ path: `users[${n}].email`, message: `is ${owner}'s already` }));
  return new Problem('invalid-request', `${errors[0]?.path}: ${errors[0]?.message}`, { errors });
}
