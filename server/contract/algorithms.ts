// The algorithms for signing JWTs: only asymmetric ones (RFC 8725 §3.1).
import { z } from 'zod';

/** What realms sign. */
export const SigningAlgorithm = z.enum(['RS256', 'PS256', 'ES256', 'EdDSA']);
export type SigningAlgorithm = z.infer<typeof SigningAlgorithm>;
/** The default of keys and clients, and SAML's algorithm. */
export const DEFAULT_ALGORITHM = 'RS256' satisfies SigningAlgorithm;

/** Algorithms that clients may sign with: assertions, request objects, DPoP proofs. */
export const ClientAlgorithm = z.enum([
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]);
export const clientAlgorithms: readonly string[] = ClientAlgorithm.options;
