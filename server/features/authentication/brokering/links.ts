// Links between users and their identities at identity providers: finding, creating and removing them. Removing a link ends
// the user's sessions.
import type { By } from '../../../contract/events.ts';
import type { IdentityLink } from '../../../contract/identity-links.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import { endAccess } from '../../../domain/end-access.ts';
import { identityDigest } from '../../../domain/identity-links.ts';
import { userParty } from '../../../domain/party.ts';
import type { OwnSession } from '../../../domain/principal.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import type { KnownUser } from '../../people/credentials/service.ts';
import type { Arrived } from './person.ts';

export interface FoundLink {
  id: string;
  user: KnownUser;
  /** No sign-in with the link has ended yet. */
  isNew: boolean;
}
interface Row {
  id: string;
  alias: string;
  title: string;
  subject: string;
  name: string | null;
  created_at: Date;
  last_used_at: Date | null;
}

export function createLinks({
  sql,
  notify,
  now,
  newId,
}: {
  sql: Sql;
  notify: Notify;
  now: () => Date;
  newId: () => string;
}) {
  return {
    async find(realm: string, of: Pick<Arrived, 'providerId' | 'issuer' | 'subject'>): Promise<FoundLink | undefined> {
      const [row] = await sql<{ id: string; user_id: string; username: string; is_new: boolean }>`
        select l.id, l.user_id, u.username, l.last_used_at is null as is_new from identity_link l
        join realm_user u on u.realm_id = l.realm_id and u.id = l.user_id
        where l.realm_id = ${realm} and l.provider_id = ${of.providerId} and l.subject_digest = ${identityDigest(of)}`;
      return row && { id: row.id, user: { id: row.user_id, username: row.username }, isNew: row.is_new };
    },

    /**
     * @param used whether the sign-in has ended. @returns the link's id; undefined: the identity is another user's, or the
     * provider was deleted
     */
    async make(
      tx: Tx,
      by: By,
      realm: string,
      user: KnownUser,
      arrived: Arrived,
      { used }: { used: boolean },
    ): Promise<string | undefined> {
      const usedAt = used ? now() : null;
      const { alias, providerId, issuer, subject, name } = arrived;
      const [row] = await tx.sql<{ id: string }>`
        insert into identity_link (realm_id, id, user_id, provider_id, issuer, subject, subject_digest, name, created_at, last_used_at)
        select ${realm}, ${newId()}::uuid, ${user.id}::uuid, p.id, ${issuer}, ${subject}, ${identityDigest(arrived)}, ${name}, ${now()}, ${usedAt}::timestamptz
        from identity_provider p where p.realm_id = ${realm} and p.id = ${providerId} and p.enabled
        on conflict do nothing returning id`;
      if (!row) return undefined;
      const subjectParty = userParty(user.id, user.username);
      tx.record({
        type: 'IDENTITY_LINKED',
        realm,
        by,
        subject: subjectParty,
        data: { identityProvider: alias, id: row.id },
      });
      return row.id;
    },

    /** Stores when the provider sent the user's data. @returns false: newer data has been applied already */
    async heard(tx: Tx, realm: string, id: string, at: Date): Promise<boolean> {
      const rows = await tx.sql`
        update identity_link set said_at = ${at}
        where realm_id = ${realm} and id = ${id} and (said_at is null or said_at <= ${at}) returning id`;
      return rows.length > 0;
    },

    /** Notes a sign-in with the link. */
    used: (atLast: Tx['atLast'], realm: string, id: string): void =>
      void atLast`update identity_link set last_used_at = ${now()} where realm_id = ${realm} and id = ${id}`,

    async list(realm: string, userId: string, on: Sql = sql): Promise<IdentityLink[]> {
      const rows = await on<Row>`
        select l.id, p.alias, coalesce(p.display_name, p.alias) as title, l.subject, l.name, l.created_at, l.last_used_at
        from identity_link l join identity_provider p on p.realm_id = l.realm_id and p.id = l.provider_id
        where l.realm_id = ${realm} and l.user_id = ${userId} order by l.created_at, l.id`;
      return rows.map(({ alias, title, created_at, last_used_at, ...row }) => ({
        ...row,
        identityProvider: alias,
        displayName: title,
        linkedAt: created_at.getTime(),
        lastUsedAt: last_used_at?.getTime() ?? null,
      }));
    },

    /** @param keep the session in which users remove their own link. @returns whether the link existed */
    async remove(
      tx: Tx,
      by: By,
      realm: string,
      user: KnownUser,
      { id, keep }: { id: string; keep?: OwnSession | undefined },
    ): Promise<boolean> {
      const [row] = await tx.sql<{ alias: string }>`
        delete from identity_link l using identity_provider p
        where l.realm_id = ${realm} and l.user_id = ${user.id} and l.id = ${id} and p.realm_id = l.realm_id and p.id = l.provider_id
        returning p.alias`;
      if (!row) return false;
      const subject = userParty(user.id, user.username);
      tx.record({ type: 'IDENTITY_UNLINKED', realm, by, subject, data: { identityProvider: row.alias, id } });
      await notify(tx, { realm, by, userId: user.id, what: 'identity-unlinked' });
      await endAccess(tx, realm, { people: [user.id], cause: 'credential-removed', by, at: now(), keep });
      return true;
    },
  };
}
export type Links = ReturnType<typeof createLinks>;
