// A grant that began with another issuer's assertion, without a session and without a refresh token. It is stored so that
// the end of the user's access ends its access tokens, too (end-access.ts). RFC 7523 §2.1.
import type { Sql } from '../db/sql.ts';
import type { GrantData } from './grant-data.ts';

export interface AssertedGrant {
  realm: string;
  familyId: string;
  /** The row's id of the client. */
  client: string;
  userId: string;
  data: GrantData;
  now: Date;
  expiresAt: Date;
  /** The hash of a refresh token that the server discards. */
  tokenHash: Buffer;
}

/** @returns false if the user was disabled meanwhile. A change of the user at the same moment waits for this transaction, or precedes it. */
export const beginAssertedGrant = async (sql: Sql, grant: AssertedGrant): Promise<boolean> =>
  (
    await sql`
      with user_now as (
        select realm_id, id from realm_user where realm_id = ${grant.realm} and id = ${grant.userId} and enabled for key share
      )
      insert into refresh_family (realm_id, id, client, user_id, session_id, grant_data, created_at, expires_at, token_hash)
      select realm_id, ${grant.familyId}::uuid, ${grant.client}::uuid, id, null, ${JSON.stringify(grant.data)}::jsonb, ${grant.now}::timestamptz,
        ${grant.expiresAt}::timestamptz, ${grant.tokenHash}::bytea
      from user_now returning id`
  ).length > 0;
