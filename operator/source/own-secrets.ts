// Secrets that the operator creates for a resource. The resource owns them, so they are deleted with it; other Secrets
// are never changed. runtime/secret-outputs.ts decides their values. Decisions "Custom resources".
import { z } from 'zod';
import { API_VERSION, type Resource } from '../resource.ts';
import { type Api, undefinedIfMissing } from './api.ts';
import { ApiFailure } from './api-failure.ts';
import type { Followed } from './listing.ts';
import { type OwnSecrets, SecretForbidden, type SecretGift } from './source.ts';

const ROTATION = 'realmkeeper.dev/rotation';
const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'realmkeeper-operator' };
const Owners = z.array(z.looseObject({ uid: z.string(), controller: z.boolean().default(false) })).default([]);
const SecretMetadata = z.object({
  uid: z.string(),
  resourceVersion: z.string(),
  labels: z.record(z.string(), z.string()).default({}),
  annotations: z.record(z.string(), z.string()).default({}),
  deletionTimestamp: z.string().optional(),
  ownerReferences: Owners,
});
const SecretObject = z.object({ metadata: SecretMetadata, data: z.record(z.string(), z.string()).default({}) });
const TRIES = 3;

/** The index of Secrets that resources have created, kept current by the watch of Secrets. */
export function createSecretOwners() {
  const ownerOf = new Map<string, string>();
  const names = new Map<string, Set<string>>();

  function forget(namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    const owner = ownerOf.get(key);
    if (owner === undefined) return;
    ownerOf.delete(key);
    names.get(owner)?.delete(name);
    if (names.get(owner)?.size === 0) names.delete(owner);
  }

  return {
    seen({ metadata }: Followed): void {
      forget(metadata.namespace, metadata.name);
      const { success, data } = SecretMetadata.pick({ labels: true, ownerReferences: true }).safeParse(metadata);
      const owner = success && isMade(data.labels) && data.ownerReferences.find(({ controller }) => controller);
      if (!owner) return;
      ownerOf.set(`${metadata.namespace}/${metadata.name}`, owner.uid);
      names.set(owner.uid, (names.get(owner.uid) ?? new Set()).add(metadata.name));
    },
    forget,
    namesOf: ({ metadata }: Resource): readonly string[] => [...(names.get(metadata.uid) ?? [])],
  };
}
export type SecretOwners = ReturnType<typeof createSecretOwners>;

const isMade = (labels: Readonly<Record<string, string>>): boolean =>
  Object.entries(MANAGED_BY).every(([label, value]) => labels[label] === value);

const textsOf = (data: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]));

const controllerOf = ({ kind, metadata: { name, uid } }: Resource) => ({
  apiVersion: API_VERSION,
  kind,
  name,
  uid,
  controller: true,
});
const isController = ({ metadata }: Resource, among: z.infer<typeof Owners>): boolean =>
  among.some(({ controller, uid }) => controller && uid === metadata.uid);

export function createOwnSecrets({
  act,
  owners,
  demandReadable,
}: {
  act: Api['call'];
  owners: Pick<SecretOwners, 'namesOf'>;
  /** @throws if the operator may not read Secrets of the namespace */
  demandReadable(namespace: string): void;
}): OwnSecrets {
  const collection = ({ metadata }: Resource) => `/api/v1/namespaces/${metadata.namespace}/secrets`;
  /** A merge patch, so that others' labels and keys in the Secret stay. */
  const merged = 'application/merge-patch+json';

  /** @throws SecretForbidden where the operator has no right to write Secrets */
  async function writing(
    { metadata: { namespace } }: Resource,
    name: string,
    ...request: Parameters<Api['call']>
  ): Promise<void> {
    try {
      await act(...request);
    } catch (error) {
      if (!(error instanceof ApiFailure && error.status === 403)) throw error;
      throw new SecretForbidden(namespace, name, { cause: error });
    }
  }

  async function giveAsRead(name: string, { from, to, fits }: SecretGift): Promise<boolean> {
    if (from.metadata.namespace !== to.metadata.namespace) return false;
    demandReadable(from.metadata.namespace);
    const path = `${collection(from)}/${name}`;
    const object = await undefinedIfMissing(act('GET', path));
    if (object === undefined) return false;
    const { metadata, data } = SecretObject.parse(object);
    const { resourceVersion, uid, labels, deletionTimestamp } = metadata;
    if (deletionTimestamp !== undefined || !isMade(labels) || !isController(from, metadata.ownerReferences))
      return false;
    if (!fits(textsOf(data))) return false;
    const others = metadata.ownerReferences.filter((owner) => ![from, to].some((r) => r.metadata.uid === owner.uid));
    const ownerReferences = [...others, controllerOf(to)];
    const body = { metadata: { uid, resourceVersion, ownerReferences } };
    await writing(from, name, 'PATCH', path, { body, contentType: merged });
    return true;
  }

  return {
    async read(resource, name) {
      demandReadable(resource.metadata.namespace);
      const object = await undefinedIfMissing(act('GET', `${collection(resource)}/${name}`));
      if (object === undefined) return undefined;
      const { metadata, data } = SecretObject.parse(object);
      if (!metadata.ownerReferences.some(({ uid }) => uid === resource.metadata.uid)) return 'others';
      return {
        values: textsOf(data),
        rotation: metadata.annotations[ROTATION],
        version: metadata.resourceVersion,
      };
    },
    async write(resource, name, { values, rotation, version }) {
      const data = Object.fromEntries(
        [...values].map(([key, value]) => [key, value === null ? null : Buffer.from(value).toString('base64')]),
      );
      const annotations = rotation === undefined ? {} : { [ROTATION]: rotation };
      if (version === undefined) {
        const metadata = { name, labels: MANAGED_BY, annotations, ownerReferences: [controllerOf(resource)] };
        const body = { apiVersion: 'v1', kind: 'Secret', metadata, data };
        return writing(resource, name, 'POST', collection(resource), { body });
      }
      const body = { metadata: { resourceVersion: version, labels: MANAGED_BY, annotations }, data };
      return writing(resource, name, 'PATCH', `${collection(resource)}/${name}`, { body, contentType: merged });
    },
    namesOf: owners.namesOf,
    async give(name, gift) {
      for (let tries = 1; ; tries += 1) {
        try {
          return await giveAsRead(name, gift);
        } catch (error) {
          // conflict: the other owner may have handed the Secret over meanwhile, so read it again
          if (tries === TRIES || !(error instanceof ApiFailure && error.status === 409)) throw error;
        }
      }
    },
    async remove(resource, name) {
      const object = await undefinedIfMissing(act('GET', `${collection(resource)}/${name}`));
      if (object === undefined) return false;
      const { uid, resourceVersion, labels, ownerReferences } = SecretObject.parse(object).metadata;
      if (!isController(resource, ownerReferences) || !isMade(labels)) return false;
      const body = { preconditions: { uid, resourceVersion } };
      await writing(resource, name, 'DELETE', `${collection(resource)}/${name}`, { body });
      return true;
    },
  };
}
