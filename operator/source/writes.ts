// The operator's writes to a cluster: statuses, its finalizer, events. It follows no objects. `act` permits a write
// only while the permit lasts. Decisions "Custom resources": one status write, two operators never act at once.
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { API_VERSION, FINALIZER, plurals, type Resource } from '../resource.ts';
import { type Api, type ApiRequest, undefinedIfMissing } from './api.ts';
import { ApiFailure } from './api-failure.ts';
import { createRecorder } from './events.ts';
import type { ObjectCache } from './object-cache.ts';
import type { Source } from './source.ts';

const COMPONENT = 'realmkeeper-operator';
const MERGE_PATCH = 'application/merge-patch+json';
const TRIES = 5;
const Versioned = z.object({
  metadata: z.object({ uid: z.string(), resourceVersion: z.string(), finalizers: z.array(z.string()).default([]) }),
});

export function createWrites({
  act,
  cache,
}: {
  act: Api['call'];
  cache: Pick<ObjectCache, 'written' | 'writing'>;
}): Pick<Source, 'writeStatus' | 'addFinalizer' | 'removeFinalizer' | 'say'> {
  const eventsOf = (namespace: string) => `/api/v1/namespaces/${namespace}/events`;
  const record = createRecorder({
    component: COMPONENT,
    now: Date.now,
    newId: () => randomBytes(8).toString('hex'),
    writer: {
      async create(namespace, body) {
        await act('POST', eventsOf(namespace), { body });
      },
      async patch(namespace, name, body) {
        const ask = { body, contentType: MERGE_PATCH };
        return (await undefinedIfMissing(act('PATCH', `${eventsOf(namespace)}/${name}`, ask))) !== undefined;
      },
    },
  });

  /** @returns false: the resource no longer exists */
  async function patch(resource: Resource, part: '' | '/status', ask: ApiRequest): Promise<boolean> {
    const written = await undefinedIfMissing(act('PATCH', `${pathOf(resource)}${part}?fieldManager=${COMPONENT}`, ask));
    if (written !== undefined) cache.written(resource.kind, written);
    return written !== undefined;
  }

  /** @returns false: the resource no longer exists */
  async function finalizers(resource: Resource, change: (all: string[]) => string[]): Promise<boolean> {
    // The cached object is mostly current; if it isn't, the API server answers with a conflict.
    let object: unknown = resource;
    for (let tries = 1; ; tries += 1) {
      const { uid, resourceVersion, finalizers: all } = Versioned.parse(object).metadata;
      const wanted = change(all);
      if (uid !== resource.metadata.uid) return false;
      if (isDeepStrictEqual(wanted, all)) return true;
      try {
        const body = { metadata: { resourceVersion, finalizers: wanted } };
        return await patch(resource, '', { body, contentType: MERGE_PATCH });
      } catch (error) {
        // another account wrote meanwhile
        if (!(error instanceof ApiFailure && error.status === 409) || tries === TRIES) throw error;
      }
      object = await undefinedIfMissing(act('GET', pathOf(resource)));
      if (object === undefined) return false;
    }
  }

  return {
    async writeStatus(resource, status) {
      // A new resource with the same name is another one: the status isn't written to it.
      cache.writing(resource, status);
      const ours = { op: 'test', path: '/metadata/uid', value: resource.metadata.uid };
      const body = [ours, { op: 'add', path: '/status', value: status }];
      await patch(resource, '/status', { body, contentType: 'application/json-patch+json' });
    },
    addFinalizer: (resource) => finalizers(resource, (all) => (all.includes(FINALIZER) ? all : [...all, FINALIZER])),
    async removeFinalizer(resource) {
      await finalizers(resource, (all) => all.filter((name) => name !== FINALIZER));
    },
    // A failed event must not fail a pass: a namespace under deletion accepts no events.
    say: (resource, event) => record(resource, event).catch(() => undefined),
  };
}

const pathOf = ({ kind, metadata }: Resource): string =>
  `/apis/${API_VERSION}/namespaces/${metadata.namespace}/${plurals[kind]}/${metadata.name}`;
