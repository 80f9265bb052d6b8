// A realm's managers, and the managers that may adopt it. apply.ts adopts and releases objects.
// Decisions "Ownership", "Tenancy".
import type { By } from '../../../contract/events.ts';
import { permissions } from '../../../contract/permissions.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Manager } from '../../../contract/transfer.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { hasPermission, type Principal } from '../../../domain/principal.ts';
import type { Expect } from '../../../http/etag.ts';
import type { RealmPart } from '../../../resource/part.ts';
import { escalation, holdsAll } from '../../../resource/rights.ts';
import * as store from './store.ts';

interface AdoptionAnswer {
  managers: string[];
  createdBy: string;
}

interface ManagersPage {
  rows: Manager[];
  next: store.ManagersPlace | undefined;
}
/** Objects of one page, of all its managers. */
const MOST_OBJECTS = 1_000;

export function createManagers({
  sql,
  transact,
  parts,
}: {
  sql: Sql;
  transact: Transact;
  parts: readonly Pick<RealmPart, 'kind' | 'area'>[];
}) {
  async function read(on: Sql, realm: string): Promise<AdoptionAnswer> {
    const row = await store.readAdoption(on, realm);
    if (!row) throw new Problem('not-found', `There is no realm ${realm}`);
    return { managers: row.managers, createdBy: row.created_by };
  }

  return {
    /**
     * A page of managers with what they own, of the kinds that the caller may read. The last one's other objects are on the
     * next page, under its name again.
     */
    async list(principal: Principal, realm: string, after: store.ManagersPlace, limit: number): Promise<ManagersPage> {
      const reads = Map.groupBy(parts, ({ area }) => hasPermission(principal, realm, `${area}:read`));
      const [kinds, others] = [reads.get(true) ?? [], reads.get(false) ?? []].map((of) => of.map(({ kind }) => kind));
      const readsUsers = hasPermission(principal, realm, 'users:read');
      const found = await store.listManagers(sql, realm, { after, limit: limit + 1, others: others ?? [] });
      const wanted = found.slice(0, limit);
      const names = wanted.map(({ name }) => name);
      const owned = await store.listManaged(sql, realm, names, {
        after,
        limit: MOST_OBJECTS + 1,
        kinds: kinds ?? [],
      });
      const shown = owned.slice(0, MOST_OBJECTS);
      const last = owned.length > MOST_OBJECTS ? shown.at(-1) : undefined;
      const end = last ? names.indexOf(last.manager) + 1 : wanted.length;
      const of = Map.groupBy(shown, ({ manager }) => manager);
      const rows = wanted.slice(0, end).map(({ name, last_applied_at, users, others: ownsOthers }) => ({
        manager: name,
        lastAppliedAt: last_applied_at.getTime(),
        owns: (of.get(name) ?? []).map(({ kind, key, fields }) => ({ kind, key, fields })),
        users: users && readsUsers,
        hidden: ownsOthers || (users && !readsUsers),
      }));
      if (last) return { rows, next: { manager: last.manager, kind: last.kind, key: last.key } };
      const manager = names.at(-1) ?? '';
      return { rows, next: found.length > limit ? { manager, kind: '', key: '' } : undefined };
    },

    adoption: (realm: string): Promise<AdoptionAnswer> => read(sql, realm),

    /**
     * A manager that adopts a realm can declare all of it through the operator: clients' secrets, flows, its deletion.
     * So allowing an adoption needs all these permissions. Withdrawing the allowance needs only the route's permission.
     */
    allowAdoption: (
      { principal, by, expect }: { principal: Principal; by: By; expect: Expect },
      realm: string,
      managers: readonly string[],
    ): Promise<AdoptionAnswer> =>
      transact(realm, async (tx) => {
        const before = await read(tx.sql, realm);
        expect(before);
        const wanted = [...new Set(managers)];
        const more = wanted.some((manager) => !before.managers.includes(manager));
        if (more && !holdsAll(principal, realm, permissions)) throw escalation('A manager that adopts the realm');
        const answer = { ...before, managers: wanted };
        if (JSON.stringify(before.managers) === JSON.stringify(wanted)) return answer;
        await store.writeAdoption(tx.sql, realm, wanted);
        const subject = { type: 'realm', id: realm, name: realm } as const;
        tx.record({ type: 'ADOPTION_CHANGED', realm, by, subject, data: { from: before.managers, to: wanted } });
        return answer;
      }),
  };
}
export type Managers = ReturnType<typeof createManagers>;
