// SQL by which each row `i` of an import finds the realm's users: one look into an index a row, whatever PostgreSQL believes of
// the realm. It takes a realm that was filled since it last looked for an empty one, and in a join would read all of the
// realm's users for each row. `offset 0` keeps these out of joins, and the realm comes from the row, as what is known of a
// realm by name may be outdated.
import { type Fragment, fragment } from '../../../db/sql.ts';
import { staging } from '../../../db/staging.ts';

/** @param name folded to lower case */
export const byUsername = (name: Fragment): Fragment =>
  fragment`select s.* from realm_user s where s.realm_id = i.realm_id and lower(s.username) = ${name} offset 0`;
export const byEmail = (address: Fragment): Fragment =>
  fragment`select s.* from realm_user s where s.realm_id = i.realm_id and lower(s.email) = ${address} offset 0`;
export const byId = fragment`select s.* from realm_user s where s.realm_id = i.realm_id and s.id = i.id offset 0`;

/** An import and how large it is. */
export interface OfImport {
  realm: string;
  importId: string;
  /** There are so many rows that reading all of the realm is less work than a look for each. */
  many: boolean;
}

/**
 * A further condition of a statement that joins users of an import with what the realm has: of a few, only theirs is read.
 * @param id the user's, in the other table
 */
export const onlyImportedUsers = (id: Fragment, { realm, importId, many }: OfImport): Fragment =>
  many
    ? fragment``
    : fragment`and ${id} = any(array(select w.id from ${staging(realm, importId)} w
        where w.realm_id = ${realm} and w.action in ('update', 'take')))`;
