// Owns: the JSON Schema of an authorization detail type: which schemas are accepted, and whether a detail conforms. Ajv validates;
// patterns run in RE2 (pattern.ts), and without references the work is bounded by the sizes of schema and detail.
// Does not own: the bounds of a detail (authorization-details.ts).
// Implements: RFC 9396 §5, JSON Schema 2020-12; decisions "Authorization detail type".
import type { ValidateFunction } from 'ajv';
import type { Ajv2020 as Ajv } from 'ajv/dist/2020.js';
import { isObject } from '../contract/json.ts';
import { createRecentlyUsed } from '../schedule/recently-used.ts';
import { createPatternMatcher, loadPatterns, patternFault } from './pattern.ts';

const LARGEST_SCHEMA = 20_000;
const MOST_SCHEMAS = 500;
const DEEPEST = 12;
const MOST_ITEMS = 200;
/** Each compares every two elements of a list. */
const MOST_UNIQUE = 10;

/** The keywords whose value is a schema, a list of schemas, or a map of them. */
const inner: Readonly<Record<string, 'one' | 'list' | 'map'>> = {
  items: 'one',
  additionalProperties: 'one',
  contains: 'one',
  not: 'one',
  if: 'one',
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: 'one',
  else: 'one',
  prefixItems: 'list',
  allOf: 'list',
  anyOf: 'list',
  oneOf: 'list',
  properties: 'map',
};
/** The other keywords. References are left out: they could repeat a part of the schema without end. */
const KEYWORDS = new Set(
  (
    'type enum const title description default examples required dependentRequired minLength maxLength pattern minimum maximum ' +
    'exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems minContains maxContains minProperties maxProperties'
  ).split(' '),
);
const MORE = new Set(['$schema', '$comment']);
const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

type Schema = Readonly<Record<string, unknown>>;

/** One wrong element of a schema, with its path. */
export interface SchemaFault {
  path: string;
  message: string;
}

interface Library {
  ajv: Ajv;
  /** The patterns of one validation share a bound of work. */
  begin(): void;
}
let library: Library | undefined;

/** A text was too long, or all of them together, to compare with the patterns of a schema. */
class NotCompared extends Error {}

/** Loads Ajv and the engine of patterns. Call it before the other functions; most realms declare no type. */
export async function loadDetailSchemas(): Promise<void> {
  if (library) return;
  const { Ajv2020 } = (await import('ajv/dist/2020.js')).default;
  await loadPatterns();
  // A schema can demand that a pattern does not match, so a text that was not compared must not pass as one that differs.
  const begun = () =>
    createPatternMatcher(() => {
      throw new NotCompared();
    });
  let matches = begun();
  const engine = (pattern: string) => {
    const anywhere = unanchored(pattern);
    return {
      test: (value: string) => matches(anywhere, value) === true,
      // Ajv keeps one engine for each text.
      toString: () => pattern,
    };
  };
  const regExp = Object.assign((pattern: string) => engine(pattern) as unknown as RegExp, { code: 'RE2' });
  library = {
    ajv: new Ajv2020({
      strict: true,
      strictTypes: false,
      strictRequired: false,
      strictTuples: false,
      allowUnionTypes: true,
      validateFormats: false,
      ownProperties: true,
      messages: true,
      logger: false,
      code: { regExp },
    }),
    begin: () => {
      matches = begun();
    },
  };
}

/** JSON Schema matches a pattern anywhere in a text; pattern.ts matches whole texts. */
const unanchored = (pattern: string): string => `[\\s\\S]*(?:${pattern})[\\s\\S]*`;

const at = (path: string, key: string | number): string =>
  typeof key === 'number' ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;

/** Why the schema can't be used; undefined: it can be. */
export function schemaFault(schema: Schema): SchemaFault | undefined {
  if (JSON.stringify(schema).length > LARGEST_SCHEMA)
    return { path: '', message: `may have ${LARGEST_SCHEMA} characters` };
  if (schema.type !== 'object') return { path: 'type', message: 'must be object' };
  const open: [of: unknown, path: string, depth: number][] = [[schema, '', 0]];
  let count = 0;
  let unique = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const [of, path, depth] = next;
    count += 1;
    if (count > MOST_SCHEMAS) return { path: '', message: `may have ${MOST_SCHEMAS} schemas inside` };
    if (depth > DEEPEST) return { path, message: `may be nested ${DEEPEST} levels deep` };
    if (typeof of === 'boolean') continue;
    if (!isObject(of)) return { path, message: 'must be a schema: an object, true or false' };
    for (const [keyword, value] of Object.entries(of)) {
      const here = at(path, keyword);
      const fault = keywordFault(keyword, value, depth);
      if (fault !== undefined) return { path: here, message: fault };
      if (keyword === 'uniqueItems') unique += 1;
      if (unique > MOST_UNIQUE) return { path: here, message: `may stand in ${MOST_UNIQUE} schemas at most` };
      const kind = Object.hasOwn(inner, keyword) ? inner[keyword] : undefined;
      if (kind === 'one') open.push([value, here, depth + 1]);
      else if (kind === 'list' && Array.isArray(value))
        value.forEach((one: unknown, i) => {
          open.push([one, at(here, i), depth + 1]);
        });
      else if (kind === 'map' && isObject(value))
        for (const [name, one] of Object.entries(value)) open.push([one, at(here, name), depth + 1]);
      else if (kind !== undefined)
        return { path: here, message: `must be ${kind === 'list' ? 'a list' : 'an object'}` };
    }
  }
  try {
    compiled(schema);
    return undefined;
  } catch (error) {
    return {
      path: '',
      message: `is not accepted by the validator: ${error instanceof Error ? error.message : 'it fails'}`,
    };
  }
}

function keywordFault(keyword: string, value: unknown, depth: number): string | undefined {
  if (Object.hasOwn(inner, keyword)) return Object.hasOwn(Object(value), '__proto__') ? 'names __proto__' : undefined;
  if (MORE.has(keyword)) {
    if (depth > 0) return 'stands at the top alone';
    return keyword === '$schema' && value !== DRAFT ? `must be ${DRAFT}` : undefined;
  }
  if (!KEYWORDS.has(keyword)) return 'is no keyword that can be used here';
  if (keyword === 'enum' && (!Array.isArray(value) || value.length > MOST_ITEMS))
    return `is a list of ${MOST_ITEMS} values at most`;
  if (keyword !== 'pattern') return undefined;
  if (typeof value !== 'string') return 'must be a text';
  // Alone first: `a)|(b` would be a pattern only inside another group.
  return patternFault(value) ?? patternFault(unanchored(value));
}

const recent = createRecentlyUsed<ValidateFunction>({ most: 500 });
function compiled(schema: Schema): ValidateFunction {
  if (!library) throw new Error('loadDetailSchemas comes before any schema');
  const { ajv } = library;
  return recent.get(JSON.stringify(schema), () => {
    const { $schema: _, $comment: __, ...rest } = schema;
    // RFC 9396 §5: a field that the type doesn't define is refused, so it needs no `additionalProperties` to say so.
    const whole = { ...rest, unevaluatedProperties: false };
    try {
      return ajv.compile(whole);
    } finally {
      // Ajv would keep each schema for good.
      ajv.removeSchema(whole);
    }
  });
}

/** Why the fields don't conform to the schema, in words that follow the detail's name; undefined: they do. */
export function detailFault(schema: Schema, fields: Schema): string | undefined {
  const validate = compiled(schema);
  library?.begin();
  try {
    if (validate(fields)) return undefined;
  } catch (error) {
    if (error instanceof NotCompared) return 'does not conform to its type: a text is too long for a pattern';
    throw error;
  }
  const [error] = validate.errors ?? [];
  const where = error?.instancePath ? ` at ${error.instancePath}` : '';
  const what = error?.params.unevaluatedProperty ?? error?.params.additionalProperty;
  return `does not conform to its type${where}: ${error?.message ?? 'it is wrong'}${typeof what === 'string' ? ` (${what})` : ''}`;
}

/** Whether the schema names a field at this path, in whichever of its parts. */
export function hasField(schema: unknown, path: readonly string[]): boolean {
  const [name, ...rest] = path;
  if (name === undefined) return true;
  if (!isObject(schema)) return false;
  const { properties, allOf, anyOf, oneOf, if: condition, then: met, else: unmet } = schema;
  const own = isObject(properties) && Object.hasOwn(properties, name) && hasField(properties[name], rest);
  return own || [allOf, anyOf, oneOf, condition, met, unmet].flat().some((part) => hasField(part, path));
}
