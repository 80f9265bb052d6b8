// Secrets that the operator makes for a resource: owned by it, so that they go with it, and never somebody else's.
// What is in them is runtime/secret-outputs.ts's to say. Decisions "Custom resources".
import { z } from 'zod';
import { API_VERSION, type Resource } from '../resource.ts';
import { type Api, found } from './api.ts';
import { ApiFailure } from './api-failure.ts';
import type { OwnSecrets } from './source.ts';

const ROTATION = 'realmkeeper.dev/rotation';
const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'realmkeeper-operator' };
const SecretObject = z.object({
  metadata: z.object({
    resourceVersion: z.string(),
    annotations: z.record(z.string(), z.string()).default({}),
    ownerReferences: z.array(z.object({ uid: z.string() })).default([]),
  }),
  data: z.record(z.string(), z.string()).default({}),
});

export function createOwnSecrets({ act }: { act: Api['call'] }): OwnSecrets {
  const collection = ({ metadata }: Resource) => `/api/v1/namespaces/${metadata.namespace}/secrets`;
  /** Merged, so that what others keep in it (labels, keys of their own) stays. */
  const merged = 'application/merge-patch+json';

  return {
    async read(resource, name) {
      const object = await found(act('GET', `${collection(resource)}/${name}`));
      if (object === undefined) return undefined;
      const { metadata, data } = SecretObject.parse(object);
      if (!metadata.ownerReferences.some(({ uid }) => uid === resource.metadata.uid)) return 'others';
      return {
        values: new Map(
          Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
        ),
        rotation: metadata.annotations[ROTATION],
        version: metadata.resourceVersion,
      };
    },
    async write(resource, name, { values, rotation, version }) {
      const { uid, name: owner } = resource.metadata;
      const data = Object.fromEntries([...values].map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
      const annotations = rotation === undefined ? {} : { [ROTATION]: rotation };
      const ownerReferences = [{ apiVersion: API_VERSION, kind: resource.kind, name: owner, uid, controller: true }];
      try {
        if (version === undefined) {
          const metadata = { name, labels: MANAGED_BY, annotations, ownerReferences };
          await act('POST', collection(resource), { body: { apiVersion: 'v1', kind: 'Secret', metadata, data } });
          return;
        }
        const body = { metadata: { resourceVersion: version, labels: MANAGED_BY, annotations }, data };
        await act('PATCH', `${collection(resource)}/${name}`, { body, contentType: merged });
      } catch (error) {
        if (!(error instanceof ApiFailure && error.status === 403)) throw error;
        throw new Error(`${error.message}; the chart’s operator.writeSecrets gives the right`, { cause: error });
      }
    },
  };
}
