import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ExecutionInput, Requirement } from '../../../server/contract/flows.ts';
import {
  type Facts,
  nextVerdict,
  type Progress,
  type Verdict,
} from '../../../server/features/authentication/sign-in/engine.ts';
import { nest, rowsOf, type TreeNode } from '../../../server/features/configuration/flows/tree.ts';

const facts = (id: string, level: number, more: Partial<Facts> = {}): [string, Facts] => [
  id,
  { id, category: level > 0 ? 'METHOD' : 'CONDITION', levelOfAssurance: level, identifies: false, ...more },
];
const registry = new Map([
  facts('password', 1, { identifies: true }),
  facts('otp', 2),
  facts('codes', 2, { enrols: false, standsIn: true }),
  facts('passkey', 3, { identifies: true, enrols: true }),
  facts('has-otp', 0),
  facts('risk', 0, { forbidsEnrolment: true }),
]);

type Sketch = [string, Requirement, Sketch[]?];
let n = 0;
const isCondition = (name: string) => registry.get(name)?.category === 'CONDITION';
/** `[name, requirement, children?]`; a name that is no authenticator's is a container's, and the execution's id. */
function tree(sketches: Sketch[]): TreeNode[] {
  const input = (sketch: Sketch[]): ExecutionInput[] =>
    sketch.map(([name, requirement, children]) => ({
      executionId: registry.has(name) ? `${name}#${++n}` : name,
      authenticatorId: registry.has(name) ? name : null,
      condition: isCondition(name),
      requirement,
      executions: input(children ?? []),
    }));
  const read = rowsOf(input(sketches), { newId: () => `#${++n}`, registry: [] });
  if ('errors' in read) throw new Error(JSON.stringify(read.errors));
  return nest(read.rows);
}
const progress = (
  more: Partial<Record<'proven' | 'enrolled', string[]>> & Partial<Omit<Progress, 'proven' | 'enrolled'>> = {},
): Progress => ({
  userKnown: (more.proven ?? []).length > 0,
  conditions: new Map(),
  failed: new Set(),
  requiredLevel: 0,
  ...more,
  proven: new Set(more.proven ?? []),
  enrolled: new Set(more.enrolled ?? ['otp', 'passkey']),
});
const flat = (nodes: readonly TreeNode[]): TreeNode[] => nodes.flatMap((node) => [node, ...flat(node.children)]);
/** Looks at every condition with the same answer. */
const looking = (nodes: readonly TreeNode[], holds: boolean) =>
  new Map(
    flat(nodes)
      .filter((node) => node.condition)
      .map((node) => [node.executionId, holds]),
  );
const say = (verdict: Verdict): string =>
  verdict.do === 'ask'
    ? `${verdict.enrol ? 'set up' : 'ask'} ${verdict.authenticatorId}${verdict.others.map((o) => ` or ${o.authenticatorId}`).join('')}`
    : verdict.do === 'check'
      ? `check ${verdict.authenticatorId}`
      : verdict.do === 'passed'
        ? `passed at ${verdict.level}`
        : verdict.because;

const BROWSER: Sketch[] = [
  ['password', 'REQUIRED'],
  [
    'second',
    'CONDITIONAL',
    [
      ['has-otp', 'REQUIRED'],
      ['otp', 'REQUIRED'],
    ],
  ],
  [
    'step',
    'CONDITIONAL',
    [
      ['risk', 'REQUIRED'],
      ['otp', 'REQUIRED'],
    ],
  ],
];
const EITHER: Sketch[] = [
  ['password', 'ALTERNATIVE'],
  ['passkey', 'ALTERNATIVE'],
];

const cases: [string, Sketch[], Parameters<typeof progress>[0], boolean | undefined, string][] = [
  ['an empty tree', [], {}, undefined, 'nothing-to-do'],
  ['a required method', [['password', 'REQUIRED']], {}, undefined, 'ask password'],
  ['a required method, done', [['password', 'REQUIRED']], { proven: ['password'] }, undefined, 'passed at 1'],
  [
    'a disabled method is not there',
    [
      ['password', 'REQUIRED'],
      ['otp', 'DISABLED'],
    ],
    { proven: ['password'] },
    undefined,
    'passed at 1',
  ],
  [
    'two required, one done',
    [
      ['password', 'REQUIRED'],
      ['otp', 'REQUIRED'],
    ],
    { proven: ['password'] },
    undefined,
    'ask otp',
  ],
  [
    'required but not set up',
    [
      ['password', 'REQUIRED'],
      ['otp', 'REQUIRED'],
    ],
    { proven: ['password'], enrolled: [] },
    undefined,
    'set up otp',
  ],
  [
    'an alternative beside a required one is not asked',
    [
      ['password', 'REQUIRED'],
      ['passkey', 'ALTERNATIVE'],
    ],
    { proven: ['password'] },
    undefined,
    'passed at 1',
  ],
  ['alternatives: the first, and the others to choose from', EITHER, {}, undefined, 'ask password or passkey'],
  ['alternatives: one done is enough', EITHER, { proven: ['passkey'] }, undefined, 'passed at 3'],
  [
    'alternatives that need somebody known wait for that',
    [
      ['otp', 'ALTERNATIVE'],
      ['password', 'ALTERNATIVE'],
    ],
    {},
    undefined,
    'ask password',
  ],
  [
    'alternatives: what is not set up is not offered beside what is',
    [
      ['login', 'REQUIRED', [['password', 'REQUIRED']]],
      [
        'more',
        'REQUIRED',
        [
          ['otp', 'ALTERNATIVE'],
          ['passkey', 'ALTERNATIVE'],
        ],
      ],
    ],
    { proven: ['password'], enrolled: ['passkey'] },
    undefined,
    'ask passkey',
  ],
  ['a condition is looked at first', BROWSER, { proven: ['password'] }, undefined, 'check has-otp'],
  ['conditions that do not hold', BROWSER, { proven: ['password'] }, false, 'passed at 1'],
  ['a condition that holds', BROWSER, { proven: ['password'] }, true, 'ask otp'],
  ['the same method is not asked twice', BROWSER, { proven: ['password', 'otp'] }, true, 'passed at 2'],
  [
    'whom a condition suspects may not set up a factor',
    [
      ['password', 'REQUIRED'],
      [
        'step',
        'CONDITIONAL',
        [
          ['risk', 'REQUIRED'],
          ['otp', 'REQUIRED'],
        ],
      ],
    ],
    { proven: ['password'], enrolled: [] },
    true,
    'no-second-factor',
  ],
  [
    'a conditional container without a condition never runs',
    [
      ['password', 'REQUIRED'],
      ['c', 'CONDITIONAL', [['otp', 'REQUIRED']]],
    ],
    { proven: ['password'] },
    undefined,
    'passed at 1',
  ],
  [
    'a conditional method is for who has it',
    [
      ['password', 'REQUIRED'],
      ['otp', 'CONDITIONAL'],
    ],
    { proven: ['password'] },
    undefined,
    'ask otp',
  ],
  [
    'a conditional method is not for who has it not',
    [
      ['password', 'REQUIRED'],
      ['otp', 'CONDITIONAL'],
    ],
    { proven: ['password'], enrolled: [] },
    undefined,
    'passed at 1',
  ],
  [
    'a sub-flow is done when its children are',
    [
      [
        'login',
        'REQUIRED',
        [
          ['password', 'REQUIRED'],
          ['otp', 'REQUIRED'],
        ],
      ],
    ],
    { proven: ['password'] },
    undefined,
    'ask otp',
  ],
  [
    'an alternative sub-flow that was begun is not done',
    [
      [
        'both',
        'ALTERNATIVE',
        [
          ['password', 'REQUIRED'],
          ['otp', 'REQUIRED'],
        ],
      ],
      ['passkey', 'ALTERNATIVE'],
    ],
    { proven: ['password'] },
    undefined,
    'ask otp or passkey',
  ],
  [
    'a disabled sub-flow is not there',
    [
      ['login', 'DISABLED', [['otp', 'REQUIRED']]],
      ['password', 'REQUIRED'],
    ],
    { proven: ['password'] },
    undefined,
    'passed at 1',
  ],
  ['a level that the tree can reach', BROWSER, { proven: ['password'], requiredLevel: 2 }, false, 'ask otp'],
  [
    'a level that is asked for, by setting a factor up',
    BROWSER,
    { proven: ['password'], requiredLevel: 2, enrolled: [] },
    false,
    'set up otp',
  ],
  [
    'a level at risk, with nothing set up',
    BROWSER,
    { proven: ['password'], requiredLevel: 2, enrolled: [], noEnrolment: true },
    false,
    'no-second-factor',
  ],
  [
    'a level that the tree lacks is reached by what there is',
    [['password', 'REQUIRED']],
    { proven: ['password'], requiredLevel: 3 },
    undefined,
    'ask passkey',
  ],
  ['a level that nothing reaches', BROWSER, { proven: ['password', 'otp'], requiredLevel: 9 }, true, 'passed at 2'],
  [
    'only conditions that do not hold',
    [
      [
        'c',
        'CONDITIONAL',
        [
          ['has-otp', 'REQUIRED'],
          ['otp', 'REQUIRED'],
        ],
      ],
    ],
    { userKnown: true },
    false,
    'nothing-to-do',
  ],
];
test.each(cases)('%s', (_, sketch, so, holds, expected) => {
  const nodes = tree(sketch);
  expect(
    say(
      nextVerdict(
        nodes,
        progress({ ...so, conditions: holds === undefined ? new Map() : looking(nodes, holds) }),
        registry,
      ),
    ),
  ).toBe(expected);
});

test('the person’s choice among alternatives counts', () => {
  const nodes = tree(EITHER);
  const passkey = flat(nodes).find((node) => node.authenticatorId === 'passkey');
  expect(say(nextVerdict(nodes, progress({ chosen: passkey?.executionId }), registry))).toBe('ask passkey or password');
});

const requirement = fc.constantFrom<Requirement>('REQUIRED', 'ALTERNATIVE', 'CONDITIONAL', 'DISABLED');
const leaf = fc
  .tuple(fc.constantFrom('password', 'otp', 'passkey', 'has-otp', 'risk'), requirement)
  .map(([a, r]): Sketch => [a, r]);
let containers = 0;
const sketch: fc.Arbitrary<Sketch[]> = fc.letrec<{ nodes: Sketch[]; node: Sketch }>((tie) => ({
  nodes: fc.array(tie('node'), { maxLength: 3 }),
  node: fc.oneof(
    { depthSize: 'small', maxDepth: 2 },
    leaf,
    fc.tuple(requirement, tie('nodes')).map(([r, children]): Sketch => [`c${++containers}`, r, children]),
  ),
})).nodes;
const someProven = fc.subarray(['password', 'otp', 'passkey']);

/** Leaves that must be done whatever else is: REQUIRED all the way up from the top. */
const mandatory = (nodes: readonly TreeNode[]): string[] =>
  nodes
    .filter((node) => node.requirement === 'REQUIRED' && !node.condition)
    .flatMap((node) => (node.authenticatorId === null ? mandatory(node.children) : [node.authenticatorId]));

test('a tree with a live REQUIRED leaf never passes before that leaf did', () => {
  fc.assert(
    fc.property(sketch, someProven, fc.boolean(), fc.nat(4), (s, proven, holds, requiredLevel) => {
      const nodes = tree(s);
      const verdict = nextVerdict(
        nodes,
        progress({ proven, conditions: looking(nodes, holds), requiredLevel }),
        registry,
      );
      if (verdict.do === 'passed') expect(proven).toEqual(expect.arrayContaining(mandatory(nodes)));
    }),
    { numRuns: 1000 },
  );
});

test('nobody passes who proved nothing, and what is proven is never asked again', () => {
  fc.assert(
    fc.property(sketch, someProven, fc.boolean(), fc.nat(4), (s, proven, holds, requiredLevel) => {
      const nodes = tree(s);
      const verdict = nextVerdict(
        nodes,
        progress({ proven, conditions: looking(nodes, holds), requiredLevel }),
        registry,
      );
      if (verdict.do === 'passed') expect(proven).not.toEqual([]);
      if (verdict.do === 'ask') expect(proven).not.toContain(verdict.authenticatorId);
    }),
    { numRuns: 1000 },
  );
});

test('doing what is asked comes to an end', () => {
  fc.assert(
    fc.property(sketch, fc.boolean(), fc.nat(4), (s, holds, requiredLevel) => {
      const nodes = tree(s);
      const proven: string[] = [];
      for (let steps = 0; steps < 10; steps += 1) {
        const verdict = nextVerdict(
          nodes,
          progress({ proven, conditions: looking(nodes, holds), requiredLevel }),
          registry,
        );
        if (verdict.do !== 'ask') return verdict.do !== 'check';
        proven.push(verdict.authenticatorId);
      }
      return false;
    }),
    { numRuns: 1000 },
  );
});

test('proving more never takes a passed sign-in back', () => {
  fc.assert(
    fc.property(sketch, someProven, fc.boolean(), (s, proven, holds) => {
      const nodes = tree(s);
      const with_ = (ids: string[]) =>
        nextVerdict(nodes, progress({ proven: ids, conditions: looking(nodes, holds) }), registry).do;
      if (with_(proven) === 'passed') expect(with_(['password', 'otp', 'passkey'])).toBe('passed');
    }),
    { numRuns: 1000 },
  );
});

test('where nothing may be set up, nothing is set up', () => {
  fc.assert(
    fc.property(sketch, someProven, fc.boolean(), fc.nat(4), (s, proven, holds, requiredLevel) => {
      const nodes = tree(s);
      const so = progress({
        proven,
        enrolled: [],
        conditions: looking(nodes, holds),
        requiredLevel,
        noEnrolment: true,
      });
      const verdict = nextVerdict(nodes, so, registry);
      if (verdict.do === 'ask') expect(verdict.enrol).toBe(false);
    }),
    { numRuns: 1000 },
  );
});

test('whoever holds a second factor proves one before another is set up, whatever the flow asks for', () => {
  const flow = tree([
    ['password', 'REQUIRED'],
    [
      'mfa',
      'CONDITIONAL',
      [
        ['has-otp', 'REQUIRED'],
        ['otp', 'REQUIRED'],
      ],
    ],
  ]);
  const conditions = looking(flow, true);
  const so = (more: Parameters<typeof progress>[0]) =>
    say(nextVerdict(flow, progress({ conditions, ...more }), registry));
  const passkey = { enrolled: ['passkey'], held: new Set(['passkey']) };
  expect(so({ proven: ['password'], ...passkey })).toBe('ask passkey');
  expect(so({ proven: ['password'], ...passkey, noEnrolment: true })).toBe('ask passkey');
  expect(so({ proven: ['password', 'passkey'], ...passkey })).toBe('set up otp');
  expect(so({ proven: ['password'], enrolled: [], held: new Set<string>() })).toBe('set up otp');
  const higher = {
    proven: ['password'],
    enrolled: ['otp', 'codes'],
    held: new Set(['codes', 'otp']),
    requiredLevel: 3,
  };
  const alone = tree([['password', 'REQUIRED']]);
  expect(say(nextVerdict(alone, progress(higher), registry))).toBe('ask otp or codes');
  expect(say(nextVerdict(alone, progress({ ...higher, proven: ['password', 'codes'] }), registry))).toBe(
    'set up passkey',
  );
});

test('nothing is set up beside a second factor that was not proven', () => {
  fc.assert(
    fc.property(sketch, someProven, fc.boolean(), fc.nat(4), fc.boolean(), (s, proven, holds, requiredLevel, risky) => {
      const nodes = tree(s);
      const held = new Set(['otp', 'passkey'].filter((id) => !proven.includes(id)));
      fc.pre(held.size === 2);
      for (const id of held) {
        const more = { enrolled: [id], held: new Set([id]), noEnrolment: risky, requiredLevel };
        const verdict = nextVerdict(nodes, progress({ proven, conditions: looking(nodes, holds), ...more }), registry);
        if (verdict.do === 'ask') expect(verdict.enrol && proven.length > 0).toBe(false);
      }
    }),
    { numRuns: 1000 },
  );
});

test('what was passed under another configuration is asked for again, and still counts for its level', () => {
  const flow = tree([
    ['password', 'REQUIRED'],
    ['passkey', 'REQUIRED'],
  ]);
  const otherwise = new Set(flat(flow).flatMap((n) => (n.authenticatorId === 'passkey' ? [n.executionId] : [])));
  const proven = ['password', 'passkey'];
  expect(say(nextVerdict(flow, progress({ proven }), registry))).toMatch(/^passed/);
  expect(say(nextVerdict(flow, progress({ proven, otherwise }), registry))).toBe('ask passkey');
  const alone = tree([['password', 'REQUIRED']]);
  expect(say(nextVerdict(alone, progress({ proven, otherwise, requiredLevel: 3 }), registry))).toMatch(/^passed/);
});
