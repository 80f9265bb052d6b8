// Kind Realm: a realm's configuration, but flows, webhooks and workload identities, which have kinds of their own.
// Users stay run-time data. Decisions "Custom resources"; specification 2.10 for the sections.
import { z } from 'zod';
import { ClientDocument } from '../clients.ts';
import { SettingsDocument } from '../settings.ts';
import { sections } from '../transfer.ts';
import { commonSpec, commonStatus, deletionPolicy, SecretKeyRef } from './custom-resource.ts';

/** Where the wire has a write-only secret the resource has a reference. */
export const ClientResource = ClientDocument.omit({ secret: true }).extend({
  secretKeyRef: SecretKeyRef.optional().describe('The client’s secret; left out: the server keeps the one it has'),
});
export type ClientResource = z.infer<typeof ClientResource>;

export const AllowedNamespaces = z
  .strictObject({
    from: z
      .enum(['Same', 'All', 'Selector'])
      .describe('Same: the namespace of this resource; All: every one; Selector: those with the labels'),
    selector: z
      .strictObject({
        matchLabels: z.record(z.string().max(317), z.string().max(63)).optional().describe('Labels that it must have'),
        matchExpressions: z
          .array(
            z.strictObject({
              key: z.string().max(317).describe('The label'),
              operator: z
                .enum(['In', 'NotIn', 'Exists', 'DoesNotExist'])
                .describe('How the label relates to the values'),
              values: z.array(z.string().max(63)).max(100).optional().describe('With In and NotIn'),
            }),
          )
          .max(50)
          .optional()
          .describe('Requirements that must all hold'),
      })
      .optional()
      .describe('With from: Selector, the labels of the namespaces'),
  })
  .describe('Whose Flow, Webhook and WorkloadIdentity resources may attach to this realm; Same where it is left out');
export type AllowedNamespaces = z.infer<typeof AllowedNamespaces>;

export const RealmSpec = z.strictObject({
  ...commonSpec,
  deletionPolicy: deletionPolicy('Retain'),
  allowedNamespaces: AllowedNamespaces.optional(),
  settings: SettingsDocument.optional().describe(
    'The realm’s settings; a field that is left out stays as people set it',
  ),
  resourceIndicators: sections.resourceIndicators
    .optional()
    .describe('RFC 8707: resources that tokens may be asked for'),
  clientScopes: sections.clientScopes.optional().describe('Client scopes and the claims they give'),
  roles: sections.roles.optional().describe('Realm roles'),
  clients: z.array(ClientResource).max(1000).optional().describe('Clients, by clientId'),
  clientRoles: sections.clientRoles.optional().describe('Roles of clients: a map of clientId to roles'),
  adminRoles: sections.adminRoles.optional().describe('Admin roles; only from the operator’s own namespace'),
  serviceAccountRoles: sections.serviceAccountRoles.optional().describe('What service accounts may do'),
  groups: sections.groups.optional().describe('Groups, by path'),
});
export type RealmSpec = z.infer<typeof RealmSpec>;

export const RealmStatus = z.strictObject({
  ...commonStatus,
  issuer: z.string().optional().describe('The `iss` of this realm’s tokens'),
  activeKeyId: z.string().optional().describe('Id of the key that signs now'),
});
export type RealmStatus = z.infer<typeof RealmStatus>;
