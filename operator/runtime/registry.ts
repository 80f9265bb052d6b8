// An index of the resources that name a realm or a Secret, so that an event need not search all of them. It contains
// only keys; the source has the resources.
import { type AnyKind, objectName } from '../kinds/kind.ts';
import type { Resource } from '../resource.ts';
import type { Source } from '../source/source.ts';

export interface Registry {
  /**
   * Call it when the resource with this key was added, changed or deleted.
   * @returns the realms that it names now and named before
   */
  note(key: string): readonly string[];
  /** Keys of the resources that name the realm, whether they are permitted to or not. */
  ofRealm(realm: string): readonly string[];
  naming(namespace: string, secret: string): readonly string[];
  /** Resources with values in a ConfigMap, or in a Secret where a ConfigMap is possible too. */
  sourcedFrom(namespace: string, object: string): readonly string[];
}

export function createRegistry({
  source,
  kinds,
}: {
  source: Pick<Source, 'get'>;
  kinds: ReadonlyMap<string, AnyKind>;
}): Registry {
  const byRealm = new Map<string, Set<string>>();
  const bySecret = new Map<string, Set<string>>();
  const bySource = new Map<string, Set<string>>();
  /** The realm, Secrets and other sources that each key is indexed under. */
  const noted = new Map<string, { realm: string | undefined; secrets: string[]; sources: string[] }>();

  function namedBy(resource: Resource): { secrets: string[]; sources: string[] } {
    const kind = kinds.get(resource.kind);
    const spec = kind?.spec.safeParse(resource.spec);
    if (!kind || !spec?.success) return { secrets: [], sources: [] };
    const refs = kind.secrets(spec.data);
    const places = (of: readonly { name: string; in?: 'ConfigMap' | undefined }[]) => [
      ...new Set(of.map((ref) => `${resource.metadata.namespace}/${objectName(ref)}`)),
    ];
    return {
      secrets: places([...refs.filter(({ form }) => !form), ...(kind.outputs?.(spec.data) ?? [])]),
      sources: places(refs.filter(({ form }) => form)),
    };
  }

  return {
    note(key) {
      const before = noted.get(key);
      if (before?.realm !== undefined) drop(byRealm, before.realm, key);
      for (const secret of before?.secrets ?? []) drop(bySecret, secret, key);
      for (const source of before?.sources ?? []) drop(bySource, source, key);
      noted.delete(key);
      const resource = source.get(key);
      const realm = resource && realmOf(resource);
      if (resource) {
        const { secrets, sources } = namedBy(resource);
        noted.set(key, { realm, secrets, sources });
        if (realm !== undefined) put(byRealm, realm, key);
        for (const secret of secrets) put(bySecret, secret, key);
        for (const source of sources) put(bySource, source, key);
      }
      return [...new Set([before?.realm, realm].filter((name) => name !== undefined))];
    },
    ofRealm: (realm) => [...(byRealm.get(realm) ?? [])],
    naming: (namespace, secret) => [...(bySecret.get(`${namespace}/${secret}`) ?? [])],
    sourcedFrom: (namespace, object) => [...(bySource.get(`${namespace}/${object}`) ?? [])],
  };
}

export const realmOf = ({ spec }: Resource): string | undefined =>
  typeof spec === 'object' && spec !== null && 'realm' in spec && typeof spec.realm === 'string'
    ? spec.realm
    : undefined;

function put(index: Map<string, Set<string>>, name: string, key: string): void {
  const keys = index.get(name);
  if (keys) keys.add(key);
  else index.set(name, new Set([key]));
}

function drop(index: Map<string, Set<string>>, name: string, key: string): void {
  const keys = index.get(name);
  keys?.delete(key);
  if (keys?.size === 0) index.delete(name);
}
