// What is remembered of a sign-in between two requests, as it is stored; parsed when it is read.
// How it begins, and begins anew.
import { z } from 'zod';
import { RiskAction } from '../../contract/settings.ts';
import { Factor, merged, oldestOf, provenSince } from '../../domain/factors.ts';
import type { Proven } from '../../domain/proof.ts';
import type { KnownUser } from '../credentials/service.ts';
import type { SsoSession } from '../sessions/service.ts';

const User = z.object({ id: z.string(), username: z.string() });
const Strings = z.record(z.string(), z.string());
const Finding = z.object({
  reason: z.enum(['new-device', 'new-network', 'failed-attempts', 'impossible-speed', 'unusual-hour']),
  points: z.number(),
});

export const SignInState = z.object({
  /** Raised by each save: two posts at once can't both go on from the same place. */
  version: z.int(),
  clientId: z.string().optional(),
  clientName: z.string().optional(),
  /** The client's flow instead of the realm's. */
  flow: z.string().optional(),
  requiredLevel: z.int(),
  loginHint: z.string(),
  /** The session that is stepped up or proven anew, and what it has proven. */
  session: z.object({ id: z.string(), user: User, factors: z.array(Factor) }).optional(),
  /** Nothing of that counts here. */
  forced: z.boolean(),
  /** Only what of it is no older counts. */
  maxAgeSeconds: z.int().optional(),
  /** Opaque: the authorization request. */
  request: z.unknown(),
  continueAt: z.string(),
  redirectTo: z.string().optional(),
  /** How far it has come. */
  user: User.optional(),
  /** What was proven here, and not in the session before. */
  factors: z.array(Factor),
  /** By which credential, by authenticator. */
  credentials: Strings.default({}),
  chosen: z.string().optional(),
  kept: z.record(z.string(), Strings),
  complaint: z.object({ field: z.string(), message: z.string(), values: Strings.optional() }).optional(),
  rememberMe: z.boolean(),
  challenged: z.boolean(),
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
  refused: z.enum(['risk', 'no-second-factor', 'exhausted', 'nothing-to-do', 'disabled', 'withdrawn']).optional(),
  /** The form that brought it here, as a digest under the sign-in's token: who clicks twice sends it again. */
  took: z.string().optional(),
  done: z
    .object({
      sessionId: z.string(),
      at: z.int(),
      level: z.int(),
      /** The oldest of what counted. */
      since: z.int(),
    })
    .optional(),
  /** What it was begun for was done in the same transaction: it leads nowhere any more. */
  spent: z.literal(true).optional(),
});
export type SignInState = z.infer<typeof SignInState>;

export interface BeginInput {
  realm: string;
  clientId?: string | undefined;
  clientName?: string | undefined;
  /** The client's flow instead of the realm's. */
  flow?: string | undefined;
  /** The level of assurance that is asked for; 0 or 1: any. */
  requiredLevel: number;
  /** The person must prove again who they are, although there is a session. */
  forced: boolean;
  /** What they have proven before must be no older. */
  maxAgeSeconds?: number | undefined;
  loginHint?: string | undefined;
  session?: SsoSession | undefined;
  /** The caller's own; given back by `take`. */
  request: unknown;
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

/** Whoever their session still says they are is known; else they prove that first. */
export function begunBy({ session, forced, now, identify, ...input }: BegunBy): SignInState {
  const user = session && { id: session.userId, username: session.username };
  const begun: SignInState = {
    version: 0,
    clientId: input.clientId,
    clientName: input.clientName,
    flow: input.flow,
    requiredLevel: input.requiredLevel,
    loginHint: input.loginHint ?? '',
    session: session && user && { id: session.id, user, factors: [...session.factors] },
    forced,
    maxAgeSeconds: input.maxAgeSeconds,
    request: input.request,
    continueAt: input.continueAt,
    redirectTo: input.redirectTo,
    user,
    factors: [],
    credentials: {},
    kept: {},
    rememberMe: session?.rememberMe ?? false,
    challenged: false,
  };
  if (identify(countedOf(begun, now))) return begun;
  return { ...begun, user: undefined, loginHint: input.loginHint ?? session?.username ?? '' };
}

/** What counts of what the person has proven: here, and in the session before if that is theirs. */
export function countedOf({ session, user, forced, maxAgeSeconds, factors }: SignInState, now: Date): Factor[] {
  if (forced || !session || session.user.id !== user?.id) return factors;
  const since = maxAgeSeconds === undefined ? 0 : now.getTime() - maxAgeSeconds * 1000;
  return merged(provenSince(session.factors, since), factors);
}

/** Back to the beginning, for another person or another try. */
export const restarted = (state: SignInState): SignInState => ({
  ...state,
  user: undefined,
  forced: true,
  factors: [],
  credentials: {},
  chosen: undefined,
  kept: {},
  complaint: undefined,
  rememberMe: false,
  challenged: false,
  risk: undefined,
  deviceKnown: undefined,
  refused: undefined,
});

/** What has to hold when something is written for the person on the strength of this sign-in. */
export const provenBy = (state: SignInState, { id }: Pick<KnownUser, 'id'>, now: Date): Proven => ({
  userId: id,
  credentials: Object.values(state.credentials),
  sessionId: countedOf(state, now).length > state.factors.length ? state.session?.id : undefined,
});

/** Milliseconds: since when all has been proven that the sign-in rests on. */
export const provenFrom = (state: SignInState, now: Date): number => oldestOf(countedOf(state, now)) ?? now.getTime();
