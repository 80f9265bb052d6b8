// A target's status: its objects, those that are out of step and why, and the changes that a reconciliation would make.

import type { By } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Reconciliation, ScimTargetObject } from '../../../contract/scim-targets.ts';
import { isUuid } from '../../../crypto/ids.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { notACursor } from '../../../http/paging.ts';
import { plannedObjects } from './provision-plan.ts';
import * as store from './provision-store.ts';

interface At {
  realm: string;
  id: string;
}
/** The number of objects in one step of a full comparison. */
const PIECE = 1_000;
const SHOWN = 100;

async function targetAt(sql: Sql, { realm, id }: At): Promise<store.Target> {
  const target = await store.findTarget(sql, realm, id);
  if (!target) throw new Problem('not-found', 'There is no such SCIM target');
  return target;
}

export async function listObjects(
  sql: Sql,
  at: At,
  query: { after: { kind: string; id: string } | undefined; wanted: store.State | undefined; limit: number },
): Promise<ScimTargetObject[]> {
  await targetAt(sql, at);
  const { after } = query;
  if (after && !isUuid(after.id)) throw notACursor();
  const rows = await store.objects(sql, at.realm, at.id, query);
  return rows.map(({ kind, id, name, state, attempts, error, ...row }) => ({
    kind,
    id,
    name,
    remoteId: row.remote_id,
    state,
    attempts,
    error,
    nextTryAt: row.due_at?.getTime() ?? null,
  }));
}

/** Sends everything again, even if it was sent before: this reverts changes that others made at the target. */
export const reconcile = (
  { transact, now }: { transact: Transact; now: () => Date },
  by: By,
  at: At,
): Promise<Reconciliation> =>
  transact(at.realm, async ({ sql, record }) => {
    const target = await targetAt(sql, at);
    if (!target.enabled) throw new Problem('wrong-state', 'The SCIM target is disabled');
    await store.markAll(sql, at.realm, at.id, now(), { forget: true });
    record({
      type: 'SCIM_TARGET_RECONCILED',
      realm: at.realm,
      by,
      subject: { type: 'object', id: at.id, name: target.name },
    });
    return { dryRun: false, create: null, update: null, delete: null, unchanged: null, examples: [] };
  });

/** Compares with the resources that were sent before; changes that others made at the target don't show. */
export async function dryRun(sql: Sql, at: At): Promise<Reconciliation> {
  const target = await targetAt(sql, at);
  const sum = { create: 0, update: 0, delete: 0, unchanged: 0 };
  const examples: Reconciliation['examples'] = [];
  let after: { kind: string; id: string } | undefined;
  do {
    const links = await store.everyObject(sql, at.realm, at.id, { after, limit: PIECE });
    const plans = await plannedObjects(sql, at.realm, target, links);
    for (const link of links) {
      const plan = plans.get(link.object_id);
      if (!plan && link.remote_id === null) continue;
      const action = !plan
        ? 'delete'
        : link.remote_id === null
          ? 'create'
          : link.digest === plan.digest
            ? 'unchanged'
            : 'update';
      sum[action] += 1;
      if (action !== 'unchanged' && examples.length < SHOWN)
        examples.push({ kind: link.kind, id: link.object_id, name: plan?.name ?? null, action });
    }
    const last = links.length === PIECE ? links.at(-1) : undefined;
    after = last && { kind: last.kind, id: last.object_id };
  } while (after);
  return { dryRun: true, ...sum, examples };
}
