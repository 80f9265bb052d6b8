// Owns: each endpoint that the specification names (endpoints.txt) is a route of the server and, unless it is a page for people or
// the documentation itself, in the OpenAPI document; `/**` is a family, of which there is more than one. And who reads that
// document finds the code.
// Does not own: what they answer (conformance.*.test.ts and the features' tests).
// Implements: specification 4.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';

const endpoints = readFileSync(path.join(import.meta.dirname, 'endpoints.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [method = '', at = ''] = line.split(' ');
    return { line, method, at };
  });
const shown = ['GET /v3/api-docs', 'GET /swagger-ui.html', 'GET /realms/{realm}/register'];

let server: TestServer;
/** Addresses by method, whatever their parameters are called. */
const documented = new Set<string>();
const shape = (method: string, at: string) => `${method} ${at.replace(/\{[^}]*\}/g, '{}')}`;

beforeAll(async () => {
  server = await startTestServer();
  const { paths = {} } = await server.app.api.document();
  for (const [at, methods] of Object.entries(paths))
    for (const method of Object.keys(methods ?? {})) documented.add(shape(method.toUpperCase(), at));
});
afterAll(() => server?.stop());

test('the list is whole', () => {
  expect(endpoints).toHaveLength(209);
  expect(endpoints.filter(({ method, at }) => !/^[A-Z]+$/.test(method) || !at.startsWith('/'))).toEqual([]);
});

test('each is in the OpenAPI document', () => {
  const has = (method: string, at: string) => {
    if (!at.endsWith('/**')) return documented.has(shape(method, at));
    const within = shape(method, at.slice(0, -2));
    return [...documented].filter((one) => one.startsWith(within)).length > 1;
  };
  const missing = endpoints.filter(({ line, method, at }) => !shown.includes(line) && !has(method, at));
  expect(missing.map(({ line }) => line)).toEqual([]);
});

test('the tag of each is the folder of its feature, but for those that docs/development.md names', async () => {
  const folders = globSync('*/*', { cwd: path.join(import.meta.dirname, '../../server/features') }).map((folder) =>
    path.basename(folder),
  );
  const development = readFileSync(path.join(import.meta.dirname, '../../docs/development.md'), 'utf8');
  const named = /To find an endpoint,[\s\S]*?\n\n/.exec(development)?.[0] ?? '';
  const { paths = {} } = await server.app.api.document();
  const tags = new Set(
    Object.values(paths).flatMap((of) => Object.values(of ?? {}).flatMap((one) => Object(one).tags)),
  );
  expect([...tags].filter((tag) => !folders.includes(tag) && !named.includes(`\`${tag}\``))).toEqual([]);
});

test('each is a route', async () => {
  const nowhere = [];
  for (const { line, method, at } of endpoints) {
    const url = at
      .replace('{realm}', 'master')
      .replace('**', line.includes('/scim/') ? 'Users' : 'sessions')
      .replace(/\{\w+\}/g, 'x');
    const { statusCode, body } = await server.app.http.inject({ method: method as 'GET', url });
    if (statusCode === 405 || body.includes('There is nothing at this address')) nowhere.push(line);
  }
  expect(nowhere).toEqual([]);
});
