// A flow's tree, pure: from a request (nested, or flat with parentId) to rows and back, and its faults. store.ts stores it,
// features/authentication/sign-in/engine.ts runs it. Specification 2.1; decisions "Reading and writing".

import type { z } from 'zod';
import {
  type Authenticator,
  type Execution,
  type ExecutionDocument,
  type ExecutionInput,
  MAX_EXECUTIONS,
  MAX_FLOW_DEPTH,
} from '../../../contract/flows.ts';
import { canonicalJson } from '../../../contract/json.ts';
import type { Words } from '../../../contract/phrases.ts';
import type { FieldError } from '../../../contract/problem.ts';
import { firstFaults, isFirstAlone, separateFirstSteps } from './first-steps.ts';

/** An authenticator as the tree's rules need it: its registry entry, its config, and whether it identifies the user. */
export interface AuthenticatorEntry extends Omit<Authenticator, 'configSchema' | 'displayName'> {
  /** A phrase if pages show the name to users. */
  displayName: Words;
  configSchema: z.ZodType;
  /**
   * true: the authenticator finds out who the user is (username and password); false: it checks a user whom an earlier
   * step identified.
   */
  identifies: boolean;
  /** Whether an identified user can set it up during a sign-in; absent for methods that identify. */
  enrols?: boolean;
  /** The effect of a first sign-in's step on the account. */
  firstSignIn?: 'prepares' | 'makes' | 'connects';
}

export interface TreeNode extends Execution {
  children: TreeNode[];
}

/** A tree that cannot be read at all: `errors` name the executions. */
export interface Unreadable {
  errors: FieldError[];
}

const PRIORITY_STEP = 10;

const byPriority = (a: Execution, b: Execution): number => a.priority - b.priority;

/**
 * Rows as a forest, siblings in order. Rows whose parent is missing are left out; {@link rowsOf} never creates such
 * rows.
 */
export function nest(rows: readonly Execution[]): TreeNode[] {
  const under = new Map<string | null, Execution[]>();
  for (const row of rows) under.set(row.parentId, [...(under.get(row.parentId) ?? []), row]);
  const build = (parentId: string | null): TreeNode[] =>
    (under.get(parentId) ?? []).toSorted(byPriority).map((row) => ({ ...row, children: build(row.executionId) }));
  return build(null);
}

/** The nodes depth first, siblings in order, as GET lists them. */
export function flatten(nodes: readonly TreeNode[]): Execution[] {
  return nodes.flatMap(({ children, ...row }) => [row, ...flatten(children)]);
}

/** The request's steps as rows: sent ids are kept, others assigned; order and parents are explicit. */
export function rowsOf(
  input: readonly ExecutionInput[],
  { newId, registry }: { newId: () => string; registry: readonly AuthenticatorEntry[] },
): { rows: Execution[]; paths: ReadonlyMap<string, string> } | Unreadable {
  const errors: FieldError[] = [];
  const rows: Execution[] = [];
  const paths = new Map<string, string>();
  const conditions = new Set(registry.filter((a) => a.category === 'CONDITION').map((a) => a.id));

  const visit = (siblings: readonly ExecutionInput[], parentId: string | null, at: string) => {
    let last = 0;
    for (const [i, sent] of siblings.entries()) {
      const path = `${at}[${i}]`;
      const executionId = sent.executionId ?? newId();
      if (paths.has(executionId)) errors.push({ path: `${path}.executionId`, message: `${executionId} is sent twice` });
      paths.set(executionId, path);
      if (parentId !== null && sent.parentId !== undefined && sent.parentId !== parentId)
        errors.push({ path: `${path}.parentId`, message: 'is not the container that it is nested in' });
      const priority = sent.priority ?? last + PRIORITY_STEP;
      last = priority;
      const authenticatorId = sent.authenticatorId ?? null;
      rows.push({
        executionId,
        parentId: parentId ?? sent.parentId ?? null,
        authenticatorId,
        name: sent.name ?? null,
        requirement: sent.requirement,
        condition: sent.condition ?? (authenticatorId !== null && conditions.has(authenticatorId)),
        priority,
        config: sent.config ?? {},
      });
      visit(sent.executions ?? [], executionId, `${path}.executions`);
    }
  };
  visit(input, null, 'executions');
  if (rows.length > MAX_EXECUTIONS)
    errors.push({
      path: 'executions',
      message: `has ${rows.length} executions; at most ${MAX_EXECUTIONS} are allowed`,
    });
  for (const row of rows) {
    if (row.parentId !== null && !paths.has(row.parentId))
      errors.push({
        path: `${paths.get(row.executionId)}.parentId`,
        message: `execution ${row.executionId}: there is no execution ${row.parentId} in this flow`,
      });
  }
  errors.push(...tooDeep(rows, paths));
  return errors.length > 0 ? { errors } : { rows: flatten(nest(rows)), paths };
}

/** Cycles, and trees with more levels than the engine supports. */
function tooDeep(rows: readonly Execution[], paths: ReadonlyMap<string, string>): FieldError[] {
  const parents = new Map(rows.map((row) => [row.executionId, row.parentId]));
  return rows.flatMap(({ executionId }) => {
    const path = `${paths.get(executionId)}.parentId`;
    let depth = 0;
    for (let id: string | null = executionId; id !== null; id = parents.get(id) ?? null) {
      depth += 1;
      if (depth > 1 && id === executionId) return [{ path, message: `execution ${executionId} is part of a cycle` }];
      if (depth > rows.length) return [{ path, message: `execution ${executionId} hangs below a cycle` }];
    }
    return depth > MAX_FLOW_DEPTH
      ? [{ path, message: `execution ${executionId} lies deeper than ${MAX_FLOW_DEPTH} levels` }]
      : [];
  });
}

const label = (row: Execution): string => {
  const called = row.authenticatorId ?? row.name;
  return called === null ? `execution ${row.executionId}` : `execution ${row.executionId} (${called})`;
};

/**
 * Faults that prevent the tree from authenticating users, each naming its execution; []: the tree is sound.
 * @param paths each execution's place in the request ({@link rowsOf}); without it, its index in `rows`
 */
export function validateTree(
  rows: readonly Execution[],
  registry: readonly AuthenticatorEntry[],
  paths: ReadonlyMap<string, string> = new Map(rows.map((row, i) => [row.executionId, `executions[${i}]`])),
): FieldError[] {
  const known = new Map(registry.map((a) => [a.id, a]));
  const byId = new Map(rows.map((row) => [row.executionId, row]));
  const errors: FieldError[] = [];
  for (const row of rows) {
    const fault = (field: string, message: string) =>
      errors.push({ path: `${paths.get(row.executionId)}.${field}`, message: `${label(row)}: ${message}` });
    const parent = row.parentId === null ? undefined : byId.get(row.parentId);
    if (parent && parent.authenticatorId !== null) fault('parentId', 'its parent is an authenticator, not a container');
    if (row.authenticatorId === null) {
      if (row.condition) fault('condition', 'a container is not a condition');
      if (Object.keys(row.config).length > 0) fault('config', 'a container has no configuration');
      continue;
    }
    const entry = known.get(row.authenticatorId);
    if (!entry) {
      fault('authenticatorId', `there is no such authenticator; GET /admin/realms/{realm}/authenticators lists all`);
      continue;
    }
    const isCondition = entry.category === 'CONDITION';
    if (row.condition !== isCondition)
      fault('condition', isCondition ? `${entry.id} is a condition check` : `${entry.id} is not a condition check`);
    if (isCondition && parent?.requirement !== 'CONDITIONAL')
      fault('parentId', 'a condition works only inside a CONDITIONAL container');
    const config = entry.configSchema.safeParse(row.config);
    for (const issue of config.error?.issues ?? [])
      fault(['config', ...issue.path.map(String)].join('.'), issue.message);
  }
  if (errors.length > 0) return errors;
  const parts = separateFirstSteps(nest(rows));
  const { first, rest } = parts;
  const told = (node: TreeNode, field: string, message: string) => ({
    path: `${paths.get(node.executionId)}.${field}`,
    message: `${label(node)}: ${message}`,
  });
  const faults = firstFaults(first, rest, known, told);
  return faults.length > 0 || isFirstAlone(parts) ? faults : unreachable(rest, known, paths);
}

/**
 * The outcome after every step: whether the user is identified, and whether a factor is proven; or the step that can't
 * be passed.
 */
type Outcome = { known: boolean; proves: boolean } | { stuckAt: TreeNode; because: string };

/** The first execution that no user can pass, by the engine's rules, for users with every factor set up. */
function unreachable(
  tree: readonly TreeNode[],
  registry: ReadonlyMap<string, AuthenticatorEntry>,
  paths: ReadonlyMap<string, string>,
): FieldError[] {
  const fault = (node: TreeNode, message: string) => [
    { path: paths.get(node.executionId) ?? 'executions', message: `${label(node)}: ${message}` },
  ];
  const outcome = walk(tree, false, registry);
  if ('stuckAt' in outcome) return fault(outcome.stuckAt, outcome.because);
  if (outcome.known) return [];
  const message = 'the flow can never authenticate anyone: no method that finds out who it is can be reached';
  const [first] = tree;
  return first ? fault(first, message) : [{ path: 'executions', message }];
}

function walk(
  siblings: readonly TreeNode[],
  before: boolean,
  registry: ReadonlyMap<string, AuthenticatorEntry>,
): Outcome {
  const live = siblings.filter((node) => node.requirement !== 'DISABLED' && !node.condition);
  const required = live.some((node) => node.requirement === 'REQUIRED');
  const alternatives = live.filter((node) => node.requirement === 'ALTERNATIVE');
  let known = before;
  let proves = false;
  for (const node of live) {
    // An ALTERNATIVE beside a REQUIRED sibling never runs; a group of alternatives is checked once.
    if (node.requirement === 'ALTERNATIVE' && (required || node !== alternatives[0])) continue;
    const outcome =
      node.requirement === 'ALTERNATIVE' ? oneOf(alternatives, known, registry) : walkOne(node, known, registry);
    if ('stuckAt' in outcome) return outcome;
    known = outcome.known;
    proves ||= outcome.proves;
  }
  return { known, proves };
}

function oneOf(
  alternatives: readonly TreeNode[],
  before: boolean,
  registry: ReadonlyMap<string, AuthenticatorEntry>,
): Outcome {
  const outcomes = alternatives.map((node) => walkOne(node, before, registry));
  if (outcomes.some((outcome) => 'proves' in outcome && outcome.proves)) return { known: true, proves: true };
  const [stuckAt] = alternatives;
  if (!stuckAt) return { known: before, proves: false };
  return (
    outcomes.find((outcome) => 'stuckAt' in outcome) ?? {
      stuckAt,
      because: 'no alternative can be done, so no person can pass',
    }
  );
}

function walkOne(node: TreeNode, before: boolean, registry: ReadonlyMap<string, AuthenticatorEntry>): Outcome {
  if (node.requirement === 'CONDITIONAL') {
    // A conditional step concerns only users identified by then, and not all of them.
    const outcome = node.authenticatorId === null ? walk(node.children, true, registry) : undefined;
    return outcome && 'stuckAt' in outcome ? outcome : { known: before, proves: false };
  }
  if (node.authenticatorId === null) return walk(node.children, before, registry);
  if (!before && !registry.get(node.authenticatorId)?.identifies)
    return {
      stuckAt: node,
      because: 'is asked before anybody is known; put a method such as username-password before it',
    };
  return { known: true, proves: true };
}

const same = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b);

/** Whether two lists of rows are the same tree, including ids; the order of the lists doesn't matter. */
export function sameTree(a: readonly Execution[], b: readonly Execution[]): boolean {
  const sorted = (rows: readonly Execution[]) => rows.toSorted((x, y) => (x.executionId < y.executionId ? -1 : 1));
  return a.length === b.length && same(sorted(a), sorted(b));
}

/** The tree as a realm document has it: nested, ordered by position, without ids and without default values. */
export function documentOf(rows: readonly Execution[]): ExecutionDocument[] {
  const convert = (node: TreeNode): ExecutionDocument => ({
    ...(node.authenticatorId === null ? {} : { authenticatorId: node.authenticatorId }),
    ...(node.name === null ? {} : { name: node.name }),
    requirement: node.requirement,
    ...(Object.keys(node.config).length === 0 ? {} : { config: node.config }),
    ...(node.children.length === 0 ? {} : { executions: node.children.map(convert) }),
  });
  return nest(rows).map(convert);
}

/** A clone's rows: the same tree under new ids. */
export function copyOf(rows: readonly Execution[], newId: () => string): Execution[] {
  const ids = new Map(rows.map((row) => [row.executionId, newId()]));
  const of = (id: string): string => ids.get(id) ?? newId();
  return rows.map((row) => ({
    ...row,
    executionId: of(row.executionId),
    parentId: row.parentId === null ? null : of(row.parentId),
  }));
}

/** Faults of a realm document's tree; paths as in the document: `executions[0].executions[1].config`. */
export function documentFaults(
  executions: readonly ExecutionDocument[],
  registry: readonly AuthenticatorEntry[],
): FieldError[] {
  let n = 0;
  const read = rowsOf(executions, { newId: () => `#${++n}`, registry });
  const faults = 'errors' in read ? read.errors : validateTree(read.rows, registry, read.paths);
  // The steps of a document have no ids that a reader could search for; the path identifies the step.
  return faults.map(({ path, message }) => ({ path, message: message.replaceAll(/execution #\d+:? ?/g, '') }));
}
