// A sign-in without pages: a program sends all it has in one request, and is asked for no less than people are: the realm's
// flow, its risk policy, what has to be done first. It neither writes nor records anything; whoever asks does.
import type { FastifyRequest } from 'fastify';
import type { RealmSettingsDto } from '../../contract/settings.ts';
import type { RequiredAction } from '../../contract/users.ts';
import { type Factors, SECOND_FACTOR } from '../../domain/factors.ts';
import type { Proven } from '../../domain/proof.ts';
import type { AuthenticatorRecord, Method, Sent } from '../authenticators/authenticator.ts';
import type { Credentials, KnownUser } from '../credentials/service.ts';
import type { RiskService } from '../risk/service.ts';
import { begunBy, provenBy, type SignInState } from './state.ts';
import { byOf } from './steps.ts';
import type { Standing, WalkDeps } from './walk.ts';

export interface AtOnceDeps {
  registry: readonly AuthenticatorRecord[];
  factors: Factors;
  credentials: Pick<Credentials, 'standing'>;
  risk: Pick<RiskService, 'score'>;
  walk(realm: string, settings: RealmSettingsDto, state: SignInState): Promise<Standing>;
  now: WalkDeps['now'];
}

/** Who has just proven the first thing: a password. */
export interface FirstProof {
  realm: string;
  policy: RealmSettingsDto;
  user: KnownUser;
  authenticator: string;
  credentialId: string;
}

type Asked = Extract<Standing, { do: 'ask' }>;

export type AtOnce =
  | { ok: true; proven: Proven }
  /** `reason` is for the audit log; `detail`: what to do first, at the realm's page. */
  | { ok: false; reason: string; missing?: 'code'; detail?: string };

const inWords: Record<RequiredAction, string> = {
  UPDATE_PASSWORD: 'change your password',
  CONFIGURE_OTP: 'set up a one-time code',
  UPDATE_PROFILE: 'complete your profile',
  TERMS: 'accept the terms',
};

export function createAtOnce({ registry, factors, credentials, risk, walk, now }: AtOnceDeps) {
  const methods = new Map(registry.filter((r): r is Method => r.category === 'METHOD').map((r) => [r.id, r]));

  /** The step that what was sent can answer: the one that is asked for, or one that may be taken instead. */
  function answerable(standing: Asked): { method: Method; executionId: string } | undefined {
    for (const { authenticatorId, executionId } of [standing, ...standing.others]) {
      const method = methods.get(authenticatorId);
      if (method?.answers) return { method, executionId };
    }
    return undefined;
  }

  return async function proveAtOnce(request: FastifyRequest, first: FirstProof, sent: Sent): Promise<AtOnce> {
    const { realm, policy, user } = first;
    const at = `/realms/${realm}/login`;
    const refuse = (reason: string, detail?: string): AtOnce => ({ ok: false, reason, ...(detail && { detail }) });
    const { types = [] } = (await credentials.standing(realm, user.id)) ?? {};
    // Whoever has a second factor gives it here, whatever the flow says of it.
    const requiredLevel = factors.secondTypes.some((type) => types.includes(type)) ? SECOND_FACTOR : 0;
    const begun = { realm, requiredLevel, forced: true, request: null, continueAt: '', now: now() };
    let state: SignInState = {
      ...begunBy({ ...begun, identify: factors.identify }),
      user,
      factors: [{ authenticator: first.authenticator, at: now().getTime() }],
      credentials: { [first.authenticator]: first.credentialId },
      ...(await risk.score(request, realm, policy, user.id)),
    };
    // Each method is chosen once and passed once.
    for (let steps = 0; steps <= 2 * methods.size; steps += 1) {
      const standing = await walk(realm, policy, state);
      if (standing.do === 'finish') return { ok: true, proven: provenBy(state, user, now()) };
      if (standing.do === 'refused') return refuse(standing.because);
      if (standing.do === 'act' || standing.action)
        return refuse('action-required', `First sign in at ${at} and ${standing.action && inWords[standing.action]}`);
      if (standing.enrol) return refuse('mfa-required', `First sign in at ${at} and set up a second factor`);
      const next = answerable(standing);
      if (!next) return refuse('page-required', `Sign in at ${at}: it asks for what can be given there alone`);
      if (next.executionId !== standing.executionId) {
        state = { ...state, chosen: next.executionId };
        continue;
      }
      const { method } = next;
      const form = method.answers?.(sent);
      if (!form) return { ok: false, reason: `${method.id}-missing`, missing: 'code' };
      const proven = provenBy(state, user, now());
      const { config } = standing;
      const step = { realm, settings: policy, by: byOf(request), user, proven, config, loginHint: '', kept: {} };
      const verdict = await method.verify({ ...step, enrol: false }, form);
      if (verdict.do === 'again') return refuse(verdict.reason === '' ? 'wrong' : verdict.reason);
      const passed = { authenticator: method.id, at: now().getTime() };
      state = {
        ...state,
        factors: [...state.factors, Object.keys(config).length === 0 ? passed : { ...passed, config }],
        credentials: { ...state.credentials, [method.id]: verdict.credentialId },
      };
    }
    return refuse('exhausted');
  };
}
