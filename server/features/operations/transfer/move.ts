// Renames managers in every realm at once: a rebuilt cluster keeps the objects of the old one.
// Decisions "Ownership".
import type { By } from '../../../contract/events.ts';
import { permissions } from '../../../contract/permissions.ts';
import { Problem } from '../../../contract/problem.ts';
import { MASTER } from '../../../contract/realms.ts';
import { ManagerName, type ManagersMove } from '../../../contract/transfer.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import type { OwnedObject } from '../../../domain/ownership.ts';
import { type Principal, requirePermission } from '../../../domain/principal.ts';
import { escalation, holdsAll } from '../../../resource/rights.ts';
import type { Realms } from '../../configuration/realms/service.ts';
import * as store from './move-store.ts';

export interface MoveRequest extends store.Rename {
  principal: Principal;
  by: By;
  dryRun: boolean;
  /** These alone. */
  realm?: string | undefined;
  objects?: readonly OwnedObject[] | undefined;
}

export function createManagersMove({
  sql,
  transact,
  realms,
}: {
  sql: Sql;
  transact: Transact;
  realms: Pick<Realms, 'renameMakers'>;
}) {
  async function plan(on: Sql, rename: store.Rename): Promise<ManagersMove> {
    const managers = await store.readMoves(on, rename);
    const made = await store.readRealms(on, rename);
    const namesOf = (former: boolean) => made.filter((one) => one.former === former).map(({ name }) => name);
    return { managers, realms: namesOf(false), formerRealms: namesOf(true) };
  }

  const realmsIn = (move: ManagersMove): string[] => [
    ...new Set([...move.managers.map(({ realm }) => realm), ...move.realms]),
  ];

  /** Hands over some objects of one manager, for example those of a client that another resource declares from now on. */
  async function handOver(
    { by, from, to, dryRun }: MoveRequest,
    realm: string,
    objects: readonly OwnedObject[],
  ): Promise<ManagersMove> {
    const answer = (found: number): ManagersMove => ({
      managers: found === 0 ? [] : [{ realm, from, to, objects: found }],
      realms: [],
      formerRealms: [],
    });
    const owned = await store.countOwned(sql, realm, { from, objects });
    if (dryRun || owned === 0) return answer(owned);
    return transact(realm, async (tx) => {
      await store.lockRealms(tx.sql, [realm]);
      const moved = await store.handOver(tx.sql, realm, { from, to, objects });
      const subject = { type: 'manager', id: null, name: from } as const;
      const names = moved.map(({ kind, key }) => `${kind} ${key}`);
      if (names.length > 0)
        tx.record({ type: 'MANAGERS_MOVED', realm, by, subject, data: { from, to, objects: names } });
      return answer(moved.length);
    });
  }

  /** Moving ownership hands over realms through the operator, so the caller must hold every permission. */
  return async (request: MoveRequest): Promise<ManagersMove> => {
    const { principal, by, from, to, dryRun, realm: of, objects } = request;
    requirePermission(principal, '*', 'managers:write');
    if (!dryRun && !holdsAll(principal, '*', permissions)) throw escalation('Ownership of other managers’ objects');
    refuse(from, to, []);
    if (of !== undefined && objects) return handOver(request, of, objects);
    const rename = { from, to };
    const planned = await plan(sql, rename);
    refuse(from, to, planned.managers);
    if (dryRun || realmsIn(planned).length + planned.formerRealms.length === 0) return planned;
    return transact(undefined, async (tx) => {
      await store.lockRealms(tx.sql, realmsIn(planned));
      const moved = await plan(tx.sql, rename);
      await store.renameManagers(tx.sql, rename);
      await store.renameInHistory(tx.sql, rename, realmsIn(moved));
      await realms.renameMakers(tx.sql, rename, [...moved.realms, ...moved.formerRealms]);
      const subject = { type: 'manager', id: null, name: from } as const;
      // a deleted realm has no audit log, so master's records the change
      for (const realm of new Set([...realmsIn(moved), ...(moved.formerRealms.length > 0 ? [MASTER] : [])])) {
        const managers = moved.managers.filter((one) => one.realm === realm).map((one) => one.from);
        tx.record({ type: 'MANAGERS_MOVED', realm, by, subject, data: { from, to, managers } });
      }
      return moved;
    });
  };
}
export type MoveManagers = ReturnType<typeof createManagersMove>;

/** @throws Problem `invalid-request` */
function refuse(from: string, to: string, moves: ManagersMove['managers']): void {
  const tooLong = moves.find((one) => !ManagerName.safeParse(one.to).success);
  const message = from === to ? 'must be another name' : tooLong && `would make the name ${tooLong.to} too long`;
  if (message !== undefined)
    throw new Problem('invalid-request', 'The name can’t be taken', { errors: [{ path: 'to', message }] });
}
