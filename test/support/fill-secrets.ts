// Owns: the Secrets of exported manifests, filled with the values of the full realm.
// Does not own: the realm (full-realm.ts), the export (cli/manifests.ts).
// Implements: tests of what must carry a whole realm from one place to another.
import { parseAllDocuments, stringify } from 'yaml';
import { realmField } from '../../server/contract/resources/realm.ts';
import { elementsOf, referenceTo } from '../../server/contract/section.ts';
import { presentSections } from '../../server/contract/sections.ts';
import { fullRealm } from './full-realm.ts';

/** Templates of Secrets with the values of the objects in the manifests that refer to them. */
export function fillSecrets(templates: string, manifests: string): string {
  const resources = parseAllDocuments(manifests).map((d) => d.toJS());
  const full = fullRealm();
  const named = new Map<string, Record<string, unknown>>();
  for (const [name, section] of presentSections)
    for (const secret of section.secrets ?? []) {
      const values = new Map(elementsOf(section, Reflect.get(full, name)).map(({ key, element }) => [key, element]));
      const declared = resources
        .filter(({ kind }) => kind === section.resource?.kind)
        .flatMap(({ kind, spec }) => elementsOf(section, kind === 'Realm' ? spec[realmField(name)] : [spec]));
      for (const { key, element } of declared) {
        const reference = Object(element)[referenceTo(secret)];
        if (!reference) continue;
        const others = named.get(reference.name) ?? {};
        named.set(reference.name, { ...others, [reference.key]: Object(values.get(key))[secret] });
      }
    }
  return parseAllDocuments(templates)
    .map((d) => d.toJS())
    .map((secret) => stringify({ ...secret, stringData: named.get(secret.metadata.name) }))
    .join('---\n');
}
