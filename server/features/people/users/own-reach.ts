// When users report that another person has signed in as them: addresses and numbers set in their name since then become
// unconfirmed, so that no code and no link goes there. Values that administrators have set stay.
import type { By } from '../../../contract/events.ts';
import { withoutConfirmation } from '../../../contract/phone.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import { isOwnChange } from '../../../domain/own-changes.ts';
import { userParty } from '../../../domain/party.ts';
import { changedFields } from '../../../http/changed-fields.ts';
import * as store from './store.ts';

/** The fields that the user, or a sign-in with a provider, has changed since then. */
const changedSince = async (sql: Sql, realm: string, userId: string, since: Date): Promise<string[]> =>
  (
    await sql<{ field: string }>`
      select distinct jsonb_array_elements_text(e.data -> 'fields') as field from event e
      where e.realm_id = ${realm} and e.subject ->> 'id' = ${userId} and e.occurred_at >= ${since} and ${isOwnChange}`
  ).map(({ field }) => field);

/** @param changed fields that were changed, too, but are no longer in the audit log */
export async function unconfirmSince(
  tx: Tx,
  by: By,
  realm: string,
  { id, username }: { id: string; username: string },
  { since, changed: forgotten }: { since: Date; changed: readonly string[] },
): Promise<void> {
  await store.lock(tx.sql, realm, id);
  const before = await store.find(tx.sql, realm, id);
  if (!before) return;
  const changed = [...forgotten, ...(await changedSince(tx.sql, realm, id, since))];
  const after = {
    ...before,
    email_verified: before.email_verified && !changed.includes('email'),
    attributes: changed.includes('attributes') ? withoutConfirmation(before.attributes) : before.attributes,
  };
  const fields = changedFields(before, after).map((field) => (field === 'email_verified' ? 'emailVerified' : field));
  if (fields.length === 0) return;
  await store.update(tx.sql, realm, after);
  tx.record({
    type: 'USER_UPDATED',
    realm,
    by,
    subject: userParty(id, username),
    data: { fields, reason: 'reported' },
  });
}
