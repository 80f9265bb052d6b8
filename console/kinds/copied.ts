// A declaration with a reader's changes, as YAML and as a command of the cluster.
import { manifestOf, specOf, withoutSecrets } from './commands.ts';
import type { KindEntry, LoadedKind, Row } from './entry.ts';
import { clusterResource, kubectlEdit, kubectlPatch } from './managers.ts';
import { declaredFields, documentOf } from './plan.ts';

export interface Copied {
  /** YAML with the changed fields alone. */
  changed: string;
  /** YAML of the whole object. */
  whole?: string | undefined;
  /** A command that changes the resource. */
  command?: string | undefined;
}

/** @param changes of fields of the resource's `spec`; undefined: they are inside of one of its lists */
export async function commandOf(manager: string, changes: Row | undefined): Promise<string | undefined> {
  const resource = clusterResource(manager);
  if (!resource) return undefined;
  if (changes === undefined) return kubectlEdit(resource);
  const { stringify } = await import('yaml');
  return kubectlPatch(resource, stringify({ spec: withoutSecrets(changes) }));
}

/** A manifest with the name and the namespace of the resource that declares it now. */
export async function asDeclared(manager: string, manifest: string): Promise<string>;
export async function asDeclared(manager: string, manifest: string | undefined): Promise<string | undefined>;
export async function asDeclared(manager: string, manifest: string | undefined): Promise<string | undefined> {
  const resource = clusterResource(manager);
  if (!resource || manifest === undefined) return manifest;
  const { parse, stringify } = await import('yaml');
  const written: Row = { ...parse(manifest) };
  if (written.kind !== resource.kind) return manifest;
  return stringify({ ...written, metadata: { name: resource.name, namespace: resource.namespace } });
}

export async function copyOfObject(
  entry: KindEntry,
  kind: LoadedKind,
  of: { realm: string; manager: string; owner: string | undefined },
  before: Row,
  changes: Row,
): Promise<Copied> {
  const keys = Object.fromEntries([entry.key].flat().map((field) => [field, before[field]]));
  const yamlOf = async (fields: Row) =>
    asDeclared(of.manager, await manifestOf(entry, of.realm, documentOf(entry, kind, fields, of.owner)));
  const changed = await yamlOf({ ...keys, ...changes });
  const { stringify } = await import('yaml');
  // a flow is written as no document says it, and an object of a Realm is inside of a list
  const isOwnResource =
    changed !== undefined && entry.resource === clusterResource(of.manager)?.kind && entry.resource !== 'Realm';
  return {
    changed: changed ?? stringify(withoutSecrets({ ...keys, ...changes })),
    whole: await yamlOf({ ...declaredFields(entry, kind, before), ...changes }),
    command: await commandOf(of.manager, isOwnResource ? specOf(changes) : undefined),
  };
}

/** The declaration of an object that is not there yet. */
export async function copyOfNew(
  entry: KindEntry,
  kind: LoadedKind,
  { realm, owner }: { realm: string; owner: string | undefined },
  body: Row,
): Promise<Copied> {
  const { stringify } = await import('yaml');
  const changed = await manifestOf(entry, realm, documentOf(entry, kind, body, owner));
  return { changed: changed ?? stringify(withoutSecrets(body)) };
}
