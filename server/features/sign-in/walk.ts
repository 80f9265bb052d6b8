// Where a sign-in stands: the engine's verdict on its tree, with the conditions looked at, and what comes after the tree.
import type { RealmSettingsDto } from '../../contract/settings.ts';
import type { AuthenticatorRecord, ConditionFacts } from '../authenticators/authenticator.ts';
import type { Credentials, PersonStanding } from '../credentials/service.ts';
import type { TreeNode } from '../flows/tree.ts';
import { type Ask, type Facts, next, type Progress } from './engine.ts';
import type { SignInState } from './state.ts';

export type Standing =
  | (Ask & { config: Record<string, unknown> })
  | { do: 'act'; action: 'UPDATE_PASSWORD' }
  | { do: 'finish'; level: number }
  | { do: 'refused'; because: NonNullable<SignInState['refused']> };

/** The level of a second factor (specification 2.2: otp is 2). */
const SECOND_FACTOR = 2;

export interface WalkDeps {
  registry: readonly AuthenticatorRecord[];
  credentials: Pick<Credentials, 'standing'>;
  tree(realm: string, override: string | undefined): Promise<{ tree: TreeNode[] }>;
}

export function createWalk({ registry, credentials, tree: treeOf }: WalkDeps) {
  const facts = new Map<string, Facts>(registry.map((entry) => [entry.id, entry]));
  const records = new Map(registry.map((entry) => [entry.id, entry]));

  /** @param known the person's standing, where it has just been read */
  return async function walk(
    realm: string,
    settings: RealmSettingsDto,
    state: SignInState,
    known?: PersonStanding,
  ): Promise<Standing> {
    if (state.refused) return { do: 'refused', because: state.refused };
    if (state.risk?.action === 'deny') return { do: 'refused', because: 'risk' };
    const person = state.user && (known ?? (await credentials.standing(realm, state.user.id)));
    if (state.user && !person?.enabled) return { do: 'refused', because: 'disabled' };
    const types = person?.types ?? [];
    const { tree } = await treeOf(realm, state.flow);
    const nodes = new Map(flat(tree).map((node) => [node.executionId, node]));
    const suspicious = state.risk?.action === 'step_up';
    const conditions = new Map<string, boolean>();
    const progress: Progress = {
      userKnown: state.user !== undefined,
      proven: new Set(state.proven),
      enrolled: new Set(
        registry.filter((r) => r.category === 'METHOD' && types.includes(r.credentialType)).map((r) => r.id),
      ),
      conditions,
      failed: new Set(),
      chosen: state.chosen,
      requiredLevel: Math.max(state.requiredLevel, settings.requireMfa || suspicious ? SECOND_FACTOR : 0),
      noEnrolment: suspicious,
    };
    const seen: ConditionFacts = { types, riskAction: state.risk?.action, riskBand: state.risk?.band };
    for (;;) {
      const verdict = next(tree, progress, facts);
      if (verdict.do === 'check') {
        const condition = records.get(verdict.authenticatorId);
        const config = nodes.get(verdict.executionId)?.config ?? {};
        // An authenticator that this server doesn't have (any more) never lets anybody by: the step behind it is asked.
        conditions.set(verdict.executionId, condition?.category === 'CONDITION' ? condition.holds(seen, config) : true);
        continue;
      }
      if (verdict.do === 'failed') return { do: 'refused', because: verdict.because };
      if (verdict.do === 'ask') return { ...verdict, config: nodes.get(verdict.executionId)?.config ?? {} };
      return required(person?.actions ?? []) ?? { do: 'finish', level: verdict.level };
    }
  };
}

/** What somebody must do although they have proven who they are. */
function required(actions: readonly string[]): Standing | undefined {
  if (actions.includes('UPDATE_PASSWORD')) return { do: 'act', action: 'UPDATE_PASSWORD' };
  if (!actions.includes('CONFIGURE_OTP')) return undefined;
  return { do: 'ask', executionId: 'configure-otp', authenticatorId: 'otp', enrol: true, others: [], config: {} };
}

const flat = (nodes: readonly TreeNode[]): TreeNode[] => nodes.flatMap((node) => [node, ...flat(node.children)]);
