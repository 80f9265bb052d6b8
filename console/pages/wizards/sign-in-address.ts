// A request for a sign-in that an administrator tries out.
import { randomText } from './draft.ts';

/** The code that such a request gives is worth nothing: nothing has the verifier of its challenge. */
export function signInAddress(
  authorization: string,
  clientId: string,
  redirectUri: string,
  more: Record<string, string> = {},
): string {
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid',
    state: 'test',
    code_challenge: randomText(),
    code_challenge_method: 'S256',
    ...more,
  });
  return `${authorization}?${query}`;
}
