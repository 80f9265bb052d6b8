// Owns: what happens to a user's credentials when the user reports that another person has signed in.
// Does not own: the report itself, what else ends with it (features/authentication/new-device).
// Implements: decisions "New devices".
import type { By } from '../../../contract/events.ts';
import type { Tx } from '../../../db/transact.ts';
import { userParty } from '../../../domain/party.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import type { KnownUser } from './service.ts';
import * as store from './store.ts';

export interface ReportedDeps {
  notify: Notify;
  newId: () => string;
}

export const createReportedCredentials = ({ notify, newId }: ReportedDeps) => ({
  /**
   * Blocks the password until it is changed, and deletes all other credentials that were set up since `since`: the other
   * person may have set them up.
   */
  async distrust(tx: Tx, by: By, realm: string, user: KnownUser, { since }: { since: Date }): Promise<void> {
    await store.withholdPassword(tx.sql, realm, user.id, newId());
    const subject = userParty(user.id, user.username);
    const gone = await store.removeSince(tx.sql, realm, user.id, since);
    for (const { type, id } of gone)
      tx.record({ type: 'CREDENTIAL_DELETED', realm, by, subject, data: { type, id, reason: 'reported' } });
    if (gone.length > 0) await notify(tx, { realm, by, userId: user.id, what: 'credential-removed' });
  },
});
export type ReportedCredentials = ReturnType<typeof createReportedCredentials>;
