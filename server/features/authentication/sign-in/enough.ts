// Whether earlier proofs still meet all demands of a flow and the realm, where no page could ask for more: when a token is
// refreshed, and in an administrator's session.
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { Factor, Factors } from '../../../domain/factors.ts';
import type { Finding } from '../../../domain/risk.ts';
import type { TreeNode } from '../../configuration/flows/tree.ts';
import type { Circumstances } from '../authenticators/authenticator.ts';
import type { RiskService } from '../risk/service.ts';
import type { Judge } from './judge.ts';

/** The user's proofs, and what is known of the user. */
export interface Passed {
  factors: readonly Factor[];
  /** The types of the user's credentials. */
  types: readonly string[];
  /** The unusual circumstances of the sign-in; null: it was not assessed. */
  findings: readonly Finding[] | null;
  /** The user's data for conditions. */
  is: Circumstances['person'];
}

export interface JudgeForDeps {
  settingsOf(realm: string): Promise<RealmSettingsDto>;
  flows: { treeFor(realm: string, override: string | undefined): Promise<{ tree: TreeNode[] }> };
  risk: Pick<RiskService, 'judge'>;
  factors: Factors;
  judge: Judge;
}

export function createJudgeFor({ settingsOf, flows, risk, factors: all, judge }: JudgeForDeps) {
  /** The returned function is pure. */
  return async function judgeFor(
    realm: string,
    { clientId, flow }: { clientId: string | undefined; flow: string | undefined },
  ): Promise<(passed: Passed) => boolean> {
    const policy = await settingsOf(realm);
    const { tree } = await flows.treeFor(realm, flow);
    return ({ factors, types, findings, is }) => {
      const found = findings ? risk.judge(findings, policy) : undefined;
      const { termsVersion } = policy;
      const person = { types, actions: [], passwordSetAt: null, reach: { EMAIL: null, SMS: null }, termsVersion };
      const circumstances = { clientId, person: is, browser: undefined };
      const judged = { known: all.identify(factors), factors, person, risk: found, circumstances };
      return found?.action !== 'deny' && judge({ tree, settings: policy, requiredLevel: 0 }, judged).do === 'finish';
    };
  };
}
