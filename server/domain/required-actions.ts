// Writes a user's required actions, which they must do before they are signed in. standing.ts reads them;
// features/authentication/sign-in shows the pages for them.
import type { RequiredAction } from '../contract/required-actions.ts';
import { fragment, type Sql } from '../db/sql.ts';

/** Demands the action of the user at the next sign-in; no effect if it is demanded already. */
export const requireAction = (sql: Sql, realm: string, userId: string, action: RequiredAction) => sql`
  update realm_user set required_actions = array_append(required_actions, ${action})
  where realm_id = ${realm} and id = ${userId} and not required_actions && array[${action}]::text[]`;

/** Takes the action from these users; no effect on those of whom it is not demanded. */
export const fulfilAction = (sql: Sql, realm: string, userIds: readonly string[], action: RequiredAction) => sql`
  update realm_user set required_actions = array_remove(required_actions, ${action})
  where realm_id = ${realm} and id = any(${userIds}::uuid[]) and required_actions && array[${action}]::text[]`;

/** Notes that the user accepted the terms. @param version null if the terms have no version: a former acceptance stays */
export const acceptTerms = (sql: Sql, realm: string, userId: string, version: string | null) => sql`
  update realm_user set required_actions = array_remove(required_actions, 'TERMS'), terms_version = coalesce(${version}, terms_version)
  where realm_id = ${realm} and id = ${userId}`;

/**
 * The actions that the user of the row `u` must do now: those of the row, and UPDATE_PASSWORD if the password is temporary. The query
 * reads the user's one password by its key: for an `exists` PostgreSQL may first read the passwords of all users.
 */
export const actionsInForce = fragment`case when not 'UPDATE_PASSWORD' = any(u.required_actions) and (
    select (p.secret ->> 'temporary')::boolean from credential p
    where p.realm_id = u.realm_id and p.user_id = u.id and p.type = 'password')
  then array_append(u.required_actions, 'UPDATE_PASSWORD') else u.required_actions end`;
