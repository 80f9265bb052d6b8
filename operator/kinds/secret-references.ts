// References to Secrets in the elements of a section, and the values in their place; Secrets that they have made; the table says which fields hold one.
// Decisions "Custom resources": where the wire has a write-only secret, the resource has a reference.
import { SecretKeyRef, SecretOutput } from '../../server/contract/resources/custom-resource.ts';
import { elementsOf, mapElements, referenceTo, type Section, words } from '../../server/contract/section.ts';
import { CLIENT_SECRET, type ClientOutput, literal, type Secrets, secretName, secretOf, Unusable } from './kind.ts';

const Reference = SecretKeyRef.optional();
const Output = SecretOutput.optional();

/** Of all elements of a section. */
export const referencesIn = (section: Section, value: unknown): SecretKeyRef[] =>
  (section.secrets ?? []).flatMap((secret) =>
    elementsOf(section, value).flatMap(({ element }) => Reference.parse(Object(element)[referenceTo(secret)]) ?? []),
  );

/** Of all elements of a section. */
export function outputsIn(section: Section, value: unknown): ClientOutput[] {
  if (!section.output) return [];
  return elementsOf(section, value).flatMap(({ element, key }) => {
    const { secretOutput, tokenEndpointAuthMethod: method } = Object(element);
    const output = Output.parse(secretOutput);
    return output
      ? [{ ...output, clientId: key, confidential: method !== 'none' && method !== 'private_key_jwt' }]
      : [];
  });
}

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
      const output = Output.parse(element.secretOutput);
      delete out.secretOutput;
      if (output && reference)
        throw new Unusable(`${key} has both a secretKeyRef and a secretOutput: its secret comes from one of the two`);
      const made = output && secrets.get(secretName({ name: output.name, key: CLIENT_SECRET }));
      if (made !== undefined) out[secret] = made;
    }
    return out;
  });
}
