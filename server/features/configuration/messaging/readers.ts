// A changed provider or template could redirect or read the messages of every user, with the codes and links by which users sign in.
import { type Fragment, fragment } from '../../../db/sql.ts';
import type { PlannedChange } from '../../../resource/part.ts';

/**
 * Whether the change can redirect messages. A deleted or disabled provider sends nothing; the one that replaces it, or
 * the built-in text, was checked when it was written.
 */
const redirects = ({ action, fields }: PlannedChange): boolean =>
  action !== 'delete' && !fields.every(({ path, to }) => path === 'enabled' && to === false);

/** The users whose permissions the caller must hold too: the realm's administrators, since other users have none. */
export const readersOf = (changes: readonly PlannedChange[], realm: string): Fragment | undefined =>
  changes.some(redirects)
    ? fragment`select user_id from admin_grant where realm_id = ${realm} and user_id is not null`
    : undefined;
