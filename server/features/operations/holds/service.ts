// Owns: placing, reading and ending holds; the job ends those whose time is over.
// Does not own: what a hold keeps back (holds.ts, features/operations/transfer), the operator's report.
// Implements: decisions "Holds".
import { type By, bySystem } from '../../../contract/events.ts';
import { unknownField } from '../../../contract/field-words.ts';
import { areaOfHeldKind, type HeldThing, type Hold, LONGEST_HOLD_MS, MOST_HOLDS } from '../../../contract/holds.ts';
import type { Permission } from '../../../contract/permissions.ts';
import { type FieldError, Problem } from '../../../contract/problem.ts';
import { settingNames } from '../../../contract/settings.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { type Principal, requirePermission } from '../../../domain/principal.ts';
import type { EnqueueOptions } from '../../../jobs/queue.ts';
import { lockedKinds } from '../../../resource/declared-only.ts';
import { HOLD_JOB } from './job.ts';
import * as store from './store.ts';

export interface HoldsDeps {
  sql: Sql;
  transact: Transact;
  enqueue(sql: Sql, name: string, payloads: readonly object[], options?: EnqueueOptions): Promise<void>;
  now: () => Date;
  newId: () => string;
}
interface Wanted {
  what: readonly HeldThing[];
  reason: string;
  until: number;
}

const isUnknownSetting = ({ kind, key }: HeldThing): boolean =>
  kind === 'settings' && key !== undefined && !settingNames.some((name) => name === key);

/** Why a thing that no manager owns gets no hold. */
function unfitWords(thing: HeldThing): string {
  const { kind, key } = thing;
  const setting = kind === 'settings' && key !== undefined;
  if (setting && isUnknownSetting(thing)) return `${key} ${unknownField(key, settingNames)}`;
  const owns = key === undefined ? 'a manager owns nothing of the kind' : 'no manager owns the';
  return `${owns} ${[setting ? 'setting' : kind, key].filter(Boolean).join(' ')}: no document changes it, so it needs no hold`;
}

export function createHolds({ sql, transact, enqueue, now, newId }: HoldsDeps) {
  const find = async (on: Sql, realm: string, id: string): Promise<Hold | undefined> => {
    const [row] = await store.listHolds(on, realm, { id, limit: 1 });
    return row && toWire(row);
  };

  async function refuseUnfit(tx: Tx, realm: string, { what, until }: Wanted, at: Date): Promise<void> {
    const standing = await store.countHolds(tx.sql, realm);
    if (standing === undefined) throw new Problem('not-found', `There is no realm ${realm}`);
    if (standing >= MOST_HOLDS) throw new Problem('wrong-state', `The realm has ${MOST_HOLDS} holds: end one first`);
    const errors: FieldError[] = [];
    if (until <= at.getTime()) errors.push({ path: 'until', message: 'must be in the future' });
    if (until > at.getTime() + LONGEST_HOLD_MS) errors.push({ path: 'until', message: 'must be within seven days' });
    const isLocked = await lockedKinds(tx.sql, realm);
    for (const n of await store.unmanagedOf(tx.sql, realm, what.map(stored))) {
      const thing = what[n];
      // a hold opens what is declared only, also what no manager declares yet
      if (thing && (!isLocked(thing.kind) || isUnknownSetting(thing)))
        errors.push({ path: `what[${n}]`, message: unfitWords(thing) });
    }
    if (errors.length > 0)
      throw new Problem('invalid-request', errors.map((e) => `${e.path}: ${e.message}`).join('; '), { errors });
  }

  return {
    list: async (realm: string, page: Parameters<typeof store.listHolds>[2]): Promise<Hold[]> =>
      (await store.listHolds(sql, realm, page)).map(toWire),

    async get(realm: string, id: string): Promise<Hold> {
      const hold = await find(sql, realm, id);
      if (!hold) throw gone();
      return hold;
    },

    place: ({ principal, by }: { principal: Principal; by: By }, realm: string, wanted: Wanted): Promise<Hold> => {
      for (const { kind } of wanted.what) requireWrite(principal, realm, kind);
      return transact(realm, async (tx) => {
        const at = now();
        await refuseUnfit(tx, realm, wanted, at);
        const row: store.HoldRow = {
          id: newId(),
          reason: wanted.reason,
          actor: by.actor,
          placed_at: at,
          until: new Date(wanted.until),
          what: wanted.what.map(stored),
        };
        await store.insertHold(tx.sql, realm, row);
        const startAfterSeconds = Math.ceil((wanted.until - at.getTime()) / 1000);
        await enqueue(tx.sql, HOLD_JOB, [{ realm, id: row.id }], { startAfterSeconds });
        const hold = (await find(tx.sql, realm, row.id)) ?? toWire(row);
        const { id, what, reason, until } = hold;
        tx.record({ type: 'HOLD_PLACED', realm, by, subject: subjectOf(id), data: { what, reason, until } });
        return hold;
      });
    },

    end: ({ principal, by }: { principal: Principal; by: By }, realm: string, id: string): Promise<void> =>
      transact(realm, async (tx) => {
        const hold = await find(tx.sql, realm, id);
        for (const { kind } of hold?.what ?? []) requireWrite(principal, realm, kind);
        if (!(await endIn(tx, realm, { id, by, because: 'ended' }))) throw gone();
      }),

    /** Ends the hold if its time is over; it may have been ended before. */
    expire: (realm: string, id: string): Promise<void> =>
      transact(realm, async (tx) => {
        const hold = await find(tx.sql, realm, id);
        if (!hold) return;
        if (hold.until > now().getTime())
          throw new Error(`the hold ${id} stands until ${new Date(hold.until).toISOString()}`);
        await endIn(tx, realm, { id, by: bySystem, because: 'expired' });
      }),
  };
}
export type Holds = ReturnType<typeof createHolds>;

/** The event raises the realm's revision: the operator plans again, and restores what is declared. */
async function endIn(
  tx: Tx,
  realm: string,
  { id, by, because }: { id: string; by: By; because: 'ended' | 'expired' },
): Promise<boolean> {
  const row = await store.deleteHold(tx.sql, realm, id);
  if (!row) return false;
  const { what, reason, until } = toWire(row);
  tx.record({ type: 'HOLD_ENDED', realm, by, subject: subjectOf(id), data: { what, reason, until, because } });
  return true;
}

const subjectOf = (id: string) => ({ type: 'object', id, name: 'hold' }) as const;
const gone = () => new Problem('not-found', 'There is no such hold; it may have ended');
const stored = ({ kind, key = store.ALL }: HeldThing) => ({ kind, key });

const toWire = ({ id, reason, actor, placed_at, until, what }: store.HoldRow): Hold => ({
  id,
  what: what.map(({ kind, key }) => ({ kind, ...(key !== store.ALL && { key }) })) as HeldThing[],
  reason,
  placedBy: actor,
  placedAt: placed_at.getTime(),
  until: until.getTime(),
});

/**
 * An edit of the kind needs this permission too: a hold without it would only keep documents away. Ending a hold sets the declared
 * state back, which is such an edit.
 */
function requireWrite(principal: Principal, realm: string, kind: string): void {
  const permission = `${areaOfHeldKind.get(kind)}:write` as Permission;
  const because = `A hold on ${kind} needs the permission ${permission} in the realm ${realm}`;
  requirePermission(principal, realm, permission, because);
}
