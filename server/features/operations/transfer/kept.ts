// Finds the objects that pruning leaves in place because others still need them. They keep their manager and are reported.
// Pure; references.ts reads the needs. Decisions "Import, export, plan".
import { Problem } from '../../../contract/problem.ts';
import { nameOf } from '../../../resource/references.ts';
import type { Owner, Planned } from './plan.ts';

/** The object `kind`/`key` needs the object `on`. */
export interface Need {
  kind: string;
  key: string;
  on: { kind: string; key: string };
  /** The manager of the object that needs it. */
  manager?: string;
}

export interface KeptObject {
  kind: string;
  key: string;
  usedBy: Pick<Need, 'kind' | 'key' | 'manager'>[];
}

/**
 * The removed objects that remaining ones need, with those that need them. A kept object keeps the objects that it
 * needs too.
 */
function staying(gone: ReadonlySet<string>, needs: readonly Need[]): Map<string, Map<string, Need>> {
  const stays = new Map<string, Map<string, Need>>();
  const byUser = Map.groupBy(needs, ({ kind, key }) => nameOf(kind, key));
  const users = [...byUser.keys()].filter((user) => !gone.has(user));
  for (const user of users) {
    for (const need of byUser.get(user) ?? []) {
      const on = nameOf(need.on.kind, need.on.key);
      if (!gone.has(on)) continue;
      const known = stays.get(on);
      // `users` grows during this loop: a kept object keeps the objects that it needs
      if (!known) users.push(on);
      stays.set(on, (known ?? new Map<string, Need>()).set(user, need));
    }
  }
  return stays;
}

/**
 * Removes needed objects from those that pruning deletes.
 * @param owners of the pruned objects
 */
export function keepNeeded(planned: Planned, needs: readonly Need[], owners: ReadonlyMap<string, Owner>): KeptObject[] {
  const removed = planned.changes.filter((c) => c.action === 'delete' && owners.has(nameOf(c.kind, c.key)));
  const stays = staying(new Set(removed.map((c) => nameOf(c.kind, c.key))), needs);
  if (stays.size === 0) return [];
  planned.changes = planned.changes.filter((c) => !stays.has(nameOf(c.kind, c.key)));
  planned.moves = planned.moves.flatMap((move) => {
    const owner = owners.get(nameOf(move.kind, move.key));
    if (!owner || !stays.has(nameOf(move.kind, move.key))) return [move];
    return owner.kept ? [] : [{ action: 'fields', kind: move.kind, key: move.key, owner: { ...owner, kept: true } }];
  });
  return removed.flatMap(({ kind, key }) => {
    const usedBy = stays.get(nameOf(kind, key));
    return usedBy ? [{ kind, key, usedBy: [...usedBy.values()] }] : [];
  });
}

/** Refuses a release with deletion, if an object must stay. @throws Problem `flow-in-use`, `in-use` */
export function refuseKept(kept: readonly KeptObject[]): void {
  const [first] = kept;
  const user = first?.usedBy[0];
  if (!first || !user) return;
  const whose = user.manager === undefined ? '' : `, which ${user.manager} manages`;
  const dependents = kept.flatMap(({ key: on, usedBy }) => usedBy.map(({ kind, key }) => ({ kind, key, on })));
  const more = dependents.length > 1 ? ` and ${dependents.length - 1} more` : '';
  throw new Problem(
    first.kind === 'flow' ? 'flow-in-use' : 'in-use',
    `The ${first.kind} ${first.key} is needed by the ${user.kind} ${user.key}${whose}${more}: change those first, or keep it`,
    { extra: { dependents: dependents.slice(0, 100) } },
  );
}
