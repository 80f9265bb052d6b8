// The resources that the bench declares: realms with a client each, and what attaches to them, ten realms a namespace.
// Pure: what is declared of realm 17 depends on 17 alone.
import { API_VERSION, type KindName, plurals } from '../../../operator/resource.ts';

export interface FleetOptions {
  realms: number;
  /** Flow, Webhook, WorkloadIdentity, WorkloadIdentity, … of each realm. */
  attached: number;
}

export interface Member {
  /** Of the collection that it is created in. */
  collection: string;
  object: Record<string, unknown>;
}

const REALMS_A_NAMESPACE = 10;
const kindOf = (index: number): KindName => (['Flow', 'Webhook'] as const)[index] ?? 'WorkloadIdentity';
const serial = (index: number): string => String(index).padStart(4, '0');
export const realmOf = (index: number): string => `bench-${serial(index)}`;
export const namespaceOf = (index: number): string => `team-${serial(Math.floor(index / REALMS_A_NAMESPACE))}`;
export const realmPath = (index: number): string =>
  `/apis/${API_VERSION}/namespaces/${namespaceOf(index)}/realms/${realmOf(index)}`;

export const namespacesOf = ({ realms }: FleetOptions): Member[] =>
  Array.from({ length: Math.ceil(realms / REALMS_A_NAMESPACE) }, (_, i) => ({
    collection: '/api/v1/namespaces',
    object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespaceOf(i * REALMS_A_NAMESPACE) } },
  }));

/** What is counted: each of these is to become Ready. */
export const resourcesOf = ({ realms, attached }: FleetOptions): Member[] =>
  Array.from({ length: realms }, (_, i) => [
    resource('Realm', i, realmOf(i), realmSpec(i)),
    ...Array.from({ length: attached }, (__, n) => {
      const kind = kindOf(n);
      return resource(kind, i, `${realmOf(i)}-${n}`, attachedSpec(kind, i, n));
    }),
  ]).flat();

export const secretsOf = ({ realms }: FleetOptions): Member[] =>
  Array.from({ length: realms }, (_, i) => ({
    collection: `/api/v1/namespaces/${namespaceOf(i)}/secrets`,
    object: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: realmOf(i), namespace: namespaceOf(i) },
      stringData: {
        service: `a-secret-of-the-bench-${serial(i)}-0123456789abcdef`,
        webhook: `another-of-the-bench-${serial(i)}`,
      },
    },
  }));

function resource(kind: KindName, index: number, name: string, spec: object): Member {
  const namespace = namespaceOf(index);
  return {
    collection: `/apis/${API_VERSION}/namespaces/${namespace}/${plurals[kind]}`,
    object: { apiVersion: API_VERSION, kind, metadata: { name, namespace }, spec },
  };
}

const realmSpec = (index: number) => ({
  realm: realmOf(index),
  settings: { displayName: `Realm ${index}`, accessTokenTtlSeconds: 600 },
  roles: [{ name: 'reader' }, { name: 'writer' }],
  clients: [
    {
      clientId: 'service',
      tokenEndpointAuthMethod: 'client_secret_basic',
      grantTypes: ['client_credentials'],
      secretKeyRef: { name: realmOf(index), key: 'service' },
    },
    {
      clientId: 'app',
      tokenEndpointAuthMethod: 'none',
      grantTypes: ['authorization_code', 'refresh_token'],
      redirectUris: [`https://${realmOf(index)}.example.com/callback`],
    },
  ],
  serviceAccountRoles: [{ clientId: 'service', roles: ['reader'] }],
});

function attachedSpec(kind: KindName, index: number, n: number): object {
  const realm = realmOf(index);
  if (kind === 'Flow') {
    const executions = [
      { authenticatorId: 'username-password', requirement: 'REQUIRED' },
      {
        name: 'Second factor',
        requirement: 'CONDITIONAL',
        executions: [
          { authenticatorId: 'mfa-enabled', requirement: 'REQUIRED' },
          { authenticatorId: 'otp', requirement: 'REQUIRED' },
        ],
      },
    ];
    return { realm, executions, bind: true };
  }
  if (kind === 'Webhook') {
    return {
      realm,
      url: 'https://receiver.example.com/hook',
      eventTypes: ['LOGIN_SUCCESS', 'LOGIN_FAILURE'],
      enabled: false,
      secretKeyRef: { name: realm, key: 'webhook' },
    };
  }
  const subject = `repo:${realm}/app:${n}`;
  return { realm, issuer: 'https://issuer.example.com', subject, audience: 'realmkeeper', clientId: 'service' };
}
