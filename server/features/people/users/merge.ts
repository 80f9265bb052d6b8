// Merges an import's users after planning. Updated and deleted users have the same consequences as single changes: events,
// and the end of access. New users are only counted (USERS_IMPORTED). Decisions "Import, export, plan", "Single sign-on and
// freshness".
import type { By } from '../../../contract/events.ts';
import type { Tx } from '../../../db/transact.ts';
import { endAccess } from '../../../domain/end-access.ts';
import { passwordsChanged } from '../credentials/passwords-changed.ts';
import * as store from './import-store.ts';

export interface Merge extends store.Merging {
  realm: string;
  importId: string;
  by: By;
  now: () => Date;
}

const party = (id: string, name: string) => ({ type: 'user', id, name }) as const;

export async function mergeUsers(tx: Tx, { realm, importId, by, now, ...merging }: Merge): Promise<void> {
  const { at, manager, has } = merging;
  const changed = has('update') || has('delete') ? await store.changedUsers(tx.sql, realm, importId) : [];
  const people = new Map(changed.map((person) => [person.id, person]));
  for (const { id, username, action, fields } of changed) {
    const told = fields.filter((field) => field !== 'credentials' && field !== 'identities');
    const event = { realm, by, subject: party(id, username) };
    if (action === 'delete') tx.record({ ...event, type: 'USER_DELETED', data: { manager } });
    else if (told.length > 0) tx.record({ ...event, type: 'USER_UPDATED', data: { manager, fields: told } });
  }
  if (has('delete')) {
    await endAccess(tx, realm, { people: store.deletedUserIds(realm, importId), cause: 'deleted', by, at });
    await store.removeDropped(tx.sql, realm, importId);
  }
  const { credentials, identities } = await store.merge(tx.sql, realm, importId, merging);
  const passwords = [];
  for (const { id, user_id: userId, type, temporary } of credentials) {
    const { username = '', actions_set: actionsSet = false } = people.get(userId) ?? {};
    const data = { credentialId: id, type };
    if (type === 'password') passwords.push({ id: userId, username, temporary, actionsSet });
    else tx.record({ type: 'CREDENTIAL_CREATED', realm, by, subject: party(userId, username), data });
  }
  for (const { id, user_id: userId, alias } of identities) {
    const subject = party(userId, people.get(userId)?.username ?? '');
    tx.record({ type: 'IDENTITY_LINKED', realm, by, subject, data: { identityProvider: alias, id } });
  }
  if (passwords.length > 0) await passwordsChanged(tx, by, realm, passwords, { at: now() });
  const disabled = changed.filter((person) => person.disabled).map(({ id }) => id);
  if (disabled.length > 0) await endAccess(tx, realm, { people: disabled, cause: 'disabled', by, at });
}
