// A sign-in without pages: a program sends all credentials in one request, and must meet the same demands as a user on the
// pages: the realm's flow, its risk policy and required actions. This module writes and records nothing; the caller does.
import type { FastifyRequest } from 'fastify';
import type { RequiredAction } from '../../../contract/required-actions.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { type Factor, type Factors, SECOND_FACTOR } from '../../../domain/factors.ts';
import type { Proven } from '../../../domain/proof.ts';
import type { Credentials, KnownUser } from '../../people/credentials/service.ts';
import type { AuthenticatorRecord, Method, Sent } from '../authenticators/authenticator.ts';
import type { NextStep } from './judge.ts';
import type { Run } from './run.ts';
import { begunBy, countedOf, provenBy, type SignInState } from './state.ts';

export interface AtOnceDeps extends Pick<Run, 'nextStepOf' | 'runUntold' | 'verdictOf'> {
  registry: readonly AuthenticatorRecord[];
  factors: Factors;
  credentials: Pick<Credentials, 'standing'>;
  now: () => Date;
}

export interface AtOnceRequest {
  realm: string;
  policy: RealmSettingsDto;
  /** Whether the caller accepts this user. A refused caller doesn't learn which other factors are missing. */
  admits(user: KnownUser): Promise<boolean>;
}

export type AtOnce =
  | { ok: true; user: KnownUser; proven: Proven; factors: Factor[] }
  /** `reason` is for the audit log alone; `detail` tells the user what to do first, on the realm's page. */
  | { ok: false; reason: string; userId?: string | undefined; missing?: 'code'; detail?: string };

type AskedStep = Extract<NextStep, { do: 'ask' }>;

const inWords: Record<RequiredAction, string> = {
  UPDATE_PASSWORD: 'change your password',
  CONFIGURE_OTP: 'set up a one-time code',
  CONFIGURE_PASSKEY: 'set up a passkey',
  CONFIGURE_DEVICE: 'set up a device',
  CONFIGURE_RECOVERY_CODES: 'keep recovery codes',
  VERIFY_EMAIL: 'confirm your e-mail address',
  VERIFY_PHONE: 'confirm your phone number',
  UPDATE_PROFILE: 'complete your profile',
  TERMS: 'accept the terms',
};

export function createAtOnce(deps: AtOnceDeps) {
  const { registry, factors, credentials, nextStepOf, runUntold, verdictOf, now } = deps;
  const methods = new Map(registry.filter((r): r is Method => r.category === 'METHOD').map((r) => [r.id, r]));

  /** The step that the sent credentials can answer: the next step or an alternative to it. */
  function answerable(nextStep: AskedStep): { method: Method; executionId: string } | undefined {
    for (const { authenticatorId, executionId } of [nextStep, ...nextStep.others]) {
      const method = methods.get(authenticatorId);
      if (method?.answers) return { method, executionId };
    }
    return undefined;
  }

  return async function proveAtOnce(
    request: FastifyRequest,
    { realm, policy, admits }: AtOnceRequest,
    sent: Sent,
  ): Promise<AtOnce> {
    const visit = { request, realm, policy };
    const at = `/realms/${realm}/login`;
    const begun = { realm, requiredLevel: 0, forced: true, request: null, continueAt: '', now: now() };
    let state: SignInState = begunBy({ ...begun, identify: factors.identify });
    let nextStep = await nextStepOf(visit, state);
    let userId: string | undefined;
    const refuse = (reason: string, detail?: string): AtOnce => ({
      ok: false,
      reason,
      userId,
      ...(detail && { detail }),
    });
    // Each method is chosen at most once and passed at most once.
    for (let steps = 0; steps <= 2 * methods.size; steps += 1) {
      if (state.is === 'known' && userId === undefined) {
        userId = state.user.id;
        if (!(await admits(state.user))) return refuse('not-admitted');
        const person = await credentials.standing(realm, userId);
        // A user with a second factor must send it here, even if the flow doesn't ask for it.
        const requiredLevel = factors.haveSecond(person?.types ?? []) ? SECOND_FACTOR : 0;
        state = { ...state, purpose: { ...state.purpose, requiredLevel } };
        nextStep = await nextStepOf(visit, state, person);
      }
      if (nextStep.do === 'finish' && state.is === 'known')
        return { ok: true, user: state.user, proven: provenBy(state, now()), factors: countedOf(state, now()) };
      if (nextStep.do === 'refused') return refuse(nextStep.because);
      if (nextStep.do !== 'ask' || nextStep.action)
        return refuse(
          'action-required',
          `First sign in at ${at} and ${'action' in nextStep && nextStep.action && inWords[nextStep.action]}`,
        );
      if (nextStep.enrol) return refuse('mfa-required', `First sign in at ${at} and set up a second factor`);
      const next = answerable(nextStep);
      if (!next) return refuse('page-required', `Sign in at ${at}: it asks for a step that only the page offers`);
      const { method, executionId } = next;
      if (executionId !== nextStep.executionId) {
        const choice = { do: 'choose', execution: executionId };
        ({ state } = await runUntold(visit, state, { do: 'sent', form: choice, nextStep }));
        nextStep = await nextStepOf(visit, state);
        continue;
      }
      const form = method.answers?.(sent);
      if (!form) return { ok: false, reason: `${method.id}-missing`, userId, missing: 'code' };
      const verdict = await verdictOf(visit, state, nextStep, form);
      if (verdict.do === 'again') {
        userId ??= verdict.user?.id;
        return refuse(verdict.reason === '' ? 'wrong' : verdict.reason);
      }
      const after = await runUntold(visit, state, { do: 'answered', asked: nextStep, verdict, at: now().getTime() });
      state = after.state;
      nextStep = after.nextStep ?? (await nextStepOf(visit, state));
    }
    return refuse('exhausted');
  };
}
