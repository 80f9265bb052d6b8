// Owns: values that a JSON schema accepts and values that it refuses, by a seed: the same seed makes the same requests.
// Does not own: sending them (test/server/random-requests.long.test.ts).
// Implements: tests that every endpoint answers every request as its documentation says.
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  minItems?: number;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  format?: string;
  pattern?: string;
  examples?: unknown[];
  example?: unknown;
}

/** Mulberry32: small, and the same everywhere. */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (n: number): number => Math.floor(next() * n);
  return {
    next,
    below,
    pick: <T>(from: readonly T[]): T | undefined => from[below(from.length)],
    chance: (p: number) => next() < p,
  };
}
export type Random = ReturnType<typeof createRandom>;

/** What breaks programs. */
const odd: readonly unknown[] = [
  '',
  ' ',
  'x'.repeat(300),
  'x'.repeat(5000),
  'a\u0000b',
  'a\u202eb',
  'é\u0301🙂',
  '\ud800',
  "'; drop table realm; --",
  '%00',
  '../../etc/passwd',
  `$${'{SVC_VAR_X}'}`,
  '__proto__',
  'null',
  -1,
  0,
  1.5,
  1e21,
  2 ** 31,
  2 ** 53,
  true,
  null,
  [],
  {},
  [[]],
  { a: { b: [null] } },
  ['', ''],
  'https://[::1]:99999/',
  'javascript:alert(1)',
  '2026-13-45',
  '(a+)+$',
];

export function createValues(random: Random, resolve: (ref: string) => Schema, known: readonly string[]) {
  const { pick, below, chance } = random;

  function text({ format, pattern, minLength = 0, maxLength = 50, examples }: Schema): unknown {
    if (examples && chance(0.7)) return pick(examples);
    if (format === 'uuid') return chance(0.6) ? (pick(known.filter((one) => UUID.test(one))) ?? NOBODY) : NOBODY;
    if (format === 'email') return `someone${below(1000)}@example.test`;
    if (format === 'uri' || pattern?.startsWith('^https')) return `https://example.test/${below(100)}`;
    if (format === 'date-time') return '2026-01-02T03:04:05Z';
    if (pattern?.includes('\\/')) return `/group${below(20)}`;
    if (chance(0.5)) return pick(known) ?? 'known';
    return `word${below(1000)}`.padEnd(minLength, 'x').slice(0, Math.max(1, maxLength));
  }

  function fits(schema: Schema, depth = 0): unknown {
    if (schema.$ref) return depth > 8 ? null : fits(resolve(schema.$ref), depth + 1);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return pick(schema.enum);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices) return fits(pick(choices) ?? {}, depth + 1);
    if (schema.allOf) return Object.assign({}, ...schema.allOf.map((one) => Object(fits(one, depth + 1))));
    const [type] = [schema.type ?? (schema.properties ? 'object' : 'string')].flat();
    if (type === 'null') return null;
    if (type === 'boolean') return chance(0.5);
    if (type === 'integer' || type === 'number') {
      const { minimum = 0, maximum = 1000 } = schema;
      return Math.max(-1e9, minimum) + below(Math.max(1, Math.min(1000, maximum - minimum + 1)));
    }
    if (type === 'array')
      return Array.from({ length: depth > 5 ? 0 : Math.max(schema.minItems ?? 0, below(3)) }, () =>
        fits(schema.items ?? {}, depth + 1),
      );
    if (type !== 'object') return text(schema);
    const { properties = {}, required = [], additionalProperties } = schema;
    const named = Object.entries(properties).filter(
      ([field]) => required.includes(field) || (depth < 6 && chance(0.4)),
    );
    const more =
      typeof additionalProperties === 'object' && chance(0.6)
        ? [[pick(known) ?? 'more', additionalProperties] as const]
        : [];
    return Object.fromEntries([...named, ...more].map(([field, of]) => [field, fits(of, depth + 1)]));
  }

  /** The value with something changed somewhere in it. */
  function spoiled(value: unknown): unknown {
    if (Array.isArray(value) && value.length > 0 && chance(0.8)) {
      const at = below(value.length);
      if (chance(0.2)) return [...value, ...value];
      return value.map((one, i) => (i === at ? spoiled(one) : one));
    }
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && chance(0.95)) {
      const fields = Object.keys(value);
      const field = pick(fields);
      if (field === undefined || chance(0.1))
        return { ...value, [chance(0.5) ? 'unknownField' : String(pick(odd))]: pick(odd) };
      if (chance(0.15)) return Object.fromEntries(Object.entries(value).filter(([name]) => name !== field));
      return { ...value, [field]: spoiled(Reflect.get(value, field)) };
    }
    return pick(odd);
  }

  return { fits, spoiled, odd: () => pick(odd) };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const NOBODY = '018f6d1e-7a3b-7c4d-8e5f-6a7b8c9d0e1f';
