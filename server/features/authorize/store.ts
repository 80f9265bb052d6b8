// SQL of who may use an application. Codes are domain/grants.ts's.
import type { Sql } from '../../db/sql.ts';
import { type PersonRow, personColumns, rolesOf } from '../../domain/person.ts';

/** Whether the person holds one of these roles, directly or by what they are in. */
export async function holdsOneOf(sql: Sql, realm: string, userId: string, roles: readonly string[]): Promise<boolean> {
  const [row] = await sql<PersonRow>`
    select ${personColumns} from realm_user u where u.realm_id = ${realm} and u.id = ${userId}`;
  return row !== undefined && rolesOf(row.roles).realm.some((role) => roles.includes(role));
}
