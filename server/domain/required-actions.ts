// What a person must do before they are signed in, as it is written in their row: asked for, and done.
// Reading it is standing.ts's; what a page asks for because of it is features/authentication/sign-in's.
import type { RequiredAction } from '../contract/users.ts';
import { fragment, type Sql } from '../db/sql.ts';

export const requireAction = (sql: Sql, realm: string, userId: string, action: RequiredAction) => sql`
  update realm_user set required_actions = array_append(required_actions, ${action})
  where realm_id = ${realm} and id = ${userId} and not required_actions && array[${action}]::text[]`;

export const fulfilAction = (sql: Sql, realm: string, userIds: readonly string[], action: RequiredAction) => sql`
  update realm_user set required_actions = array_remove(required_actions, ${action})
  where realm_id = ${realm} and id = any(${userIds}::uuid[]) and required_actions && array[${action}]::text[]`;

/** @param version null: the terms have none, and what was accepted before stands */
export const acceptTerms = (sql: Sql, realm: string, userId: string, version: string | null) => sql`
  update realm_user set required_actions = array_remove(required_actions, 'TERMS'), terms_version = coalesce(${version}, terms_version)
  where realm_id = ${realm} and id = ${userId}`;

/**
 * What the person of the row `u` must do as it is in force: whose password is temporary chooses another, whatever is said of them.
 * It asks for each person's one password: for an `exists` PostgreSQL may read everybody's first.
 */
export const actionsInForce = fragment`case when not 'UPDATE_PASSWORD' = any(u.required_actions) and (
    select (p.secret ->> 'temporary')::boolean from credential p
    where p.realm_id = u.realm_id and p.user_id = u.id and p.type = 'password')
  then array_append(u.required_actions, 'UPDATE_PASSWORD') else u.required_actions end`;
