// Owns: values at the edge of what a field, a column or an index can hold, and the places of a JSON value where they can be put.
// Does not own: sending them (test/server/extremes.test.ts).
// Implements: tests that no input makes the server fail.
import type { Schema } from './random-requests.ts';

/** Text that no compression makes short: it fits into no index row. */
const incompressible = (length: number): string => {
  let [state, made] = [1, ''];
  while (made.length < length) {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    made += (state >>> 0).toString(36);
  }
  return made.slice(0, length);
};

/** Written as it stands, since JSON.stringify has no such thing. */
export class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export const numbers: readonly unknown[] = [
  ...[2 ** 53 - 1, 2 ** 31, 1e21, -1, 253_402_300_800_000, -(2 ** 53), 2 ** 53, 2 ** 31 - 1, 0, 1, 0.5, 1e308],
  ...[8.64e15 + 1, -2_147_483_649, 2 ** 63, 'NaN', '1', '9'.repeat(400)],
  ...[new Raw('1e400'), new Raw('-0'), new Raw('1E-400')],
];
export const texts: readonly unknown[] = [
  ...['a\0b', incompressible(10_000), '🙂'.repeat(256), '\ud800', '', 'x'.repeat(1_000_000), incompressible(3000)],
  ...[' ', '\u2028', 'a\u202eb', 'e\u0301'.repeat(200), 'x'.repeat(255), 'x'.repeat(256), incompressible(1024)],
  ...['\u0000', '\udc00x', '__proto__', 'constructor', '%', '\\', '99999-01-01T00:00:00Z', '0000-00-00', '{{'],
  ...[
    'https://x.example/'.padEnd(2000, 'a'),
    'https://[::1',
    `${'a'.repeat(300)}@x.example`,
    '2'.repeat(300),
    '🙂\u200d',
  ],
];
/** @param items what is in it already */
export const extremeLists = (items: readonly unknown[]): unknown[] => {
  const [first = 'x'] = items;
  return [
    Array(10_000).fill(first),
    [...items, ...items, first],
    [],
    [null],
    [[null]],
    [first, null],
    [{}],
    ['\0'],
    {},
  ];
};
const objects: readonly unknown[] = [
  { '\0': 'x' },
  { x: '\0' },
  { '\ud800': 'x' },
  { [incompressible(5000)]: 'x' },
  Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, 'x'])),
  new Raw(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`),
  new Raw('{"__proto__":{"x":1}}'),
  [],
  {},
];

export type Path = readonly (string | number)[];
export interface Place {
  path: Path;
  values: readonly unknown[];
}

const typeOf = (value: unknown): string => (Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value);

const valuesFor = (type: string, present: unknown): readonly unknown[] => {
  if (type === 'number' || type === 'integer') return numbers;
  if (type === 'string') return texts;
  if (type === 'array') return extremeLists(Array.isArray(present) ? present : []);
  return type === 'object' ? objects : [];
};

/** Each place of a value, one of each list's alone, and its extremes. */
export function placesIn(value: unknown, path: Path = []): Place[] {
  const here = { path, values: valuesFor(typeOf(value), value) };
  const below = Array.isArray(value)
    ? value.slice(0, 1).flatMap((one, i) => placesIn(one, [...path, i]))
    : Object.entries(Object(value)).flatMap(([key, one]) =>
        typeof value === 'object' ? placesIn(one, [...path, key]) : [],
      );
  return [...(here.values.length > 0 && path.length > 0 ? [here] : []), ...below];
}

/** Forms of a schema: the example, and of the token endpoint one for each grant, with something in each field that a grant needs. */
export function basesOf(schema: Schema, example: unknown, resolve: (ref: string) => Schema): unknown[] {
  const { properties = {}, required = [] } = resolved(schema, resolve);
  const given = (field: string, of: Schema) => (of.enum ? of.enum[0] : field.endsWith('_type') ? undefined : 'x');
  const plain = Object.fromEntries(required.map((field) => [field, given(field, properties[field] ?? {})]));
  const grants = properties.grant_type?.enum ?? [];
  const all = Object.entries(properties).filter(
    ([field]) => !/^(client_|scope|resource|audience|permission)/.test(field),
  );
  const ofGrants = grants.map((grant) =>
    Object.fromEntries(all.map(([field, of]) => [field, field === 'grant_type' ? grant : given(field, of)])),
  );
  return [example, plain, ...ofGrants].map((base) =>
    Object.fromEntries(Object.entries(Object(base)).filter(([, value]) => value !== undefined)),
  );
}

/** The fields that a schema has and a value lacks, at its top. */
export function placesLacking(schema: Schema, value: unknown, resolve: (ref: string) => Schema): Place[] {
  const { properties = {} } = resolved(schema, resolve);
  return Object.entries(properties)
    .filter(([field]) => Object(value)[field] === undefined)
    .flatMap(([field, of]) => {
      const types = typesOf(of, resolve);
      return types.map((type) => ({ path: [field], values: valuesFor(type, undefined) }));
    });
}

function resolved(schema: Schema, resolve: (ref: string) => Schema): Schema {
  if (schema.$ref) return resolved(resolve(schema.$ref), resolve);
  const [choice] = schema.anyOf ?? schema.oneOf ?? [];
  return choice && !schema.properties ? resolved(choice, resolve) : schema;
}

export function typesOf(schema: Schema, resolve: (ref: string) => Schema, depth = 0): string[] {
  if (depth > 5) return [];
  if (schema.$ref) return typesOf(resolve(schema.$ref), resolve, depth + 1);
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
  const own = schema.enum ? ['string'] : [schema.type ?? []].flat();
  return [...new Set([...own, ...choices.flatMap((one) => typesOf(one, resolve, depth + 1))])];
}

/** The value with another one at that place, as JSON. */
export function jsonWithValueAt(base: unknown, path: Path, value: unknown): string {
  const put = (at: unknown, [key, ...rest]: Path): unknown => {
    if (key === undefined) return value instanceof Raw ? MARK : value;
    if (Array.isArray(at)) return at.map((one, i) => (i === key ? put(one, rest) : one));
    // A name such as __proto__ is a field like any other.
    return Object.fromEntries([
      ...Object.entries(Object(at)).filter(([name]) => name !== key),
      [key, put(Object(at)[key], rest)],
    ]);
  };
  const text = JSON.stringify(put(base, path));
  return value instanceof Raw ? text.replace(`"${MARK}"`, () => value.text) : text;
}
const MARK = '@@raw@@';

/** So many of them, another choice at each place; all of them where there are no more. */
export function sampleOf<T>(values: readonly T[], count: number, turn: number): T[] {
  if (values.length <= count) return [...values];
  return Array.from({ length: count }, (_, i) => values[(turn * count + i) % values.length]).flatMap((one) =>
    one === undefined ? [] : [one],
  );
}
