// References to Secrets in the elements of a section, and the values in their place; the table says which fields hold one.
// Decisions "Custom resources": where the wire has a write-only secret, the resource has a reference.
import { SecretKeyRef } from '../../server/contract/resources/custom-resource.ts';
import { elementsOf, mapElements, referenceTo, type Section, words } from '../../server/contract/section.ts';
import { literal, type Secrets, secretOf } from './kind.ts';

const Reference = SecretKeyRef.optional();

/** Of all elements of a section. */
export const referencesIn = (section: Section, value: unknown): SecretKeyRef[] =>
  (section.secrets ?? []).flatMap((secret) =>
    elementsOf(section, value).flatMap(({ element }) => Reference.parse(Object(element)[referenceTo(secret)]) ?? []),
  );

/** The section as a document has it. */
export function withSecrets(section: Section, value: unknown, secrets: Secrets): unknown {
  const { label, placeholders = [] } = section;
  if (!section.secrets?.length && placeholders.length === 0) return value;
  return mapElements(section, value, (element, key) => {
    const out: Record<string, unknown> = { ...element };
    for (const field of new Set(placeholders.map((path) => path.split('.')[0] ?? '')))
      for (const [inner, text] of Object.entries(Object(element[field])))
        if (typeof text === 'string') literal(text, `${field}.${inner} of ${key || `the ${label}`}`);
    for (const secret of section.secrets ?? []) {
      const reference = Reference.parse(element[referenceTo(secret)]);
      delete out[referenceTo(secret)];
      if (reference)
        out[secret] = literal(secretOf(reference, secrets), `the ${words(secret)} of ${key || `the ${label}`}`);
    }
    return out;
  });
}
