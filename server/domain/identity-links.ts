// Finds the user of a link to an identity provider. Deleting a provider removes its links and ends its users' sessions; a provider that
// stores no tokens any more loses the stored ones. features/authentication/brokering owns the links themselves. Decisions
// "Single sign-on and freshness".
import type { By } from '../contract/events.ts';
import { sha256 } from '../crypto/tokens.ts';
import type { Sql } from '../db/sql.ts';
import type { Tx } from '../db/transact.ts';
import { endAccess } from './end-access.ts';
import { userParty } from './party.ts';

/** The key that finds a link: a subject may be too long for an index. */
export const identityDigest = ({ issuer, subject }: { issuer: string; subject: string }): Buffer =>
  sha256(JSON.stringify([issuer, subject]));

/** Deletes the users' stored tokens of these providers. */
export const forgetTokens = (sql: Sql, realm: string, aliases: readonly string[]) => sql`
  delete from provider_token t using identity_link l, identity_provider p
  where t.realm_id = ${realm} and l.realm_id = t.realm_id and l.id = t.link_id
    and p.realm_id = l.realm_id and p.id = l.provider_id and p.alias = any(${aliases}::text[])`;

/** Call it after the deletion of providers, in the same transaction. */
export async function endLinksOfDeleted(tx: Tx, realm: string, { by, at }: { by: By; at: Date }): Promise<void> {
  const rows = await tx.sql<{ user_id: string }>`
    delete from identity_link l where l.realm_id = ${realm} and not exists (
      select from identity_provider p where p.realm_id = l.realm_id and p.id = l.provider_id)
    returning l.user_id`;
  const people = [...new Set(rows.map(({ user_id }) => user_id))];
  if (people.length > 0) await endAccess(tx, realm, { people, cause: 'credential-removed', by, at });
}

/** Removes links that were made since then. */
export async function removeLinksSince(
  tx: Tx,
  by: By,
  realm: string,
  { id: userId, username }: { id: string; username: string },
  { since }: { since: Date },
): Promise<void> {
  const gone = await tx.sql<{ id: string; alias: string }>`
    delete from identity_link l using identity_provider p
    where l.realm_id = ${realm} and l.user_id = ${userId} and l.created_at >= ${since}
      and p.realm_id = l.realm_id and p.id = l.provider_id
    returning l.id, p.alias`;
  const subject = userParty(userId, username);
  for (const { id, alias } of gone)
    tx.record({
      type: 'IDENTITY_UNLINKED',
      realm,
      by,
      subject,
      data: { identityProvider: alias, id, reason: 'reported' },
    });
}
