// A realm's managers, and the managers that may adopt it. apply.ts adopts and releases objects.
// Decisions "Ownership", "Tenancy".
import type { By } from '../../../contract/events.ts';
import { permissions } from '../../../contract/permissions.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Manager } from '../../../contract/transfer.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import type { Principal } from '../../../domain/principal.ts';
import type { Expect } from '../../../http/etag.ts';
import { escalation, holdsAll } from '../../../resource/rights.ts';
import * as store from './store.ts';

interface AdoptionAnswer {
  managers: string[];
  createdBy: string;
}

export function createManagers({ sql, transact }: { sql: Sql; transact: Transact }) {
  async function read(on: Sql, realm: string): Promise<AdoptionAnswer> {
    const row = await store.readAdoption(on, realm);
    if (!row) throw new Problem('not-found', `There is no realm ${realm}`);
    return { managers: row.managers, createdBy: row.created_by };
  }

  return {
    list: async (realm: string, after: string, limit: number): Promise<Manager[]> =>
      (await store.listManagers(sql, realm, after, limit)).map(({ name, last_applied_at, owns }) => ({
        manager: name,
        lastAppliedAt: last_applied_at.getTime(),
        owns,
      })),

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
