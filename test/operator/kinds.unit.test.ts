// Each kind's document as a table: what a resource says is what the server is told, and nothing else.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { flow } from '../../operator/kinds/flow.ts';
import { type Context, Unusable } from '../../operator/kinds/kind.ts';
import { realm } from '../../operator/kinds/realm.ts';
import { webhook } from '../../operator/kinds/webhook.ts';
import { workloadIdentity } from '../../operator/kinds/workload-identity.ts';

const context = (secrets: Record<string, string> = {}, clusterIssuer?: string): Context => ({
  metadata: { name: 'named', namespace: 'team' },
  secrets: new Map(Object.entries(secrets)),
  clusterIssuer,
});
const url = 'https://receiver.example.com/hook';
const password = { authenticatorId: 'username-password', requirement: 'REQUIRED' } as const;
const otp = { authenticatorId: 'otp', requirement: 'REQUIRED' } as const;

test.each([
  ['nothing but its realm', { realm: 'acme' }, {}],
  ['settings', { realm: 'acme', settings: { requireMfa: true } }, { realm: { requireMfa: true } }],
  ['an empty section, which is declared', { realm: 'acme', roles: [] }, { roles: [] }],
  [
    'every section by its own name',
    {
      realm: 'acme',
      resourceIndicators: ['https://api.example.com'],
      clientScopes: [{ name: 'orders' }],
      roles: [{ name: 'reader' }],
      clientRoles: { app: [{ name: 'own' }] },
      adminRoles: [{ name: 'auditor', permissions: [] }],
      serviceAccountRoles: [{ clientId: 'app', roles: ['reader'] }],
      groups: [{ path: '/staff' }],
    },
    {
      resourceIndicators: ['https://api.example.com'],
      clientScopes: [{ name: 'orders' }],
      roles: [{ name: 'reader' }],
      clientRoles: { app: [{ name: 'own' }] },
      adminRoles: [{ name: 'auditor', permissions: [] }],
      serviceAccountRoles: [{ clientId: 'app', roles: ['reader'] }],
      groups: [{ path: '/staff' }],
    },
  ],
  [
    'what governs the resource itself, which is not for the server',
    {
      realm: 'acme',
      suspend: false,
      driftPolicy: 'Report',
      deletionPolicy: 'Delete',
      allowedNamespaces: { from: 'All' },
    },
    {},
  ],
  ['a client without a secret', { realm: 'acme', clients: [{ clientId: 'web' }] }, { clients: [{ clientId: 'web' }] }],
  [
    'a client with a secret',
    { realm: 'acme', clients: [{ clientId: 'app', secretKeyRef: { name: 's', key: 'k' } }] },
    { clients: [{ clientId: 'app', secret: 'the value' }] },
  ],
])('a Realm’s document holds %s', (_, spec, document) => {
  expect(realm.document(realm.spec.parse(spec), context({ 's/k': 'the value' }))).toStrictEqual(document);
});

test.each([
  [
    'its alias, or the resource’s name',
    { executions: [password] },
    { flows: [{ alias: 'named', executions: [password] }] },
  ],
  ['a name of its own', { alias: 'own', executions: [] }, { flows: [{ alias: 'own', executions: [] }] }],
  [
    'the realm’s binding where it is asked for',
    { executions: [password], bind: true },
    { flows: [{ alias: 'named', executions: [password] }], realm: { browserFlow: 'named' } },
  ],
  ['no binding where it isn’t', { executions: [], bind: false }, { flows: [{ alias: 'named', executions: [] }] }],
])('a Flow’s document holds %s', (_, spec, document) => {
  expect(flow.document(flow.spec.parse({ realm: 'acme', ...spec }), context())).toStrictEqual(document);
});

test('a Flow’s status counts every execution, containers and their children included', () => {
  const container = { requirement: 'CONDITIONAL', executions: [otp, { requirement: 'REQUIRED', executions: [otp] }] };
  const spec = flow.spec.parse({ realm: 'acme', executions: [password, container] });
  expect(flow.status(spec, context())).toStrictEqual({ alias: 'named', executions: 5 });
});

test.each([
  [
    'event types as one text',
    { url, eventTypes: ['LOGIN_SUCCESS', 'LOGOUT'] },
    { name: 'named', url, eventTypes: 'LOGIN_SUCCESS,LOGOUT' },
  ],
  [
    'only what is declared',
    { name: 'own', url, eventTypes: ['*'], enabled: false },
    { name: 'own', url, eventTypes: '*', enabled: false },
  ],
  [
    'the signing secret',
    { url, eventTypes: ['*'], secretKeyRef: { name: 's', key: 'k' } },
    { name: 'named', url, eventTypes: '*', secret: 'the value' },
  ],
])('a Webhook’s document holds %s', (_, spec, document) => {
  const parsed = webhook.spec.parse({ realm: 'acme', ...spec });
  expect(webhook.document(parsed, context({ 's/k': 'the value' }))).toStrictEqual({ webhooks: [document] });
});

const trust = { realm: 'acme', audience: 'it', clientId: 'app' };
test.each([
  [
    'issuer and subject as they stand',
    { ...trust, issuer: 'https://issuer.example.com', subject: 'me', scopes: ['a', 'b'] },
    {
      name: 'named',
      issuer: 'https://issuer.example.com',
      subject: 'me',
      audience: 'it',
      clientId: 'app',
      scopes: 'a b',
    },
  ],
  [
    'the cluster’s issuer and a ServiceAccount of the resource’s namespace',
    { ...trust, serviceAccountRef: { name: 'ci' } },
    {
      name: 'named',
      issuer: 'https://cluster.local',
      subject: 'system:serviceaccount:team:ci',
      audience: 'it',
      clientId: 'app',
    },
  ],
  [
    'a ServiceAccount of another namespace',
    { ...trust, name: 'own', enabled: false, jwksUri: null, serviceAccountRef: { name: 'ci', namespace: 'other' } },
    {
      name: 'own',
      issuer: 'https://cluster.local',
      subject: 'system:serviceaccount:other:ci',
      jwksUri: null,
      audience: 'it',
      clientId: 'app',
      enabled: false,
    },
  ],
])('a WorkloadIdentity’s document holds %s', (_, spec, document) => {
  const parsed = workloadIdentity.spec.parse(spec);
  const told = workloadIdentity.document(parsed, context({}, 'https://cluster.local'));
  expect(told).toStrictEqual({ workloadIdentity: [document] });
});

test.each([
  [
    'a ServiceAccount where the cluster’s issuer isn’t known',
    { serviceAccountRef: { name: 'ci' } },
    /set spec\.issuer/,
  ],
  ['neither issuer nor ServiceAccount', { subject: 'me' }, /spec\.issuer and spec\.subject are required/],
  ['an issuer without a subject', { issuer: 'https://issuer.example.com' }, /spec\.subject is required/],
])('a WorkloadIdentity with %s says what is missing', (_, spec, message) => {
  const parsed = workloadIdentity.spec.parse({ ...trust, ...spec });
  expect(() => workloadIdentity.document(parsed, context())).toThrow(Unusable);
  expect(() => workloadIdentity.document(parsed, context())).toThrow(message);
});

test('a Realm’s document holds a workload identity for each ServiceAccount of a client, which no admin role reaches', () => {
  const serviceAccounts = [
    { name: 'web', audience: 'https://iam.example/realms/acme' },
    { name: 'web', namespace: 'canary', audience: 'canary' },
  ];
  const client = { clientId: 'web', tokenEndpointAuthMethod: 'federated_jwt' } as const;
  const spec = realm.spec.parse({ realm: 'acme', clients: [{ ...client, serviceAccounts }] });
  const always = {
    issuer: 'https://cluster.local',
    clientId: 'web',
    use: 'authentication',
    adminAccess: false,
    enabled: true,
    singleUse: false,
  };
  expect(realm.document(spec, context({}, 'https://cluster.local'))).toStrictEqual({
    clients: [client],
    workloadIdentity: [
      {
        ...always,
        name: 'web team:web',
        subject: 'system:serviceaccount:team:web',
        audience: 'https://iam.example/realms/acme',
      },
      { ...always, name: 'web canary:web', subject: 'system:serviceaccount:canary:web', audience: 'canary' },
    ],
  });
});

test.each([
  ['authenticates otherwise', { tokenEndpointAuthMethod: 'client_secret_basic' }, 'must be federated_jwt', true],
  ['has no method', {}, 'must be federated_jwt', true],
  ['is on a cluster whose issuer is not known', { tokenEndpointAuthMethod: 'federated_jwt' }, 'is not known', false],
  [
    'names one twice',
    {
      tokenEndpointAuthMethod: 'federated_jwt',
      serviceAccounts: ['a', 'b'].map((audience) => ({ name: 'web', audience })),
    },
    'names a ServiceAccount twice',
    true,
  ],
])('a client with ServiceAccounts that %s is refused', (_, more, message, known) => {
  const client = { clientId: 'web', serviceAccounts: [{ name: 'web', audience: 'a' }], ...more };
  const spec = realm.spec.parse({ realm: 'acme', clients: [client] });
  expect(() => realm.document(spec, context({}, known ? 'https://cluster.local' : undefined))).toThrow(message);
});

test('a WorkloadIdentity outside the namespace of its Realm authenticates no client', () => {
  const guest = { ...context({}, 'https://cluster.local'), guest: true };
  const of = (use?: string) => workloadIdentity.spec.parse({ ...trust, serviceAccountRef: { name: 'ci' }, use });
  for (const use of ['authentication', 'both'])
    expect(() => workloadIdentity.document(of(use), guest)).toThrow(
      'spec.use: authenticating a client is for resources',
    );
  for (const use of ['exchange', undefined])
    expect(workloadIdentity.document(of(use), guest).workloadIdentity).toMatchObject([
      { use: 'exchange', adminAccess: false },
    ]);
});

test('a Secret’s value that looks like a placeholder is refused without being repeated', () => {
  const ref = { secretKeyRef: { name: 's', key: 'k' } };
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of a realm document
  const secrets = context({ 's/k': '${SVC_VAR_MASTER}' });
  const client = realm.spec.parse({ realm: 'acme', clients: [{ clientId: 'app', ...ref }] });
  expect(() => realm.document(client, secrets)).toThrow('the secret of app must be a value, not a placeholder');
  const hook = webhook.spec.parse({ realm: 'acme', url, eventTypes: ['*'], ...ref });
  expect(() => webhook.document(hook, secrets)).toThrow('the signing secret must be a value, not a placeholder');
});

test('a placeholder beside the secrets, in a provider’s endpoints, is refused too', () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of a realm document
  const config = { issuer: 'https://id.example', tokenEndpoint: '${SVC_VAR_MASTER}' };
  const spec = realm.spec.parse({ realm: 'acme', identityProviders: [{ alias: 'corporate', type: 'oidc', config }] });
  const message = 'config.tokenEndpoint of corporate must be a value, not a placeholder';
  expect(() => realm.document(spec, context())).toThrow(message);
});

test('each kind names the Secrets that it needs', () => {
  const ref = { name: 's', key: 'k' };
  const clients = [{ clientId: 'a', secretKeyRef: ref }, { clientId: 'b' }];
  expect(realm.secrets(realm.spec.parse({ realm: 'acme', clients }))).toEqual([ref]);
  expect(webhook.secrets(webhook.spec.parse({ realm: 'acme', url, eventTypes: ['*'], secretKeyRef: ref }))).toEqual([
    ref,
  ]);
  expect(webhook.secrets(webhook.spec.parse({ realm: 'acme', url, eventTypes: ['*'] }))).toEqual([]);
});

test.each([
  ['a literal secret of a client', realm, { realm: 'acme', clients: [{ clientId: 'a', secret: 'x' }] }],
  ['a literal secret of a webhook', webhook, { realm: 'acme', url, eventTypes: ['*'], secret: 'x' }],
  ['users', realm, { realm: 'acme', users: [] }],
  ['flows in a Realm', realm, { realm: 'acme', flows: [] }],
  ['an unknown field', flow, { realm: 'acme', executions: [], colour: 'red' }],
])('%s is not in the schema', (_, kind, spec) => {
  expect(kind.spec.safeParse(spec).success).toBe(false);
});

test('a Realm of the days when client scopes defined their claims says the same in today’s words', () => {
  const file = path.join(import.meta.dirname, 'fixtures/realm-2026-11-21.yaml');
  const spec = realm.spec.parse(parse(readFileSync(file, 'utf8')).spec);
  expect(realm.document(spec, context())).toEqual({
    realm: { displayName: 'Acme' },
    clientScopes: [
      { name: 'department', description: 'Your department', claims: ['acme.department'] },
      { name: 'tier', claims: ['acme.department #2'] },
    ],
    claims: [
      {
        name: 'acme.department',
        source: 'attribute',
        attribute: 'department',
        jsonType: 'string',
        in: ['accessToken', 'userinfo'],
      },
      { name: 'acme.department #2', claim: 'acme.department', source: 'constant', value: 'none', in: ['userinfo'] },
    ],
  });
});
