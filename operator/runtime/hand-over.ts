// Moves an object between two resources of one kind and namespace before the first one deletes it: so a client keeps
// its id and secret, a webhook its deliveries. Objects of other kinds and namespaces never move. Decisions "Ownership".
import type { Client } from '../../server/contract/client.ts';
import { elementsOf } from '../../server/contract/section.ts';
import { presentSections } from '../../server/contract/sections.ts';
import { MOST_HANDED_OVER, moveManagers } from '../../server/contract/transfer.ts';
import { type AnyKind, secretName } from '../kinds/kind.ts';
import { isObserveOnly, keyOfResource, managerOf, nameOf, type Resource } from '../resource.ts';

interface Named {
  kind: string;
  key: string;
}
/** Names of objects by kind and key. */
type Objects = ReadonlyMap<string, Named>;
const NONE: Objects = new Map();
/** Resources of one commit arrive one after another: one may release an object that another is about to declare. */
export const PATIENCE_MS = 1_500;

export interface HandOverOptions {
  client: Client;
  clusterName: string;
  kinds: ReadonlyMap<string, AnyKind>;
  /** The resources that name the realm. */
  inRealm(realm: string): readonly Resource[];
  pause(ms: number): Promise<void>;
  log(line: { resource: string; message: string }): void;
}

export function createHandOver({ client, clusterName, kinds, inRealm, pause, log }: HandOverOptions) {
  /** For Realm resources that share a realm: the objects that each declared at its last pass. */
  const declaredLast = new Map<string, Objects>();
  const known = new WeakMap<Resource, Objects>();

  function declaredBy(resource: Resource): Objects {
    const found = known.get(resource) ?? objectsOf(resource, kinds.get(resource.kind));
    known.set(resource, found);
    return found;
  }

  /**
   * The objects of `theirs` that move to the other resource: all that this one declares if it is being deleted, else those
   * that it may have declared before and no longer does.
   */
  function lost(resource: Resource, going: boolean, theirs: Objects): Named[] {
    const mine = declaredBy(resource);
    const both = (names: Iterable<string>) => [...names].flatMap((name) => theirs.get(name) ?? []);
    if (going) return both(mine.keys());
    const before = resource.kind === 'Realm' ? [...theirs.keys()] : formerNames(resource, mine);
    return both(before.filter((one) => !mine.has(one)));
  }

  const besides = ({ kind, metadata }: Resource, realm: string): Resource[] =>
    inRealm(realm).filter(
      (other) =>
        other.kind === kind &&
        other.metadata.namespace === metadata.namespace &&
        other.metadata.uid !== metadata.uid &&
        isApplied(other),
    );

  /** Whether the resource may have dropped an object from its spec. For a Realm this is unknown after a start. */
  function letsGo(resource: Resource): boolean {
    if (resource.status.lastAppliedGeneration === undefined) return false;
    const mine = declaredBy(resource);
    const before =
      resource.kind === 'Realm' ? declaredLast.get(keyOfResource(resource))?.keys() : formerNames(resource, mine);
    return before === undefined || [...before].some((one) => !mine.has(one));
  }

  async function handOver(resource: Resource, realm: string, going: boolean): Promise<boolean> {
    const from = managerOf(clusterName, resource);
    let changed = false;
    for (const other of besides(resource, realm)) {
      const objects = lost(resource, going, declaredBy(other));
      for (let at = 0; at < objects.length; at += MOST_HANDED_OVER) {
        const part = objects.slice(at, at + MOST_HANDED_OVER);
        const body = { from, to: managerOf(clusterName, other), realm, objects: part };
        const { body: moved } = await client.call(moveManagers, { body });
        const count = moved?.managers[0]?.objects ?? 0;
        if (count === 0) continue;
        changed = true;
        log({
          resource: nameOf(resource),
          message: `moved ${count} objects to ${nameOf(other)}, which declares them now`,
        });
      }
    }
    return changed;
  }

  /** @param going the resource is being deleted @returns whether any object was handed over */
  return async (resource: Resource, realm: string, { going }: { going: boolean }): Promise<boolean> => {
    // the usual case, checked first: there may be thousands of resources of the kind
    if (!going && resource.kind !== 'Realm' && !letsGo(resource)) return false;
    if (besides(resource, realm).length === 0) return false;
    const changed = await handOver(resource, realm, going);
    const key = keyOfResource(resource);
    if (going) {
      declaredLast.delete(key);
      return changed;
    }
    const waits = !changed && letsGo(resource);
    if (resource.kind === 'Realm') declaredLast.set(key, declaredBy(resource));
    if (!waits) return changed;
    await pause(PATIENCE_MS);
    return handOver(resource, realm, going);
  };
}

/** The former name of a single-object kind's object: the one in the status of the last apply. */
const formerNames = ({ status: { name, alias } }: Resource, mine: Objects): string[] =>
  [...mine.values()].map(({ kind }) => nameIn(kind, name ?? alias));

const nameIn = (kind: string, key: unknown): string => `${kind} ${String(key)}`;

/** Whether the resource keeps objects that are handed to it. */
export const isApplied = ({ metadata, spec }: Resource): boolean =>
  !metadata.deletionTimestamp && !isObserveOnly(spec) && Object(spec).suspend !== true;

/** The objects of a spec; none if it can't be applied. */
function objectsOf(resource: Resource, kind: AnyKind | undefined): Objects {
  if (!kind) return NONE;
  const named = kind.attached ? [theOneOf(resource)] : inRealmOf(resource, kind);
  return new Map(named.map((one) => [nameIn(one.kind, one.key), one]));
}

const kindOf = new Map([...presentSections.values()].map((section) => [section.resource?.kind, section.kind]));

/**
 * The object that a resource of a single-object kind declares. There may be thousands of such resources, so this parses
 * none.
 */
function theOneOf({ kind, metadata, spec }: Resource): Named {
  const { name, alias } = Object(spec);
  return { kind: kindOf.get(kind) ?? kind, key: String(alias ?? name ?? metadata.name) };
}

function inRealmOf({ metadata, spec }: Resource, kind: AnyKind): Named[] {
  const parsed = kind.spec.safeParse(spec);
  if (!parsed.success) return [];
  try {
    // only the objects' names matter here, so any values can replace the secrets
    const secrets = new Map(
      kind.secrets(parsed.data).map((ref) => [secretName(ref), ref.form === 'json' ? 'null' : 'unread']),
    );
    const document = kind.document(parsed.data, { metadata, secrets, clusterIssuer: undefined });
    return [...presentSections].flatMap(([name, section]) =>
      section.shape === 'object'
        ? []
        : elementsOf(section, Reflect.get(document, name)).map(({ key }) => ({ kind: section.kind, key })),
    );
  } catch {
    return [];
  }
}
