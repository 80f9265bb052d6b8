// Administrators by the domain of their username or address. Users of a domain sign in at the identity provider that has this domain.
import { type Fragment, fragment } from '../db/sql.ts';

/** A query of the ids of the realm's administrators whose username or address is in one of these domains. */
export const administratorsIn = (realm: string, domains: readonly string[]): Fragment => fragment`
  select g.user_id from admin_grant g join realm_user u on u.realm_id = g.realm_id and u.id = g.user_id
  where g.realm_id = ${realm} and (lower(substring(u.email from '@([^@]+)$')) = any(${domains}::text[])
    or lower(substring(normalize(u.username, NFKC) from '@([^@]+)$')) = any(${domains}::text[]))`;
