// The consequences of new passwords, however they were stored: failures are forgotten, the required action is done,
// access ends.
import type { By } from '../../../contract/events.ts';
import type { Tx } from '../../../db/transact.ts';
import { endAccess } from '../../../domain/end-access.ts';
import { userParty } from '../../../domain/party.ts';
import type { OwnSession } from '../../../domain/principal.ts';
import { fulfilAction } from '../../../domain/required-actions.ts';
import type { KnownUser } from './service.ts';
import * as store from './store.ts';

/** A user whose password was just stored. `actionsSet`: the user's required actions were stored with it. */
export interface NewPassword extends KnownUser {
  temporary: boolean;
  actionsSet?: boolean;
}

export async function passwordsChanged(
  tx: Tx,
  by: By,
  realm: string,
  people: readonly NewPassword[],
  { at, keep }: { at: Date; keep?: OwnSession | undefined },
): Promise<void> {
  const ids = people.map(({ id }) => id);
  const { actor } = by;
  // A user who sets a password by a mailed link proves the mailbox: that forgives no failures of the user's second
  // factors.
  const own = actor?.type === 'user' && people.every(({ id }) => id === actor.id);
  await (own ? store.forgetOfPassword : store.forgetFailures)(tx.sql, realm, ids);
  const done = people.filter((person) => !person.temporary && !person.actionsSet).map(({ id }) => id);
  if (done.length > 0) await fulfilAction(tx.sql, realm, done, 'UPDATE_PASSWORD');
  for (const { id, username: name, temporary } of people)
    tx.record({ type: 'PASSWORD_CHANGED', realm, by, subject: userParty(id, name), data: { temporary } });
  await endAccess(tx, realm, { people: ids, cause: 'password-changed', by, at, keep });
}
