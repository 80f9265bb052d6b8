// Finds the user whom an authorization request names: by an earlier ID token, or by the subject in its `claims`. OIDC
// Core §3.1.2.1 (id_token_hint), §5.5.1.
import type { Subjects } from '../../../domain/subjects.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { Tokens } from '../../configuration/issued-tokens/service.ts';
import type { AuthorizationRequest } from './checks.ts';

export function createExpected({
  tokens,
  subjects,
}: {
  tokens: Pick<Tokens, 'verify'>;
  subjects: Pick<Subjects, 'ofUser' | 'find'>;
}) {
  /** @returns the user's id; an id that no user has, if the requested subject isn't the session's */
  return async function expectedUser(
    realm: string,
    { idTokenHint, sub, client }: AuthorizationRequest,
    session: { userId: string } | undefined,
  ): Promise<string | undefined> {
    if (sub !== undefined && session) {
      const subject = await subjects.ofUser(realm, client, session.userId);
      return subject?.sub === sub ? session.userId : '';
    }
    if (idTokenHint === undefined) return undefined;
    const claims = await tokens.verify(realm, idTokenHint, {
      typ: 'JWT',
      audience: client.clientId,
      expired: 'accepted',
    });
    const userId = claims && subjects.find(realm, claims);
    if (userId === undefined)
      throw new OAuthError('invalid_request', 'id_token_hint is not an ID token of this application');
    return userId;
  };
}
