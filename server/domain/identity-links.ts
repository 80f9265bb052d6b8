// Whose a link to an identity provider is; and what ends with a provider that is deleted: its links, and what their people had
// signed in to; and the tokens of one that keeps none any more. Links themselves are features/authentication/brokering's. Decisions "Single sign-on and freshness".
import type { By } from '../contract/events.ts';
import { sha256 } from '../crypto/tokens.ts';
import type { Sql } from '../db/sql.ts';
import type { Tx } from '../db/transact.ts';
import { endAccess } from './end-access.ts';
import { userParty } from './party.ts';

/** By it a link is found: subjects may be longer than an index takes. */
export const identityDigest = ({ issuer, subject }: { issuer: string; subject: string }): Buffer =>
  sha256(JSON.stringify([issuer, subject]));

/** What these providers gave for people, and keep no more. */
export const forgetTokens = (sql: Sql, realm: string, aliases: readonly string[]) => sql`
  delete from provider_token t using identity_link l, identity_provider p
  where t.realm_id = ${realm} and l.realm_id = t.realm_id and l.id = t.link_id
    and p.realm_id = l.realm_id and p.id = l.provider_id and p.alias = any(${aliases}::text[])`;

/** Behind the deletion, in its transaction. */
export async function endLinksOfDeleted(tx: Tx, realm: string, { by, at }: { by: By; at: Date }): Promise<void> {
  const rows = await tx.sql<{ user_id: string }>`
    delete from identity_link l where l.realm_id = ${realm} and not exists (
      select from identity_provider p where p.realm_id = l.realm_id and p.id = l.provider_id)
    returning l.user_id`;
  const people = [...new Set(rows.map(({ user_id }) => user_id))];
  if (people.length > 0) await endAccess(tx, realm, { people, cause: 'credential-removed', by, at });
}

/** Those that somebody got since then. */
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
