// Which session of an identity provider a session here came of: for ending both.

import type { Seal } from '../../crypto/seal.ts';
import { sha256 } from '../../crypto/tokens.ts';
import type { Sql } from '../../db/sql.ts';
import type { Tx } from '../../db/transact.ts';
import { contextAtRest } from '../../resource/at-rest.ts';

const KIND = 'provider-session';

export interface UpstreamSession {
  sid?: string | undefined;
  idToken?: string | undefined;
}

export function createProviderSessions({ sql, seal, newId }: { sql: Sql; seal: Seal; newId: () => string }) {
  return {
    /** With the end of its transaction, behind the session itself. */
    note(
      atLast: Tx['atLast'],
      realm: string,
      { sessionId, linkId, sid, idToken }: UpstreamSession & { sessionId: string; linkId: string },
    ): void {
      const id = newId();
      const sealed = idToken === undefined ? null : seal.seal(idToken, contextAtRest(KIND, { realm, id }));
      atLast`
        insert into provider_session (realm_id, id, session_id, link_id, sid, id_token)
        values (${realm}, ${id}, ${sessionId}, ${linkId}, ${sid ?? null}, ${sealed})
        on conflict (realm_id, session_id) do update
        set id = excluded.id, link_id = excluded.link_id, sid = excluded.sid, id_token = excluded.id_token`;
    },

    /** By which provider the session came, and what is sent back to it. */
    async of(realm: string, sessionId: string): Promise<{ alias: string; idToken: string | undefined } | undefined> {
      const [row] = await sql<{ id: string; alias: string; id_token: Buffer | null }>`
        select s.id, p.alias, s.id_token from provider_session s
        join identity_link l on l.realm_id = s.realm_id and l.id = s.link_id
        join identity_provider p on p.realm_id = l.realm_id and p.id = l.provider_id and p.enabled
        where s.realm_id = ${realm} and s.session_id = ${sessionId}`;
      if (!row) return undefined;
      const { id, alias, id_token: sealed } = row;
      return { alias, idToken: sealed ? seal.open(sealed, contextAtRest(KIND, { realm, id })).toString() : undefined };
    },

    /** Sessions here that came of what has ended there: of its session, or of all of the person. */
    async endedThere(
      on: Sql,
      realm: string,
      { providerId, issuer, sid, sub }: { providerId: string; issuer: string; sid?: string; sub?: string },
    ): Promise<string[]> {
      const digest = sub === undefined ? null : sha256(JSON.stringify([issuer, sub]));
      const rows = await on<{ session_id: string }>`
        select s.session_id from provider_session s
        join identity_link l on l.realm_id = s.realm_id and l.id = s.link_id
        where s.realm_id = ${realm} and l.provider_id = ${providerId}
          and (${sid ?? null}::text is null or s.sid = ${sid ?? null})
          and (${digest}::bytea is null or l.subject_digest = ${digest})`;
      return rows.map(({ session_id }) => session_id);
    },
  };
}
export type ProviderSessions = ReturnType<typeof createProviderSessions>;
