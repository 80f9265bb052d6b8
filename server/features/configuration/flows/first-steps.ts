// The part of a flow that runs first when a user signs in with an identity provider for the first time: its extraction
// from the tree, and its rules. Other sign-ins never run it. Pure. features/authentication/brokering runs it. Decisions
// "Identity provider".
import { firstSignInIds, type Requirement } from '../../../contract/flows.ts';
import type { FieldError } from '../../../contract/problem.ts';
import type { AuthenticatorEntry, TreeNode } from './tree.ts';

type Registry = ReadonlyMap<string, Pick<AuthenticatorEntry, 'firstSignIn'>>;

const isLive = ({ requirement }: { requirement: Requirement }): boolean => requirement !== 'DISABLED';

/** Whether the node, or one within it, is a step of first sign-ins. */
const holdsFirst = ({ authenticatorId, children }: TreeNode): boolean =>
  firstSignInIds.some((id) => id === authenticatorId) || children.some(holdsFirst);

/** The steps of first sign-ins, and the tree without them. */
export function separateFirstSteps(tree: readonly TreeNode[]): { first: TreeNode[]; rest: TreeNode[] } {
  const first = tree.filter((node) => holdsFirst(node));
  return { first, rest: tree.filter((node) => !first.includes(node)) };
}

/** Whether the flow has no steps after those of first sign-ins. */
export const isFirstAlone = ({ first, rest }: ReturnType<typeof separateFirstSteps>): boolean =>
  first.some(isLive) && !rest.some(isLive);

/** Whether a user of the realm already has the provider's e-mail address. */
type Situation = 'new' | 'known';
/** The result of the steps: the user has an account, the steps continue, or the sign-in is stuck. */
type End = 'account' | 'open' | 'stuck';
type Fault = { node: TreeNode; field: string; message: string };
const BEHIND = 'stands behind what makes or connects the account, where the first sign-in is over';

function walk(nodes: readonly TreeNode[], situation: Situation, registry: Registry, faults: Fault[]): End {
  const live = nodes.filter(isLive);
  const required = live.some(({ requirement }) => requirement === 'REQUIRED');
  const alternatives = live.filter(({ requirement }) => requirement === 'ALTERNATIVE');
  let end: End = 'open';
  for (const node of live) {
    if (node.requirement === 'ALTERNATIVE' && (required || node !== alternatives[0])) continue;
    if (end === 'account') {
      faults.push({ node, field: 'requirement', message: BEHIND });
      return end;
    }
    const among = node.requirement === 'ALTERNATIVE' ? alternatives : [node];
    const ends = among.map((one) => walkOne(one, situation, registry, faults));
    end = ends.find((one) => one !== 'stuck') ?? 'stuck';
    if (end === 'stuck') return end;
  }
  return end;
}

function walkOne(node: TreeNode, situation: Situation, registry: Registry, faults: Fault[]): End {
  if (node.authenticatorId === null) return walk(node.children, situation, registry, faults);
  const role = registry.get(node.authenticatorId)?.firstSignIn;
  if (role === 'prepares') return 'open';
  return (role === 'makes') === (situation === 'new') ? 'account' : 'stuck';
}

/**
 * Faults by which first sign-ins can't end, or end in an unintended way.
 * @param first the steps of {@link separateFirstSteps}; empty: no faults
 */
export function firstFaults(
  first: readonly TreeNode[],
  rest: readonly TreeNode[],
  registry: Registry,
  told: (node: TreeNode, field: string, message: string) => FieldError,
): FieldError[] {
  const faults: Fault[] = [];
  const visit = (node: TreeNode) => {
    const role = node.authenticatorId === null ? undefined : registry.get(node.authenticatorId)?.firstSignIn;
    if (node.authenticatorId !== null && role === undefined)
      faults.push({ node, field: 'parentId', message: 'stands among steps of first sign-ins: put it behind them' });
    if (node.requirement === 'CONDITIONAL')
      faults.push({ node, field: 'requirement', message: 'a step of first sign-ins isn’t CONDITIONAL' });
    if (role === 'prepares' && node.requirement === 'ALTERNATIVE')
      faults.push({
        node,
        field: 'requirement',
        message: 'makes no account, so it is no ALTERNATIVE to a step that does',
      });
    node.children.forEach(visit);
  };
  first.forEach(visit);
  const live = first.filter(isLive);
  const [beside] = rest.filter(isLive);
  const loose = beside && live.find(({ requirement }) => requirement === 'ALTERNATIVE');
  if (loose)
    faults.push({ node: loose, field: 'requirement', message: 'must be REQUIRED, as other steps stand beside it' });
  if (faults.length === 0 && live.length > 0) {
    const ends = (['new', 'known'] as const).map((situation) => walk(first, situation, registry, faults));
    const [node] = live;
    if (faults.length === 0 && node && !ends.includes('account'))
      faults.push({
        node,
        field: 'requirement',
        message:
          'no step makes or connects an account: add create-account, link-password or link-email, as ALTERNATIVEs if several',
      });
  }
  const seen = new Set<TreeNode>();
  return faults
    .filter(({ node }) => !seen.has(node) && seen.add(node))
    .map(({ node, field, message }) => told(node, field, message));
}
