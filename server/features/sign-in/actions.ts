// What a person must do between proving who they are and being signed in, where that is a page of its own. Setting up
// one-time codes is the authenticator's own enrolment, asked for here too where an administrator requires it.
import type { RequiredAction } from '../../contract/users.ts';
import type { Sql } from '../../db/sql.ts';
import type { Transact } from '../../db/transact.ts';
import { isWithdrawn } from '../../domain/proof.ts';
import type { Form, StepPage } from '../authenticators/authenticator.ts';
import type { Credentials } from '../credentials/service.ts';
import type { Action, Visit } from './action.ts';
import { createNewPassword } from './new-password.ts';
import { createProfile } from './profile.ts';
import type { SignInState } from './state.ts';
import { createTerms } from './terms.ts';

const paged = ['UPDATE_PASSWORD', 'UPDATE_PROFILE', 'TERMS'] as const;
export type PagedAction = (typeof paged)[number];
export const hasPage = (action: RequiredAction): action is PagedAction => paged.some((one) => one === action);

const CHANGED = 'What you signed in with has changed meanwhile. Start again.';

export interface ActionDeps {
  sql: Sql;
  transact: Transact;
  credentials: Pick<Credentials, 'hashPassword' | 'setPassword' | 'passwordContext' | 'newPasswordFaults'>;
  now: () => Date;
}

export function createActions(deps: ActionDeps) {
  const actions: Record<PagedAction, Action> = {
    UPDATE_PASSWORD: createNewPassword(deps),
    UPDATE_PROFILE: createProfile(deps),
    TERMS: createTerms(deps),
  };
  return {
    async page(action: PagedAction, visit: Visit, state: SignInState): Promise<StepPage | undefined> {
      return state.user && actions[action].page(visit, state, state.user);
    },

    /** @returns the sign-in after it, with a complaint where it was not done */
    async take(action: PagedAction, visit: Visit, state: SignInState, form: Form): Promise<SignInState> {
      if (!state.user) return state;
      try {
        return await actions[action].take(visit, state, state.user, form);
      } catch (error) {
        if (isWithdrawn(error)) return { ...state, complaint: { field: 'form', message: CHANGED } };
        throw error;
      }
    },
  };
}
export type Actions = ReturnType<typeof createActions>;
