// The flow engine, pure: which step a sign-in needs next, given a tree and what was proven so far. It renders, verifies and
// stores nothing. Specification 1 (flows, step-up), 2.1 (requirements); design "Flow engine".
//
// REQUIRED: must be done. ALTERNATIVE: one of the siblings must be done; none is asked beside a REQUIRED sibling.
// CONDITIONAL container: must be done while all its conditions hold (without a condition it never runs). CONDITIONAL
// method: must be done by users that have set it up. DISABLED: not there.
import type { TreeNode } from '../../configuration/flows/tree.ts';

/** The facts that the engine needs of an authenticator. */
export interface Facts {
  id: string;
  category: 'METHOD' | 'CONDITION' | 'FIRST_SIGN_IN';
  levelOfAssurance: number;
  identifies: boolean;
  /** Whether a known user who hasn't set it up can do so in the sign-in; absent: if it doesn't identify users. */
  enrols?: boolean;
  /** A condition behind which no new factor may be set up: a suspicious user must prove an existing one. */
  forbidsEnrolment?: boolean;
  /** The method replaces a lost factor. It isn't set up during a sign-in. */
  standsIn?: boolean;
}

export interface Progress {
  userKnown: boolean;
  /** The authenticators that the user has passed, here or in the session that is stepped up. */
  proven: ReadonlySet<string>;
  /** Executions whose authenticator was passed with another configuration, which doesn't count for them. */
  otherwise?: ReadonlySet<string>;
  /** Authenticators that the user has set up. */
  enrolled: ReadonlySet<string>;
  /** The second factors among them that the user holds, and their replacements; empty: the user has none. */
  held?: ReadonlySet<string>;
  /** Results of conditions, by execution. */
  conditions: ReadonlyMap<string, boolean>;
  /** Executions that can't be passed any more in this sign-in. */
  failed: ReadonlySet<string>;
  /** The execution of the alternative that the user chose. */
  chosen?: string | undefined;
  /** The requested level of assurance; 0: the tree alone decides. */
  requiredLevel: number;
  /** New factors don't count in this sign-in, because it is risky. */
  noEnrolment?: boolean;
}

/** The next step; `others` are alternatives to it that the user may choose. */
export interface Ask {
  do: 'ask';
  executionId: string;
  authenticatorId: string;
  /** The user has not set it up yet and does so now. */
  enrol: boolean;
  others: { executionId: string; authenticatorId: string }[];
}
export type Verdict =
  | Ask
  /** The condition must be evaluated; then call `next` again. */
  | { do: 'check'; executionId: string; authenticatorId: string }
  | { do: 'passed'; level: number }
  | { do: 'failed'; because: 'nothing-to-do' | 'no-second-factor' | 'exhausted' };

/** A step that only the requested level needs has no execution in the tree. */
const STEP_UP = 'step-up';

type Inner = Exclude<Verdict, { do: 'passed' }> | { do: 'done' };
const DONE: Inner = { do: 'done' };

function levelOf(proven: ReadonlySet<string>, registry: ReadonlyMap<string, Facts>): number {
  return Math.max(0, ...[...proven].map((id) => registry.get(id)?.levelOfAssurance ?? 0));
}

export function nextVerdict(
  tree: readonly TreeNode[],
  progress: Progress,
  registry: ReadonlyMap<string, Facts>,
): Verdict {
  const walk: Walk = { tree, progress, registry };
  const inner = siblings(walk, tree, progress.noEnrolment ?? false);
  if (inner.do !== 'done') return inner;
  const level = levelOf(progress.proven, registry);
  // A tree of only conditions that don't hold proves nothing.
  if (!progress.userKnown || level === 0) return { do: 'failed', because: 'nothing-to-do' };
  if (level >= progress.requiredLevel) return { do: 'passed', level };
  return stepUp(walk, level);
}

export interface Walk {
  tree: readonly TreeNode[];
  progress: Progress;
  registry: ReadonlyMap<string, Facts>;
}

const isLive = (node: TreeNode) => node.requirement !== 'DISABLED';

/** Judges the children of a container, or the top level. */
function siblings(walk: Walk, nodes: readonly TreeNode[], noEnrolment: boolean): Inner {
  const live = nodes.filter((node) => isLive(node) && !node.condition);
  const required = live.some((node) => node.requirement === 'REQUIRED');
  const alternatives = required ? [] : live.filter((node) => node.requirement === 'ALTERNATIVE');
  let alternativesDone = false;
  for (const node of live) {
    let verdict = DONE;
    if (node.requirement === 'ALTERNATIVE') {
      // The group of alternatives is asked at the place of its first member.
      if (!required && !alternativesDone) verdict = oneOf(walk, alternatives, noEnrolment);
      alternativesDone = true;
    } else verdict = one(walk, node, noEnrolment);
    if (verdict.do !== 'done') return verdict;
  }
  return DONE;
}

function one(walk: Walk, node: TreeNode, noEnrolment: boolean): Inner {
  if (node.authenticatorId !== null) return method(walk, node, node.authenticatorId, noEnrolment);
  if (node.requirement !== 'CONDITIONAL') return siblings(walk, node.children, noEnrolment);
  // Conditions concern a user. No sign-in passes without a known user, so they are evaluated in time.
  if (!walk.progress.userKnown) return DONE;
  const conditions = node.children.filter((child) => child.condition && isLive(child));
  for (const { executionId, authenticatorId } of conditions) {
    const holds = walk.progress.conditions.get(executionId);
    if (holds === undefined) return { do: 'check', executionId, authenticatorId: authenticatorId ?? '' };
    if (!holds) return DONE;
  }
  if (conditions.length === 0) return DONE;
  const suspects = conditions.some((c) => walk.registry.get(c.authenticatorId ?? '')?.forbidsEnrolment);
  return siblings(walk, node.children, noEnrolment || suspects);
}

function method(walk: Walk, node: TreeNode, authenticatorId: string, noEnrolment: boolean): Inner {
  const { progress } = walk;
  if (isProven(walk, node, authenticatorId)) return DONE;
  if (progress.failed.has(node.executionId)) return { do: 'failed', because: 'exhausted' };
  const holds = progress.enrolled.has(authenticatorId);
  // No sign-in passes without a known user, so a method that the user has set up is asked for once the user is known.
  if (node.requirement === 'CONDITIONAL' && !(progress.userKnown && holds)) return DONE;
  const first = identifies(walk, { authenticatorId });
  if (!progress.userKnown && !first) return { do: 'failed', because: 'nothing-to-do' };
  const enrol = progress.userKnown && !holds && enrols(walk, authenticatorId);
  const cannot = progress.userKnown && !holds && !enrol && !first;
  const proof = enrol ? proofFirst(walk) : undefined;
  if (proof) return proof;
  if (cannot || (enrol && noEnrolment && !hasProof(walk))) return { do: 'failed', because: 'no-second-factor' };
  return { do: 'ask', executionId: node.executionId, authenticatorId, enrol, others: [] };
}

/**
 * ALTERNATIVE siblings: done when one of them is. The user's choice comes first, then the methods that the user has set up,
 * in order.
 */
function oneOf(walk: Walk, nodes: readonly TreeNode[], noEnrolment: boolean): Inner {
  const verdicts = nodes.map((node) => one(walk, node, noEnrolment));
  // A container is done when all its methods are. A container in which no step was asked proves nothing.
  if (nodes.some((node, i) => verdicts[i]?.do === 'done' && proves(walk, node))) return DONE;
  const asks = verdicts.flatMap((v) => (v.do === 'ask' ? [v, ...v.others.map((other) => ({ ...v, ...other }))] : []));
  const ready = asks.filter((v) => !v.enrol);
  // Setting up a method is offered only if no other step is possible.
  const offered = ready.length > 0 ? ready : asks.slice(0, 1);
  const check = verdicts.find((v) => v.do === 'check');
  if (check) return check;
  const picked = offered.find((v) => v.executionId === walk.progress.chosen) ?? offered[0];
  if (!picked) return verdicts.find((v) => v.do === 'failed') ?? { do: 'failed', because: 'nothing-to-do' };
  return { ...picked, others: othersOf(offered, picked) };
}

/** Each once: two alternatives can lead to the same step. */
const othersOf = (offered: readonly Ask['others'][number][], picked: { executionId: string }): Ask['others'] =>
  offered
    .filter(
      ({ executionId }, i) =>
        executionId !== picked.executionId && offered.findIndex((o) => o.executionId === executionId) === i,
    )
    .map(({ executionId, authenticatorId }) => ({ executionId, authenticatorId }));

const hasProof = ({ progress }: Walk): boolean => [...(progress.held ?? [])].some((id) => progress.proven.has(id));

/**
 * The proof that is needed before a new factor is set up: one of the user's second factors. Otherwise a person with only
 * the password could add a second factor of their own. undefined: none is needed.
 */
export function proofFirst(walk: Walk): Ask | undefined {
  if (hasProof(walk)) return undefined;
  const { progress, registry } = walk;
  const standsIn = (id: string) => registry.get(id)?.standsIn ?? false;
  const methods = liveMethods(walk.tree);
  const offered = [...(progress.held ?? [])]
    .sort((a, b) => Number(standsIn(a)) - Number(standsIn(b)))
    .flatMap((id) => {
      const inTree = methods.find(({ authenticatorId }) => authenticatorId === id);
      if (inTree) return [inTree];
      return standsIn(id) || enrols(walk, id) ? [{ executionId: `${STEP_UP}-${id}`, authenticatorId: id }] : [];
    });
  const picked = offered.find(({ executionId }) => executionId === progress.chosen) ?? offered[0];
  return picked && { do: 'ask', ...picked, enrol: false, others: othersOf(offered, picked) };
}

const isProven = ({ progress }: Walk, { executionId }: TreeNode, authenticatorId: string) =>
  progress.proven.has(authenticatorId) && !progress.otherwise?.has(executionId);

const identifies = ({ registry }: Walk, { authenticatorId }: { authenticatorId: string }) =>
  registry.get(authenticatorId)?.identifies ?? false;

const enrols = ({ registry }: Walk, id: string): boolean => registry.get(id)?.enrols ?? !registry.get(id)?.identifies;

function proves(walk: Walk, node: TreeNode): boolean {
  if (!isLive(node) || node.condition) return false;
  if (node.authenticatorId !== null) return isProven(walk, node, node.authenticatorId);
  return node.children.some((child) => proves(walk, child));
}

/** A higher level is requested: prefers a method of the tree, else takes any. */
function stepUp(walk: Walk, level: number): Verdict {
  const { tree, progress, registry } = walk;
  const strong = (id: string | null): id is string => {
    const facts = id === null ? undefined : registry.get(id);
    return facts?.category === 'METHOD' && facts.levelOfAssurance >= progress.requiredLevel;
  };
  const inTree = liveMethods(tree).filter((c) => strong(c.authenticatorId));
  const anywhere = [...registry.keys()]
    .filter((id) => strong(id) && enrols(walk, id))
    .map((id) => ({ executionId: `${STEP_UP}-${id}`, authenticatorId: id }));
  const candidates = (inTree.length > 0 ? inTree : anywhere).filter((c) => !progress.failed.has(c.executionId));
  const enrolled = candidates.filter(
    (c, i) =>
      progress.enrolled.has(c.authenticatorId) &&
      candidates.findIndex(({ authenticatorId }) => authenticatorId === c.authenticatorId) === i,
  );
  const offered =
    enrolled.length > 0 ? enrolled : candidates.filter((c) => enrols(walk, c.authenticatorId)).slice(0, 1);
  const picked = offered.find((c) => c.executionId === progress.chosen) ?? offered[0];
  if (!picked) {
    if (inTree.length > 0 || anywhere.length > 0) return { do: 'failed', because: 'exhausted' };
    // No method reaches the level: the application decides whether a lower one is enough.
    return progress.noEnrolment ? { do: 'failed', because: 'no-second-factor' } : { do: 'passed', level };
  }
  if (enrolled.length > 0) return { do: 'ask', ...picked, enrol: false, others: othersOf(offered, picked) };
  const proof = proofFirst(walk);
  if (proof) return proof;
  if (progress.noEnrolment && !hasProof(walk)) return { do: 'failed', because: 'no-second-factor' };
  return { do: 'ask', ...picked, enrol: true, others: [] };
}

function liveMethods(nodes: readonly TreeNode[]): { executionId: string; authenticatorId: string }[] {
  return nodes.filter(isLive).flatMap((node) => {
    if (node.authenticatorId === null) return liveMethods(node.children);
    return node.condition ? [] : [{ executionId: node.executionId, authenticatorId: node.authenticatorId }];
  });
}
