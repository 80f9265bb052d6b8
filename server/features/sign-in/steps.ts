// One step of a sign-in: showing it, taking what the person sent, scoring them once they are known, telling the audit log.
// The order of steps is the engine's (walk.ts); storing the outcome is service.ts's.
import type { FastifyRequest } from 'fastify';
import type { By } from '../../contract/events.ts';
import type { RealmSettingsDto } from '../../contract/settings.ts';
import type { Transact } from '../../db/transact.ts';
import { type Attempts, inRealm } from '../../domain/attempts.ts';
import { merged } from '../../domain/factors.ts';
import type { PersonStanding } from '../../domain/standing.ts';
import type { AuthenticatorRecord, Form, Method, Step, StepPage } from '../authenticators/authenticator.ts';
import type { RiskService } from '../risk/service.ts';
import type { Visit } from './action.ts';
import type { Actions } from './actions.ts';
import { provenBy, type SignInState } from './state.ts';
import type { Standing } from './walk.ts';

export interface StepsDeps {
  transact: Transact;
  registry: readonly AuthenticatorRecord[];
  risk: RiskService;
  /** Bounds how often one address may fail. */
  attempts: Pick<Attempts, 'blocked' | 'fail' | 'inTurn'>;
  walk(realm: string, settings: RealmSettingsDto, state: SignInState, known?: PersonStanding): Promise<Standing>;
  actions: Actions;
  now: () => Date;
}

type Asked = Extract<Standing, { do: 'ask' }>;

/** Nobody is known for certain while a sign-in is under way. */
export const byOf = (request: FastifyRequest): By => ({ actor: null, ipAddress: request.ip });

export function createSteps({ transact, registry, risk, attempts, walk, actions, now }: StepsDeps) {
  const methods = new Map(registry.filter((r): r is Method => r.category === 'METHOD').map((r) => [r.id, r]));

  function methodOf(authenticatorId: string): Method {
    const method = methods.get(authenticatorId);
    if (!method) throw new Error(`the flow asks for ${authenticatorId}, which this server does not have`);
    return method;
  }
  const stepOf = ({ request, realm, policy }: Visit, state: SignInState, ask: Asked): Step => ({
    realm,
    settings: policy,
    by: byOf(request),
    user: state.user,
    proven: state.user && provenBy(state, state.user, now()),
    config: ask.config,
    enrol: ask.enrol,
    loginHint: state.loginHint,
    kept: state.kept[ask.executionId] ?? {},
  });

  /** The first look at a person whom the tree has just identified. */
  async function look({ request, realm, policy }: Visit, state: SignInState): Promise<SignInState> {
    if (!state.user || state.risk) return state;
    return { ...state, ...(await risk.score(request, realm, policy, state.user.id)) };
  }

  async function recordFailure(
    { request, realm, policy }: Visit,
    state: SignInState,
    failure: { reason: string; name?: string | undefined; user?: SignInState['user'] },
  ): Promise<void> {
    const who = failure.user ?? state.user;
    await transact(realm, async ({ atLast, record }) => {
      risk.failed(atLast, realm, policy, who?.id, request.ip);
      record({
        type: 'LOGIN_FAILURE',
        realm,
        by: byOf(request),
        subject: { type: 'user', id: who?.id ?? null, name: who?.username ?? failure.name ?? null },
        clientId: state.clientId ?? null,
        outcome: 'failure',
        data: { reason: failure.reason, ...(state.risk ? { risk: state.risk } : {}) },
      });
    });
  }

  /** What was proven holds no more: only a new beginning leads on from here. */
  async function withdraw(visit: Visit, state: SignInState): Promise<SignInState> {
    await recordFailure(visit, state, { reason: 'withdrawn' });
    return { ...state, refused: 'withdrawn' };
  }

  interface Verified {
    state: SignInState;
    /** What was read for it. */
    known?: PersonStanding | undefined;
  }

  /** Verifies what the person sent for the step that is asked, in their address's turn in this realm. */
  const verify = (visit: Visit, state: SignInState, ask: Asked, form: Form): Promise<Verified> =>
    attempts.inTurn(visit.realm, visit.request.ip, () => verifyNow(visit, state, ask, form));

  /** Whose tries are counted: an address's; where it has had its own, those of a device that somebody has signed in with. */
  async function trying({ request, realm }: Visit): Promise<string> {
    const address = inRealm(realm, request.ip);
    if (attempts.blocked(address) === undefined) return address;
    const device = await risk.knownDevice(request, realm);
    return device === undefined ? address : `${realm} device ${device}`;
  }

  async function verifyNow(visit: Visit, state: SignInState, ask: Asked, form: Form): Promise<Verified> {
    const from = await trying(visit);
    const wait = attempts.blocked(from);
    if (wait !== undefined) {
      const message = `Too many failed tries from your network. Wait ${wait} seconds, then try again.`;
      return { state: { ...state, complaint: { field: 'form', message } } };
    }
    const method = methodOf(ask.authenticatorId);
    const verdict = await method.verify(stepOf(visit, state, ask), form);
    if (verdict.do === 'again') {
      const { complaint, reason, user } = verdict;
      if (reason !== '') {
        attempts.fail(from);
        await recordFailure(visit, state, { reason, name: complaint.values?.username, user });
      }
      return { state: { ...state, complaint } };
    }
    const user = verdict.user ?? state.user;
    // What was proven before was another person's; their session ends when this sign-in is done.
    const another = state.user !== undefined && state.user.id !== user?.id;
    const base = another ? { ...state, factors: [], credentials: {}, risk: undefined, deviceKnown: undefined } : state;
    const config = Object.keys(ask.config).length === 0 ? {} : { config: ask.config };
    const after = {
      ...base,
      user,
      factors: merged(base.factors, [{ authenticator: ask.authenticatorId, at: now().getTime(), ...config }]),
      credentials: { ...base.credentials, [ask.authenticatorId]: verdict.credentialId },
      kept: {},
      complaint: undefined,
      rememberMe: verdict.rememberMe ?? state.rememberMe,
    };
    return { state: after, known: verdict.standing };
  }

  /** What a sign-in tells the audit log when it comes to a new step: a second factor, a refusal. */
  async function announce(
    visit: Visit,
    state: SignInState,
    known?: PersonStanding,
  ): Promise<{ state: SignInState; standing: Standing }> {
    const { request, realm, policy } = visit;
    const standing = await walk(realm, policy, state, known);
    if (standing.do === 'refused' && !state.refused) {
      await recordFailure(visit, state, { reason: standing.because });
      return { state: { ...state, refused: standing.because }, standing };
    }
    const second = standing.do === 'ask' && !methodOf(standing.authenticatorId).identifies;
    if (!second || state.challenged || !state.user) return { state, standing };
    const { id, username: name } = state.user;
    await transact(realm, async ({ record }) =>
      record({
        type: 'MFA_CHALLENGE',
        realm,
        by: byOf(request),
        subject: { type: 'user', id, name },
        clientId: state.clientId ?? null,
        data: {
          authenticator: standing.authenticatorId,
          enrolment: standing.enrol,
          ...(state.risk ? { risk: state.risk } : {}),
        },
      }),
    );
    return { state: { ...state, challenged: true }, standing };
  }

  async function pageOf(visit: Visit, state: SignInState, at: Standing): Promise<StepPage | undefined> {
    if (at.do === 'act') return actions.page(at.action, visit, state);
    if (at.do !== 'ask') return undefined;
    return methodOf(at.authenticatorId).begin(stepOf(visit, state, at), state.complaint);
  }

  return { look, verify, announce, withdraw, pageOf };
}
