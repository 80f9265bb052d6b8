// A realm's signing keys. Specification 2.4, 3 and 4.3.
import { z } from 'zod';
import { KeyAlgorithm } from './algorithms.ts';
import { EpochMs, Id, InRealm, Page, RealmName } from './names.ts';
import { route } from './route.ts';

export const RealmKey = z
  .object({
    keyId: Id,
    algorithm: z.string().describe('RSA (RS256), PS256, ES256, EdDSA; RSA-OAEP-256: clients encrypt for it'),
    status: z.enum(['ACTIVE', 'RETAINED']),
    publicKey: z.string().describe('Base64 DER of the public key (SubjectPublicKeyInfo), the same key as in the JWKS'),
    createdAt: EpochMs,
    rotatedAt: EpochMs.nullable().describe('null on an active key'),
  })
  .meta({ id: 'RealmKey' });
export type RealmKey = z.infer<typeof RealmKey>;

const tag = 'keys';

export const listKeys = route({
  method: 'GET',
  path: '/admin/realms/:realm/keys',
  tag,
  summary: 'List the active key of each algorithm that is used, and the retained ones',
  permission: 'keys:read',
  params: InRealm,
  query: Page,
  response: z.array(RealmKey),
});

export const rotateKeys = route({
  method: 'POST',
  path: '/admin/realms/:realm/keys/rotate',
  tag,
  summary: 'Make a new active key; one that signed before stays published for verification',
  description:
    'Without a body the one that signs by RS256, and for SAML. Another algorithm’s is made when a client first needs it, or by this. RSA-OAEP-256 is the one that clients encrypt their requests for: the one before it still decrypts.',
  permission: 'keys:write',
  params: InRealm,
  body: z.strictObject({ algorithm: KeyAlgorithm.optional() }).nullish(),
  example: { algorithm: 'ES256' },
  response: RealmKey,
});

export const deleteKey = route({
  method: 'DELETE',
  path: '/admin/realms/:realm/keys/:keyId',
  tag,
  summary: 'Delete a retained key',
  permission: 'keys:write',
  params: z.strictObject({ realm: RealmName, keyId: Id }),
  status: 204,
  problems: ['not-found', 'key-active'],
});
