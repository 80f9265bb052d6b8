// A flow's tree while it is edited, pure: from the answer of the API and back, numbers of steps, and every move. A move that the
// tree can't take returns the same tree.
import {
  type Execution,
  type ExecutionDocument,
  type ExecutionInput,
  MAX_EXECUTIONS,
  MAX_FLOW_DEPTH,
  type Requirement,
} from '../../../server/contract/flows.ts';
import type { Row } from '../../kinds/entry.ts';

export interface Step {
  /** Its name in this page: the execution's id, or one of this page for a new step. */
  key: string;
  executionId?: string;
  /** null: a group of steps. */
  authenticatorId: string | null;
  name: string | null;
  requirement: Requirement;
  config: Row;
  children: readonly Step[];
}
export type Tree = readonly Step[];

let created = 0;
const newKey = (): string => `new-${++created}`;

export function stepsOf(executions: readonly Execution[], parentId: string | null = null): Step[] {
  return executions
    .filter((execution) => execution.parentId === parentId)
    .sort((one, other) => one.priority - other.priority)
    .map(({ executionId, authenticatorId, name, requirement, config }) => ({
      key: executionId,
      executionId,
      authenticatorId,
      name,
      requirement,
      config,
      children: stepsOf(executions, executionId),
    }));
}

export const newStep = (authenticatorId: string | null, requirement: Requirement): Step => ({
  key: newKey(),
  authenticatorId,
  name: authenticatorId === null ? 'Group of steps' : null,
  requirement,
  config: {},
  children: [],
});

/** The tree as a PUT takes it: nested, in order, with the ids that it had. */
export const bodyOf = (steps: Tree): ExecutionInput[] =>
  steps.map(({ executionId, authenticatorId, name, requirement, config, children }) => ({
    ...(executionId !== undefined && { executionId }),
    authenticatorId,
    name,
    requirement,
    config,
    executions: bodyOf(children),
  }));

/** The tree as a document declares it: without ids and without what is empty. */
export const documentOf = (steps: Tree): ExecutionDocument[] =>
  steps.map(({ authenticatorId, name, requirement, config, children }) => ({
    ...(authenticatorId !== null && { authenticatorId }),
    ...(name !== null && { name }),
    requirement,
    ...(Object.keys(config).length > 0 && { config }),
    ...(children.length > 0 && { executions: documentOf(children) }),
  }));

export const sameTree = (one: Tree, other: Tree): boolean =>
  JSON.stringify(bodyOf(one)) === JSON.stringify(bodyOf(other));

/** All steps, depth first, with their numbers (`2.1`) and their paths in a request (`executions[1].executions[0]`). */
export interface Placed {
  step: Step;
  number: string;
  path: string;
  level: number;
  parent: Step | undefined;
}
export const placed = (steps: Tree, parent?: Placed): Placed[] =>
  steps.flatMap((step, at) => {
    const here: Placed = {
      step,
      number: parent ? `${parent.number}.${at + 1}` : String(at + 1),
      path: `${parent ? `${parent.path}.` : ''}executions[${at}]`,
      level: (parent?.level ?? 0) + 1,
      parent: parent?.step,
    };
    return [here, ...placed(step.children, here)];
  });

/** The step that a path of the server names, and the rest of the path. */
export function stepAtPath(all: readonly Placed[], path: string): { at: Placed; rest: string } | undefined {
  const at = all
    .filter((one) => path === one.path || path.startsWith(`${one.path}.`))
    .sort((one, other) => other.path.length - one.path.length)[0];
  return at && { at, rest: path.slice(at.path.length + 1) };
}

export const isGroup = ({ authenticatorId }: Step): boolean => authenticatorId === null;
export const countOf = (steps: Tree): number => steps.reduce((sum, { children }) => sum + 1 + countOf(children), 0);
const heightOf = ({ children }: Step): number => 1 + Math.max(0, ...children.map(heightOf));

export const stepOf = (steps: Tree, key: string): Step | undefined =>
  placed(steps).find(({ step }) => step.key === key)?.step;

/** The siblings of the step, changed; of `undefined` the steps at the top. */
function withChildren(steps: Tree, parent: string | undefined, change: (siblings: Tree) => Tree): Tree {
  if (parent === undefined) return change(steps);
  return steps.map((step) =>
    step.key === parent
      ? { ...step, children: change(step.children) }
      : { ...step, children: withChildren(step.children, parent, change) },
  );
}

export const without = (steps: Tree, key: string): Tree =>
  steps.filter((step) => step.key !== key).map((step) => ({ ...step, children: without(step.children, key) }));

export const changed = (steps: Tree, key: string, change: Partial<Step>): Tree =>
  steps.map((step) =>
    step.key === key ? { ...step, ...change } : { ...step, children: changed(step.children, key, change) },
  );

interface Place {
  parent: string | undefined;
  at: number;
}
const placeOf = (steps: Tree, key: string): (Place & { level: number }) | undefined => {
  const found = placed(steps).find(({ step }) => step.key === key);
  if (!found) return undefined;
  const siblings = found.parent?.children ?? steps;
  return {
    parent: found.parent?.key,
    at: siblings.findIndex((step) => step.key === key),
    level: found.level,
  };
};
const levelOf = (steps: Tree, key: string | undefined): number =>
  key === undefined ? 0 : (placeOf(steps, key)?.level ?? 0);

const insertedAt = (steps: Tree, { parent, at }: Place, step: Step): Tree =>
  withChildren(steps, parent, (siblings) => [...siblings.slice(0, at), step, ...siblings.slice(at)]);

/** After the chosen step, or as the last one in it if it is a group; at the end without a choice. */
export function insert(steps: Tree, beside: string | undefined, step: Step): Tree {
  if (countOf(steps) + countOf([step]) > MAX_EXECUTIONS) return steps;
  const chosen = beside === undefined ? undefined : stepOf(steps, beside);
  const place = chosen && placeOf(steps, chosen.key);
  if (!chosen || !place) return [...steps, step];
  if (isGroup(chosen) && place.level + heightOf(step) <= MAX_FLOW_DEPTH)
    return insertedAt(steps, { parent: chosen.key, at: chosen.children.length }, step);
  return insertedAt(steps, { parent: place.parent, at: place.at + 1 }, step);
}

/** Among its siblings. */
export function moved(steps: Tree, key: string, by: -1 | 1): Tree {
  const place = placeOf(steps, key);
  const step = stepOf(steps, key);
  if (!place || !step) return steps;
  const count = (place.parent === undefined ? steps : (stepOf(steps, place.parent)?.children ?? [])).length;
  const at = place.at + by;
  if (at < 0 || at >= count) return steps;
  return insertedAt(without(steps, key), { parent: place.parent, at }, step);
}

/** Into the group before it. */
export function indented(steps: Tree, key: string): Tree {
  const place = placeOf(steps, key);
  const step = stepOf(steps, key);
  if (!place || !step) return steps;
  const siblings = place.parent === undefined ? steps : (stepOf(steps, place.parent)?.children ?? []);
  const group = siblings[place.at - 1];
  if (!group || !isGroup(group) || place.level + heightOf(step) > MAX_FLOW_DEPTH) return steps;
  return insertedAt(without(steps, key), { parent: group.key, at: group.children.length }, step);
}

/** Out of its group, behind it. */
export function outdented(steps: Tree, key: string): Tree {
  const place = placeOf(steps, key);
  const step = stepOf(steps, key);
  if (!place || !step || place.parent === undefined) return steps;
  const outer = placeOf(steps, place.parent);
  if (!outer) return steps;
  return insertedAt(without(steps, key), { parent: outer.parent, at: outer.at + 1 }, step);
}

/** To another step, as drag and drop says it. */
export function movedTo(steps: Tree, key: string, target: string, where: 'before' | 'after' | 'on'): Tree {
  const step = stepOf(steps, key);
  if (!step || stepOf([step], target)) return steps;
  const rest = without(steps, key);
  const goal = stepOf(rest, target);
  const place = placeOf(rest, target);
  if (!goal || !place) return steps;
  if (where === 'on' && !isGroup(goal)) return steps;
  const to =
    where === 'on'
      ? { parent: goal.key, at: goal.children.length }
      : { parent: place.parent, at: place.at + (where === 'after' ? 1 : 0) };
  if (levelOf(rest, to.parent) + heightOf(step) > MAX_FLOW_DEPTH) return steps;
  return insertedAt(rest, to, step);
}

/** The step that gets the focus after this one is deleted. */
export function neighbourOf(steps: Tree, key: string): string | undefined {
  const rest = new Set(placed(without(steps, key)).map(({ step }) => step.key));
  const all = placed(steps).map(({ step }) => step.key);
  const at = all.indexOf(key);
  return all.slice(at).find((one) => rest.has(one)) ?? all.slice(0, at).findLast((one) => rest.has(one));
}

/** The step that an undo or redo is about: one that comes back, else the chosen one, else the one beside where it was. */
export function touchedBetween(before: Tree, after: Tree, chosen: string | undefined): string | undefined {
  const had = new Set(placed(before).map(({ step }) => step.key));
  const has = placed(after).map(({ step }) => step.key);
  const back = has.find((key) => !had.has(key));
  if (back !== undefined) return back;
  if (chosen === undefined || has.includes(chosen)) return chosen;
  const order = [...had];
  return order.slice(0, order.indexOf(chosen)).findLast((key) => has.includes(key)) ?? has[0];
}
