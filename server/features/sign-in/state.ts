// What is remembered of a sign-in between two requests, as it is stored; parsed when it is read.
// How it begins, and begins anew.
import { z } from 'zod';
import { RiskAction } from '../../contract/settings.ts';
import type { Proven } from '../../db/proof.ts';
import type { KnownUser } from '../credentials/service.ts';
import type { SsoSession } from '../sessions/service.ts';

const User = z.object({ id: z.string(), username: z.string() });
const Strings = z.record(z.string(), z.string());

export const SignInState = z.object({
  /** Raised by each save: two posts at once can't both go on from the same place. */
  version: z.int(),
  clientId: z.string().optional(),
  clientName: z.string().optional(),
  /** The client's flow instead of the realm's. */
  flow: z.string().optional(),
  requiredLevel: z.int(),
  loginHint: z.string(),
  /** The session that is stepped up or proven anew. */
  session: z.object({ id: z.string(), user: User, methods: z.array(z.string()) }).optional(),
  /** Opaque: the authorization request. */
  request: z.unknown(),
  continueAt: z.string(),
  redirectTo: z.string().optional(),
  /** How far it has come. */
  user: User.optional(),
  proven: z.array(z.string()),
  /** What of `proven` happened here and not in the session before. */
  fresh: z.array(z.string()),
  /** What of it by which credential. */
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
      findings: z.array(
        z.object({
          reason: z.enum(['new-device', 'new-network', 'failed-attempts', 'impossible-speed', 'unusual-hour']),
          points: z.number(),
        }),
      ),
    })
    .optional(),
  refused: z.enum(['risk', 'no-second-factor', 'exhausted', 'nothing-to-do', 'disabled', 'withdrawn']).optional(),
  /** The form that brought it here, as a digest under the sign-in's token: who clicks twice sends it again. */
  took: z.string().optional(),
  done: z.object({ sessionId: z.string(), authenticatedAt: z.int(), level: z.int() }).optional(),
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

/** @param methods of its session */
export function begunBy({ session, forced, ...input }: BeginInput, methods: string[]): SignInState {
  const user = session && { id: session.userId, username: session.username };
  const known = user && !forced;
  return {
    version: 0,
    clientId: input.clientId,
    clientName: input.clientName,
    flow: input.flow,
    requiredLevel: input.requiredLevel,
    loginHint: input.loginHint ?? (forced ? (session?.username ?? '') : ''),
    session: session && user && { id: session.id, user, methods: session.methods },
    request: input.request,
    continueAt: input.continueAt,
    redirectTo: input.redirectTo,
    user: known ? user : undefined,
    proven: known ? methods : [],
    fresh: [],
    credentials: {},
    kept: {},
    rememberMe: session?.rememberMe ?? false,
    challenged: false,
  };
}

/** Back to the beginning, for another person or another try. */
export const restarted = (state: SignInState): SignInState => ({
  ...state,
  user: undefined,
  proven: [],
  fresh: [],
  credentials: {},
  chosen: undefined,
  kept: {},
  complaint: undefined,
  rememberMe: false,
  challenged: false,
  risk: undefined,
  refused: undefined,
});

/** What has to hold when something is written for the person on the strength of this sign-in. */
export const provenBy = (
  { proven, fresh, credentials, session }: SignInState,
  { id }: Pick<KnownUser, 'id'>,
): Proven => ({
  userId: id,
  credentials: Object.values(credentials),
  sessionId: proven.every((method) => fresh.includes(method)) ? undefined : session?.id,
});
