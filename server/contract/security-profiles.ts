// The security profiles that a realm or a client can be held to: FAPI 2.0 Security Profile and FAPI 2.0 Message Signing.
// features/configuration/clients/profile.ts has what they demand.
import { z } from 'zod';
import { ClientAlgorithm, SigningAlgorithm } from './algorithms.ts';

/** From the laxer to the stricter one. */
export const SecurityProfile = z.enum(['fapi2-security', 'fapi2-message-signing']);
export type SecurityProfile = z.infer<typeof SecurityProfile>;

/** FAPI 2.0 Security Profile §5.4.1 */
export const profileSigning = SigningAlgorithm.extract(['PS256', 'ES256', 'EdDSA']);
export const profileClientSigning = ClientAlgorithm.extract(['PS256', 'ES256', 'EdDSA', 'Ed25519']);
/** The algorithm by which a realm signs for a client that names none. */
export const PROFILE_ALGORITHM = 'PS256' satisfies z.infer<typeof profileSigning>;
