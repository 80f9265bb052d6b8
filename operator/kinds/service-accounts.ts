// The workload identities of a Realm's clients: each ServiceAccount that a client names becomes one, in the document of the
// Realm itself, so that client and identity are applied together. Pure. Decisions "Clients without secrets".
import { ClientServiceAccounts, serviceAccountSubject } from '../../server/contract/resources/custom-resource.ts';
import { elementsOf, type Section } from '../../server/contract/section.ts';
import { type Context, Unusable } from './kind.ts';
import { unknownIssuer } from './workload-identity.ts';

const Accounts = ClientServiceAccounts.optional();
const LONGEST_NAME = 255;

/** The name of the workload identity: unique, as a client has each ServiceAccount once. */
function nameOf(clientId: string, subject: string): string {
  const name = `${clientId} ${subject.replace('system:serviceaccount:', '')}`;
  if (name.length > LONGEST_NAME)
    throw new Unusable(`the names of the client ${clientId} and of its ServiceAccount are too long together`);
  return name;
}

export function identitiesIn(section: Section, value: unknown, { metadata, clusterIssuer }: Context) {
  if (!section.serviceAccounts) return [];
  return elementsOf(section, value).flatMap(({ element, key: clientId }) => {
    const { serviceAccounts, tokenEndpointAuthMethod: method } = Object(element);
    const accounts = Accounts.parse(serviceAccounts) ?? [];
    if (accounts.length === 0) return [];
    if (method !== 'federated_jwt')
      throw new Unusable(`${clientId} has serviceAccounts, so its tokenEndpointAuthMethod must be federated_jwt`);
    if (!clusterIssuer)
      throw unknownIssuer('declare WorkloadIdentity resources with spec.issuer in place of serviceAccounts');
    const subjects = accounts.map((account) => serviceAccountSubject(account, metadata.namespace));
    if (new Set(subjects).size < subjects.length) throw new Unusable(`${clientId} names a ServiceAccount twice`);
    return accounts.map(({ audience }, i) => ({
      name: nameOf(clientId, subjects[i] ?? ''),
      issuer: clusterIssuer,
      subject: subjects[i] ?? '',
      audience,
      clientId,
      use: 'authentication' as const,
      // even if the client gets admin roles later
      adminAccess: false,
      enabled: true,
      singleUse: false,
    }));
  });
}
