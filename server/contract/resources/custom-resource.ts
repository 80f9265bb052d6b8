// The common part of the custom resources: references to Secrets, drift policy, status and its conditions.
// No defaults in a spec: the API server would write them into the object, and an omitted setting would look managed.
// Decisions "Custom resources"; conditions as kstatus reads them.

import { z } from 'zod';
import { DAY_SECONDS } from '../durations.ts';
import { RealmName } from '../names.ts';

export const GROUP = 'realmkeeper.dev';
export const VERSION = 'v1alpha1';

export const kindNames = ['Realm', 'Flow', 'Webhook', 'WorkloadIdentity'] as const;
export type KindName = (typeof kindNames)[number];

/**
 * The form of names of Secrets and ServiceAccounts in Kubernetes. No other name may get into an API path: `../` would
 * lead to another namespace.
 */
export const DNS_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const SecretName = z
  .string()
  .min(1)
  .max(253)
  .regex(DNS_NAME, 'must be the name of a Secret')
  .describe('Name of the Secret, in the namespace of this resource');

/** A key of a Secret in the resource's own namespace. */
export const SecretKeyRef = z
  .strictObject({
    name: SecretName,
    key: z
      .string()
      .min(1)
      .max(253)
      .regex(/^[-._a-zA-Z0-9]+$/, 'must be a key of a Secret: letters, digits and - . _')
      .describe('Key in the Secret’s data'),
    trim: z
      .boolean()
      .optional()
      .describe('true: white space at the ends of the value, such as a last line break, is not part of it'),
  })
  .describe('Where the secret’s value is; it never stands in the resource itself');
export type SecretKeyRef = z.infer<typeof SecretKeyRef>;

export const ConfigMapKeyRef = z
  .strictObject({
    name: z
      .string()
      .min(1)
      .max(253)
      .regex(DNS_NAME, 'must be the name of a ConfigMap')
      .describe('Name of the ConfigMap, in the namespace of this resource'),
    key: z
      .string()
      .min(1)
      .max(253)
      .regex(/^[-._a-zA-Z0-9]+$/, 'must be a key of a ConfigMap: letters, digits and - . _')
      .describe('Key in the ConfigMap’s data'),
  })
  .describe('The value is what a ConfigMap has under a key');

/** The source of a value that the resource could also contain itself. */
export const ValueSource = z
  .strictObject({ configMapKeyRef: ConfigMapKeyRef.optional(), secretKeyRef: SecretKeyRef.optional() })
  .refine((from) => (from.configMapKeyRef === undefined) !== (from.secretKeyRef === undefined), {
    message: 'has a configMapKeyRef or a secretKeyRef: exactly one of the two',
  });
export type ValueSource = z.infer<typeof ValueSource>;

/** A Secret that the operator creates. */
export const SecretOutput = z
  .strictObject({
    name: SecretName,
    rotation: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('Any text, such as a date: another one than before has a new secret made'),
    graceSeconds: z
      .int()
      .min(0)
      .max(30 * DAY_SECONDS)
      .optional()
      .describe('How long the old secret works beside a new one that rotation asked for; left out: an hour'),
  })
  .describe(
    'A Secret that the operator makes and owns: client-id, client-secret (where the client has one, made by the operator), issuer and endpoints. One that is there already and is not this resource’s is left alone',
  );
export type SecretOutput = z.infer<typeof SecretOutput>;

/** A ServiceAccount of the operator's cluster. */
export const ServiceAccountRef = z.strictObject({
  namespace: z
    .string()
    .max(63)
    .regex(DNS_NAME)
    .optional()
    .describe('Its namespace; this resource’s where it is left out'),
  name: z.string().max(253).regex(DNS_NAME).describe('Its name'),
});
export const serviceAccountSubject = ({ namespace, name }: z.infer<typeof ServiceAccountRef>, own: string): string =>
  `system:serviceaccount:${namespace ?? own}:${name}`;

/** The ServiceAccounts that authenticate a client, which then has no secret at all. */
export const ClientServiceAccounts = z
  .array(
    ServiceAccountRef.extend({
      audience: z
        .string()
        .min(1)
        .max(1024)
        .describe('The `aud` of its token, as the Pod’s projected volume asks for it; best the issuer of the realm'),
    }),
  )
  .max(20)
  .describe(
    'ServiceAccounts of this cluster whose tokens authenticate the client (tokenEndpointAuthMethod: federated_jwt): no Secret holds its credentials. The operator declares their workload identities with the client',
  );
export type ClientServiceAccounts = z.infer<typeof ClientServiceAccounts>;

export const SERVER_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** Fields of every kind. */
export const commonSpec = {
  realm: RealmName.describe('Name of the realm on the server; immutable'),
  serverRef: z
    .string()
    .min(1)
    .max(63)
    .regex(SERVER_NAME, 'must be the name of a server: a-z, digits and -')
    .optional()
    .describe(
      'The server that this is for, where there are several (the operator’s --server or --server-name); left out: the default one. Immutable',
    ),
  managementPolicy: z
    .enum(['Manage', 'Observe'])
    .optional()
    .describe(
      'Manage (the default) keeps the realm as it is declared; Observe only looks and reports in the status what differs: nothing is ever written to the realm, not even the first time or on deletion',
    ),
  driftPolicy: z
    .enum(['Correct', 'Report'])
    .optional()
    .describe('Correct (the default) repairs what differs on the server; Report only says so in the status'),
  suspend: z.boolean().optional().describe('true: the operator leaves this resource alone until it is false again'),
  force: z
    .boolean()
    .optional()
    .describe(
      'true: take over what other managers own, once for each change of this spec; what is lost again later is not taken back. ' +
        'Outside the namespace of the Realm resource only from managers of this resource’s own namespace',
    ),
};
export const deletionPolicy = (byDefault: 'Retain' | 'Delete') =>
  z
    .enum(['Retain', 'Delete'])
    .optional()
    .describe(
      byDefault === 'Retain'
        ? 'What deleting this resource does: Retain (the default) releases ownership and keeps the realm, Delete deletes the realm'
        : 'What deleting this resource does: Delete (the default) removes the object from the server, Retain releases ownership and keeps it',
    );

export const Condition = z.strictObject({
  type: z
    .enum(['Ready', 'Reconciling', 'Stalled', 'Drifted', 'Held', 'Suspended'])
    .describe(
      'Ready sums up; Reconciling: it is being tried; Stalled: a person must act; Drifted: reported, not corrected; Held: an administrator’s hold keeps what differs for a while; Suspended: left alone, as spec.suspend says',
    ),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds'),
  reason: z.string().max(1024).describe('One word that a program can act on'),
  message: z.string().max(32_768).describe('What happened, in words'),
  observedGeneration: z.int().optional().describe('The generation of the spec that this is about'),
  lastTransitionTime: z.string().describe('When status last changed, RFC 3339'),
});
export type Condition = z.infer<typeof Condition>;

/** Status fields of every kind. They stay the same while nothing changes. */
export const commonStatus = {
  conditions: z.array(Condition).max(8).optional().describe('How the resource stands'),
  observedGeneration: z.int().optional().describe('The generation of the spec that this status is about'),
  lastAppliedRevision: z.int().optional().describe('The realm’s configuration revision after the last apply'),
  lastAppliedGeneration: z.int().optional().describe('The generation of the spec that the realm last held in full'),
  lastPlan: z
    .strictObject({
      summary: z.string().describe('What the last apply did, or under Report and Observe what it would do'),
      changes: z
        .array(z.string())
        .max(20)
        .optional()
        .describe('Under Report and Observe: what differs, field by field; secrets as ***'),
      consequences: z
        .array(z.string())
        .max(20)
        .optional()
        .describe('Whom that touches who was signed in when it was planned'),
    })
    .optional()
    .describe('The server’s plan, in words'),
};
export type CommonStatus = z.infer<z.ZodObject<typeof commonStatus>>;
