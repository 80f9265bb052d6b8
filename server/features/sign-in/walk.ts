// Where a sign-in stands: what its person still has to do (judge.ts), and what comes after the tree.
import type { RealmSettingsDto } from '../../contract/settings.ts';
import type { PersonStanding, RequiredAction } from '../../db/standing.ts';
import type { AuthenticatorRecord } from '../authenticators/authenticator.ts';
import type { Credentials } from '../credentials/service.ts';
import type { TreeNode } from '../flows/tree.ts';
import type { Ask } from './engine.ts';
import type { Judge } from './judge.ts';
import { countedOf, type SignInState } from './state.ts';

export type Standing =
  /** `action`: not the flow asks for it, but whoever said that it has to be set up. */
  | (Ask & { config: Record<string, unknown>; action?: RequiredAction })
  | { do: 'act'; action: 'UPDATE_PASSWORD' }
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
  function required({ actions }: PersonStanding): Standing | undefined {
    if (actions.includes('UPDATE_PASSWORD')) return { do: 'act', action: 'UPDATE_PASSWORD' };
    for (const { id, setUpBy: action } of methods) {
      if (action === undefined || !actions.includes(action)) continue;
      const executionId = `configure-${id}`;
      return { do: 'ask', executionId, authenticatorId: id, enrol: true, others: [], config: {}, action };
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
    return (person && required(person)) ?? { do: 'finish', level: judgement.level };
  };
}
