// Owns: the party that permissions are requested for: the user of a token that the client sends, or the client itself.
// Does not own: verifying tokens (features/configuration/issued-tokens), the decision (authorization-services/decisions.ts).
// Implements: UMA 2.0 Grant §3.3.1.
import { z } from 'zod';
import type { Party } from '../../../contract/events.ts';
import { ACCESS_TOKEN_TYPE } from '../../../contract/oauth.ts';
import { ID_TOKEN_FORMAT, UmaPermission, type umaTicketBody } from '../../../contract/uma-grant.ts';
import type { Sql } from '../../../db/sql.ts';
import { signedInOf } from '../../../domain/on-behalf.ts';
import { userParty } from '../../../domain/party.ts';
import { isProven } from '../../../domain/sender.ts';
import { isPersons, type Subject, type Subjects } from '../../../domain/subjects.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { SignedIn } from '../../configuration/issued-tokens/mint.ts';
import type { Claims, Tokens } from '../../configuration/issued-tokens/service.ts';
import type { GrantCall } from '../token/grant.ts';

type Call = GrantCall<z.output<typeof umaTicketBody>>;

export interface RequestingParty {
  /** null: the client acts for itself. */
  userId: string | null;
  subject: Party | undefined;
  claims: Claims | undefined;
  /** The data for a token about the user. */
  person: { about: Subject; gid: string; signedIn: SignedIn; act: unknown; until: Date } | undefined;
  /** The user who can ask owners for access; undefined: an impersonator or a client can't. */
  mayRequest: { id: string; username: string } | undefined;
}

export interface RequestersDeps {
  sql: Sql;
  tokens: Pick<Tokens, 'verify'>;
  subjects: Pick<Subjects, 'find' | 'ofUser'>;
  newId: () => string;
}

const invalid = (reason: string) => new OAuthError('invalid_grant', 'The claim token is not valid here', { reason });

export function createRequesters({ sql, tokens, subjects, newId }: RequestersDeps) {
  /** The claims of a user's token that this client got. @throws OAuthError */
  async function claimsOf({ realm, client, who, body, sender }: Call, token: string): Promise<Claims> {
    const format = body.claim_token_format ?? ACCESS_TOKEN_TYPE;
    if (format !== ACCESS_TOKEN_TYPE && format !== ID_TOKEN_FORMAT)
      throw new OAuthError('invalid_request', `claim_token_format must be ${ACCESS_TOKEN_TYPE} or ${ID_TOKEN_FORMAT}`);
    if (format === ID_TOKEN_FORMAT) {
      // ID tokens appear in addresses, so an ID token alone proves nothing: the client must authenticate.
      if (!who.confidential) throw invalid('an ID token of a client without a secret');
      const claims = await tokens.verify(realm, token, { typ: 'JWT', audience: client.clientId });
      if (!claims) throw invalid('no ID token of this client');
      return { ...claims, gid: newId() };
    }
    const claims = await tokens.verify(realm, token, { typ: 'at+jwt' });
    if (!claims || !isPersons(claims)) throw invalid('no access token of a person of this realm');
    if (claims.client_id !== client.clientId) throw invalid('another client’s');
    if (!isProven(claims, sender)) throw invalid('bound to a key that was not proven');
    return claims;
  }

  return {
    tokens,
    subjects,

    async of(call: Call): Promise<RequestingParty> {
      const { realm, client, who, body } = call;
      if (body.claim_token === undefined) {
        if (!who.confidential)
          throw new OAuthError(
            'unauthorized_client',
            'A client without a secret asks for a person: send a claim_token',
          );
        return { userId: null, subject: undefined, claims: undefined, person: undefined, mayRequest: undefined };
      }
      const claims = await claimsOf(call, body.claim_token);
      const userId = subjects.find(realm, claims);
      const [row] = await sql<{ username: string }>`
        select username from realm_user where realm_id = ${realm} and id = ${userId ?? null} and enabled`;
      const about = userId && row ? await subjects.ofUser(realm, client, userId) : undefined;
      if (!userId || !row || !about || claims.gid === undefined) throw invalid('the person is gone or disabled');
      return {
        userId,
        subject: userParty(userId, row.username),
        claims,
        person: {
          about,
          gid: claims.gid,
          signedIn: signedInOf(claims),
          act: claims.act,
          until: new Date(claims.exp * 1000),
        },
        mayRequest: claims.act === undefined ? { id: userId, username: row.username } : undefined,
      };
    },
  };
}
export type Requesters = ReturnType<typeof createRequesters>;

const Permissions = z.object({ permissions: z.array(UmaPermission) });
/** The permissions of a token of this grant; none for other tokens. */
export const permissionsIn = (claims: Claims): UmaPermission[] =>
  Permissions.safeParse(claims.authorization).data?.permissions ?? [];

/**
 * The permissions of the token in `rpt`, if it is this client's, for this resource server, and of the same person or
 * client.
 */
export async function ownPermissions(
  { tokens, subjects }: Requesters,
  { realm, client, body, sender }: Call,
  { server, party }: { server: ClientView; party: RequestingParty },
): Promise<UmaPermission[]> {
  const claims = await tokens.verify(realm, body.rpt ?? '', { typ: 'at+jwt', audience: server.clientId });
  if (claims?.client_id !== client.clientId || !isProven(claims, sender)) return [];
  const of = isPersons(claims) ? subjects.find(realm, claims) : null;
  return of === party.userId ? permissionsIn(claims) : [];
}
