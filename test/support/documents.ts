// Owns: realm documents as fast-check makes them: every section, names that need care, fields declared or not.
// Does not own: what a server makes of them (features/operations/transfer).
// Implements: property tests of what reads and writes documents.
import fc from 'fast-check';
import { TokenEndpointAuthMethod } from '../../server/contract/client-authentication.ts';
import { EventTypeName } from '../../server/contract/events.ts';
import { type ExecutionDocument, MAX_FLOW_DEPTH, Requirement } from '../../server/contract/flows.ts';
import { GrantType } from '../../server/contract/oauth.ts';
import { permissions } from '../../server/contract/permissions.ts';

/** Words that a reader of YAML takes for something else, that break naive names, and plain ones. */
const awkward = [
  'on',
  'Yes',
  'null',
  '~',
  '1:30',
  '010',
  '2024-01-01',
  '1_000',
  '0x1f',
  '<<',
  '=',
  '- x',
  '# y',
  'a: b',
  '"q"',
  "it's",
  'Zürich',
  '登录',
  'a/b',
  'A.B',
  'x--0123456789',
  `\${SVC}`,
  '%2F',
  'back\\slash',
  '`t`',
  '{a}',
  '[b]',
  '!tag',
  '&anchor',
  '*',
];
const text = fc
  .oneof(
    fc.constantFrom(...awkward),
    fc
      .string({ minLength: 1, maxLength: 20, unit: 'grapheme' })
      .filter((s) => s === s.trim() && !/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(s)),
    fc.stringMatching(/^[a-z][a-z0-9-]{0,15}[a-z0-9]$/),
  )
  .filter((s) => s.trim() === s && s !== '' && s !== '__proto__');
const ascii = text.filter((s) => /^[\x20-\x7e]+$/.test(s));
const token = fc.stringMatching(/^[a-z][a-z0-9:._-]{0,20}$/);
const prose = fc.oneof(text, fc.constant('two\nlines\n'), fc.constant('  indented\n\ttab'), fc.constant(''));
const nullable = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null });
const names = fc.uniqueArray(text, { maxLength: 3 });
const url = token.map((s) => `https://${s.replaceAll(/[^a-z]/g, 'x')}.example.com/path`);
const seconds = fc.integer({ min: 30, max: 3600 });
const attributes = fc.dictionary(text, fc.array(prose, { maxLength: 2 }), { maxKeys: 3, noNullPrototype: true });
const roleMap = fc.dictionary(text, names, { maxKeys: 2, noNullPrototype: true });

const listOf = <T>(one: fc.Arbitrary<T>, key: (value: T) => string) =>
  fc.option(fc.uniqueArray(one, { maxLength: 4, selector: key }), { nil: undefined });
/** Only `required` is always there: documents declare what they like. */
const some = <T extends object, K extends keyof T>(fields: { [P in keyof T]: fc.Arbitrary<T[P]> }, ...required: K[]) =>
  fc.record(fields, { requiredKeys: required, noNullPrototype: true });

const settings = some({
  displayName: text,
  issuer: nullable(url),
  accessTokenTtlSeconds: seconds,
  requireMfa: fc.boolean(),
  riskMediumAction: fc.constantFrom('allow', 'step_up', 'deny'),
  primaryColor: nullable(fc.constantFrom('#fff', '#1a2b3c')),
  customCss: nullable(prose),
  browserFlow: text,
  supportedLocales: fc.constantFrom(['en'], ['en', 'no', 'de-CH']),
  realmId: fc.constant('acme'),
});
const clientScope = some(
  {
    name: token,
    description: nullable(prose),
    includeInTokenScope: fc.boolean(),
    claims: fc.constantFrom([], ['email'], ['given_name', 'email']),
  },
  'name',
);
const role = some(
  {
    name: text,
    description: nullable(prose),
    composite: some({ roles: names, clientRoles: roleMap }),
    default: fc.boolean(),
    attributes,
  },
  'name',
);
const secret = (kind: string) => fc.constantFrom(`\${SVC_VAR_${kind}_SECRET}`, 'a literal of some length');
const client = some(
  {
    clientId: ascii,
    name: nullable(text),
    enabled: fc.boolean(),
    tokenEndpointAuthMethod: fc.constantFrom(...TokenEndpointAuthMethod.options),
    redirectUris: fc.array(url, { maxLength: 2 }),
    webOrigins: fc.constantFrom([], ['+']),
    grantTypes: fc.subarray([...GrantType.options]),
    defaultClientScopes: fc.array(token, { maxLength: 2 }),
    flowOverride: nullable(text),
    accessTokenTtlSeconds: nullable(seconds),
    jwks: nullable(fc.constant({ keys: [{ kty: 'RSA', n: '0', e: 'AQAB', alg: 'RS256' }] })),
    jwksUri: nullable(url),
    secret: secret('CLIENT'),
  },
  'clientId',
);
const config = fc.dictionary(token, fc.oneof(prose, fc.integer(), fc.boolean(), fc.constant(null)), {
  maxKeys: 2,
  noNullPrototype: true,
});
const requirement = fc.constantFrom(...Requirement.options);
const step = some({ authenticatorId: token, requirement, config }, 'authenticatorId', 'requirement');
function executions(level: number): fc.Arbitrary<ExecutionDocument[]> {
  if (level === MAX_FLOW_DEPTH) return fc.array(step, { maxLength: 2 });
  const container = some({ name: text, requirement, executions: executions(level + 1) }, 'requirement', 'executions');
  return fc.array(fc.oneof(step, container), { maxLength: 3 });
}
const flow = fc.record({ alias: text, executions: executions(1) });
const types = fc.uniqueArray(fc.constantFrom(...EventTypeName.options), { minLength: 1, maxLength: 4 });
const webhook = some(
  {
    name: text,
    url,
    eventTypes: fc.oneof(
      fc.constant('*'),
      types.map((list) => list.join(',')),
    ),
    enabled: fc.boolean(),
    secret: secret('WEBHOOK'),
  },
  'name',
  'url',
  'eventTypes',
);
const identity = some(
  {
    name: text,
    issuer: url,
    jwksUri: nullable(url),
    subject: text,
    audience: text,
    clientId: text,
    scopes: fc.array(token, { maxLength: 3 }).map((s) => s.join(' ')),
    enabled: fc.boolean(),
    adminAccess: fc.boolean(),
  },
  'name',
  'issuer',
  'subject',
  'audience',
  'clientId',
);
const path = fc
  .array(
    text.filter((s) => !s.includes('/')),
    { minLength: 1, maxLength: 3 },
  )
  .map((parts) => `/${parts.join('/')}`);

/** Any document whose sections have the right shape; its references need not exist. */
export const realmDocument = () =>
  some({
    formatVersion: fc.constant(2),
    requiredEnv: fc.constant(['SVC_VAR_CLIENT_SECRET']),
    realm: settings,
    resourceIndicators: fc.uniqueArray(url, { maxLength: 2 }),
    clientScopes: listOf(clientScope, (s) => s.name),
    roles: listOf(role, (r) => r.name),
    flows: listOf(flow, (f) => f.alias),
    clients: listOf(client, (c) => c.clientId),
    clientRoles: fc.dictionary(text, fc.uniqueArray(role, { maxLength: 2, selector: (r) => r.name }), {
      maxKeys: 2,
      noNullPrototype: true,
    }),
    adminRoles: listOf(some({ name: text, permissions: fc.subarray([...permissions]) }, 'name'), (r) => r.name),
    serviceAccountRoles: listOf(
      some({ clientId: ascii, roles: names, clientRoles: roleMap, adminRoles: names }, 'clientId'),
      (a) => a.clientId,
    ),
    groups: listOf(some({ path, roles: names, attributes }, 'path'), (g) => g.path),
    webhooks: listOf(webhook, (w) => w.name),
    workloadIdentity: listOf(identity, (i) => i.name),
    users: fc.constant([{ username: 'ana' }]),
    agents: fc.constant([]),
  });
