// Whose messages a change of a provider or a template could redirect or read: everyone's, with the codes and links by which they sign in.
import { type Fragment, fragment } from '../../db/sql.ts';
import type { PlannedChange } from '../../resource/part.ts';

/** What is deleted or switched off sends nothing; the provider or text that takes its place was judged when it was written. */
const redirects = ({ action, fields }: PlannedChange): boolean =>
  action !== 'delete' && !fields.every(({ path, to }) => path === 'enabled' && to === false);

/** The realm's administrators: nobody else holds anything that the caller must hold. */
export const readersOf = (changes: readonly PlannedChange[], realm: string): Fragment | undefined =>
  changes.some(redirects)
    ? fragment`select user_id from admin_grant where realm_id = ${realm} and user_id is not null`
    : undefined;
