// A provider with plain OAuth 2.0: only its userinfo endpoint identifies the user.
import type { CodeFlow } from './code-flow.ts';
import { type Upstream, UpstreamError } from './upstream.ts';

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
    const claims = await codeFlow.userinfo(userinfoEndpoint, accessToken);
    // GitHub and other older providers send `id`, a number.
    const subject = subjectIn(claims.sub ?? claims.id);
    if (subject === undefined) throw new UpstreamError('no-subject');
    return { issuer: new URL(userinfoEndpoint).origin, subject, claims, ...(token && { session: { token } }) };
  },
});

/** Other values could be the same text for several users: objects, and numbers that have lost their last digits. */
const subjectIn = (claim: unknown): string | undefined => {
  if (typeof claim === 'string' && claim !== '') return claim;
  return Number.isSafeInteger(claim) ? String(claim) : undefined;
};
