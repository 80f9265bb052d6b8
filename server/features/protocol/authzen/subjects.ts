// The user or client that a subject of the Authorization API names. The types keep the names apart: a username may look like
// another user's id. Authorization API 1.0 §5.1; AuthZEN REST API gateway profile.
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { isUuid } from '../../../crypto/ids.ts';
import type { Sql } from '../../../db/sql.ts';
import type { NamedSubject } from '../../configuration/authorization-services/decisions.ts';
import type { Found } from '../../configuration/authorization-services/model.ts';

export function createNaming({
  sql,
  settings,
}: {
  sql: Sql;
  settings: { of(realm: string): Promise<Pick<RealmSettingsDto, 'subjectStrategy'> | undefined> };
}) {
  /** A pairwise `sub` says nothing about its user: gateways of such realms name users by username. */
  async function byIdentity(realm: string, sub: string): Promise<NamedSubject | undefined> {
    const { subjectStrategy } = (await settings.of(realm)) ?? {};
    if (subjectStrategy !== 'attribute') return isUuid(sub) ? { userId: sub } : undefined;
    const [row] = await sql<{ id: string }>`
      select id from realm_user where realm_id = ${realm} and subject = ${sub}`;
    return row && { userId: row.id };
  }
  return {
    /** @returns undefined: the name can belong to no one */
    async of(realm: string, { type, id }: { type: string; id: string }): Promise<NamedSubject | undefined> {
      if (type === 'user') return { username: id };
      if (type === 'client') return { clientId: id };
      return type === 'identity' ? byIdentity(realm, id) : undefined;
    },
  };
}

/** The id of a found subject, in the words of the type; undefined: the type has no name for it. @param byAttribute the `sub` of tokens is one */
export function idAs(
  type: string,
  { userId, subject, requester }: Found,
  { byAttribute }: { byAttribute: boolean },
): string | undefined {
  if (type === 'client') return requester.clientId ?? undefined;
  if (type === 'user') return requester.username ?? undefined;
  return (byAttribute ? subject : userId) ?? undefined;
}
