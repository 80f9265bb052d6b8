// Resolves references to Secrets and ConfigMaps in a section's elements, and lists the Secrets that the operator
// creates for them. The section table defines which fields are references. Decisions "Custom resources": if the API has
// a write-only secret, the resource has a reference.
import { usesSecret } from '../../server/contract/client-authentication.ts';
import { SecretKeyRef, SecretOutput, ValueSource } from '../../server/contract/resources/custom-resource.ts';
import {
  type Element,
  elementsOf,
  mapElements,
  referenceTo,
  type Section,
  sourceOf,
  wordsOfField,
} from '../../server/contract/section.ts';
import {
  CLIENT_SECRET,
  type ClientOutput,
  collectUnusable,
  literal,
  type Secrets,
  secretName,
  secretOf,
  Unusable,
  type ValueRef,
} from './kind.ts';

const Reference = SecretKeyRef.optional();
const Output = SecretOutput.optional();
const Source = ValueSource.optional();

/** The references of all elements of a section. */
export function referencesIn(section: Section, value: unknown): ValueRef[] {
  const { secrets = [], sourced = {} } = section;
  return elementsOf(section, value).flatMap(({ element }) => [
    ...secrets.flatMap((secret) => Reference.parse(Object(element)[referenceTo(secret)]) ?? []),
    ...Object.entries(sourced).flatMap(([field, form]) => sourceIn(Object(element), field, form) ?? []),
  ]);
}

/** The reference to a field's value; undefined: the element itself contains the value. */
function sourceIn(element: Record<string, unknown>, field: string, form: 'text' | 'json'): ValueRef | undefined {
  const { configMapKeyRef, secretKeyRef } = Source.parse(element[sourceOf(field)]) ?? {};
  if (configMapKeyRef) return { ...configMapKeyRef, in: 'ConfigMap', form };
  return secretKeyRef && { ...secretKeyRef, form };
}

function readValue(ref: ValueRef, what: string, secrets: Secrets): unknown {
  const text = secretOf(ref, secrets);
  if (ref.form !== 'json') return literal(text, what);
  try {
    return JSON.parse(text);
  } catch {
    throw new Unusable(`the key ${ref.key} of the ${ref.in ?? 'Secret'} ${ref.name}, ${what}, holds no JSON`);
  }
}

/** The secretOutputs of all elements of a section. */
export function outputsIn(section: Section, value: unknown): ClientOutput[] {
  if (!section.output) return [];
  return elementsOf(section, value).flatMap(({ element, key }) => {
    const { secretOutput, tokenEndpointAuthMethod: method } = Object(element);
    const output = Output.parse(secretOutput);
    return output ? [{ ...output, clientId: key, confidential: method === undefined || usesSecret(method) }] : [];
  });
}

/** The section in the document's form. */
export function withSecrets(section: Section, value: unknown, secrets: Secrets): unknown {
  const { label, placeholders = [], sourced = {} } = section;
  if (!section.secrets?.length && !section.sourced && placeholders.length === 0) return value;
  const { attempt, end } = collectUnusable();
  const resolved = (element: Element, key: string): Element => {
    const out: Record<string, unknown> = { ...element };
    for (const field of new Set(placeholders.map((path) => path.split('.')[0] ?? '')))
      for (const [inner, text] of Object.entries(Object(element[field])))
        if (typeof text === 'string') literal(text, `${field}.${inner} of ${key || `the ${label}`}`);
    for (const [field, form] of Object.entries(sourced)) {
      const ref = sourceIn(element, field, form);
      delete out[sourceOf(field)];
      if (!ref) continue;
      const what = `the ${wordsOfField(field)} of ${key || `the ${label}s`}`;
      if (field in out) throw new Unusable(`${what} has both ${field} and ${sourceOf(field)}: declare it in one place`);
      out[field] = readValue(ref, what, secrets);
    }
    for (const secret of section.secrets ?? []) {
      const reference = Reference.parse(element[referenceTo(secret)]);
      delete out[referenceTo(secret)];
      if (reference)
        out[secret] = literal(secretOf(reference, secrets), `the ${wordsOfField(secret)} of ${key || `the ${label}`}`);
      const output = Output.parse(element.secretOutput);
      delete out.secretOutput;
      delete out.serviceAccounts;
      if (output && reference)
        throw new Unusable(`${key} has both a secretKeyRef and a secretOutput: its secret comes from one of the two`);
      const made = output && secrets.get(secretName({ name: output.name, key: CLIENT_SECRET }));
      // any account with write access to the namespace may have changed the Secret's value
      if (made !== undefined) out[secret] = literal(made, `the ${wordsOfField(secret)} of ${key || `the ${label}`}`);
    }
    return out;
  };
  const whole = mapElements(section, value, (element, key) => attempt(() => resolved(element, key), element));
  end();
  return whole;
}
