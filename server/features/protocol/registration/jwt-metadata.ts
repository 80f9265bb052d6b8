// The metadata by which a client's requests and answers are signed and encrypted, and the client's fields: one table for both
// directions. Pure. OpenID Connect Dynamic Client Registration §2; JARM §3; RFC 9701 §6; RFC 9101 §10.5.
import type { z } from 'zod';
import { DEFAULT_ALGORITHM } from '../../../contract/algorithms.ts';
import { encryptionFields, signingFields } from '../../../contract/client-jwts.ts';
import type { ClientMetadata } from '../../../contract/registration.ts';
import { PROFILE_ALGORITHM, type SecurityProfile } from '../../../contract/security-profiles.ts';

/** By the client's field; a client does not choose how its access tokens are signed. */
const memberOf = {
  tokenEndpointAuthSigningAlg: 'token_endpoint_auth_signing_alg',
  requestObjectSigningAlg: 'request_object_signing_alg',
  requestObjectEncryptionAlg: 'request_object_encryption_alg',
  requestObjectEncryptionEnc: 'request_object_encryption_enc',
  idTokenSignedResponseAlg: 'id_token_signed_response_alg',
  idTokenEncryptedResponseAlg: 'id_token_encrypted_response_alg',
  idTokenEncryptedResponseEnc: 'id_token_encrypted_response_enc',
  userinfoSignedResponseAlg: 'userinfo_signed_response_alg',
  userinfoEncryptedResponseAlg: 'userinfo_encrypted_response_alg',
  userinfoEncryptedResponseEnc: 'userinfo_encrypted_response_enc',
  authorizationSignedResponseAlg: 'authorization_signed_response_alg',
  authorizationEncryptedResponseAlg: 'authorization_encrypted_response_alg',
  authorizationEncryptedResponseEnc: 'authorization_encrypted_response_enc',
  introspectionSignedResponseAlg: 'introspection_signed_response_alg',
  introspectionEncryptedResponseAlg: 'introspection_encrypted_response_alg',
  introspectionEncryptedResponseEnc: 'introspection_encrypted_response_enc',
} as const satisfies Readonly<Record<string, keyof ClientMetadata>>;
type Field = keyof typeof memberOf;
const { accessTokenSignedResponseAlg: _, ...own } = signingFields;
const fields = { ...own, ...encryptionFields };
const isField = (name: string): name is Field => Object.hasOwn(memberOf, name);
const names = Object.keys(memberOf).filter(isField);

type JwtFields = { [Name in Field]: z.output<(typeof fields)[Name]> };

/** @param refuse is called with the fault of a value that isn't supported */
export function jwtFieldsOf(metadata: ClientMetadata, refuse: (fault: string) => Error): JwtFields {
  return Object.fromEntries(
    names.map((name) => {
      const member = memberOf[name];
      const parsed = fields[name].safeParse(metadata[member] ?? null);
      if (!parsed.success) throw refuse(`${member} must be one of ${fields[name].unwrap().options.join(', ')}`);
      return [name, parsed.data];
    }),
  ) as JwtFields;
}

/** @param profile that counts for the client: it decides the default */
export const jwtMetadataOf = (
  client: Readonly<JwtFields>,
  profile: SecurityProfile | null,
): Partial<ClientMetadata> => ({
  ...Object.fromEntries(
    names.flatMap((name) => {
      const value = client[name];
      return value === null ? [] : [[memberOf[name], value]];
    }),
  ),
  id_token_signed_response_alg:
    client.idTokenSignedResponseAlg ?? (profile === null ? DEFAULT_ALGORITHM : PROFILE_ALGORITHM),
});
export type { JwtFields };
