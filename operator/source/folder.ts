// Resources from a folder of YAML files, for machines without a cluster: the files are read again when one changes.
// Status is only in memory. Deleting a document deletes its resource, as kubectl delete would. Decisions "Custom
// resources".
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { DNS_NAME } from '../../server/contract/resources/custom-resource.ts';
import { API_VERSION, FINALIZER, keyOf, keyOfResource, kindNames, type Resource, resourceOf } from '../resource.ts';
import { serverRefOf } from '../runtime/server-ref.ts';
import type { Source, SourceListener } from './source.ts';

const EVERY_MS = 1_000;
const NAMESPACE = 'default';

/** Names without a slash: with one, two managers could have the same name. */
const ObjectName = z.string().max(253).regex(DNS_NAME, 'must be a name as Kubernetes has them');
const KubernetesObject = z
  .object({
    apiVersion: z.string(),
    kind: z.string(),
    metadata: z.object({ name: ObjectName, namespace: ObjectName.default(NAMESPACE) }).loose(),
    spec: z.unknown().optional(),
    data: z.record(z.string(), z.string()).default({}),
    stringData: z.record(z.string(), z.string()).default({}),
  })
  .loose();
const KindName = z.enum(kindNames);

type Values = Map<string, ReadonlyMap<string, string>>;
interface Contents {
  resources: Map<string, Resource>;
  /** By `namespace/name`. */
  secrets: Values;
  configMaps: Values;
}

/**
 * @param secrets values by `namespace/name/key` that replace those of the files' Secrets
 * @param orphans for each server: finds the objects that this folder applied and may have lost, as resources under
 * deletion
 * @throws Error naming the file that can't be parsed, at the start; later such a file is logged and the last valid
 * state stays
 */
export function folderSource({
  dir,
  secrets: overrides = new Map(),
  orphans = [],
  serves = () => true,
  everyMs = EVERY_MS,
  log,
}: {
  dir: string;
  secrets?: ReadonlyMap<string, string>;
  orphans?: readonly (() => Promise<readonly Resource[]>)[];
  /** Whether this operator serves a resource. */
  serves?: (resource: Resource) => boolean;
  /** How often the files are checked for changes. */
  everyMs?: number;
  log(message: string): void;
}): Source {
  let contents = nothing();
  let fingerprint = '';
  let timer: NodeJS.Timeout | undefined;
  let listener: SourceListener | undefined;

  async function files(): Promise<string[]> {
    const there = await readdir(dir).catch((cause: NodeJS.ErrnoException) => {
      throw new Error(`The folder ${dir} cannot be read (${cause.code ?? cause.message})`, { cause });
    });
    const names = there.filter((name) => /\.(ya?ml|json)$/.test(name)).sort();
    return names.map((name) => path.join(dir, name));
  }
  async function fingerprintOf(paths: readonly string[]): Promise<string> {
    const stats = await Promise.all(paths.map((file) => stat(file)));
    return stats.map((s, i) => `${paths[i]}:${s.mtimeMs}:${s.size}`).join('\n');
  }

  /** The parser's message without the excerpt of the file; the message contains line and column already. */
  const firstLine = (message: string) => message.split('\n')[0]?.replace(/:$/, '') ?? message;

  async function read(paths: readonly string[]): Promise<Contents> {
    const found = nothing();
    for (const file of paths) {
      for (const document of parseAllDocuments(await readFile(file, 'utf8'))) {
        const [error] = document.errors;
        if (error) throw new Error(`${file}: ${firstLine(error.message)}`);
        if (document.contents !== null) take(file, document.toJS(), found);
      }
    }
    return found;
  }

  function take(file: string, json: unknown, found: Contents): void {
    const parsed = KubernetesObject.safeParse(json);
    if (!parsed.success) throw new Error(`${file}: not a Kubernetes object: ${z.prettifyError(parsed.error)}`);
    const { apiVersion, kind, metadata } = parsed.data;
    const { namespace, name } = metadata;
    if (kind === 'Secret' && apiVersion === 'v1') {
      found.secrets.set(`${namespace}/${name}`, valuesOf(parsed.data, namespace, name));
      return;
    }
    if (kind === 'ConfigMap' && apiVersion === 'v1') {
      found.configMaps.set(`${namespace}/${name}`, new Map(Object.entries(parsed.data.data)));
      return;
    }
    const ours = KindName.safeParse(kind);
    if (apiVersion !== API_VERSION || !ours.success) {
      log(`${file}: ${kind} ${name} is not of ${API_VERSION}, passed over`);
      return;
    }
    const key = keyOf(ours.data, namespace, name);
    if (found.resources.has(key)) throw new Error(`${file}: ${kind} ${namespace}/${name} is there twice`);
    const known = contents.resources.get(key);
    // restored while it was being deleted: a new resource with the same name
    const before = known?.metadata.deletionTimestamp ? undefined : known;
    const changed = before === undefined || digest(before.spec) !== digest(parsed.data.spec);
    const fresh = resourceOf(ours.data, {
      metadata: { ...metadata, uid: digest(key), finalizers: [FINALIZER] },
      spec: parsed.data.spec,
      status: { observedGeneration: -1 },
    });
    fresh.metadata.generation = (known?.metadata.generation ?? 0) + (changed ? 1 : 0);
    if (serves(fresh)) found.resources.set(key, fresh);
  }

  function valuesOf({ data, stringData }: z.infer<typeof KubernetesObject>, namespace: string, name: string) {
    const values = new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
    for (const [key, value] of Object.entries(stringData)) values.set(key, value);
    for (const key of values.keys()) {
      const override = overrides.get(`${namespace}/${name}/${key}`);
      if (override !== undefined) values.set(key, override);
    }
    return values;
  }

  async function refresh(): Promise<void> {
    const paths = await files();
    const seen = await fingerprintOf(paths);
    if (seen === fingerprint) return;
    const before = contents;
    const next = await read(paths);
    fingerprint = seen;
    for (const [key, was] of before.resources) {
      const is = next.resources.get(key);
      if (!is) next.resources.set(key, underDeletion(was));
      // the present status: passes may have written it while the files were read
      else if (!was.metadata.deletionTimestamp) is.status = was.status;
    }
    contents = next;
    tell(before, next);
  }

  function tell(before: Contents, next: Contents): void {
    for (const [key, resource] of next.resources) {
      const was = before.resources.get(key);
      const same = was?.metadata.generation === resource.metadata.generation;
      if (!same || was?.metadata.deletionTimestamp !== resource.metadata.deletionTimestamp) listener?.changed(key);
    }
    for (const [namespace, name] of differing(before.secrets, next.secrets)) listener?.secretChanged(namespace, name);
    for (const [namespace, name] of differing(before.configMaps, next.configMaps))
      listener?.configMapChanged?.(namespace, name);
  }

  /** Servers that have not yet reported which objects of this folder they have. */
  const unasked = new Set(orphans);
  /** Orphans that wait: a resource of another server, or one in another realm, still has the same key. */
  let waiting: readonly Resource[] = [];
  /**
   * Asks each server for objects of resources that were removed from the folder before this start. It doesn't wait for
   * the answers.
   */
  function ask(): void {
    for (const orphansThere of unasked) {
      unasked.delete(orphansThere);
      orphansThere().then(
        (found) => {
          waiting = [...waiting, ...found];
          if (listener) adopt();
        },
        () => unasked.add(orphansThere),
      );
    }
  }
  const isElsewhere = (there: Resource, orphan: Resource): boolean =>
    serverRefOf(there.spec) !== serverRefOf(orphan.spec) ||
    (there.metadata.deletionTimestamp !== undefined && Object(there.spec).realm !== Object(orphan.spec).realm);
  function adopt(): void {
    const later: Resource[] = [];
    for (const orphan of waiting) {
      const key = keyOfResource(orphan);
      const there = contents.resources.get(key);
      if (!there) {
        contents.resources.set(key, orphan);
        listener?.changed(key);
      } else if (isElsewhere(there, orphan)) later.push(orphan);
    }
    waiting = later;
  }

  return {
    clusterIssuer: undefined,
    async start(given) {
      listener = given;
      const paths = await files();
      // computed before the files are read, so that a change meanwhile causes another read
      fingerprint = await fingerprintOf(paths);
      contents = await read(paths);
      for (const key of contents.resources.keys()) listener.changed(key);
      let failing = '';
      const again = async () => {
        await refresh().then(
          () => {
            failing = '';
          },
          (error: Error) => {
            if (failing !== error.message) log(`${error.message} (the last valid state stays until that is mended)`);
            failing = error.message;
          },
        );
        ask();
        adopt();
        if (listener) timer = setTimeout(again, everyMs);
      };
      ask();
      timer = setTimeout(again, everyMs);
    },
    async stop() {
      listener = undefined;
      clearTimeout(timer);
    },
    refresh,
    get: (key) => contents.resources.get(key),
    list: () => [...contents.resources.values()],
    secret: async (namespace, name) => contents.secrets.get(`${namespace}/${name}`),
    configMap: async (namespace, name) => contents.configMaps.get(`${namespace}/${name}`),
    namespaceLabels: async (namespace) => ({ 'kubernetes.io/metadata.name': namespace }),
    async writeStatus(resource, status) {
      const known = contents.resources.get(keyOfResource(resource));
      if (known) known.status = status;
    },
    // each resource has the finalizer from the start
    addFinalizer: async () => true,
    async removeFinalizer(resource) {
      const key = keyOfResource(resource);
      // unless the document was restored meanwhile
      if (contents.resources.get(key)?.metadata.deletionTimestamp) contents.resources.delete(key);
    },
    async say() {},
  };
}

const nothing = (): Contents => ({ resources: new Map(), secrets: new Map(), configMaps: new Map() });

/** Namespaces and names of objects that were added, changed or removed. */
function differing(before: Values, next: Values): [namespace: string, name: string][] {
  const changed = [...new Set([...before.keys(), ...next.keys()])].filter(
    (key) => digest([...(next.get(key) ?? [])]) !== digest([...(before.get(key) ?? [])]),
  );
  return changed.map((key) => {
    const [namespace = '', name = ''] = key.split('/');
    return [namespace, name];
  });
}

/** The resource with a deletion timestamp, which a folder doesn't have: the document is gone. */
export const underDeletion = (resource: Resource): Resource => ({
  ...resource,
  metadata: {
    ...resource.metadata,
    deletionTimestamp: resource.metadata.deletionTimestamp ?? new Date().toISOString(),
  },
});

const digest = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(value) ?? '')
    .digest('hex')
    .slice(0, 32);
