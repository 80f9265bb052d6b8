// Owns: an operator in the test's process that reads a folder of the test's own, and looking at what became of a resource.
// Does not own: the server (server.ts), clusters (test/kubernetes).
// Implements: tests of the reconcilers at the level of use: files in, the real server's state and the status out.
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { stringify } from 'yaml';
import { API_VERSION, type KindName, keyOf } from '../../operator/resource.ts';
import { systemTimers, type Timers } from '../../operator/runtime/queue.ts';
import type { RealmNames } from '../../operator/runtime/realm-names.ts';
import type { Selector } from '../../operator/runtime/selector.ts';
import { selects } from '../../operator/runtime/selector.ts';
import { serverSession } from '../../operator/session.ts';
import { folderSource } from '../../operator/source/folder.ts';
import { orphansOf } from '../../operator/source/orphans.ts';
import { startOperator } from '../../operator/start.ts';
import { createClient } from '../../server/contract/client.ts';
import type { Condition } from '../../server/contract/resources/custom-resource.ts';
import { startTestServer, type TestServer } from './server.ts';

export const OPERATOR_SECRET = 'svc_cs_operator-of-the-tests-0123456789abcdef';
export const CLUSTER = 'test';
/** Long enough for a machine that does ten other things; a test that passes never waits for it. */
const PATIENCE_MS = 100_000;

/** How much sooner an operator in the test's process does what it does every few seconds, or once more after a while. */
const SPEED_UP = 8;
const timers: Timers = { ...systemTimers, after: (ms, call) => systemTimers.after(ms / SPEED_UP, call) };
/** Longer than such an operator takes to see a change. */
export const NOTICED_MS = 1_000;

/** Tries until the check doesn't throw any more; throws what it threw last. */
export async function eventually<T>(check: () => T | Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  for (const until = Date.now() + patienceMs; ; ) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > until) throw error;
      await sleep(50);
    }
  }
}

/** Looks until it finds the same twice, `apartMs` from each other: what was under way has ended. Gives what it found. */
export async function atRest<T>(look: () => Promise<T>, apartMs = 3_000): Promise<T> {
  let before = await look();
  return eventually(async () => {
    await sleep(apartMs);
    const [earlier, now] = [before, await look()];
    before = now;
    expect(now).toEqual(earlier);
    return now;
  });
}

export interface Manifest {
  apiVersion?: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    finalizers?: string[];
  };
  [more: string]: unknown;
}

/** A resource of one of the four kinds. */
export const resource = (
  kind: KindName,
  name: string,
  spec: object,
  metadata: { namespace?: string; annotations?: Record<string, string> } = {},
): Manifest => ({ apiVersion: API_VERSION, kind, metadata: { name, ...metadata }, spec });

export const secret = (name: string, stringData: Record<string, string>, namespace = 'default'): Manifest => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace },
  stringData,
});

export interface Folder {
  dir: string;
  /** Writes a file in one step, as an editor does, so that no reader sees half of it. */
  write(file: string, ...documents: Manifest[]): Promise<void>;
  writeText(file: string, text: string): Promise<void>;
  remove(file: string): Promise<void>;
  drop(): Promise<void>;
}

export async function createFolder(): Promise<Folder> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'realmkeeper-manifests-'));
  const writeText = async (file: string, text: string) => {
    await writeFile(path.join(dir, `${file}.new`), text);
    await rename(path.join(dir, `${file}.new`), path.join(dir, file));
  };
  return {
    dir,
    writeText,
    write: (file, ...documents) => writeText(file, documents.map((d) => stringify(d)).join('---\n')),
    remove: (file) => rm(path.join(dir, file)),
    drop: () => rm(dir, { recursive: true, force: true }),
  };
}

export interface TestOperatorOptions {
  serverUrl: string;
  dir: string;
  clusterName?: string;
  operatorNamespace?: string;
  undeclaredRealms?: boolean;
  realmNamespaces?: Selector;
  realmNames?: RealmNames;
  /** How the operator reaches the server; for what happens between two of its requests. */
  fetch?: typeof fetch;
}

/** Everything as `npm run operator -- --manifests` puts it together. */
export async function startTestOperator(options: TestOperatorOptions) {
  const { serverUrl, dir, clusterName = CLUSTER, operatorNamespace, undeclaredRealms } = options;
  const { realmNamespaces, realmNames, fetch: reach = fetch } = options;
  const lines: string[] = [];
  const authorize = serverSession({ serverUrl, credential: { secret: OPERATOR_SECRET }, fetch });
  const client = createClient({ baseUrl: serverUrl, fetch: reach, authorize });
  const log = (message: string) => void lines.push(message);
  const source = folderSource({ dir, orphans: [() => orphansOf(client, { clusterName })], everyMs: 100, log });
  const operator = await startOperator({
    source,
    client,
    timers,
    clusterName,
    operatorNamespace,
    ...(undeclaredRealms !== undefined && { undeclaredRealms }),
    realmNamespaces: realmNamespaces && ((labels) => selects(realmNamespaces, labels)),
    realmNames,
    log: ({ resource: name, message }) => log(name ? `${name}: ${message}` : message),
  });
  const held = (kind: KindName, name: string, namespace: string) => source.get(keyOf(kind, namespace, name));
  return {
    source,
    client,
    lines,
    idle: operator.idle,
    stop: operator.stop,
    resources: operator.resources,
    condition(kind: KindName, name: string, type: Condition['type'] = 'Ready', namespace = 'default') {
      return held(kind, name, namespace)?.status.conditions?.find((c) => c.type === type);
    },
    status: (kind: KindName, name: string, namespace = 'default') => held(kind, name, namespace)?.status,
    /** Waits until the resource says `Ready` of the spec as it is now. */
    ready: (kind: KindName, name: string, namespace = 'default') =>
      eventually(() => {
        const found = held(kind, name, namespace);
        const condition = found?.status.conditions?.find((c) => c.type === 'Ready');
        if (found && condition?.status === 'True' && condition.observedGeneration === found.metadata.generation)
          return found;
        throw new Error(`${kind} ${name} is not ready: ${condition?.reason} ${condition?.message}`);
      }),
    /** Waits until the file was read again and the spec holds this. */
    took: (kind: KindName, name: string, spec: object, namespace = 'default') =>
      eventually(() => expect(held(kind, name, namespace)?.spec).toMatchObject(spec)),
    /** Waits until the condition `Ready` is there, of the spec as it is now, with this reason. */
    says: (kind: KindName, name: string, reason: string, namespace = 'default') =>
      eventually(() => {
        const found = held(kind, name, namespace);
        const conditions = found?.status.conditions ?? [];
        const told = conditions.filter((c) => c.observedGeneration === found?.metadata.generation);
        const condition = told.find((c) => c.reason === reason);
        if (condition) return condition;
        throw new Error(`${kind} ${name} says ${JSON.stringify(conditions)}, not ${reason}`);
      }),
    /** Waits until the resource is let go. */
    gone: (kind: KindName, name: string, namespace = 'default') =>
      eventually(() => {
        const found = held(kind, name, namespace);
        if (found) throw new Error(`${kind} ${name} is still there: ${JSON.stringify(found.status.conditions)}`);
      }),
  };
}
export type TestOperator = Awaited<ReturnType<typeof startTestOperator>>;

/** Shared by the tests of a file: one server; each test has a realm name, a folder and operators of its own. */
export interface OperatorSite {
  readonly server: TestServer;
  readonly folder: Folder;
  /** A name that no other test has. */
  readonly realm: string;
  /** Starts an operator that is stopped after the test. */
  begin(options?: Partial<TestOperatorOptions>): Promise<TestOperator>;
}

/** @param each `test`: as above; `file`: folder and operators live as long as the server */
export function operatorSite({ name, each = 'test' }: { name: string; each?: 'test' | 'file' }): OperatorSite {
  let server: TestServer | undefined;
  let folder: Folder | undefined;
  let operators: TestOperator[] = [];
  let tests = 0;
  const there = <T>(thing: T | undefined): T => {
    if (thing === undefined) throw new Error('only while tests run');
    return thing;
  };
  const open = async () => {
    folder = await createFolder();
  };
  const close = async () => {
    for (const operator of operators) await operator.stop();
    operators = [];
    await folder?.drop();
  };
  beforeAll(async () => {
    server = await startTestServer({ env: { SVC_OPERATOR_CLIENT_SECRET: OPERATOR_SECRET } });
    if (each === 'file') await open();
  });
  beforeEach(async () => {
    tests += 1;
    if (each === 'test') await open();
  });
  afterEach(async () => {
    if (each === 'test') await close();
  });
  afterAll(async () => {
    if (each === 'file') await close();
    await server?.stop();
  });
  return {
    get server() {
      return there(server);
    },
    get folder() {
      return there(folder);
    },
    get realm() {
      return each === 'file' ? name : `${name}-${tests}`;
    },
    async begin(options = {}) {
      const operator = await startTestOperator({
        serverUrl: there(server).baseUrl,
        dir: there(folder).dir,
        ...options,
      });
      operators.push(operator);
      return operator;
    },
  };
}
