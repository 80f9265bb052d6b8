// Owns: the description of a section of the realm document, and functions that visit its elements.
// Does not own: the list of sections (sections.ts), their fields (each feature's contract), comparing (the server).
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
  /** Descriptions of both, for users. */
  described: readonly [by: string, list: string];
}

/** A section as a field of the Realm resource. */
interface RealmField {
  kind: 'Realm';
  description: string;
  /** The field's name, if it isn't the section's. */
  field?: string;
  /** The most elements in a resource, if it accepts fewer than a document. */
  most?: number;
}

export interface Section {
  /** `map`: lists of elements by the name of the owner; `object`: one element. Absent: a list. */
  shape?: 'map' | 'object';
  /** In a Realm resource, a list of owners: each has its name in the field `by`, and its elements in the field `list`. */
  groups?: Groups;
  /** The name of one object in plans and managers' lists: `clientScope`. */
  kind: string;
  /** The name in texts for users: `client scope`. */
  label: string;
  /** The area whose `:read` and `:write` permissions it needs. */
  area: Area;
  /** Absent: an element of a list is its own name; an object has none, and each of its fields is declared by itself. */
  key?: Key;
  element: z.ZodType;
  /** Fields of the key that a resource may leave out, with the value that the API server then writes, in words and as it is. */
  keyDefaults?: Readonly<Record<string, { value: string; words: string }>>;
  /** The section's schema in a document, if it accepts more than `element`. */
  document?: z.ZodType;
  /** Lists within an element whose items have a name, by path. */
  namedLists?: Readonly<Record<string, Key>>;
  /** Fields of an element with a secret: `<field>KeyRef` in a resource. The element must be a `z.object`. */
  secrets?: readonly string[];
  /** Fields of an element whose value may be in a ConfigMap or a Secret: `<field>From` in a resource; json is parsed. */
  sourced?: Readonly<Record<string, 'text' | 'json'>>;
  /**
   * The resource can request a generated secret for the element, which the operator writes to a Secret: `secretOutput`.
   */
  output?: true;
  /** The resource can name ServiceAccounts that authenticate the element: `serviceAccounts`. */
  serviceAccounts?: true;
  /**
   * Fields of an element with usernames: run-time data, so absent from custom resources, and exported only with users.
   */
  people?: readonly string[];
  /** Paths of addresses that can be placeholders in a document; they are stored and shown unresolved. */
  placeholders?: readonly string[];
  /** The most elements in one document; absent: any number. */
  most?: number;
  /** The most elements in each list of a map. */
  mostOfEach?: number;
  /** Where custom resources contain it: in a Realm, as a kind of its own, or nowhere. */
  resource: RealmField | { kind: Exclude<KindName, 'Realm'> } | null;
  /** Whether an element grants admin rights, which only the operator's own namespace may. */
  givesAdminRoles?(element: unknown): boolean;
}

/** A section of a later release: exported empty, refused if it contains anything. */
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

/** Lists of elements, with a maximum length. */
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

/** The fields of a key. */
export const fieldsOfKey = (key: Key | undefined): readonly string[] =>
  key === undefined ? [] : typeof key === 'string' ? [key] : key;

/** `secret` → `secretKeyRef` */
export const referenceTo = (secret: string): string => `${secret}KeyRef`;

/** `customCss` → `customCssFrom` */
export const sourceOf = (field: string): string => `${field}From`;

/** `accessToken` → `access token` */
export const wordsOfField = (field: string): string =>
  field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** The natural key in plans: several fields are joined by `/`, and in a map the owner's name comes first. */
function keyOf({ key, shape }: Section, element: unknown, under?: string): string {
  if (shape === 'object') return '';
  const own = key === undefined ? String(element) : fieldsOfKey(key).map((field) => String(Object(element)[field]));
  return [...(under === undefined ? [] : [under]), own].flat().join('/');
}

/** An element of a section, with its place. */
export interface Found {
  /** The natural key; '' if the section is one object. */
  key: string;
  element: unknown;
  /** The path below the section: `[3]`, `['shop', 0]`. */
  at: (string | number)[];
}

/** The elements of a section's value; empty if it is absent. */
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
