// Selects the attributes of an answer: `attributes` and `excludedAttributes` (RFC 7644 §3.9), and those that are always or
// never returned. Pure.
import type { Values } from './body.ts';
import { type AttributePlace, attributesOf, extensionNamed, placeOf, type ResourceType } from './schema.ts';

export interface Projection {
  attributes?: string | undefined;
  excludedAttributes?: string | undefined;
}

const MOST = 200;
const listOf = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .slice(0, MOST);

/** Unknown names are ignored. */
const placesOf = (type: ResourceType, text: string | undefined): AttributePlace[] =>
  listOf(text).flatMap((path): AttributePlace | AttributePlace[] => {
    const extension = extensionNamed(type, path);
    if (extension) return extension.attributes.map((attribute) => ({ attribute, extension: extension.id }));
    return placeOf(type, path) ?? [];
  });

const isNamed = (places: readonly AttributePlace[], name: string, extension?: string) =>
  places.filter((place) => place.attribute.name === name && place.extension === extension);

const only = (value: unknown, names: readonly string[]): unknown =>
  Array.isArray(value)
    ? value.map((one) => only(one, names))
    : Object.fromEntries(Object.entries(Object(value)).filter(([name]) => names.includes(name)));
const without = (value: unknown, names: readonly string[]): unknown =>
  Array.isArray(value)
    ? value.map((one) => without(one, names))
    : Object.fromEntries(Object.entries(Object(value)).filter(([name]) => !names.includes(name)));

/** Whether an answer shows the attribute, or a part of it. */
export function showsAttribute(
  type: ResourceType,
  { attributes, excludedAttributes }: Projection,
  name: string,
): boolean {
  const asked = placesOf(type, attributes);
  if (listOf(attributes).length > 0) return isNamed(asked, name).length > 0;
  return isNamed(placesOf(type, excludedAttributes), name).every(({ sub }) => sub !== undefined);
}

export function projectResource(type: ResourceType, resource: Values, projection: Projection): Values {
  const asked = listOf(projection.attributes).length > 0;
  const places = placesOf(type, asked ? projection.attributes : projection.excludedAttributes);
  if (places.length === 0 && !asked) return resource;
  const always = new Set(attributesOf(type).flatMap(({ name, returned }) => (returned === 'always' ? [name] : [])));

  const shown = (name: string, value: unknown, extension?: string): unknown => {
    if (extension === undefined && always.has(name)) return value;
    const said = isNamed(places, name, extension);
    const whole = said.some(({ sub }) => sub === undefined);
    const subs = said.flatMap(({ sub }) => sub?.name ?? []);
    if (asked) return whole ? value : subs.length > 0 ? only(value, subs) : undefined;
    return whole ? undefined : subs.length > 0 ? without(value, subs) : value;
  };
  const extensions = new Set(type.extensions.map(({ id }) => id));
  const entries = Object.entries(resource).map(([key, value]) => {
    if (!extensions.has(key)) return [key, shown(key, value)] as const;
    const inner = Object.entries(Object(value))
      .map(([name, one]) => [name, shown(name, one, key)] as const)
      .filter(([, one]) => one !== undefined);
    return [key, inner.length > 0 ? Object.fromEntries(inner) : undefined] as const;
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
