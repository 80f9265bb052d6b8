// The security profiles that a realm or a client can be held to: FAPI 2.0 Security Profile and FAPI 2.0 Message Signing.
// features/configuration/clients/profile.ts has what they demand.
import { z } from 'zod';
import { ClientAlgorithm, SigningAlgorithm } from './algorithms.ts';

/** From the laxer to the stricter one. */
export const SecurityProfile = z.enum(['fapi2-security', 'fapi2-message-signing']);
export type SecurityProfile = z.infer<typeof SecurityProfile>;
export const profileNames = {
  'fapi2-security': 'FAPI 2.0 Security Profile',
  'fapi2-message-signing': 'FAPI 2.0 Message Signing',
} as const satisfies Record<SecurityProfile, string>;

/** FAPI 2.0 Security Profile §5.4.1 */
export const profileSigning = SigningAlgorithm.extract(['PS256', 'ES256', 'EdDSA']);
export const profileClientSigning = ClientAlgorithm.extract(['PS256', 'ES256', 'EdDSA', 'Ed25519']);
/** The algorithm by which a realm signs for a client that names none. */
export const PROFILE_ALGORITHM = 'PS256' satisfies z.infer<typeof profileSigning>;

const ofSecurity = {
  requirePushedAuthorizationRequests: true,
  requirePkce: true,
  dpopBoundAccessTokens: true,
  reuseRefreshTokens: true,
  clientAssertionAudience: 'issuer',
} as const;
/** The values that count in place of a client's fields. */
export const profileSets = {
  'fapi2-security': ofSecurity,
  'fapi2-message-signing': { ...ofSecurity, requireSignedRequestObject: true },
} as const satisfies Record<SecurityProfile, object>;
/** Fields of a client that are {@link PROFILE_ALGORITHM} where they are null. */
export const profileDefaults = [
  'idTokenSignedResponseAlg',
  'accessTokenSignedResponseAlg',
  'authorizationSignedResponseAlg',
  'introspectionSignedResponseAlg',
] as const;
