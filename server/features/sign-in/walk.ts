// Where a sign-in stands: what its person still has to do (judge.ts), and what comes after the tree.
import type { RealmSettingsDto } from '../../contract/settings.ts';
import type { RequiredAction } from '../../contract/users.ts';
import type { PersonStanding } from '../../domain/standing.ts';
import type { AuthenticatorRecord } from '../authenticators/authenticator.ts';
import type { Credentials } from '../credentials/service.ts';
import type { TreeNode } from '../flows/tree.ts';
import { hasPage, type PagedAction } from './actions.ts';
import type { Ask } from './engine.ts';
import type { Judge } from './judge.ts';
import { countedOf, type SignInState } from './state.ts';

export type Standing =
  /** `action`: not the flow asks for it, but whoever said that it has to be set up. */
  | (Ask & { config: Record<string, unknown>; action?: RequiredAction })
  | { do: 'act'; action: PagedAction }
  | { do: 'finish'; level: number }
  | { do: 'refused'; because: NonNullable<SignInState['refused']> };

export interface WalkDeps {
  registry: readonly AuthenticatorRecord[];
  judge: Judge;
  credentials: Pick<Credentials, 'standing'>;
  tree(realm: string, override: string | undefined): Promise<{ tree: TreeNode[] }>;
  now: () => Date;
}

export function createWalk({ registry, judge, credentials, tree: treeOf, now }: WalkDeps) {
  const methods = registry.filter((entry) => entry.category === 'METHOD');
  /** What somebody must do although they have proven who they are. */
  function required({ actions, passwordSetAt }: PersonStanding, settings: RealmSettingsDto): Standing | undefined {
    const old = hasExpired(passwordSetAt, settings, now());
    for (const action of old ? new Set<RequiredAction>(['UPDATE_PASSWORD', ...actions]) : actions) {
      if (hasPage(action)) return { do: 'act', action };
      const method = methods.find(({ setUpBy }) => setUpBy === action);
      if (!method) throw new Error(`nothing here does ${action}`);
      const asked = { executionId: `configure-${method.id}`, authenticatorId: method.id, enrol: true, others: [] };
      return { do: 'ask', ...asked, config: {}, action };
    }
    return undefined;
  }

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
    const { tree } = await treeOf(realm, state.flow);
    const judgement = judge(
      { tree, settings, requiredLevel: state.requiredLevel },
      {
        known: state.user !== undefined,
        factors: countedOf(state, now()),
        types: person?.types ?? [],
        risk: state.risk,
        chosen: state.chosen,
      },
    );
    if (judgement.do === 'failed') return { do: 'refused', because: judgement.because };
    if (judgement.do === 'ask') return judgement;
    return (person && required(person, settings)) ?? { do: 'finish', level: judgement.level };
  };
}

const DAY_MS = 86_400_000;
const hasExpired = (setAt: Date | null, { passwordMaxAgeDays: days }: RealmSettingsDto, now: Date): boolean =>
  days > 0 && setAt !== null && now.getTime() - setAt.getTime() > days * DAY_MS;
