// What is remembered of a sign-in between two requests, as it is stored; parsed when it is read. One of four, each with what
// it can have and nothing else: machine.ts says how one becomes another.
import { z } from 'zod';
import { BY_PROVIDER } from '../../../contract/flows.ts';
import { RiskReason } from '../../../contract/risk.ts';
import { RiskAction } from '../../../contract/settings.ts';
import { type RequiredAction, requiredActions } from '../../../contract/users.ts';
import { Factor, mergedFactors, oldestOf, provenSince } from '../../../domain/factors.ts';
import type { Proven } from '../../../domain/proof.ts';
import { AboutClient } from '../../../http/about-client.ts';
import type { SsoSession } from '../../people/sessions/service.ts';

/** Chosen in place of an alternative: to make an account. */
export const REGISTER = 'register';

const User = z.object({ id: z.string(), username: z.string() });
const Strings = z.record(z.string(), z.string());
const Finding = z.object({ reason: RiskReason, points: z.number() });

/** What it was begun for. */
const Purpose = z.object({
  clientId: z.string().optional(),
  clientName: z.string().optional(),
  about: AboutClient.optional(),
  /** The client's flow instead of the realm's. */
  flow: z.string().optional(),
  requiredLevel: z.int(),
  loginHint: z.string(),
  /** By which identity provider, as the application asks. */
  provider: z.string().optional(),
  /** Only what the session before has proven since then counts. */
  maxAgeSeconds: z.int().optional(),
  /** Opaque: the authorization request. */
  request: z.unknown(),
  continueAt: z.string(),
  redirectTo: z.string().optional(),
});

const Any = z.object({
  /** Raised by each save: two posts at once can't both go on from the same place. */
  version: z.int(),
  /** Raised by each new beginning: what was signed before it says nothing any more. */
  round: z.int(),
  purpose: Purpose,
  /** The session that is stepped up or proven anew, whose it is, and what of it counts here. */
  before: z.object({ id: z.string(), user: User, factors: z.array(Factor), rememberMe: z.boolean() }).optional(),
  /** The person says that the browser is their own. */
  rememberDevice: z.boolean().optional(),
});
/** While there is a step to take. */
const InProgress = Any.extend({
  /** What the person wants to set up before it ends. */
  setUp: z.enum(requiredActions).optional(),
  /** The alternative that the person chose, by execution. */
  chosen: z.string().optional(),
  /** What pages keep, by execution. */
  kept: z.record(z.string(), Strings),
  /** By this a link or a device finds the sign-in that waits for it: a digest of what only the message says. */
  address: z.string().optional(),
  complaint: z.object({ field: z.string(), message: z.string(), values: Strings.optional() }).optional(),
  /** The form that brought it here, as a digest under the sign-in's token: who clicks twice sends it again. */
  took: z.string().optional(),
  /** That form proved something, and the sign-in went on under another token: what that rests on, and when (milliseconds). */
  wentOn: z.object({ nonce: z.string(), at: z.int() }).optional(),
});
const Proof = z.object({
  user: User,
  /** What was proven here, and not in the session before. */
  factors: z.array(Factor),
  /** By which credential, by authenticator. */
  credentials: Strings,
  /** By who they are at an identity provider: the link's id. */
  identity: z.string().optional(),
  /** A flow of an identity provider for whoever comes for the first time: it goes before that of what is signed in to. */
  firstFlow: z.string().optional(),
  /** What is written for them when it ends, by authenticator. */
  atEnd: z.record(z.string(), Strings).optional(),
  rememberMe: z.boolean(),
  /** What was found on the way that speaks for a risk. */
  signals: z.array(RiskReason).optional(),
  /** What the audit log says of how something was proven. */
  note: z.string().optional(),
  risk: z
    .object({
      score: z.number(),
      band: z.enum(['low', 'medium', 'high']),
      action: RiskAction,
      findings: z.array(Finding),
    })
    .optional(),
  /** Whether this person has signed in with this device before; absent: nobody looked. */
  deviceKnown: z.boolean().optional(),
  /** They have signed in with others, and not with this one. */
  deviceNew: z.boolean().optional(),
});
const Done = z.object({
  sessionId: z.string(),
  /** Milliseconds. */
  at: z.int(),
  level: z.int(),
  /** The oldest of what counted. */
  since: z.int(),
});
const Because = z.enum(['risk', 'no-second-factor', 'exhausted', 'nothing-to-do', 'disabled', 'withdrawn', 'denied']);

const Unknown = InProgress.extend({ is: z.literal('unknown') });
const Known = InProgress.extend({
  is: z.literal('known'),
  ...Proof.shape,
  /** The audit log has heard that a second factor was asked for. */
  challenged: z.boolean(),
});
const Refused = Any.extend({ is: z.literal('refused'), user: User.optional(), because: Because });
const Over = Any.extend({
  is: z.literal('done'),
  ...Proof.shape,
  took: z.string().optional(),
  done: Done,
  /** What it was begun for was done in the same transaction: it leads nowhere any more. */
  spent: z.boolean(),
});

export const SignInState = z.discriminatedUnion('is', [Unknown, Known, Refused, Over]);
export type SignInState = z.infer<typeof SignInState>;
/** Nobody is known yet. */
export type UnidentifiedState = z.infer<typeof Unknown>;
/** Somebody is known, and may have more to do. */
export type IdentifiedState = z.infer<typeof Known>;
export type Refused = z.infer<typeof Refused>;
/** It has its session. */
export type FinishedState = z.infer<typeof Over>;
export type Open = UnidentifiedState | IdentifiedState;
export type Because = z.infer<typeof Because>;
export type SignInResult = z.infer<typeof Done>;

export interface BeginInput {
  realm: string;
  clientId?: string | undefined;
  clientName?: string | undefined;
  /** What people are shown of it beside. */
  about?: AboutClient | undefined;
  /** The client's flow instead of the realm's. */
  flow?: string | undefined;
  /** The level of assurance that is asked for; 0 or 1: any. */
  requiredLevel: number;
  /** The person must prove again who they are, although there is a session. */
  forced: boolean;
  /** What they have proven before must be no older. */
  maxAgeSeconds?: number | undefined;
  loginHint?: string | undefined;
  /** By which identity provider, as the application asks. */
  provider?: string | undefined;
  session?: SsoSession | undefined;
  /** The caller's own; given back by `take`. */
  request: unknown;
  /** It begins with making an account, where that is open. */
  register?: boolean;
  /** What they want to set up on the way. */
  setUp?: RequiredAction | undefined;
  /** Where to go afterwards: a path of this server. */
  continueAt: string;
  /** Where that will lead the browser in the end: the CSP's form-action has to know. */
  redirectTo?: string | undefined;
  /** Set where the sign-in page itself begins one, so that a browser that keeps no cookie isn't sent round for ever. */
  again?: boolean;
}

export interface BegunBy extends BeginInput {
  now: Date;
  /** Whether such factors say who it is. */
  identify(factors: readonly Factor[]): boolean;
}

/** The session still says who the person is; else they prove that first. */
export function begunBy({ session, forced, now, identify, ...input }: BegunBy): Open {
  const { clientId, clientName, about, flow, requiredLevel, maxAgeSeconds, provider } = input;
  const { request, continueAt, redirectTo } = input;
  const what = { clientId, clientName, about, flow, requiredLevel, maxAgeSeconds, provider };
  const purpose = { ...what, request, continueAt, redirectTo };
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

/** What counts of what the person has proven: here, and in the session before. */
export function countedOf(state: SignInState, now: Date): Factor[] {
  if (state.is === 'unknown' || state.is === 'refused') return [];
  const { purpose, before, factors } = state;
  if (!before) return factors;
  const since = purpose.maxAgeSeconds === undefined ? 0 : now.getTime() - purpose.maxAgeSeconds * 1000;
  return mergedFactors(provenSince(before.factors, since), factors);
}

/** What has to hold when something is written for the person on the strength of this sign-in. */
export const provenBy = (state: IdentifiedState, now: Date): Proven => ({
  userId: state.user.id,
  credentials: Object.values(state.credentials),
  identity: state.identity,
  sessionId: countedOf(state, now).length > state.factors.length ? state.before?.id : undefined,
});

/** Milliseconds: when the person last proved anything in it. */
export const newestProof = ({ factors }: IdentifiedState): number => Math.max(0, ...factors.map(({ at }) => at));

/** Whoever began it on their account page can go back there. */
export const isFromAccount = (realm: string, { before, purpose }: SignInState): boolean =>
  before !== undefined && purpose.continueAt === `/realms/${realm}/account`;

/** Milliseconds: since when all has been proven that the sign-in rests on. */
export const provenFrom = (state: IdentifiedState, now: Date): number =>
  oldestOf(countedOf(state, now)) ?? now.getTime();
