// What follows for transactions when a person says that a sign-in wasn't theirs: none that still stands can be signed or used.

import type { Distrust } from '../../../domain/distrust.ts';
import { userParty } from '../../../domain/party.ts';
import * as store from './transaction-store.ts';

export const voidTransactions =
  ({ now }: { now: () => Date }): Distrust =>
  async (tx, by, realm, { id, username }) => {
    const subject = userParty(id, username);
    for (const { id: transaction, client_id: clientId } of await store.voidAll(tx.sql, realm, id, now())) {
      const data = { transaction, reason: 'reported' };
      tx.record({ type: 'TRANSACTION_VOID', realm, by, subject, clientId, outcome: 'denied', data });
    }
  };
