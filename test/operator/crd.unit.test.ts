// The printed CRDs without a cluster: what the API server would take, and kubectl explain has words for every field.
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { renderCrds, structural } from '../../operator/crd.ts';

const Node: z.ZodType<Node> = z.lazy(() =>
  z.looseObject({
    description: z.string().optional(),
    default: z.unknown().optional(),
    properties: z.record(z.string(), Node).optional(),
    items: Node.optional(),
    additionalProperties: Node.optional(),
  }),
);
interface Node {
  description?: string | undefined;
  default?: unknown;
  properties?: Record<string, Node> | undefined;
  items?: Node | undefined;
  additionalProperties?: Node | undefined;
}
const Crd = z.object({
  spec: z.object({ versions: z.tuple([z.object({ schema: z.object({ openAPIV3Schema: Node }) })]) }),
});

const root = (yaml: string): Record<string, Node> =>
  Crd.parse(parse(yaml)).spec.versions[0].schema.openAPIV3Schema.properties ?? {};

function* fields(node: Node, place: string): Generator<[string, Node]> {
  for (const [key, child] of Object.entries(node.properties ?? {})) {
    yield [`${place}.${key}`, child];
    yield* fields(child, `${place}.${key}`);
  }
  if (node.items) yield* fields(node.items, `${place}[]`);
  if (node.additionalProperties) yield* fields(node.additionalProperties, `${place}.*`);
}
const under = (yaml: string, part: 'spec' | 'status') => [...fields(root(yaml)[part] ?? {}, part)];

/** A field of an element's name: the API server demands that it is required, or has a default. */
const NAMES = ['spec.messageTemplates[].locale'];

test.each([...renderCrds()])('%s: every field is described, and only names have a default', (_, yaml) => {
  const all = [...under(yaml, 'spec'), ...under(yaml, 'status')];
  expect(all.length).toBeGreaterThan(10);
  expect(all.filter(([, node]) => !node.description).map(([place]) => place)).toEqual([]);
  const defaults = all.filter(([, node]) => node.default !== undefined).map(([place]) => place);
  expect(defaults).toEqual(all.flatMap(([place]) => (NAMES.includes(place) ? [place] : [])));
});

test.each([...renderCrds()])('%s: no literal secret is in the schema', (_, yaml) => {
  expect(under(yaml, 'spec').filter(([place]) => /\.(secret|password|privateKey)$/.test(place))).toEqual([]);
});

test.each([
  ['a union', z.object({ a: z.union([z.string(), z.number()]) }), 'spec.a: anyOf'],
  ['a default', z.object({ a: z.string().default('b') }), 'spec.a: a default'],
  ['a pattern that looks around', z.object({ a: z.string().regex(/^(?!x)/) }), 'spec.a: the pattern'],
])('%s is refused with its place', (_, schema, words) => {
  expect(() => structural(schema, 'spec')).toThrow(words);
});

test('one of some words or null is told by a pattern: the API server refuses a null beside an enum', () => {
  const printed = structural(z.enum(['one', 'two']).nullable(), 'spec.x');
  expect(printed).toEqual({ type: 'string', nullable: true, pattern: '^(one|two)$' });
  expect(structural(z.enum(['one', 'two']), 'spec.x')).toEqual({ type: 'string', enum: ['one', 'two'] });
});
