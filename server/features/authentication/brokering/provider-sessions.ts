// Remembers the provider's session of each session here, so that each can end the other.

import type { Seal } from '../../../crypto/seal.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import { identityDigest } from '../../../domain/identity-links.ts';
import { contextAtRest } from '../../../resource/at-rest.ts';
import type { Identity } from './upstream.ts';

const KIND = 'provider-session';

export type UpstreamSession = NonNullable<Identity['session']>;

/** The provider's session behind a session here. */
export interface CameBy extends UpstreamSession {
  /** The alias of the provider. */
  alias: string;
  /** The user's subject at the provider. */
  subject: string;
}

export function createProviderSessions({ sql, seal, newId }: { sql: Sql; seal: Seal; newId: () => string }) {
  return {
    /** Written at the end of the transaction, after the session itself. */
    note(
      atLast: Tx['atLast'],
      realm: string,
      { sessionId, linkId, sid, idToken, nameId }: UpstreamSession & { sessionId: string; linkId: string },
    ): void {
      const id = newId();
      const sealed = idToken === undefined ? null : seal.seal(idToken, contextAtRest(KIND, { realm, id }));
      const named = nameId === undefined ? null : JSON.stringify(nameId);
      atLast`
        insert into provider_session (realm_id, id, session_id, link_id, sid, id_token, name_id)
        values (${realm}, ${id}, ${sessionId}, ${linkId}, ${sid ?? null}, ${sealed}, ${named}::jsonb)
        on conflict (realm_id, session_id) do update
        set id = excluded.id, link_id = excluded.link_id, sid = excluded.sid, id_token = excluded.id_token,
          name_id = excluded.name_id`;
    },

    /** The provider of the session, and the values to send back to it. */
    async of(realm: string, sessionId: string): Promise<CameBy | undefined> {
      const [row] = await sql<{
        id: string;
        alias: string;
        subject: string;
        sid: string | null;
        id_token: Buffer | null;
        name_id: UpstreamSession['nameId'] | null;
      }>`
        select s.id, p.alias, l.subject, s.sid, s.id_token, s.name_id from provider_session s
        join identity_link l on l.realm_id = s.realm_id and l.id = s.link_id
        join identity_provider p on p.realm_id = l.realm_id and p.id = l.provider_id and p.enabled
        where s.realm_id = ${realm} and s.session_id = ${sessionId}`;
      if (!row) return undefined;
      const { id, alias, subject, sid, id_token: sealed, name_id: nameId } = row;
      return {
        alias,
        subject,
        ...(sid !== null && { sid }),
        ...(sealed && { idToken: seal.open(sealed, contextAtRest(KIND, { realm, id })).toString() }),
        ...(nameId && { nameId }),
      };
    },

    /** The sessions here that belong to ended sessions of the provider, or to all sessions of its user. */
    async endedThere(
      on: Sql,
      realm: string,
      { providerId, issuer, sids, sub }: { providerId: string; issuer: string; sids?: readonly string[]; sub?: string },
    ): Promise<string[]> {
      const digest = sub === undefined ? null : identityDigest({ issuer, subject: sub });
      const rows = await on<{ session_id: string }>`
        select s.session_id from provider_session s
        join identity_link l on l.realm_id = s.realm_id and l.id = s.link_id
        where s.realm_id = ${realm} and l.provider_id = ${providerId}
          and (${sids ?? null}::text[] is null or s.sid = any(${sids ?? null}::text[]))
          and (${digest}::bytea is null or l.subject_digest = ${digest})`;
      return rows.map(({ session_id }) => session_id);
    },
  };
}
export type ProviderSessions = ReturnType<typeof createProviderSessions>;
