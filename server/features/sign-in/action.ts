// Owns: what a required action with a page of its own is: a record that shows its page and takes what the person sent.
// Does not own: which of them is due (domain/standing.ts, walk.ts), setting up second factors (their authenticators enrol).
import type { FastifyRequest } from 'fastify';
import type { By } from '../../contract/events.ts';
import type { RealmSettingsDto } from '../../contract/settings.ts';
import type { Form, StepPage } from '../authenticators/authenticator.ts';
import type { KnownUser } from '../credentials/service.ts';
import type { SignInState } from './state.ts';

/** A request to a realm's sign-in. */
export interface Visit {
  request: FastifyRequest;
  realm: string;
  policy: RealmSettingsDto;
}

export interface Action {
  page(visit: Visit, state: SignInState, user: KnownUser): Promise<StepPage>;
  /** @returns the sign-in after it, with a complaint where it was not done; it throws where the proof holds no more */
  take(visit: Visit, state: SignInState, user: KnownUser, form: Form): Promise<SignInState>;
}

/** They have proven who they are. */
export const byPerson = ({ ip }: FastifyRequest, { id, username }: KnownUser): By => ({
  actor: { type: 'user', id, name: username },
  ipAddress: ip,
});
