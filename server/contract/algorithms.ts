// The algorithms for signing and encrypting JWTs: only asymmetric ones (RFC 8725 §3.1).
import { z } from 'zod';

/** What realms sign. */
export const SigningAlgorithm = z.enum(['RS256', 'PS256', 'ES256', 'EdDSA']);
export type SigningAlgorithm = z.infer<typeof SigningAlgorithm>;
/** The default of keys and clients, and SAML's algorithm. */
export const DEFAULT_ALGORITHM = 'RS256' satisfies SigningAlgorithm;

/** Algorithms that clients and other issuers may sign with: assertions, request objects, DPoP proofs, grants, security events. */
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
export type ClientAlgorithm = z.infer<typeof ClientAlgorithm>;
export const clientAlgorithms: readonly string[] = ClientAlgorithm.options;

/** How the key of a JWE is encrypted for a client's public key. RSA1_5 is left out (RFC 8725 §3.2). */
export const KeyEncryptionAlgorithm = z.enum([
  'RSA-OAEP',
  'RSA-OAEP-256',
  'ECDH-ES',
  'ECDH-ES+A128KW',
  'ECDH-ES+A256KW',
]);
export type KeyEncryptionAlgorithm = z.infer<typeof KeyEncryptionAlgorithm>;
/** How the content of a JWE is encrypted. */
export const ContentEncryption = z.enum(['A128CBC-HS256', 'A256CBC-HS512', 'A128GCM', 'A256GCM']);
export type ContentEncryption = z.infer<typeof ContentEncryption>;
/** OpenID Connect Dynamic Client Registration §2. */
export const DEFAULT_CONTENT_ENCRYPTION = 'A128CBC-HS256' satisfies ContentEncryption;

/** How clients encrypt for a realm: by a realm key of this algorithm, which signs nothing. */
export const RealmEncryption = z.enum(['RSA-OAEP-256']);
export type RealmEncryption = z.infer<typeof RealmEncryption>;
/** The algorithm of a realm key: it signs, or clients encrypt for it. */
export const KeyAlgorithm = z.enum([...SigningAlgorithm.options, ...RealmEncryption.options]);
export type KeyAlgorithm = z.infer<typeof KeyAlgorithm>;
