// What docs/upgrade.md promises of a version: fields stay and mean the same, and whatever was accepted still is.
// fixtures/crds-0.1.0 are the first release's CRDs. Until that is out they follow crds/; from then on they never change.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { renderCrds } from '../../operator/crd.ts';

const Node: z.ZodType<Node> = z.lazy(() =>
  z.looseObject({
    type: z.string().optional(),
    nullable: z.boolean().default(false),
    enum: z.array(z.unknown()).optional(),
    required: z.array(z.string()).default([]),
    pattern: z.string().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    minItems: z.number().optional(),
    maxItems: z.number().optional(),
    properties: z.record(z.string(), Node).default({}),
    items: Node.optional(),
    additionalProperties: Node.optional(),
    'x-kubernetes-list-type': z.string().optional(),
    'x-kubernetes-validations': z.array(z.object({ rule: z.string() })).default([]),
  }),
);
interface Node {
  type?: string | undefined;
  nullable: boolean;
  enum?: unknown[] | undefined;
  required: string[];
  pattern?: string | undefined;
  minimum?: number | undefined;
  maximum?: number | undefined;
  minLength?: number | undefined;
  maxLength?: number | undefined;
  minItems?: number | undefined;
  maxItems?: number | undefined;
  properties: Record<string, Node>;
  items?: Node | undefined;
  additionalProperties?: Node | undefined;
  'x-kubernetes-list-type'?: string | undefined;
  'x-kubernetes-validations': { rule: string }[];
}
const Crd = z.object({
  spec: z.object({
    versions: z.array(z.object({ name: z.string(), schema: z.object({ openAPIV3Schema: Node }) })),
  }),
});
const schemaOf = (yaml: string, version: string): Node | undefined =>
  Crd.parse(parse(yaml)).spec.versions.find(({ name }) => name === version)?.schema.openAPIV3Schema;

const least = ['minimum', 'minLength', 'minItems'] as const;
const most = ['maximum', 'maxLength', 'maxItems'] as const;

/** What was taken by `was` and isn't by `is`, by place. */
function* broken(was: Node, is: Node | undefined, place: string): Generator<string> {
  if (!is) return yield `${place} is gone`;
  if (was.type !== is.type) yield `${place} was ${was.type}, and is ${is.type}`;
  if (was.nullable && !is.nullable) yield `${place} can no longer be null`;
  if (is.enum && !(was.enum ?? [undefined]).every((one) => is.enum?.includes(one))) yield `${place} lost a value`;
  if (is.pattern !== undefined && is.pattern !== was.pattern) yield `${place} has another pattern`;
  for (const key of is.required) if (!was.required.includes(key)) yield `${place}.${key} is required`;
  for (const key of least) if ((is[key] ?? -Infinity) > (was[key] ?? -Infinity)) yield `${place}: ${key} rose`;
  for (const key of most) if ((is[key] ?? Infinity) < (was[key] ?? Infinity)) yield `${place}: ${key} fell`;
  if (was['x-kubernetes-list-type'] !== is['x-kubernetes-list-type']) yield `${place} is another kind of list`;
  const rules = was['x-kubernetes-validations'].map(({ rule }) => rule);
  const added = Object.keys(is.properties).filter((field) => !(field in was.properties));
  /** Whatever lacks the new field passes. */
  const ofNew = (rule: string) =>
    added.some((field) => rule.endsWith(` || !has(self.${field})`) || rule.startsWith(`!has(oldSelf.${field}) || `));
  for (const { rule } of is['x-kubernetes-validations'])
    if (!rules.includes(rule) && !ofNew(rule)) yield `${place}: new rule ${rule}`;
  for (const [key, child] of Object.entries(was.properties))
    yield* broken(child, is.properties[key], `${place}.${key}`);
  if (was.items) yield* broken(was.items, is.items, `${place}[]`);
  if (was.additionalProperties) yield* broken(was.additionalProperties, is.additionalProperties, `${place}.*`);
}

/** What the first release's CRD took, and its server refused or failed at: a stored object that has it was never applied. */
const neverApplied = new Set([
  // An instant beyond the year 9999, or before the year 1.
  '.spec.agents[].expiresAt: minimum rose',
  '.spec.agents[].expiresAt: maximum fell',
]);

/** The same values as before or more, said in another way. */
const saidAnew = new Set([
  // Lengths that the pattern had itself.
  '.spec.agents[].scopes[] has another pattern',
  '.spec.agents[].scopes[]: minLength rose',
  '.spec.agents[].scopes[]: maxLength fell',
  // White space before it is taken, too.
  '.spec.identityProviders[].config.signingCertificates[] has another pattern',
]);

test.each([...renderCrds()])('%s takes whatever the first release took', (file, yaml) => {
  const first = readFileSync(path.join(import.meta.dirname, 'fixtures/crds-0.1.0', path.basename(file)), 'utf8');
  const was = schemaOf(first, 'v1alpha1');
  expect(was).toBeDefined();
  const all = was && [...broken(was, schemaOf(yaml, 'v1alpha1'), '')];
  expect(all?.filter((one) => !neverApplied.has(one) && !saidAnew.has(one))).toEqual([]);
});

test.each<[string, object, object]>([
  ['gone', { properties: { a: { type: 'string' } } }, {}],
  ['required', { properties: { a: {} } }, { properties: { a: {} }, required: ['a'] }],
  ['lost a value', { enum: ['a', 'b'] }, { enum: ['a'] }],
  ['fell', { maxLength: 10 }, { maxLength: 5 }],
  ['rose', {}, { minimum: 1 }],
  ['another pattern', { pattern: 'a' }, { pattern: 'b' }],
  ['new rule', {}, { 'x-kubernetes-validations': [{ rule: 'false' }] }],
  ['was string', { type: 'string' }, { type: 'integer' }],
])('a narrower schema is seen: %s', (words, was, is) => {
  expect([...broken(Node.parse(was), Node.parse(is), 'spec')].join()).toContain(words);
});
