// docs/resources.md: its examples name every field, the schemas take them, and a real server and operator make them so.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { renderCrds } from '../../operator/crd.ts';
import { kindNames, plurals } from '../../operator/resource.ts';
import { FlowSpec } from '../../server/contract/resources/flow.ts';
import { RealmSpec } from '../../server/contract/resources/realm.ts';
import { WebhookSpec } from '../../server/contract/resources/webhook.ts';
import { WorkloadIdentitySpec } from '../../server/contract/resources/workload-identity.ts';
import { type Example, examples } from '../support/examples.ts';
import {
  createFolder,
  type Folder,
  OPERATOR_SECRET,
  secret,
  startTestOperator,
  type TestOperator,
} from '../support/operator.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const specs = { Realm: RealmSpec, Flow: FlowSpec, Webhook: WebhookSpec, WorkloadIdentity: WorkloadIdentitySpec };

const Node = z.record(z.string(), z.unknown()).catch({});
/** Every place of a schema: `clients[].secretKeyRef.name`. */
function* places(schema: unknown, at = ''): Generator<string> {
  const { properties, items, additionalProperties } = Node.parse(schema);
  for (const [key, child] of Object.entries(Node.parse(properties))) {
    yield `${at}.${key}`;
    yield* places(child, `${at}.${key}`);
  }
  if (items) yield* places(items, `${at}[]`);
  if (additionalProperties) yield* places(additionalProperties, `${at}.*`);
}
/** Whether the value has something at the place. */
function has(value: unknown, [first, ...rest]: string[]): boolean {
  if (first === undefined) return value !== undefined;
  if (first === '[]' && Array.isArray(value)) return value.some((item) => has(item, rest));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if (first === '*') return Object.values(value).some((item) => has(item, rest));
  return has(Object.entries(value).find(([key]) => key === first)?.[1], rest);
}
const steps = (place: string) =>
  place
    .split('.')
    .flatMap((part) => part.replaceAll('[]', '.[]').split('.'))
    .filter(Boolean);

test.each(examples.map((example) => [`${example.kind} ${example.metadata.name}`, example] as const))(
  'the example %s fits its schema',
  (_, { kind, spec }) => {
    expect(specs[kind].safeParse(spec).error?.issues ?? []).toEqual([]);
  },
);

test.each([...kindNames])('the examples of %s show every field', (kind) => {
  const crd = parse(renderCrds().get(`crds/realmkeeper.dev_${plurals[kind]}.yaml`) ?? '');
  const schema = crd.spec.versions[0].schema.openAPIV3Schema.properties.spec;
  const shown = examples.filter((example) => example.kind === kind).map(({ spec }) => spec);
  const all = [...places(schema)];
  expect(all.length).toBeGreaterThan(8);
  // an execution has the same fields at every level
  // what names a server is for another operator than the one that runs them here; a Secret is named as everywhere
  const asked = all.filter(
    (place) =>
      (place !== '.serverRef' && !/^\.executions\[\]\.executions\[\]|From\.secretKeyRef/.test(place)) ||
      place.endsWith('.executions'),
  );
  expect(asked.filter((place) => !shown.some((spec) => has(spec, steps(place))))).toEqual([]);
});

// a folder has no ServiceAccounts: test/kubernetes/service-account.test.ts and clients-without-secrets.test.ts have these
const alive = examples.filter(({ spec }) => !/"serviceAccount(Ref|s)":/.test(JSON.stringify(spec)));
const write = (example: Example) => folder.write(`${example.kind}-${example.metadata.name}.yaml`, example);

let server: TestServer;
let folder: Folder;
let operator: TestOperator;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET } });
  folder = await createFolder();
  await folder.write(
    'secrets.yaml',
    secret('portal', { secret: 'a-secret-of-the-portal-0123456789' }, 'identity'),
    secret('audit-webhook', { signing: 'a-signing-secret-of-good-length' }, 'identity'),
    secret('acme-smtp', { password: 'a password' }, 'identity'),
    secret('corporate', { secret: 'a secret of the provider' }, 'identity'),
    secret('directory', { password: 'the password at the directory' }, 'identity'),
    secret('turnstile', { secret: 'a secret of the CAPTCHA' }, 'identity'),
    secret('corporate-signals', { header: 'Bearer of-the-transmitter', token: 'a token for its streams' }, 'identity'),
    secret('wiki', { token: 'a token of the wiki' }, 'identity'),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'globex', namespace: 'identity' },
      data: {
        css: '.card { border-radius: 0 }',
        welcome: 'Welcome',
        jwks: '{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"one","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}',
        subject: 'Hello',
        body: 'Hello',
      },
    },
  );
  for (const example of alive) if (example.metadata.namespace !== 'realmkeeper') await write(example);
  operator = await startTestOperator({ serverUrl: server.baseUrl, dir: folder.dir, operatorNamespace: 'realmkeeper' });
});
afterAll(async () => {
  await operator?.stop();
  await server?.stop();
  await folder?.drop();
});

test.each(alive.map(({ kind, metadata }) => [kind, metadata.name, metadata.namespace] as const))(
  'the example %s %s comes alive',
  async (kind, name, namespace) => {
    // as the document says: whichever comes first makes the realm
    await operator.ready('Realm', 'acme', 'identity');
    for (const example of alive) if (example.metadata.namespace === 'realmkeeper') await write(example);
    await operator.ready(kind, name, namespace);
  },
);
