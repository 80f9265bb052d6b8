// Setting up a credential or seeing a secret needs a proof of the last minutes that still holds.
import type { RealmSql } from '../../../db/realm-share.ts';
import { isWithdrawn, mustHold } from '../../../domain/proof.ts';
import { isSetUp, type NextStep } from './judge.ts';
import { restartedState } from './machine.ts';
import type { Run, Visit } from './run.ts';
import { newestProof, provenBy, type SignInState } from './state.ts';

/**
 * The most time between a user's last proof and setting something up: an unattended sign-in soon becomes useless to others.
 */
const SET_UP_MS = 10 * 60_000;

export function createLateness({
  realmSql,
  runUntold,
  now,
}: {
  realmSql: RealmSql;
  runUntold: Run['runUntold'];
  now: () => Date;
}) {
  const isLate = (state: SignInState, nextStep: NextStep): boolean =>
    state.is === 'known' && !state.before && isSetUp(nextStep) && now().getTime() - newestProof(state) > SET_UP_MS;
  return {
    isLate,
    /**
     * If the last proof is too old for the step, returns the state in which the user must prove it again; else undefined.
     */
    async leftAt(visit: Visit, state: SignInState, nextStep: NextStep): Promise<SignInState | undefined> {
      if (state.is !== 'known' || !isSetUp(nextStep)) return undefined;
      if (isLate(state, nextStep)) return restartedState(state);
      try {
        await mustHold(realmSql(visit.realm), visit.realm, provenBy(state, now()));
        return undefined;
      } catch (error) {
        if (!isWithdrawn(error)) throw error;
        return (await runUntold(visit, state, { do: 'withdrawn' })).state;
      }
    },
  };
}
