// Whether somebody could still say who they are, once a credential or an identity of theirs is gone: one rule for both, by the page
// and the API. A password that was reported as stolen is no way, nor is a provider that is switched off.
import type { Sql } from '../../../db/sql.ts';
import type { Factors } from '../../../domain/factors.ts';
import type { Credentials } from '../../people/credentials/service.ts';
import * as store from './store.ts';

export interface WaysLeftDeps {
  credentials: Pick<Credentials, 'list'>;
  factors: Pick<Factors, 'identifiedBy'>;
}

export const createWaysLeft =
  ({ credentials, factors }: WaysLeftDeps) =>
  /** @param sql a transaction's, in which it is removed: of two at once the second sees the first. `without`: its id */
  async (sql: Sql, realm: string, userId: string, without: string): Promise<boolean> => {
    await store.lockPerson(sql, realm, userId);
    if (await store.hasIdentity(sql, realm, userId, without)) return true;
    const own = await credentials.list(realm, userId, sql);
    return factors.identifiedBy(own.flatMap(({ id, type, reported }) => (id === without || reported ? [] : [type])));
  };
export type WaysLeft = ReturnType<typeof createWaysLeft>;
