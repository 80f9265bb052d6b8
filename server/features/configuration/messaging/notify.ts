// Sends users a mail about a change of their account, in the transaction of the change, so that they notice a change by
// others. A user without a confirmed address gets none.
import type { By } from '../../../contract/events.ts';
import type { Tx } from '../../../db/transact.ts';
import type { Send } from './send.ts';
import * as store from './store.ts';
import type { Change } from './words.ts';

export interface Notice {
  realm: string;
  by: By;
  userId: string;
  what: Change;
  /** The recipient's address, if it isn't the user's present one: for example their former address. */
  to?: string;
  /** The message stays when the user is deleted. */
  outlives?: true;
}

export const createNotify =
  ({ send, now }: { send: Send; now: () => Date }) =>
  async (tx: Tx, { realm, by, userId, what, ...given }: Notice): Promise<void> => {
    const to = given.to ?? (await store.verifiedEmail(tx.sql, realm, userId));
    if (to === undefined) return;
    await send(tx, {
      realm,
      by,
      userId,
      ...(given.outlives && { outlives: true }),
      to,
      templateKey: 'account-changed-email',
      values: { change: ({ changes }) => changes[what], time: now() },
      goodForSeconds: 24 * 3600,
    });
  };
export type Notify = ReturnType<typeof createNotify>;
