// The stored state of a sign-in between two requests, parsed when it is read. It is one of four variants, each with its own
// fields; machine.ts has the transitions.
import { z } from 'zod';
import { BY_PROVIDER } from '../../../contract/flows.ts';
import { type RequiredAction, requiredActions } from '../../../contract/required-actions.ts';
import { RiskReason } from '../../../contract/risk.ts';
import { RiskAction } from '../../../contract/settings.ts';
import { Factor, mergedFactors, oldestOf, provenSince } from '../../../domain/factors.ts';
import type { Proven } from '../../../domain/proof.ts';
import { AboutClient } from '../../../http/about-client.ts';
import type { SsoSession } from '../../people/sessions/service.ts';

/** Chosen instead of an alternative: create an account. */
export const REGISTER = 'register';
/** The last page of a sign-in with a password, on which the browser may create a passkey. */
export const OFFER_PASSKEY = 'passkey-offer';

const User = z.object({ id: z.string(), username: z.string() });
const Strings = z.record(z.string(), z.string());
const Finding = z.object({ reason: RiskReason, points: z.number() });

/** The purpose of the sign-in. */
const Purpose = z.object({
  clientId: z.string().optional(),
  clientName: z.string().optional(),
  about: AboutClient.optional(),
  /** The client's flow, in place of the realm's. */
  flow: z.string().optional(),
  requiredLevel: z.int(),
  loginHint: z.string(),
  /** The identity provider that the application asks for. */
  provider: z.string().optional(),
  /** The most age, in seconds, of the former session's proofs that count. */
  maxAgeSeconds: z.int().optional(),
  /** The caller's own value, for example an authorization request. */
  request: z.unknown(),
  continueAt: z.string(),
  /** Where the browser continues instead, once the user has set up what they wanted. */
  afterSetUp: z.string().optional(),
  redirectTo: z.string().optional(),
});

const Any = z.object({
  /** Increased by each save: of two concurrent requests only one can continue from the same state. */
  version: z.int(),
  /** Increased by each restart: a signature from before the restart is invalid. */
  round: z.int(),
  purpose: Purpose,
  /** The session to step up or renew, its user, and its proofs that count here. */
  before: z.object({ id: z.string(), user: User, factors: z.array(Factor), rememberMe: z.boolean() }).optional(),
  /** The user says that the browser is their own. */
  rememberDevice: z.boolean().optional(),
});
/** A sign-in with a step to take. */
const InProgress = Any.extend({
  /** A credential that the user wants to set up before the end. */
  setUp: z.enum(requiredActions).optional(),
  /** The execution of the alternative that the user chose. */
  chosen: z.string().optional(),
  /** The values that steps keep, by execution. */
  kept: z.record(z.string(), Strings),
  /**
   * The address by which a link or a device finds the waiting sign-in: a digest of a secret that only the message contains.
   */
  address: z.string().optional(),
  complaint: z
    .object({
      field: z.string(),
      message: z.string(),
      values: Strings.optional(),
      others: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
    })
    .optional(),
  /** The form that led to this state, as a digest with the sign-in's token. A double click sends it again. */
  took: z.string().optional(),
  /**
   * That form proved something, and the sign-in continued under another token. `nonce` derives that token; `at` is the time
   * in milliseconds.
   */
  wentOn: z.object({ nonce: z.string(), at: z.int() }).optional(),
});
const Proof = z.object({
  user: User,
  /** The browser was asked to create a passkey. */
  offered: z.boolean().optional(),
  /** The user has set up what they wanted. */
  hasSetUp: z.boolean().optional(),
  /** The proofs of this sign-in, without those of the former session. */
  factors: z.array(Factor),
  /** The credentials that were used, by authenticator. */
  credentials: Strings,
  /** The id of the link to the identity provider that proved the user. */
  identity: z.string().optional(),
  /** The provider's flow for a first sign-in. It precedes the flow of the client. */
  firstFlow: z.string().optional(),
  /** Pending writes for the end, by authenticator. */
  atEnd: z.record(z.string(), Strings).optional(),
  rememberMe: z.boolean(),
  /** Findings of earlier steps that raise the risk. */
  signals: z.array(RiskReason).optional(),
  /** A remark for the audit log about a proof. */
  note: z.string().optional(),
  risk: z
    .object({
      score: z.number(),
      band: z.enum(['low', 'medium', 'high']),
      action: RiskAction,
      findings: z.array(Finding),
    })
    .optional(),
  /** Whether the user has signed in with this device before; absent: not checked. */
  deviceKnown: z.boolean().optional(),
  /** The user has signed in with other devices, but not with this one. */
  deviceNew: z.boolean().optional(),
});
const Done = z.object({
  sessionId: z.string(),
  /** Milliseconds. */
  at: z.int(),
  level: z.int(),
  /** The time of the oldest proof that counted. */
  since: z.int(),
});
const Because = z.enum(['risk', 'no-second-factor', 'exhausted', 'nothing-to-do', 'disabled', 'withdrawn', 'denied']);

const Unknown = InProgress.extend({ is: z.literal('unknown') });
const Known = InProgress.extend({
  is: z.literal('known'),
  ...Proof.shape,
  /** The audit log has an event that a second factor was asked for. */
  challenged: z.boolean(),
});
const Refused = Any.extend({ is: z.literal('refused'), user: User.optional(), because: Because });
const Over = Any.extend({
  is: z.literal('done'),
  ...Proof.shape,
  took: z.string().optional(),
  done: Done,
  /** The continuation ran in the same transaction: the sign-in doesn't continue any more. */
  spent: z.boolean(),
});

export const SignInState = z.discriminatedUnion('is', [Unknown, Known, Refused, Over]);
export type SignInState = z.infer<typeof SignInState>;
/** The user is not known yet. */
export type UnidentifiedState = z.infer<typeof Unknown>;
/** The user is known, and may have more steps to take. */
export type IdentifiedState = z.infer<typeof Known>;
export type Refused = z.infer<typeof Refused>;
/** The session has begun. */
export type FinishedState = z.infer<typeof Over>;
export type Open = UnidentifiedState | IdentifiedState;
export type Because = z.infer<typeof Because>;
export type SignInResult = z.infer<typeof Done>;

export interface BeginInput {
  realm: string;
  clientId?: string | undefined;
  clientName?: string | undefined;
  /** Further information on the client, for the pages. */
  about?: AboutClient | undefined;
  /** The client's flow, in place of the realm's. */
  flow?: string | undefined;
  /** The requested level of assurance; 0 or 1: any. */
  requiredLevel: number;
  /** The user must prove again who they are, in spite of a session. */
  forced: boolean;
  /** The maximum age of earlier proofs, in seconds. */
  maxAgeSeconds?: number | undefined;
  loginHint?: string | undefined;
  /** The identity provider that the application asks for. */
  provider?: string | undefined;
  session?: SsoSession | undefined;
  /** The caller's own value, returned by `take`. */
  request: unknown;
  /** Begin with creating an account, if the realm allows it. */
  register?: boolean;
  /** The credential that the user wants to set up in the sign-in. */
  setUp?: RequiredAction | undefined;
  /** A path of this server, where the browser continues. */
  continueAt: string;
  /** Where the browser continues instead, once the user has done {@link setUp}. */
  afterSetUp?: string | undefined;
  /** The final address of the browser after that, for the form-action of the page's policy. */
  redirectTo?: string | undefined;
  /** The sign-in page itself begins the sign-in. The flag prevents a redirect loop if the browser keeps no cookie. */
  again?: boolean;
}

export interface BegunBy extends BeginInput {
  now: Date;
  /** Whether these factors identify the user. */
  identify(factors: readonly Factor[]): boolean;
}

/** The initial state. The user is known if the session's proofs still identify them. */
export function begunBy({ session, forced, now, identify, ...input }: BegunBy): Open {
  const { clientId, clientName, about, flow, requiredLevel, maxAgeSeconds, provider } = input;
  const { request, continueAt, afterSetUp, redirectTo } = input;
  const what = { clientId, clientName, about, flow, requiredLevel, maxAgeSeconds, provider };
  const purpose = { ...what, request, continueAt, afterSetUp, redirectTo };
  const user = session && { id: session.userId, username: session.username };
  const before = session &&
    user && {
      id: session.id,
      user,
      factors: forced ? [] : [...session.factors],
      rememberMe: session.rememberMe,
    };
  const any = { version: 0, round: 0, before, setUp: input.setUp, kept: {} };
  const known = before && knownBy({ ...any, purpose: { ...purpose, loginHint: input.loginHint ?? '' } }, before);
  if (known && identify(countedOf(known, now))) return known;
  const loginHint = input.loginHint ?? session?.username ?? '';
  const chosen = input.register ? REGISTER : provider && BY_PROVIDER;
  return { ...any, is: 'unknown', chosen, purpose: { ...purpose, loginHint } };
}

const knownBy = (
  { version, round, purpose, setUp, kept }: Pick<IdentifiedState, 'version' | 'round' | 'purpose' | 'setUp' | 'kept'>,
  before: NonNullable<IdentifiedState['before']>,
): IdentifiedState => ({
  is: 'known',
  version,
  round,
  purpose,
  before,
  setUp,
  kept,
  user: before.user,
  factors: [],
  credentials: {},
  rememberMe: before.rememberMe,
  challenged: false,
});

/** All proofs that count: of this sign-in, and of the former session. */
export function countedOf(state: SignInState, now: Date): Factor[] {
  if (state.is === 'unknown' || state.is === 'refused') return [];
  const { purpose, before, factors } = state;
  if (!before) return factors;
  const since = purpose.maxAgeSeconds === undefined ? 0 : now.getTime() - purpose.maxAgeSeconds * 1000;
  return mergedFactors(provenSince(before.factors, since), factors);
}

/** The conditions that must hold when anything is written for the user on the strength of this sign-in. */
export const provenBy = (state: IdentifiedState, now: Date): Proven => ({
  userId: state.user.id,
  credentials: Object.values(state.credentials),
  identity: state.identity,
  sessionId: countedOf(state, now).length > state.factors.length ? state.before?.id : undefined,
});

/** The time of the user's last proof in this sign-in, in milliseconds. */
export const newestProof = ({ factors }: IdentifiedState): number => Math.max(0, ...factors.map(({ at }) => at));

/** Where the browser continues after the sign-in. */
export const continuesAt = ({ purpose, hasSetUp }: Pick<FinishedState, 'purpose' | 'hasSetUp'>): string =>
  (hasSetUp ? purpose.afterSetUp : undefined) ?? purpose.continueAt;

/** Whether the sign-in was started from the user's account page, so that its pages can lead back there. */
export const isFromAccount = (realm: string, { before, purpose }: SignInState): boolean =>
  before !== undefined && purpose.continueAt.split('?', 1)[0] === `/realms/${realm}/account`;

/** The time of the oldest proof that the sign-in rests on, in milliseconds. */
export const provenFrom = (state: IdentifiedState, now: Date): number =>
  oldestOf(countedOf(state, now)) ?? now.getTime();
