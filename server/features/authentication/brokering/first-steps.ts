// Which step somebody's first sign-in by a provider takes next, pure: the flow's own steps in its order, by the flow engine's rules. What
// somebody can't do as things stand (make an account where their address is somebody's, connect one where it is nobody's) is as a method
// that they haven't set up.
import { firstSignInIds } from '../../../contract/flows.ts';
import type { TreeNode } from '../../configuration/flows/tree.ts';
import { type Facts, nextVerdict, type Progress } from '../sign-in/engine.ts';

export type FirstStepId = (typeof firstSignInIds)[number];

const isId = (id: string | null): id is FirstStepId => (firstSignInIds as readonly (string | null)[]).includes(id);
const facts: ReadonlyMap<string, Facts> = new Map(
  firstSignInIds.map((id) => [id, { id, category: 'METHOD', levelOfAssurance: 1, identifies: false, enrols: false }]),
);

const node = (
  authenticatorId: FirstStepId | null,
  requirement: TreeNode['requirement'],
  children: TreeNode[] = [],
): TreeNode => ({
  executionId: authenticatorId ?? 'account',
  parentId: null,
  authenticatorId,
  name: null,
  requirement,
  condition: false,
  priority: 0,
  config: {},
  children,
});
/** Where a provider's flow says nothing of it. */
const usual: readonly TreeNode[] = [
  node('review-profile', 'REQUIRED'),
  node('confirm-email', 'REQUIRED'),
  node(null, 'REQUIRED', [
    node('create-account', 'ALTERNATIVE'),
    node('link-password', 'ALTERNATIVE'),
    node('link-email', 'ALTERNATIVE'),
  ]),
];

const isLive = ({ requirement }: TreeNode): boolean => requirement !== 'DISABLED';
const liveIn = (nodes: readonly TreeNode[]): TreeNode[] =>
  nodes.filter(isLive).flatMap((one) => [one, ...liveIn(one.children)]);

/** The flow's own steps; without any, the usual ones. */
export const stepsOf = (first: readonly TreeNode[]): readonly TreeNode[] => (first.some(isLive) ? first : usual);

/** Whether a step of the tree is to be asked of everybody. */
export const asksAlways = (tree: readonly TreeNode[], id: FirstStepId): boolean =>
  liveIn(tree).some(({ authenticatorId, config }) => authenticatorId === id && config.ask === 'always');
export const hasFirstStep = (tree: readonly TreeNode[], id: FirstStepId): boolean =>
  liveIn(tree).some(({ authenticatorId }) => authenticatorId === id);

export interface Standing {
  /** What is done, or isn't needed. */
  done: readonly FirstStepId[];
  /** What can be done as things stand. */
  open: readonly FirstStepId[];
}

/** @returns the step, and what may be done instead of it; undefined: there is no way on */
export function nextStep(
  tree: readonly TreeNode[],
  { done, open }: Standing,
): { step: FirstStepId; instead: FirstStepId[] } | undefined {
  const progress: Progress = {
    userKnown: true,
    proven: new Set(done),
    enrolled: new Set(open),
    conditions: new Map(),
    failed: new Set(),
    requiredLevel: 0,
  };
  const verdict = nextVerdict(tree, progress, facts);
  if (verdict.do !== 'ask' || !isId(verdict.authenticatorId)) return undefined;
  const instead = verdict.others.map(({ authenticatorId }) => authenticatorId).filter(isId);
  return { step: verdict.authenticatorId, instead };
}
