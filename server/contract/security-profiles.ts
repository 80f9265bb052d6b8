// The security profiles that a realm or a client can be held to: FAPI 2.0 Security Profile and FAPI 2.0 Message Signing.
// features/configuration/clients/profile.ts has what they demand.
import { z } from 'zod';
import { ClientAlgorithm, SigningAlgorithm } from './algorithms.ts';
import { certificateMethods } from './client-authentication.ts';

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
  reuseRefreshTokens: true,
  clientAssertionAudience: 'issuer',
} as const;
/** FAPI 2.0 Security Profile §5.3.2.1: how a client may authenticate. */
export const profileMethods = ['private_key_jwt', ...certificateMethods] as const;
/** The values that count in place of a client's fields. */
const profileSets = {
  'fapi2-security': ofSecurity,
  'fapi2-message-signing': { ...ofSecurity, requireSignedRequestObject: true },
} as const satisfies Record<SecurityProfile, object>;
/** The same for one client. FAPI 2.0 Security Profile §5.3.2.1: a certificate or a proof of a key (DPoP) binds its tokens. */
export const profileSetsFor = (profile: SecurityProfile, isBoundToCertificate: boolean) => ({
  ...profileSets[profile],
  ...(!isBoundToCertificate && { dpopBoundAccessTokens: true as const }),
});
/** Fields of a client that are {@link PROFILE_ALGORITHM} where they are null. */
export const profileDefaults = [
  'idTokenSignedResponseAlg',
  'accessTokenSignedResponseAlg',
  'authorizationSignedResponseAlg',
  'introspectionSignedResponseAlg',
] as const;
