// Converts the engine's plan to the response: settings as one object of the realm, secrets masked, a summary in words.
// Specification 2.10; decisions "Import, export, plan".
import { wholeKinds } from '../../../contract/sections.ts';
import type {
  Change,
  Conflict,
  Consequence,
  HeldChange,
  KeptObject,
  OwnershipMove,
  Plan,
} from '../../../contract/transfer.ts';
import type { PlannedChange, RealmPart } from '../../../resource/part.ts';
import { MASK, maskedFields } from '../../../resource/secrets.ts';
import type { EnginePlan } from './engine.ts';

/** Kinds with one object per realm, such as settings, are planned field by field; a response shows one object. */
export function byObject(realm: string, changes: readonly Change[]): Change[] {
  const byField = Map.groupBy(
    changes.filter((c) => wholeKinds.has(c.kind)),
    (c) => c.kind,
  );
  const ofRealm = [...byField].map(
    ([kind, of]): Change => ({
      action: 'update',
      kind,
      key: realm,
      fields: of.flatMap((c) => c.fields.map(({ from, to }) => ({ path: c.key, from, to }))),
    }),
  );
  return [...ofRealm, ...changes.filter((c) => !wholeKinds.has(c.kind))];
}

function shownChanges(
  realm: string,
  parts: readonly RealmPart[],
  changes: readonly PlannedChange[],
  mayRead: (kind: string) => boolean,
): Change[] {
  const secrets = new Map(parts.map((part) => [part.kind, part.secrets ?? []]));
  const shown = (change: PlannedChange): PlannedChange['fields'] => {
    const fields = maskedFields(change, secrets.get(change.kind) ?? []);
    return mayRead(change.kind) || change.action === 'create'
      ? fields
      : fields.map((field) => ({ ...field, from: MASK }));
  };
  return byObject(
    realm,
    changes.map((c) => ({ action: c.action, kind: c.kind, key: c.key, fields: shown(c) })),
  );
}

const shownConflicts = (realm: string, conflicts: readonly Conflict[]): Conflict[] =>
  conflicts.map((c) => (wholeKinds.has(c.kind) ? { ...c, key: realm, path: c.key } : c));

const shownMoves = (moves: EnginePlan['moves']): OwnershipMove[] => moves.map(({ owner: _, ...move }) => move);

const MOST_USERS = 100;
const shownKept = (realm: string, kept: EnginePlan['kept'], mayRead: (kind: string) => boolean): KeptObject[] =>
  kept.map(({ kind, key, usedBy }) => ({
    kind,
    key,
    usedBy: usedBy
      .filter((user) => mayRead(user.kind))
      .slice(0, MOST_USERS)
      .map((user) => named(realm, user)),
  }));

function shownHeld(
  realm: string,
  parts: readonly RealmPart[],
  held: EnginePlan['held'],
  mayRead: (kind: string) => boolean,
): HeldChange[] {
  return held.flatMap(({ change, hold }) =>
    shownChanges(realm, parts, [change], mayRead).map((shown) => ({
      ...shown,
      ...named(realm, change),
      hold,
    })),
  );
}

/** A setting is shown as a field of the realm. */
const named = (realm: string, { kind, key }: { kind: string; key: string }) =>
  wholeKinds.has(kind) ? { kind, key: realm, path: key } : { kind, key };

const count = (n: number, word: string) => `${n} to ${word}`;

/** Users are only counted here; routes.ts streams their changes after the others. */
export function planOf(
  {
    realm,
    manager,
    revision,
    created,
    dryRun,
  }: { realm: string; manager: string; revision: number; created: boolean; dryRun: boolean },
  plan: EnginePlan,
  {
    parts,
    users,
    mayRead,
    mayPlan,
    consequences = [],
  }: {
    parts: readonly RealmPart[];
    users: { counts: ReadonlyMap<string, number>; conflicts: Conflict[]; undeclared: Plan['undeclaredUsers'] };
    /** Whether the plan may show stored values of the kind, and objects that the document doesn't declare. */
    mayRead(kind: string): boolean;
    /** Whether the response may show what pruning would delete. */
    mayPlan(kind: string): boolean;
    consequences?: readonly Consequence[];
  },
): Plan {
  const seeded: Change[] = created ? [{ action: 'create', kind: 'realm', key: realm, fields: [] }] : [];
  const changes = [...seeded, ...shownChanges(realm, parts, plan.changes, mayRead)];
  const of = (action: Change['action']) =>
    changes.filter((c) => c.action === action).length + (users.counts.get(action) ?? 0);
  const [create, update, remove] = [of('create'), of('update'), of('delete')];
  const conflicts = [...shownConflicts(realm, plan.conflicts), ...users.conflicts];
  const ownership = shownMoves(plan.moves);
  const kept = shownKept(realm, plan.kept, mayRead);
  const held = shownHeld(realm, parts, plan.held, mayRead);
  const peopleGone = users.counts.get('delete') ?? 0;
  const taken = users.counts.get('take') ?? 0;
  const inSync = create + update + remove + ownership.length + conflicts.length + taken === 0;
  const words = [
    ...(create > 0 ? [count(create, 'create')] : []),
    ...(update > 0 ? [count(update, 'update')] : []),
    ...(remove > 0 ? [count(remove, 'delete')] : []),
    ...(conflicts.length > 0 ? [`${conflicts.length} in conflict`] : []),
    ...(ownership.length + taken > 0 ? [`${ownership.length + taken} to take or release`] : []),
    ...(kept.length > 0 ? [`${kept.length} kept while in use`] : []),
    ...(held.length > 0 ? [`${held.length} held`] : []),
  ];
  const text = words.length === 0 ? 'in sync' : words.join(', ');
  return {
    manager,
    revision,
    changes,
    ownership,
    conflicts,
    kept,
    held,
    keptSecrets: plan.keptSecrets,
    warnings: plan.warnings,
    consequences: consequences.map((one) => ({ ...one, ...named(realm, one) })),
    undeclared: plan.undeclared.filter(({ kind }) => mayPlan(kind)).map((one) => named(realm, one)),
    undeclaredUsers: users.undeclared,
    deletions: [...plan.deletions, ...(dryRun && peopleGone > 0 ? [{ kind: 'user', count: peopleGone }] : [])],
    inSync,
    summary: { create, update, delete: remove, text },
  };
}
