// Chooses the next step of a first sign-in with a provider, pure: the flow's steps in order, by the rules of the flow
// engine. An impossible step (creating an account for a taken address, linking to an account that doesn't exist) counts
// like a method that the user has not set up.
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
/** The steps if the provider's flow contains none. */
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

/** The flow's own steps; if it has none, the usual ones. */
export const stepsOf = (first: readonly TreeNode[]): readonly TreeNode[] => (first.some(isLive) ? first : usual);

/** Whether every user must take a step of the tree. */
export const asksAlways = (tree: readonly TreeNode[], id: FirstStepId): boolean =>
  liveIn(tree).some(({ authenticatorId, config }) => authenticatorId === id && config.ask === 'always');
export const hasFirstStep = (tree: readonly TreeNode[], id: FirstStepId): boolean =>
  liveIn(tree).some(({ authenticatorId }) => authenticatorId === id);

export interface Standing {
  /** Steps that are done or not needed. */
  done: readonly FirstStepId[];
  /** Steps that are possible at present. */
  open: readonly FirstStepId[];
}

/** @returns the step and its alternatives; undefined: no step is possible */
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
