// The steps of a flow that no sign-in asks for, pure: what the server's engine passes over.
import type { Requirement } from '../../../server/contract/flows.ts';
import { isGroup, type Step, type Tree } from './tree-model.ts';

/** Authenticators by their ids. */
type Registry = ReadonlyMap<string, { category: string }>;

export const isCondition = (step: Step, registry: Registry): boolean =>
  step.authenticatorId !== null && registry.get(step.authenticatorId)?.category === 'CONDITION';

/**
 * The steps that no sign-in asks for although they are not off, each with the reason. The server accepts them: they belong to
 * trees that are half made, but an administrator who adds a second factor must not take one for the other.
 */
export function neverAsked(steps: Tree, registry: Registry): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const isLive = ({ requirement }: Step) => requirement !== 'DISABLED';
  const look = (siblings: Tree) => {
    const live = siblings.filter((step) => isLive(step) && !isCondition(step, registry));
    const hasRequired = live.some(({ requirement }) => requirement === 'REQUIRED');
    for (const step of live) {
      const { key, requirement, children } = step;
      const lacksCondition = !children.some((child) => isLive(child) && isCondition(child, registry));
      if (requirement === 'ALTERNATIVE' && hasRequired)
        found.set(key, 'Never asked for: it is an alternative beside a required step.');
      else if (requirement === 'CONDITIONAL' && isGroup(step) && lacksCondition)
        found.set(key, 'Never asked for: the group has no condition.');
      else look(children);
    }
  };
  look(steps);
  return found;
}

/** The requirement of a step that was just added: beside a required step no alternative is asked for. */
export function addedAs(steps: Tree, step: Step, registry: Registry): Requirement {
  const isIdle = step.requirement === 'ALTERNATIVE' && neverAsked(steps, registry).has(step.key);
  return isIdle ? 'REQUIRED' : step.requirement;
}
