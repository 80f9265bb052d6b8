// Kind WorkloadIdentity: a foreign subject, or a ServiceAccount of this cluster, that acts as a client.
// Decisions "Custom resources"; specification 2.8.
import { serviceAccountSubject } from '../../server/contract/resources/custom-resource.ts';
import {
  WorkloadIdentitySpec as Schema,
  type WorkloadIdentitySpec,
} from '../../server/contract/resources/workload-identity.ts';
import { type Context, declaredFields, type Kind, Unusable } from './kind.ts';

export const workloadIdentity: Kind<WorkloadIdentitySpec> = {
  name: 'WorkloadIdentity',
  spec: Schema,
  deletionPolicy: 'Delete',
  attached: true,
  secrets: () => [],
  document(spec, context) {
    const { jwksUri, audience, clientId, scopes, enabled, use, singleUse } = spec;
    if (context.guest && use !== undefined && use !== 'exchange')
      throw new Unusable(
        'spec.use: authenticating a client is for resources in the namespace of the Realm; name the ServiceAccount in serviceAccounts of the Realm’s client',
      );
    const identity = declaredFields({
      name: spec.name ?? context.metadata.name,
      ...trusted(spec, context),
      jwksUri,
      audience,
      clientId,
      scopes: scopes?.join(' '),
      enabled,
      // Declared for guests, too: an omitted field could be changed by hand.
      use: context.guest ? 'exchange' : use,
      singleUse,
      // false even if the client gets admin roles later
      adminAccess: context.guest ? false : spec.adminAccess,
    });
    return { workloadIdentity: [identity] };
  },
  actsAs: ({ clientId }) => clientId,
  status: (spec, context) => ({ name: spec.name ?? context.metadata.name, subject: subjectOf(spec, context) }),
};

function trusted(spec: WorkloadIdentitySpec, context: Context): { issuer: string; subject: string } {
  const issuer = spec.issuer ?? (spec.serviceAccountRef && context.clusterIssuer);
  if (!issuer) {
    if (!spec.serviceAccountRef)
      throw new Unusable('spec.issuer and spec.subject are required without spec.serviceAccountRef');
    throw unknownIssuer('set spec.issuer');
  }
  const subject = subjectOf(spec, context);
  if (!subject) throw new Unusable('spec.subject is required without spec.serviceAccountRef');
  return { issuer, subject };
}

/** @param way what to declare instead */
export const unknownIssuer = (way: string): Unusable =>
  new Unusable(`the issuer of this cluster’s ServiceAccount tokens is not known: ${way}`, { lacks: 'clusterIssuer' });

function subjectOf({ subject, serviceAccountRef: ref }: WorkloadIdentitySpec, { metadata }: Pick<Context, 'metadata'>) {
  if (!ref) return subject;
  return serviceAccountSubject(ref, metadata.namespace);
}
