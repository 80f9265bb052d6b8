// Owns: the declarations in files, by realm: the four kinds, realm documents, the Secrets that they name.
// Does not own: reading files (files.ts), merging parts to a document (merge.ts), comparing (the server).
// Implements: decisions "Custom resources", "Import, export, plan"; docs/cli.md: apply, diff, validate.
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { flow } from '../operator/kinds/flow.ts';
import { type Kind, objectName, secretName, Unusable, type ValueRef } from '../operator/kinds/kind.ts';
import { realm } from '../operator/kinds/realm.ts';
import { webhook } from '../operator/kinds/webhook.ts';
import { workloadIdentity } from '../operator/kinds/workload-identity.ts';
import { API_VERSION, type KindName } from '../operator/resource.ts';
import { currentDocument } from '../server/contract/earlier-documents.ts';
import { unknownFieldWords } from '../server/contract/field-words.ts';
import { DNS_NAME, GROUP } from '../server/contract/resources/custom-resource.ts';
import { realmField } from '../server/contract/resources/realm.ts';
import { type Element, elementsOf, mapElements, type Section } from '../server/contract/section.ts';
import { presentSections } from '../server/contract/sections.ts';
import { RealmDocument } from '../server/contract/transfer.ts';
import type { FileFault, Item, Path, Reading } from './files.ts';

const NAMESPACE = 'default';

export interface ResourceName {
  kind: KindName;
  namespace: string;
  name: string;
}

/** A part of a realm's declaration, and its place in the files. */
export interface Part {
  /** The custom resource that declares the part; undefined: a realm document does. */
  resource?: ResourceName;
  realm: string;
  document: RealmDocument;
  item: Item;
  /** `Realm identity/acme`, or `realm document`. */
  object: string;
  /** The place in the object that corresponds to a path of its document. */
  pathOf(at: Path): Path;
}

/** A value that no file holds. */
export interface MissingSecret {
  realm: string;
  /** `identity/billing`, `secret` */
  secret: string;
  key: string;
  object: string;
  file: string;
  /** Kind and key of the plan's changes that concern the object. */
  subject: { kind: string; key: string }[];
}

export interface Declared {
  parts: Part[];
  missing: MissingSecret[];
  faults: FileFault[];
  /** The number of skipped objects by kind: the kinds don't belong to this product. */
  skipped: Map<string, number>;
  counts: Map<string, number>;
}

const ObjectHead = z.looseObject({ apiVersion: z.string(), kind: z.string() });
const Metadata = z.looseObject({
  name: z.string().min(1).max(253).regex(DNS_NAME, 'must be a name as Kubernetes has them'),
  namespace: z.string().min(1).max(63).optional(),
});
const Secret = z.looseObject({
  metadata: Metadata,
  data: z.record(z.string(), z.base64()).nullish(),
  stringData: z.record(z.string(), z.string()).nullish(),
});
const ConfigMap = Secret.extend({ data: z.record(z.string(), z.string()).nullish(), stringData: z.undefined() });

// each kind has a spec of its own; this is what all have in common
type AnyKind = Pick<Kind<{ realm: string }>, 'name'> & {
  read(spec: unknown, context: ReadContext): { realm: string; document: RealmDocument } | z.ZodError;
};
interface ReadContext {
  metadata: { name: string; namespace: string };
  secrets: ReadonlyMap<string, string>;
  absent(ref: ValueRef): string;
  clusterIssuer: string | undefined;
}

function reader<Spec extends { realm: string }>(kind: Kind<Spec>): AnyKind {
  return {
    name: kind.name,
    read(spec, { metadata, secrets, absent, clusterIssuer }) {
      const parsed = kind.spec.safeParse(spec);
      if (!parsed.success) return parsed.error;
      const known = new Map(secrets);
      for (const ref of kind.secrets(parsed.data))
        if (!known.has(secretName(ref))) known.set(secretName(ref), absent(ref));
      const document = kind.document(parsed.data, { metadata, secrets: known, clusterIssuer });
      return { realm: parsed.data.realm, document };
    },
  };
}
const kinds = new Map<string, AnyKind>(
  [reader(realm), reader(flow), reader(webhook), reader(workloadIdentity)].map((kind) => [kind.name, kind]),
);
const isKind = (kind: string): kind is KindName => kinds.has(kind);

/** Stands in for a missing value, and is removed later. */
const ABSENT = `absent-${randomUUID()}`;

export function declaredBy(
  { items, faults: unread }: Reading,
  { realm: named, clusterIssuer }: { realm: string | undefined; clusterIssuer: string | undefined },
): Declared {
  const found: Declared = { parts: [], missing: [], faults: [...unread], skipped: new Map(), counts: new Map() };
  const secrets = secretsOf(items, found);
  for (const item of items) {
    const head = ObjectHead.safeParse(item.value);
    if (!head.success) found.faults.push(...document(item, named, found));
    else if (isValues(head.data)) count(found.counts, head.data.kind);
    else if (!head.data.apiVersion.startsWith(`${GROUP}/`)) count(found.skipped, head.data.kind);
    else if (head.data.apiVersion !== API_VERSION || !isKind(head.data.kind))
      found.faults.push(
        fault(item, `${head.data.kind} of ${head.data.apiVersion} is not known; there is ${API_VERSION}`, []),
      );
    else found.faults.push(...manifest(item, head.data.kind, { secrets, clusterIssuer }, found));
  }
  return found;
}

const count = (counts: Map<string, number>, kind: string) => counts.set(kind, (counts.get(kind) ?? 0) + 1);

function fault({ file, document, lineOf }: Item, message: string, at: Path, object?: string): FileFault {
  return { file, line: lineOf(at), document, object, path: at.length > 0 ? shownPath(at) : undefined, message };
}

export const shownPath = (at: Path): string =>
  at.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text ? `${text}.${step}` : step),
    '',
  );

const steps = (path: readonly PropertyKey[]): Path =>
  path.map((step) => (typeof step === 'symbol' ? String(step) : step));

const zodFaults = (item: Item, { issues }: z.ZodError, before: Path, object?: string): FileFault[] =>
  issues.flatMap((issue) => {
    const path = [...before, ...steps(issue.path)];
    return issue.code === 'unrecognized_keys'
      ? issue.keys.map((key, index) => fault(item, unknownFieldWords(issue, index), [...path, key], object))
      : [fault(item, issue.message, path, object)];
  });

/** Values of Secrets by namespace and name, and of ConfigMaps with `ConfigMap` before the name. */
type Secrets = Map<string, ReadonlyMap<string, string>>;
const isValues = ({ apiVersion, kind }: z.infer<typeof ObjectHead>): boolean =>
  apiVersion === 'v1' && (kind === 'Secret' || kind === 'ConfigMap');
function secretsOf(items: readonly Item[], found: Declared): Secrets {
  const secrets: Secrets = new Map();
  for (const item of items) {
    const head = ObjectHead.safeParse(item.value);
    if (!head.success || !isValues(head.data)) continue;
    const { kind } = head.data;
    const parsed = (kind === 'Secret' ? Secret : ConfigMap).safeParse(item.value);
    if (!parsed.success) {
      found.faults.push(...zodFaults(item, parsed.error, [], kind));
      continue;
    }
    const { metadata, data, stringData } = parsed.data;
    const shown = `${metadata.namespace ?? NAMESPACE}/${metadata.name}`;
    const of = kind === 'Secret' ? undefined : 'ConfigMap';
    const name = `${metadata.namespace ?? NAMESPACE}/${objectName({ name: metadata.name, in: of })}`;
    if (secrets.has(name)) {
      found.faults.push(fault(item, `the ${kind} ${shown} is there twice`, ['metadata', 'name'], `${kind} ${shown}`));
      continue;
    }
    const decoded = Object.entries(data ?? {}).map(
      ([key, value]) => [key, of ? value : Buffer.from(value, 'base64').toString()] as const,
    );
    secrets.set(name, new Map([...decoded, ...Object.entries(stringData ?? {})]));
  }
  return secrets;
}

/** Values of the Secrets of one namespace, by `name/key`. */
function valuesIn(secrets: Secrets, namespace: string): Map<string, string> {
  const known = new Map<string, string>();
  for (const [name, values] of secrets) {
    const [where, short] = name.split('/');
    if (where === namespace) for (const [key, value] of values) known.set(`${short}/${key}`, value);
  }
  return known;
}

function manifest(
  item: Item,
  kind: KindName,
  { secrets, clusterIssuer }: { secrets: Secrets; clusterIssuer: string | undefined },
  found: Declared,
): FileFault[] {
  count(found.counts, kind);
  const parsed = z.looseObject({ metadata: Metadata, spec: z.unknown().optional() }).safeParse(item.value);
  if (!parsed.success) return zodFaults(item, parsed.error, [], kind);
  const { metadata, spec } = parsed.data;
  const { name, namespace = NAMESPACE } = metadata;
  const object = `${kind} ${namespace}/${name}`;
  const absent: ValueRef[] = [];
  try {
    const read = kinds.get(kind)?.read(spec, {
      metadata: { name, namespace },
      secrets: valuesIn(secrets, namespace),
      clusterIssuer,
      absent(ref) {
        absent.push(ref);
        return ref.form === 'json' ? JSON.stringify(ABSENT) : ABSENT;
      },
    });
    if (!read) return [];
    if (read instanceof z.ZodError) return zodFaults(item, read, ['spec'], object);
    const { realm, document } = read;
    found.parts.push({
      resource: { kind, namespace, name },
      realm,
      document: withoutAbsent(document),
      item,
      object,
      pathOf: (at) => inSpec(kind, at),
    });
    const subject = subjectsWithout(document);
    return absent.flatMap((ref) => {
      const { in: of = 'Secret' } = ref;
      const secret = `${namespace}/${ref.name}`;
      if (secrets.has(`${namespace}/${objectName(ref)}`))
        return [fault(item, `the ${of} ${secret} has no key ${ref.key}`, ['spec'], object)];
      found.missing.push({
        realm,
        secret: of === 'Secret' ? secret : `${of} ${secret}`,
        key: ref.key,
        object,
        file: item.file,
        subject,
      });
      return [];
    });
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    const hint = error.lacks === 'clusterIssuer' ? ', or give --cluster-issuer' : '';
    return [fault(item, `${error.message}${hint}`, ['spec'], object)];
  }
}

/**
 * The path in the spec for a path in the document. The names are the same, except for settings and for objects of a
 * kind of their own.
 */
function inSpec(kind: KindName, [section, index, ...rest]: Path): Path {
  if (kind !== 'Realm') return section === 'realm' ? ['spec', 'bind'] : ['spec', ...rest];
  const inside = index === undefined ? rest : [index, ...rest];
  return ['spec', realmField(String(section ?? '')), ...inside];
}

const lacks = (section: Section, element: unknown): boolean =>
  [...(section.secrets ?? []), ...Object.keys(section.sourced ?? {})].some(
    (field) => Object(element)[field] === ABSENT,
  );

const subjectsWithout = (document: RealmDocument): { kind: string; key: string }[] =>
  [...presentSections].flatMap(([name, section]) =>
    elementsOf(section, Reflect.get(document, name))
      .filter(({ element }) => lacks(section, element))
      .map(({ key }) => ({ kind: section.kind, key })),
  );

function withoutAbsent(document: RealmDocument): RealmDocument {
  const sections = Object.entries(document).map(([name, value]: [string, unknown]) => {
    const section = presentSections.get(name);
    return [name, section?.secrets || section?.sourced ? mapElements(section, value, present) : value];
  });
  return Object.fromEntries(sections);
}
const present = (element: Element): Element =>
  Object.fromEntries(Object.entries(element).filter(([, value]) => value !== ABSENT));

function document(item: Item, named: string | undefined, found: Declared): FileFault[] {
  const object = 'realm document';
  const { value } = item;
  count(found.counts, object);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [fault(item, 'is neither a Kubernetes object nor a realm document', [])];
  if ('kind' in value || 'apiVersion' in value)
    return [fault(item, 'a Kubernetes object has both apiVersion and kind', [])];
  const parsed = RealmDocument.safeParse(currentDocument(value));
  if (!parsed.success) return zodFaults(item, parsed.error, [], object);
  const { formatVersion: _, requiredEnv: __, realm: settings, ...rest } = parsed.data;
  const { realmId, ...declared } = settings ?? {};
  const name = realmId ?? named;
  if (name === undefined)
    return [fault(item, 'does not say which realm it is for: give --realm, or realm.realmId in it', [], object)];
  const whole = { ...rest, ...(settings && { realm: declared }) };
  found.parts.push({ realm: name, document: whole, item, object, pathOf: (at) => at });
  return [];
}
