// Pieces of SQL that read a user's credentials and required actions. features/authentication/sign-in decides what a sign-in needs.
import { type RequiredAction, requiredActions } from '../contract/required-actions.ts';
import { fragment } from '../db/sql.ts';

export interface StandingRow {
  /** The types of the user's credentials. */
  types: string[];
  temporary: boolean;
  password_set_at: Date | null;
  required_actions: string[];
  enabled: boolean;
  verified_email: string | null;
  verified_phone: string | null;
  terms_version: string | null;
  locale: string | null;
}

export interface PersonStanding {
  types: readonly string[];
  enabled: boolean;
  actions: readonly RequiredAction[];
  /** Null without a password. */
  passwordSetAt: Date | null;
  /** The user's verified addresses for messages. */
  reach: Record<'EMAIL' | 'SMS', string | null>;
  /** The version of the terms that they accepted. */
  termsVersion: string | null;
  /** The language of their profile. */
  locale: string | null;
}

/** A column, for a query that has the user as `u`. */
export const credentialTypes = fragment`array(
  select distinct type from credential t where t.realm_id = u.realm_id and t.user_id = u.id) as types`;

/** OpenID Connect Core §5.1 names the attributes. */
export const reachColumns = fragment`u.terms_version, u.attributes -> 'locale' ->> 0 as locale,
  case when u.email_verified then u.email end as verified_email,
  case when u.attributes -> 'phone_number_verified' ->> 0 = 'true' then u.attributes -> 'phone_number' ->> 0 end as verified_phone`;

/** The columns of {@link StandingRow}, for a query that has the user as `u`. */
export const standingColumns = fragment`${credentialTypes}, coalesce((
    select (secret ->> 'temporary')::boolean from credential p
    where p.realm_id = u.realm_id and p.user_id = u.id and p.type = 'password' limit 1), false) as temporary,
  (
    select created_at from credential p
    where p.realm_id = u.realm_id and p.user_id = u.id and p.type = 'password' and p.secret ? 'phc' limit 1) as password_set_at,
  u.required_actions, u.enabled, ${reachColumns}`;

/** Required actions in the order in which a sign-in asks for them; a temporary password demands a new one. */
export const actionsOf = ({ temporary, required_actions }: StandingRow): RequiredAction[] =>
  requiredActions.filter((action) => required_actions.includes(action) || (temporary && action === 'UPDATE_PASSWORD'));

/** The user's credentials, required actions and state, out of the user's row. */
export const standingOf = (row: StandingRow): PersonStanding => ({
  types: row.types,
  enabled: row.enabled,
  actions: actionsOf(row),
  passwordSetAt: row.password_set_at,
  reach: { EMAIL: row.verified_email, SMS: row.verified_phone },
  termsVersion: row.terms_version,
  locale: row.locale,
});
