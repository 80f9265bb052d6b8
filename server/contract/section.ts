// Owns: what everybody who speaks of a section of the realm document needs to know of it, and walking through its elements.
// Does not own: which sections there are (sections.ts), their fields (each feature's contract), comparing (the server).
// Implements: specification 2.10; decisions "Import, export, plan", "Custom resources".
import { z } from 'zod';
import { name } from './names.ts';
import type { Area } from './permissions.ts';
import type { KindName } from './resources/custom-resource.ts';

/** Fields that together name an element among its neighbours. */
export type Key = string | readonly string[];

export interface Groups {
  by: string;
  list: string;
  /** To people: what the two are. */
  described: readonly [by: string, list: string];
}

/** A section as a field of the Realm resource. */
interface RealmField {
  kind: 'Realm';
  description: string;
  /** The field's name, where it isn't the section's. */
  field?: string;
  /** Where the resource takes fewer elements than a document. */
  most?: number;
}

export interface Section {
  /** `map`: lists of elements, each list by the name of what they belong to; `object`: one element. Left out: a list. */
  shape?: 'map' | 'object';
  /** A list of what the elements belong to: each says its name in the field `by`, and has them in the field `list`. */
  groups?: Groups;
  /** In plans and managers' lists: `clientScope`. */
  kind: string;
  /** To people: `client scope`. */
  label: string;
  /** The area whose `:read` and `:write` permissions it needs. */
  area: Area;
  /** Left out: an element of a list is its own name; an object has none, and each of its fields is declared by itself. */
  key?: Key;
  element: z.ZodType;
  /** Of the section in a document, where that takes more than `element` says. */
  document?: z.ZodType;
  /** Lists within an element whose items have a name; by their path. */
  namedLists?: Readonly<Record<string, Key>>;
  /** Fields of an element that hold a secret: `<field>KeyRef` in a resource. The element is a `z.object` then. */
  secrets?: readonly string[];
  /** Fields of an element whose value may be in a ConfigMap or a Secret: `<field>From` in a resource; json is parsed. */
  sourced?: Readonly<Record<string, 'text' | 'json'>>;
  /** The resource may have the element's secret made, and written to a Secret: `secretOutput`. */
  output?: true;
  /** Fields of an element that list usernames: run-time data, so in no custom resource, and exported with users alone. */
  people?: readonly string[];
  /** Addresses, by path, that may be placeholders of a document; they are kept and shown as such. */
  placeholders?: readonly string[];
  /** Elements in one document; left out: any number. */
  most?: number;
  /** Elements in each list of a map. */
  mostOfEach?: number;
  /** Where it stands in custom resources: in a Realm, as a kind of its own, or nowhere. */
  resource: RealmField | { kind: Exclude<KindName, 'Realm'> } | null;
  /** Whether an element gives admin rights, which only the operator's own namespace may. */
  givesAdminRoles?(element: unknown): boolean;
}

/** A section of a later release: exported empty, refused when it holds anything. */
export type Later = 'later';
export type Table = Readonly<Record<string, Section | Later>>;

export type Element = Readonly<Record<string, unknown>>;

/** An owner with its elements. */
export const groupOf = (
  element: z.ZodType,
  { groups, mostOfEach = 1000 }: { groups: Groups; mostOfEach: number | undefined },
) => {
  const [by, list] = groups.described;
  return z.strictObject({
    [groups.by]: name().describe(by),
    [groups.list]: z.array(element).max(mostOfEach).describe(list),
  });
};

/** Lists of elements, bounded. */
export function collectionOf<E extends z.ZodType>(
  element: E,
  { shape, groups, most, mostOfEach = most }: Bounds,
): z.ZodType {
  const list = (longest?: number) => (longest === undefined ? z.array(element) : z.array(element).max(longest));
  if (groups) {
    const group = groupOf(element, { groups, mostOfEach });
    return most === undefined ? z.array(group) : z.array(group).max(most);
  }
  return shape === 'map' ? z.record(name(), list(mostOfEach)) : list(most);
}
type Bounds = { [Field in 'shape' | 'groups' | 'most' | 'mostOfEach']: Section[Field] | undefined };

/** Names of fields, of an element that is one. */
export const fieldsOfKey = (key: Key | undefined): readonly string[] =>
  key === undefined ? [] : typeof key === 'string' ? [key] : key;

/** `secret` → `secretKeyRef` */
export const referenceTo = (secret: string): string => `${secret}KeyRef`;

/** `customCss` → `customCssFrom` */
export const sourceOf = (field: string): string => `${field}From`;

/** `accessToken` → `access token` */
export const wordsOfField = (field: string): string =>
  field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** The natural key as plans have it: several fields with `/` between them, a map's behind the name that it stands under. */
function keyOf({ key, shape }: Section, element: unknown, under?: string): string {
  if (shape === 'object') return '';
  const own = key === undefined ? String(element) : fieldsOfKey(key).map((field) => String(Object(element)[field]));
  return [...(under === undefined ? [] : [under]), own].flat().join('/');
}

/** An element of a section, and how it is found there. */
export interface Found {
  /** The natural key; '' where the section is one object. */
  key: string;
  element: unknown;
  /** From the section on: `[3]`, `['shop', 0]`. */
  at: (string | number)[];
}

/** The elements of a section's value; none where it is absent. */
export function elementsOf(section: Section, value: unknown): Found[] {
  if (value === undefined || value === null) return [];
  if (section.shape === 'object') return [{ key: '', element: value, at: [] }];
  const { groups } = section;
  if (groups)
    return listOf(value).flatMap((group, i) =>
      listOf(Object(group)[groups.list]).map((element, n) => ({
        key: keyOf(section, element, String(Object(group)[groups.by])),
        element,
        at: [i, groups.list, n],
      })),
    );
  if (section.shape === 'map')
    return Object.entries(value).flatMap(([under, list]) =>
      listOf(list).map((element, n) => ({ key: keyOf(section, element, under), element, at: [under, n] })),
    );
  return listOf(value).map((element, n) => ({ key: keyOf(section, element), element, at: [n] }));
}

/** The section's value with each of its elements changed, for sections whose elements are objects. */
export function mapElements(
  section: Section,
  value: unknown,
  change: (element: Element, key: string) => Element,
): unknown {
  if (value === undefined || value === null) return value;
  if (section.shape === 'object') return change(Object(value), '');
  const changed = (list: unknown, under?: string) =>
    listOf(list).map((element) => change(Object(element), keyOf(section, element, under)));
  const { groups } = section;
  if (groups)
    return listOf(value).map((group) => {
      const { [groups.by]: under, [groups.list]: own } = Object(group);
      return { [groups.by]: under, [groups.list]: changed(own, String(under)) };
    });
  if (section.shape !== 'map') return changed(value);
  return Object.fromEntries(Object.entries(value).map(([under, list]) => [under, changed(list, under)]));
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
