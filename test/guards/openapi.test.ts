// Owns: what programs that read the OpenAPI document rely on: its rules, names, security and answers.
// Does not own: that it is what the code says (generated.test.ts), that its routes are the contract's (contract.test.ts).
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const file = 'server/openapi.json';

interface Operation {
  operationId?: string;
  tags?: string[];
  security?: Record<string, unknown>[];
  parameters?: { name: string; in: string }[];
  responses: Record<string, { $ref?: string; description?: string; content?: Record<string, object> }>;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  tags: { name: string }[];
}
const { paths, tags }: Document = JSON.parse(readFileSync(path.join(root, file), 'utf8'));
const operations = Object.entries(paths).flatMap(([at, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ at, name: `${method.toUpperCase()} ${at}`, ...operation })),
);

/** Anonymous, and without a parameter or a body that could be wrong. */
const NOTHING_TO_REFUSE = [
  '/.well-known/oauth-protected-resource/admin',
  '/.well-known/webauthn',
  ...['health', 'health/liveness', 'health/readiness', 'info', 'metrics-text'].map((one) => `/actuator/${one}`),
].map((one) => `#/paths/${one.replaceAll('/', '~1')}/get/responses`);

test('the linter has nothing to say, but that what everybody may read refuses nobody', async () => {
  const output = await new Promise<string>((resolve, reject) => {
    const args = ['lint', file, '--format=json', '--max-problems=1000'];
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    execFile(path.join(root, 'node_modules/.bin/redocly'), args, { cwd: root, env }, (error, stdout, stderr) =>
      stdout === '' ? reject(new Error(stderr, { cause: error })) : resolve(stdout),
    );
  });
  const { problems }: { problems: { ruleId: string; location: { pointer: string }[] }[] } = JSON.parse(output);
  expect(problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`).sort()).toEqual(
    NOTHING_TO_REFUSE.map((pointer) => `operation-4xx-response ${pointer}`),
  );
});

test('every operation has a name of its own that is one in any language', () => {
  const ids = operations.map(({ operationId = '' }) => operationId);
  expect(ids.filter((id) => !/^[a-z][A-Za-z0-9]+$/.test(id))).toEqual([]);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  expect(ids).toEqual(expect.arrayContaining(['createWebhook', 'releaseManager', 'getToken', 'listOwnConsents']));
});

test('every operation says who may call it; what is anonymous says that', () => {
  expect(operations.filter(({ security }) => security === undefined).map(({ name }) => name)).toEqual([]);
  const anonymous = operations.filter(({ security }) => security?.length === 0).map(({ operationId }) => operationId);
  expect(anonymous.sort()).toEqual([
    'adminLogin',
    'authorize',
    'authorizeByPost',
    'endSession',
    'endSessionByPost',
    'exchangeWorkloadToken',
    'getAdminProtectedResource',
    'getAuthorizationServerMetadata',
    'getAuthzenConfiguration',
    'getHealth',
    'getInfo',
    'getInsertedAuthzenConfiguration',
    'getInsertedProtectedResource',
    'getInsertedSsfConfiguration',
    'getJwks',
    'getLiveness',
    'getMetrics',
    'getOpenidConfiguration',
    'getProtectedResource',
    'getReadiness',
    'getRelatedOrigins',
    'getSamlMetadata',
    'getSsfConfiguration',
    'getUmaConfiguration',
    'receiveSecurityEvent',
    'samlInitiate',
    'samlLogout',
    'samlLogoutByPost',
    'samlSignOn',
    'samlSignOnByPost',
  ]);
});

test('the parameters of a path are those that its template names', () => {
  const wrong = operations.filter(({ at, parameters = [] }) => {
    const named = [...at.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
    const described = parameters.filter((p) => p.in === 'path').map(({ name }) => name);
    return JSON.stringify(named) !== JSON.stringify(described.sort());
  });
  expect(wrong.map(({ name }) => name)).toEqual([]);
});

test('every answer says what it is, and in which content type it comes', () => {
  const answers = operations.flatMap(({ name, responses }) =>
    Object.entries(responses).map(([status, answer]) => ({ name: `${name} ${status}`, status, ...answer })),
  );
  const vague = answers.filter(({ $ref, description }) => !$ref && (!description || description.startsWith('Default')));
  expect(vague.map(({ name }) => name)).toEqual([]);
  const empty = answers.filter(({ $ref, content, status }) => !$ref && !content && !/^(2|3)/.test(status));
  expect(empty.map(({ name }) => name)).toEqual([]);
  const typesAt = (operationId: string, status: string) =>
    Object.keys(operations.find((o) => o.operationId === operationId)?.responses[status]?.content ?? {});
  expect(typesAt('authorize', '200')).toEqual(['text/html']);
  expect(typesAt('endSession', '400')).toEqual(['text/html']);
  expect(typesAt('getMetrics', '200')).toEqual(['text/plain']);
  expect(typesAt('getToken', '401')).toEqual(['application/json']);
});

test('of two answers that are no failure both are described', () => {
  const good = (responses: object) => Object.keys(responses).filter((status) => status.startsWith('2'));
  const twice = operations.filter(({ responses }) => good(responses).length > 1);
  expect(twice.map(({ name, responses }) => `${name} ${good(responses)}`)).toEqual([
    'DELETE /admin/realms/{realm} 202,204',
    'POST /admin/realms/{realm}/user-federation/{alias}/sync 200,202',
    'PATCH /realms/{realm}/scim/v2/Groups/{id} 200,204',
  ]);
});

test('every tag of an operation is declared', () => {
  const declared = new Set(tags.map(({ name }) => name));
  expect(operations.filter((o) => !o.tags?.every((tag) => declared.has(tag))).map(({ name }) => name)).toEqual([]);
});
