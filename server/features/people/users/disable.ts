// Disables a user because another server says so: the same as an administrator's change of `enabled`.
import type { By } from '../../../contract/events.ts';
import type { Tx } from '../../../db/transact.ts';
import { endAccess } from '../../../domain/end-access.ts';
import { userParty } from '../../../domain/party.ts';

/** A user who is disabled already stays so, without an event. */
export async function disableUser(
  tx: Tx,
  realm: string,
  { id, username, by, at }: { id: string; username: string; by: By; at: Date },
): Promise<void> {
  const changed = await tx.sql`
    update realm_user set enabled = false, updated_at = ${at} where realm_id = ${realm} and id = ${id} and enabled returning id`;
  if (changed.length === 0) return;
  tx.record({ type: 'USER_UPDATED', realm, by, subject: userParty(id, username), data: { fields: ['enabled'] } });
  await endAccess(tx, realm, { people: [id], cause: 'disabled', by, at });
}
