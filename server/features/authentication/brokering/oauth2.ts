// A provider with plain OAuth 2.0: only its userinfo endpoint identifies the user.
import type { CodeFlow } from './code-flow.ts';
import { addressAmong, addressesEndpoint, type Claims, claimsOf } from './oauth2-shapes.ts';
import { type Upstream, UpstreamError } from './upstream.ts';

/** Twitch answers no token alone. */
const headersFor = (endpoint: string, clientId: string): object =>
  new URL(endpoint).hostname === 'api.twitch.tv' ? { 'client-id': clientId } : {};

export const createOauth2 = ({ codeFlow }: { codeFlow: CodeFlow }): Upstream => ({
  async depart(provider, departure) {
    const { authorizationEndpoint: endpoint } = provider.config;
    if (endpoint === undefined) throw new UpstreamError('no-authorization-endpoint');
    return codeFlow.depart(provider, departure, { endpoint });
  },

  async arrive(provider, back) {
    const { tokenEndpoint, userinfoEndpoint } = provider.config;
    if (tokenEndpoint === undefined || userinfoEndpoint === undefined) throw new UpstreamError('no-endpoints');
    const { accessToken, token } = await codeFlow.redeem(provider, back, {
      endpoint: tokenEndpoint,
      audience: tokenEndpoint,
    });
    const headers = headersFor(userinfoEndpoint, provider.clientId);
    const body = await codeFlow.userinfo(userinfoEndpoint, accessToken, headers);
    const addresses = addressesEndpoint(userinfoEndpoint, body);
    const claims = claimsOf({
      ...body,
      ...(addresses && (await addressAt(codeFlow, addresses, accessToken, body.email))),
    });
    // GitHub and other older providers send `id`, a number.
    const subject = subjectIn(claims.sub);
    if (subject === undefined) throw new UpstreamError('no-subject');
    return { issuer: new URL(userinfoEndpoint).origin, subject, claims, ...(token && { session: { token } }) };
  },
});

/** The user's address, and whether it is verified; nothing if the token doesn't reach it, as GitHub's without the scope `user:email`. */
async function addressAt(codeFlow: CodeFlow, endpoint: string, accessToken: string, shown: unknown): Promise<Claims> {
  try {
    return { ...addressAmong(await codeFlow.about(endpoint, accessToken), shown) };
  } catch (error) {
    if (error instanceof UpstreamError) return {};
    throw error;
  }
}

/** Other values could be the same text for several users: objects, and numbers that have lost their last digits. */
const subjectIn = (claim: unknown): string | undefined => {
  if (typeof claim === 'string' && claim !== '') return claim;
  return Number.isSafeInteger(claim) ? String(claim) : undefined;
};
