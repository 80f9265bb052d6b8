// The fields of a client by which its requests and answers are signed (JWS) and encrypted (JWE). OpenID Connect Dynamic
// Client Registration §2; JARM §3; RFC 9701 §6.
import { z } from 'zod';
import {
  ClientAlgorithm,
  ContentEncryption,
  KeyEncryptionAlgorithm,
  RealmEncryption,
  SigningAlgorithm,
} from './algorithms.ts';
import { anyObject, HttpUrl } from './names.ts';

export const signingFields = {
  tokenEndpointAuthSigningAlg: ClientAlgorithm.nullable().describe(
    'The one algorithm by which it signs its assertions (private_key_jwt); null: any of those that discovery names',
  ),
  requestObjectSigningAlg: ClientAlgorithm.nullable().describe(
    'The one algorithm by which it signs its requests; null: any of those that discovery names',
  ),
  idTokenSignedResponseAlg: SigningAlgorithm.nullable().describe(
    'By which algorithm its ID tokens and logout tokens are signed; null: RS256',
  ),
  accessTokenSignedResponseAlg: SigningAlgorithm.nullable().describe(
    'By which algorithm its access tokens are signed; whoever checks them must know it; null: RS256',
  ),
  userinfoSignedResponseAlg: SigningAlgorithm.nullable().describe(
    'By which algorithm it gets userinfo as a signed JWT; null: as JSON',
  ),
  authorizationSignedResponseAlg: SigningAlgorithm.nullable().describe(
    'By which algorithm the authorization responses are signed that it asks for as a JWT (JARM, response_mode jwt); null: RS256',
  ),
  introspectionSignedResponseAlg: SigningAlgorithm.nullable().describe(
    'By which algorithm the answers of introspection are signed that it asks for as a JWT (RFC 9701); null: RS256',
  ),
};

const keyed = (answers: string) =>
  KeyEncryptionAlgorithm.nullable().describe(
    `By which algorithm ${answers} encrypted, for a key of its jwks or jwksUri whose use isn’t sig; null: they are not`,
  );
const content = ContentEncryption.nullable().describe('How their content is encrypted then; null: A128CBC-HS256');

export const encryptionFields = {
  idTokenEncryptedResponseAlg: keyed('its ID tokens and logout tokens are'),
  idTokenEncryptedResponseEnc: content,
  userinfoEncryptedResponseAlg: keyed('the answers of userinfo are'),
  userinfoEncryptedResponseEnc: content,
  authorizationEncryptedResponseAlg: keyed('its authorization responses as a JWT (JARM) are'),
  authorizationEncryptedResponseEnc: content,
  introspectionEncryptedResponseAlg: keyed('the answers of introspection as a JWT (RFC 9701) are'),
  introspectionEncryptedResponseEnc: content,
  requestObjectEncryptionAlg: RealmEncryption.nullable().describe(
    'By which algorithm it may encrypt its signed requests for the realm’s key of this algorithm, which is then made; null: encrypted ones are refused',
  ),
  requestObjectEncryptionEnc: ContentEncryption.nullable().describe(
    'The one way in which their content is encrypted; null: any that discovery names',
  ),
};

/** The answers that can be encrypted for a client, by the beginning of their two fields. */
export const encryptedAnswers = ['idToken', 'userinfo', 'authorization', 'introspection'] as const;
export type EncryptedAnswer = (typeof encryptedAnswers)[number];
const shape = z.object(encryptionFields);
export type EncryptionFields = z.infer<typeof shape>;

export const keyFields = {
  jwks: anyObject()
    .nullable()
    .describe(
      'JWK Set of its public keys: for private_key_jwt, request objects and what is encrypted for it; with x5c, of its certificates for self_signed_tls_client_auth',
    ),
  jwksUri: HttpUrl.nullable().describe('Where its JWK Set is'),
};
