// Following over real connections: what a real API server does when it is killed, frozen or loses its history, and what stands
// in its place when a proxy misbehaves. Whatever is sent, nothing is lost for good and nothing is thrown.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createGzip, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { permittedFetch } from '../../operator/runtime/permit.ts';
import { connect } from '../../operator/source/api.ts';
import { createListWatch, type ListWatchOptions } from '../../operator/source/list-watch.ts';
import { type Cluster, clusterAssets, startCluster } from '../kubernetes/cluster.ts';
import { eventually } from '../support/operator.ts';
import { type Relay, startRelay } from '../support/relay.ts';

const assets = await clusterAssets();

let stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.reverse()) await stop();
  stops = [];
});

/** Follows until the test ends; `seen` holds what there is, as it was told. */
function follow(kubeconfig: string, collection: string, options: Partial<ListWatchOptions> = {}) {
  const api = connect(kubeconfig);
  const seen = new Map<string, string>();
  const lines: string[] = [];
  const asked: string[] = [];
  const watch = createListWatch({
    path: collection,
    open: (query, signal) => {
      asked.push(query);
      return api.lines(query, { signal });
    },
    upserted: ({ metadata }) => void seen.set(metadata.name, metadata.resourceVersion),
    deleted: (_, name) => void seen.delete(name),
    log: (line) => void lines.push(line),
    ...options,
  });
  stops.push(async () => {
    await watch.stop();
    await api.close();
  });
  return { watch, seen, lines, asked };
}

describe.skipIf(!assets.found)('on a real API server', () => {
  const collection = '/api/v1/namespaces/default/configmaps';
  let cluster: Cluster;
  let relay: Relay;
  let behindRelay: string;
  beforeAll(async () => {
    cluster = await startCluster({ controllers: [] });
    relay = await startRelay(Number(new URL(cluster.server).port));
    behindRelay = `${cluster.kubeconfig}.relay`;
    const text = await readFile(cluster.kubeconfig, 'utf8');
    await writeFile(behindRelay, text.replace(cluster.server, `https://127.0.0.1:${relay.port}`));
  });
  afterAll(async () => {
    await relay?.stop();
    await cluster?.stop();
  });

  const kubectl = async (...args: string[]) => {
    const { code, stdout, stderr } = await cluster.kubectl(args);
    expect(code, stderr).toBe(0);
    return stdout;
  };
  /** What there is, and of which version. */
  async function truth(): Promise<Map<string, string>> {
    const { items } = JSON.parse(await kubectl('get', 'configmaps', '-o', 'json'));
    return new Map(
      items.map((item: { metadata: { name: string; resourceVersion: string } }) => [
        item.metadata.name,
        item.metadata.resourceVersion,
      ]),
    );
  }
  const same = (seen: Map<string, string>) => eventually(async () => expect(seen).toEqual(await truth()));
  let made = 0;
  /** One is made, one changed, one deleted. */
  async function change(): Promise<void> {
    made += 1;
    await kubectl('create', 'configmap', `one-${made}`);
    await kubectl('create', 'configmap', `two-${made}`, `--from-literal=a=${made}`);
    await kubectl('label', 'configmap', `two-${made}`, 'changed=yes');
    if (made > 1) await kubectl('delete', 'configmap', `one-${made - 1}`);
  }

  test('an API server that is killed and comes back is gone on with, without a list where its history reaches', async () => {
    const { watch, seen } = follow(cluster.kubeconfig, collection);
    await change();
    await watch.start();
    await same(seen);
    await cluster.stopApiServer();
    await cluster.startApiServer();
    await change();
    await same(seen);
  });

  test('a connection that goes silent is given up, and what happened meanwhile is told, deletions too', async () => {
    const { watch, seen, lines } = follow(behindRelay, collection, { silenceMs: 2_000 });
    await watch.start();
    await change();
    await same(seen);
    relay.freeze();
    await change();
    await change();
    await eventually(() => expect(lines.join('\n')).toContain('nothing was heard'));
    relay.thaw();
    await same(seen);
  });

  test('a version that the API server no longer has (410) leads to a list, and nothing is lost', async () => {
    const { watch, seen, asked } = follow(behindRelay, collection, { silenceMs: 2_000 });
    await watch.start();
    await change();
    await same(seen);
    const lists = () => asked.filter((query) => !query.includes('watch=true')).length;
    const before = lists();
    relay.freeze();
    await change();
    await change();
    // what it starts with is all that it knows
    await cluster.stopApiServer();
    await cluster.startApiServer();
    relay.thaw();
    await same(seen);
    expect(lists()).toBeGreaterThan(before);
  });

  test('a kind whose CRD is deleted is empty, and is there again with its CRD', async () => {
    const crd = JSON.stringify({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.test.dev' },
      spec: {
        group: 'test.dev',
        names: { kind: 'Thing', plural: 'things', singular: 'thing', listKind: 'ThingList' },
        scope: 'Namespaced',
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    });
    const thing = (name: string) => JSON.stringify({ apiVersion: 'test.dev/v1', kind: 'Thing', metadata: { name } });
    const apply = (text: string) =>
      eventually(async () => expect((await cluster.kubectl(['apply', '-f', '-'], text)).code).toBe(0));
    const { watch, seen } = follow(cluster.kubeconfig, '/apis/test.dev/v1/things');
    // a kind that isn't there holds nothing up
    await watch.start();
    await apply(crd);
    await apply(thing('first'));
    await eventually(() => expect([...seen.keys()]).toEqual(['first']));
    await kubectl('delete', 'crd', 'things.test.dev', '--timeout=120s');
    await eventually(() => expect([...seen.keys()]).toEqual([]));
    await apply(crd);
    await apply(thing('second'));
    await eventually(() => expect([...seen.keys()]).toEqual(['second']));
  });
});

describe('where something else answers in the API server’s place', () => {
  const object = (name: string, version: number) => ({ metadata: { name, resourceVersion: String(version) } });
  const event = (type: string, of: object) => `${JSON.stringify({ type, object: of })}\n`;
  const list = (version: number, ...items: object[]) =>
    JSON.stringify({ metadata: { resourceVersion: String(version) }, items });

  /** Answers requests one after the other; the last answer is given for ever. */
  async function standIn(...answers: RequestListener[]): Promise<string> {
    let count = 0;
    const server: Server = createServer((request, response) => {
      // how far it has come, asked beside the lists and watches that are looked at here
      if (request.url?.endsWith('limit=1')) response.end(list(1_000));
      else answers[Math.min(count++, answers.length - 1)]?.(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const folder = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-stand-in-'));
    const file = path.join(folder, 'kubeconfig');
    stops.push(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true });
    });
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    await writeFile(
      file,
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'u', user: {} }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      }),
    );
    return file;
  }
  const send =
    (text: string | Buffer, headers: Record<string, string> = {}, status = 200): RequestListener =>
    (_, response) => {
      response.writeHead(status, headers);
      response.end(text);
    };
  const open: RequestListener = (_, response) => {
    response.writeHead(200);
    response.flushHeaders();
  };
  const quick = { wait: () => sleep(1), silenceMs: 500, random: () => 0 };

  test.each<[string, RequestListener[]]>([
    ['a page of HTML', [send('<html>Sign in</html>'), send(list(5, object('a', 3))), send('<html>\n<body>\n')]],
    ['an error page without end', [(_, response) => void response.writeHead(502).end('x'.repeat(5_000_000))]],
    ['a redirect to a page', [send('', { location: 'http://127.0.0.1:1/' }, 302)]],
    ['half a line', [send(list(5)), send(event('ADDED', object('a', 3)).slice(0, 20))]],
    ['half a list', [send(list(5, object('a', 3)).slice(0, 30))]],
    ['a connection that is reset', [(request) => void request.socket.resetAndDestroy()]],
    [
      'a connection that is reset in the middle of a line',
      [
        send(list(5)),
        (request, response) => {
          response.writeHead(200);
          response.write('{"type":"ADD');
          setTimeout(() => request.socket.resetAndDestroy(), 20);
        },
      ],
    ],
    ['nothing at all, ever', [() => {}]],
    ['an encoding that nobody asked for', [send('x', { 'content-encoding': 'zstd' })]],
    ['gzip that is none', [send('this is no gzip', { 'content-encoding': 'gzip' })]],
    ['gzip that ends early', [send(gzipSync(list(5)).subarray(0, 20), { 'content-encoding': 'gzip' })]],
    ['objects without a name', [send(list(5, { metadata: {} }, {})), send(event('ADDED', { metadata: {} }))]],
    ['events of an unknown type', [send(list(5)), send('{"type":"WHATEVER","object":{}}\n')]],
    ['JSON that is no list', [send('[]'), send('null'), send('"text"'), send('{}')]],
    ['a list without items', [send('{"metadata":{"resourceVersion":"5"},"items":null}'), send('', {}, 503)]],
    ['an error event without words', [send(list(5)), send('{"type":"ERROR","object":{}}\n')]],
  ])('%s is got over', async (_, answers) => {
    let calm = false;
    const good: RequestListener = (request, response) =>
      request.url?.includes('watch=true')
        ? open(request, response)
        : send(list(90, object('z', 80)))(request, response);
    const faulty = [...answers];
    const kubeconfig = await standIn((request, response) => {
      if (calm) return good(request, response);
      const next = faulty.length > 1 ? faulty.shift() : faulty[0];
      next?.(request, response);
    });
    const { watch, seen, asked } = follow(kubeconfig, '/things', quick);
    void watch.start();
    await eventually(() => expect(asked.length).toBeGreaterThanOrEqual(answers.length + 2));
    calm = true;
    await eventually(() => expect([...seen]).toEqual([['z', '80']]));
  });

  test('a list and a watch that a proxy compresses are read as they come', async () => {
    const kubeconfig = await standIn(
      send(gzipSync(list(5, object('a', 3))), { 'content-encoding': 'gzip' }),
      (_, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' });
        const zipped = createGzip();
        zipped.pipe(response);
        zipped.write(event('ADDED', object('b', 6)));
        zipped.flush();
      },
    );
    const { watch, seen } = follow(kubeconfig, '/things', { ...quick, silenceMs: 60_000 });
    await watch.start();
    await eventually(() => expect([...seen.keys()]).toEqual(['a', 'b']));
  });

  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  async function heap(): Promise<number> {
    collect();
    await sleep(50);
    collect();
    return process.memoryUsage().heapUsed;
  }
  /** What is garbage may need more than one collection to go; what is held never goes. */
  const grewByLess = (than: number, before: number) =>
    eventually(async () => expect((await heap()) - before, 'bytes more').toBeLessThan(than));

  test('thousands of watches that end leave nothing behind in memory', async () => {
    const kubeconfig = await standIn((request, response) =>
      request.url?.includes('watch=true')
        ? send(event('MODIFIED', object('a', 6)))(request, response)
        : send(list(5, object('a', 3)))(request, response),
    );
    const { watch, asked } = follow(kubeconfig, '/things', { ...quick, silenceMs: 60_000 });
    await watch.start();
    async function watches(count: number): Promise<void> {
      while (asked.length < count) await sleep(20);
      asked.length = 0;
    }
    await watches(500);
    const before = await heap();
    await watches(2_000);
    await grewByLess(1_000_000, before);
  });

  test('thousands of requests under one permit leave nothing behind in memory', async () => {
    const permit = { granted: () => true, signal: new AbortController().signal };
    const fetch = permittedFetch(permit, async () => new Response(null));
    async function requests(count: number): Promise<void> {
      for (let i = 0; i < count; i += 1) await fetch('http://a.test', { signal: AbortSignal.timeout(1_000) });
      await sleep(1_100);
    }
    await requests(1_000);
    const before = await heap();
    await requests(10_000);
    await grewByLess(2_000_000, before);
  });
});
