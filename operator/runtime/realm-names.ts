// The realm names that a namespace may use (--realm-names), and which of several Realm resources is older. Pure.
// Decisions "Tenancy".
import type { Resource } from '../resource.ts';

/** The required beginning of a realm's name: the namespace's own name, or a label of the namespace. */
export type RealmNames = { by: 'namespace' } | { by: 'label'; label: string };

/** `namespace`, `label:example.com/realms` @throws Error with the valid values */
export function parseRealmNames(text: string): RealmNames {
  if (text === 'namespace') return { by: 'namespace' };
  const [, label] = /^label:([A-Za-z0-9][A-Za-z0-9./_-]*)$/.exec(text) ?? [];
  if (label === undefined) throw new Error('must be "namespace", or "label:KEY" with the key of a label of namespaces');
  return { by: 'label', label };
}

/** @returns the realm name, or the prefix before a hyphen, that the namespace may use; undefined: it may use none */
export function realmNameOf(
  rule: RealmNames,
  namespace: string,
  labels: Readonly<Record<string, string>>,
): string | undefined {
  if (rule.by === 'namespace') return namespace;
  const value = Object.hasOwn(labels, rule.label) ? labels[rule.label] : undefined;
  return value === '' ? undefined : value;
}

export const mayBeNamed = (realm: string, name: string): boolean => realm === name || realm.startsWith(`${name}-`);

/** The order of Gateway API: by creation, then by namespace and name. Kubernetes writes times in UTC, to the second. */
export function byAge({ metadata: one }: Resource, { metadata: other }: Resource): number {
  const keys = ({ creationTimestamp = '', namespace, name }: Resource['metadata']) => [
    creationTimestamp,
    namespace,
    name,
  ];
  const [a, b] = [keys(one), keys(other)];
  const at = a.findIndex((key, i) => key !== b[i]);
  if (at < 0) return 0;
  return (a[at] ?? '') < (b[at] ?? '') ? -1 : 1;
}
