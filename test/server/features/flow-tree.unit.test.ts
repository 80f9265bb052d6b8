import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { ExecutionDocument, Requirement } from '../../../server/contract/flows.ts';
import { nextVerdict } from '../../../server/features/authentication/sign-in/engine.ts';
import {
  type AuthenticatorEntry,
  copyOf,
  documentFaults,
  documentOf,
  flatten,
  nest,
  rowsOf,
  sameTree,
  validateTree,
} from '../../../server/features/configuration/flows/tree.ts';

const entry = (id: string, levelOfAssurance: number, identifies = false): AuthenticatorEntry => ({
  id,
  displayName: id,
  factorClass: levelOfAssurance > 0 ? 'POSSESSION' : 'NONE',
  levelOfAssurance,
  category: levelOfAssurance > 0 ? 'METHOD' : 'CONDITION',
  identifies,
  configSchema: z.strictObject({ n: z.int().optional() }),
});
const registry = [entry('password', 1, true), entry('otp', 2), entry('passkey', 3, true), entry('risk', 0)];
let n = 0;
const newId = () => `#${++n}`;
const read = (executions: ExecutionDocument[]) => {
  const rows = rowsOf(executions, { newId, registry });
  if ('errors' in rows) throw new Error(JSON.stringify(rows.errors));
  return rows.rows;
};

const requirement = fc.constantFrom<Requirement>('REQUIRED', 'ALTERNATIVE', 'CONDITIONAL', 'DISABLED');
const documents: fc.Arbitrary<ExecutionDocument[]> = fc.letrec<{ nodes: ExecutionDocument[]; node: ExecutionDocument }>(
  (tie) => ({
    nodes: fc.array(tie('node'), { maxLength: 3 }),
    node: fc.oneof(
      { depthSize: 'small', maxDepth: 2 },
      fc.record({
        authenticatorId: fc.constantFrom('password', 'otp', 'passkey', 'risk'),
        requirement,
        config: fc.constantFrom({}, { n: 1 }),
      }),
      fc.record({ name: fc.constantFrom('One', 'Two'), requirement, executions: tie('nodes') }),
    ),
  }),
).nodes;
/** As a document has it: nothing that says nothing. */
const lean = (executions: ExecutionDocument[]): ExecutionDocument[] =>
  executions.map(({ config, executions: children, ...rest }) => ({
    ...rest,
    ...(config && Object.keys(config).length > 0 ? { config } : {}),
    ...(children && children.length > 0 ? { executions: lean(children) } : {}),
  }));

test('a document becomes rows and the same document again', () => {
  fc.assert(fc.property(documents, (d) => void expect(documentOf(read(d))).toEqual(lean(d))));
});

test('rows are the same tree in whatever order they are sent, flat or nested', () => {
  fc.assert(
    fc.property(documents, fc.nat(), (d, seed) => {
      const rows = read(d);
      const shuffled = rows.toSorted(
        (a, b) => ((a.executionId.length * 31 + seed) % 7) - ((b.executionId.length * 17) % 7),
      );
      const again = rowsOf(shuffled, { newId, registry });
      expect('rows' in again && sameTree(again.rows, rows)).toBe(true);
      expect(flatten(nest(rows))).toEqual(rows);
    }),
  );
});

test('a copy is the same tree under other ids', () => {
  fc.assert(
    fc.property(documents, (d) => {
      const rows = read(d);
      const copy = copyOf(rows, newId);
      expect(documentOf(copy)).toEqual(documentOf(rows));
      expect(copy.filter((c) => rows.some((r) => r.executionId === c.executionId))).toEqual([]);
    }),
  );
});

test('whoever has everything set up gets through a tree that was found sound', () => {
  const facts = new Map(registry.map((a) => [a.id, a]));
  let sound = 0;
  fc.assert(
    fc.property(documents, fc.boolean(), (d, holds) => {
      const rows = read(d);
      if (validateTree(rows, registry).length > 0) return;
      sound += 1;
      const tree = nest(rows);
      const proven = new Set<string>();
      for (let steps = 0; steps < 5; steps += 1) {
        const verdict = nextVerdict(
          tree,
          {
            userKnown: proven.size > 0,
            proven,
            enrolled: new Set(['otp', 'passkey', 'password']),
            conditions: new Map(rows.filter((r) => r.condition).map((r) => [r.executionId, holds])),
            failed: new Set(),
            requiredLevel: 0,
          },
          facts,
        );
        if (verdict.do === 'passed') return;
        expect(verdict.do).toBe('ask');
        if (verdict.do === 'ask') proven.add(verdict.authenticatorId);
      }
      expect.unreachable('it never ended');
    }),
    { numRuns: 3000 },
  );
  expect(sound).toBeGreaterThan(50);
});

test('faults of a document are named by their place in it', () => {
  const faults = documentFaults(
    [
      { authenticatorId: 'password', requirement: 'REQUIRED' },
      {
        requirement: 'REQUIRED',
        executions: [
          { authenticatorId: 'risk', requirement: 'REQUIRED' },
          { authenticatorId: 'otp', requirement: 'REQUIRED', config: { colour: 1 } },
        ],
      },
    ],
    registry,
  );
  expect(faults.map((f) => f.path)).toEqual([
    'executions[1].executions[0].parentId',
    'executions[1].executions[1].config',
  ]);
});
