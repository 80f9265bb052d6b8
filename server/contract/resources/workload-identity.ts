// Kind WorkloadIdentity: a foreign issuer and subject whose tokens the server exchanges for tokens of a client.
// Decisions "Custom resources"; specification 2.8.
import { z } from 'zod';
import { name } from '../names.ts';
import { WorkloadUse, workloadIdentity } from '../workload-identity.ts';
import { commonSpec, commonStatus, deletionPolicy, ServiceAccountRef } from './custom-resource.ts';

const { issuer, jwksUri, subject, audience, clientId } = workloadIdentity.fields;

export const WorkloadIdentitySpec = z.strictObject({
  ...commonSpec,
  deletionPolicy: deletionPolicy('Delete'),
  name: name(255).optional().describe('Unique in the realm; metadata.name where it is left out'),
  issuer: issuer
    .optional()
    .describe('The exact `iss` to trust, or a SPIFFE trust domain; this cluster’s where serviceAccountRef is given'),
  jwksUri: jwksUri.optional().describe('Where the issuer publishes its keys; by OIDC discovery where it is left out'),
  subject: subject.optional().describe('The exact `sub`; the ServiceAccount’s where serviceAccountRef is given'),
  audience: audience.describe('The `aud` that the workload must ask its issuer for'),
  clientId: clientId.describe('The client that the workload acts as'),
  scopes: z.array(z.string().min(1).max(255)).max(100).optional().describe('Scopes granted to the minted token'),
  enabled: z.boolean().optional().describe('false: nothing is traded'),
  use: WorkloadUse.optional().describe(
    'exchange: its tokens are exchanged for tokens of the client; authentication: they authenticate the client, in the namespace of the Realm alone; both. Left out: exchange',
  ),
  singleUse: z
    .boolean()
    .optional()
    .describe('Whether a token authenticates the client once, by its `jti`; left out: as its platform hands them out'),
  adminAccess: z
    .boolean()
    .optional()
    .describe(
      'false: never a token for the admin API, whatever the client may do; always so outside the namespace of the Realm',
    ),
  serviceAccountRef: ServiceAccountRef.optional().describe(
    'A ServiceAccount of this cluster, in place of issuer and subject',
  ),
});
export type WorkloadIdentitySpec = z.infer<typeof WorkloadIdentitySpec>;

export const WorkloadIdentityStatus = z.strictObject({
  ...commonStatus,
  name: z.string().optional().describe('Its name in the realm'),
  subject: z.string().optional().describe('Whose tokens are accepted'),
});
export type WorkloadIdentityStatus = z.infer<typeof WorkloadIdentityStatus>;
