// What the source tells of a cluster in which answers and events come in any order: each change of people once, and our own
// writes never. In place of the API server stands a plain HTTP server that answers in just the order that is looked at.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { FINALIZER, keyOf, type Resource } from '../../operator/resource.ts';
import { clusterSource } from '../../operator/source/cluster.ts';
import type { Source } from '../../operator/source/source.ts';
import { eventually } from '../support/operator.ts';

const key = keyOf('Realm', 'team', 'acme');
let stops: (() => Promise<unknown>)[] = [];
let changed: string[] = [];
let source: Source;
let watch: ServerResponse | undefined;
/** Answers the next PATCH. */
let answerPatch: (body: unknown, answer: (object: object, status?: number) => void) => void;
/** Whether any list was answered, before which the API server tells nobody its issuer. */
let listed = false;
/** What a single GET answers; undefined: it isn't there. */
let single: object | undefined;

const realm = ({ version = 1, generation = 1, finalizers = [FINALIZER], displayName = 'Acme' } = {}) => ({
  metadata: { name: 'acme', namespace: 'team', uid: 'u1', generation, resourceVersion: String(version), finalizers },
  spec: { realm: 'acme', settings: { displayName } },
  status: {},
});
const tell = (type: string, object: object) => watch?.write(`${JSON.stringify({ type, object })}\n`);
const held = (): Resource => {
  const found = source.get(key);
  if (!found) throw new Error('it is not held');
  return found;
};
const seen = (version: number) => eventually(() => expect(held().metadata.resourceVersion).toBe(String(version)));

async function start(first: object): Promise<void> {
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? '';
    response.setHeader('content-type', 'application/json');
    if (request.method === 'PATCH') {
      const body: unknown = JSON.parse(await text(request));
      answerPatch(body, (object, status = 200) => response.writeHead(status).end(JSON.stringify(object)));
    } else if (url.includes('watch=true')) {
      response.writeHead(200);
      response.flushHeaders();
      if (url.includes('/realms?')) watch = response;
    } else if (url.endsWith('/realms/acme')) {
      response.writeHead(single ? 200 : 404).end(JSON.stringify(single ?? { message: 'not found' }));
    } else if (url.startsWith('/.well-known/')) {
      response.writeHead(listed ? 200 : 403).end(JSON.stringify({ issuer: 'https://issuer', message: 'not yet' }));
    } else {
      listed = true;
      const items = url.includes('/realms?') ? [first] : [];
      response.end(JSON.stringify({ metadata: { resourceVersion: '1' }, items }));
    }
  }
  const server = createServer((request, response) => void respond(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-source-'));
  const kubeconfig = path.join(folder, 'kubeconfig');
  const named = { name: 'test' };
  await writeFile(
    kubeconfig,
    stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ ...named, cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
      contexts: [{ ...named, context: { cluster: 'test', user: 'test' } }],
      users: [{ ...named, user: {} }],
      'current-context': 'test',
    }),
  );
  source = clusterSource({ kubeconfig, log: () => {} });
  stops = [
    () => source.stop(),
    async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    () => rm(folder, { recursive: true }),
  ];
  await source.start({ changed: (told) => void changed.push(told), secretChanged: () => {} });
  await eventually(() => expect(watch).toBeDefined());
  changed = [];
}

beforeEach(() => {
  changed = [];
  watch = undefined;
  listed = false;
});
afterEach(async () => {
  for (const stop of stops) await stop();
  stops = [];
});

test('a change of people that comes with the answer to our own write is told, and once', async () => {
  await start(realm());
  const newer = { ...realm({ version: 3, generation: 2, displayName: 'Changed' }), status: { observedGeneration: 1 } };
  answerPatch = (_, answer) => answer(newer);
  await source.writeStatus(held(), { observedGeneration: 1 });
  expect(held().spec).toEqual(newer.spec);
  expect(changed).toEqual([key]);
  // the watch is late: first the change alone, then with our status
  tell('MODIFIED', realm({ version: 2, generation: 2, displayName: 'Changed' }));
  tell('MODIFIED', newer);
  tell('MODIFIED', { ...newer, metadata: { ...newer.metadata, resourceVersion: '4' } });
  await seen(4);
  expect(changed).toEqual([key]);
});

test('our own writes are no event, whether the watch or the answer comes first', async () => {
  for (const watchFirst of [true, false]) {
    await start(realm({ finalizers: [] }));
    answerPatch = (body, answer) => {
      expect(body).toEqual({ metadata: { resourceVersion: '1', finalizers: [FINALIZER] } });
      if (watchFirst) tell('MODIFIED', realm({ version: 2 }));
      else answer(realm({ version: 2 }));
      void seen(2).then(() => (watchFirst ? answer(realm({ version: 2 })) : tell('MODIFIED', realm({ version: 2 }))));
    };
    await source.addFinalizer(held());
    tell('MODIFIED', realm({ version: 3 }));
    await seen(3);
    expect(changed).toEqual([]);
    for (const stop of stops.splice(0)) await stop();
    watch = undefined;
  }
});

test('a finalizer that finds its resource gone, or another one under its name, says so', async () => {
  await start(realm({ finalizers: [] }));
  answerPatch = (_, answer) => answer({ message: 'not found' }, 404);
  expect(await source.addFinalizer(held())).toBe(false);
  answerPatch = (_, answer) => answer({ message: 'the object has been modified' }, 409);
  single = undefined;
  expect(await source.addFinalizer(held())).toBe(false);
  single = { metadata: { ...realm({ version: 5, finalizers: [] }).metadata, uid: 'u2' } };
  expect(await source.addFinalizer(held())).toBe(false);
  answerPatch = (_, answer) => answer(realm({ version: 2 }));
  expect(await source.addFinalizer(held())).toBe(true);
});

test('a finalizer that somebody takes away, a deletion and a new resource of the same name are told', async () => {
  await start(realm());
  tell('MODIFIED', realm({ version: 2, finalizers: [] }));
  await seen(2);
  expect(changed.splice(0)).toEqual([key]);
  tell('DELETED', realm({ version: 3 }));
  await eventually(() => expect(changed.splice(0)).toEqual([key]));
  expect(source.get(key)).toBeUndefined();
  tell('ADDED', { ...realm({ version: 4 }), metadata: { ...realm({ version: 4 }).metadata, uid: 'u2' } });
  await seen(4);
  expect(changed).toEqual([key]);
});

test('who wrote which field is not kept', async () => {
  const managedFields = [{ manager: 'kubectl', operation: 'Apply' }];
  const noted = { ...realm(), metadata: { ...realm().metadata, managedFields } };
  await start(noted);
  expect(held().metadata).not.toHaveProperty('managedFields');
  answerPatch = (_, answer) => answer({ ...noted, metadata: { ...noted.metadata, resourceVersion: '2' } });
  await source.writeStatus(held(), {});
  expect(held().metadata.resourceVersion).toBe('2');
  expect(held().metadata).not.toHaveProperty('managedFields');
});

test('the issuer of ServiceAccount tokens is learned from an API server that is just starting, too', async () => {
  await start(realm());
  expect(source.clusterIssuer).toBe('https://issuer');
});
