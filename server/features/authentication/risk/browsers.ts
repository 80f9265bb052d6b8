// The browsers that are known for a user, as the account page and its API list them; and forgetting one.
import type { By } from '../../../contract/events.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import * as store from './store.ts';

const SHOWN = 100;

export interface Person {
  id: string;
  username: string;
}

export const createBrowsers = ({ sql, transact, notify }: { sql: Sql; transact: Transact; notify: Notify }) => ({
  list: (realm: string, userId: string): Promise<store.Browser[]> => store.browsersOf(sql, realm, userId, SHOWN),

  /** Forgets the browsers with which the user has first signed in since then. */
  forgetSince: (tx: Tx, _by: By, realm: string, { id }: Pick<Person, 'id'>, { since }: { since: Date }) =>
    store.forgetBrowsersSince(tx.sql, realm, id, since),

  /** @returns whether the user had this browser */
  forget: (by: By, realm: string, { id: userId, username }: Person, id: string): Promise<boolean> =>
    transact(realm, async (tx) => {
      if (!(await store.forgetBrowser(tx.sql, realm, userId, id))) return false;
      tx.record({ type: 'BROWSER_FORGOTTEN', realm, by, subject: userParty(userId, username), data: { browser: id } });
      await notify(tx, { realm, by, userId, what: 'browser-forgotten' });
      return true;
    }),
});
export type Browsers = ReturnType<typeof createBrowsers>;
