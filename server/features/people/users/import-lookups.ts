// SQL by which each row `i` of an import finds the realm's users with one index lookup per row. PostgreSQL's statistics are
// outdated for a realm that was just filled: it takes the realm for empty, and a join would read all of its users for each
// row. `offset 0` prevents such a join, and the realm comes from the row instead of a constant, for which the statistics
// would be used.
import { type Fragment, fragment } from '../../../db/sql.ts';
import { staging } from '../../../db/staging.ts';

/** @param name in lower case */
export const byUsername = (name: Fragment): Fragment =>
  fragment`select s.* from realm_user s where s.realm_id = i.realm_id and lower(s.username) = ${name} offset 0`;
export const byEmail = (address: Fragment): Fragment =>
  fragment`select s.* from realm_user s where s.realm_id = i.realm_id and lower(s.email) = ${address} offset 0`;
export const byId = fragment`select s.* from realm_user s where s.realm_id = i.realm_id and s.id = i.id offset 0`;

/** An import and its size. */
export interface OfImport {
  realm: string;
  importId: string;
  /** The import has so many rows that reading all users of the realm is less work than a lookup for each row. */
  many: boolean;
}

/**
 * A further condition for statements that join an import's users with the realm's: if the import is small, only its own
 * users are read.
 * @param id the user's id in the other table
 */
export const onlyImportedUsers = (id: Fragment, { realm, importId, many }: OfImport): Fragment =>
  many
    ? fragment``
    : fragment`and ${id} = any(array(select w.id from ${staging(realm, importId)} w
        where w.realm_id = ${realm} and w.action in ('update', 'take')))`;
