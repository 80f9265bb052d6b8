// Whether a user could still sign in without a certain credential or identity: one rule for pages and API. A password
// reported as stolen doesn't count, nor does a disabled provider.
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
  /**
   * @param sql the transaction of the removal: of two concurrent removals the second sees the first. `without`: the id of
   * the credential or identity that is removed
   */
  async (sql: Sql, realm: string, userId: string, without: string): Promise<boolean> => {
    await store.lockPerson(sql, realm, userId);
    if (await store.hasIdentity(sql, realm, userId, without)) return true;
    const own = await credentials.list(realm, userId, sql);
    return factors.identifiedBy(own.flatMap(({ id, type, reported }) => (id === without || reported ? [] : [type])));
  };
export type WaysLeft = ReturnType<typeof createWaysLeft>;
