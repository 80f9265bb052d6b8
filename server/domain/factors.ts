// Factors: which authenticators a user has passed and when. Sessions store them, and tokens report them (`acr`, `amr`, `auth_time`).
// An authenticator's registry record says what it proves; the flow (features/authentication/sign-in) says which are needed.
// Decisions "Single sign-on and freshness".

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Phrase } from '../contract/phrases.ts';
import type { RequiredAction } from '../contract/required-actions.ts';

export const Factor = z.object({
  authenticator: z.string(),
  /** Milliseconds. */
  at: z.int(),
  /** The configuration of the execution in which the factor was passed, if it has one. */
  config: z.record(z.string(), z.unknown()).optional(),
  /** RFC 8176 values, if the authenticator doesn't always prove the same. */
  amr: z.array(z.string()).optional(),
  /** The factor counts only beside another one: it doesn't identify the user by itself. */
  beside: z.literal(true).optional(),
});
export type Factor = z.infer<typeof Factor>;

/** The level from which an authenticator is a second factor (specification 2.2: otp is 2). */
export const SECOND_FACTOR = 2;

/** The levels of all authenticators; discovery names them before an authenticator is loaded. */
export const LEVELS: readonly number[] = [1, 2, 3, 6];

interface Method {
  category: 'METHOD';
  id: string;
  levelOfAssurance: number;
  identifies: boolean;
  amr: readonly string[];
  standsIn?: boolean;
  credential?: { type: string; name: Phrase; setUpBy?: RequiredAction };
}
type Entry = Method | { category: 'CONDITION' | 'FIRST_SIGN_IN' };

/** Whether the factor satisfies an execution of this authenticator with this configuration. */
export const isPassOf = (factor: Factor, authenticator: string, config: Record<string, unknown>): boolean =>
  factor.authenticator === authenticator && isDeepStrictEqual(factor.config ?? {}, config);

/** The earlier factors and the newer ones, without earlier ones whose authenticator and configuration a newer one has. */
export const mergedFactors = (before: readonly Factor[], since: readonly Factor[]): Factor[] => [
  ...before.filter((old) => !since.some((f) => isPassOf(f, old.authenticator, old.config ?? {}))),
  ...since,
];

/** @param since milliseconds */
export const provenSince = (factors: readonly Factor[], since: number): Factor[] =>
  factors.filter((f) => f.at >= since);

/** The time of the oldest factor in milliseconds; undefined without factors. */
export const oldestOf = (factors: readonly Factor[]): number | undefined =>
  factors.length === 0 ? undefined : Math.min(...factors.map(({ at }) => at));

/** Answers questions about users' factors by the registered authenticators. */
export function createFactors(registry: readonly Entry[]) {
  const methods = registry.filter((entry) => entry.category === 'METHOD');
  const of = (factors: readonly Factor[]): Method[] =>
    methods.filter(({ id }) => factors.some(({ authenticator }) => authenticator === id));
  const secondTypes = methods
    .filter((m) => m.levelOfAssurance >= SECOND_FACTOR && !m.standsIn)
    .flatMap(({ credential }) => credential?.type ?? []);
  const isAmrOf = (method: Method, amr: readonly string[]) => method.amr.every((value) => amr.includes(value));
  return {
    levelOf: (factors: readonly Factor[]): number => Math.max(0, ...of(factors).map((m) => m.levelOfAssurance)),
    /** RFC 8176 values. */
    amrOf: (factors: readonly Factor[]): string[] => [
      ...new Set(
        methods.flatMap(({ id, amr }) =>
          factors.filter(({ authenticator }) => authenticator === id).flatMap((factor) => factor.amr ?? amr),
        ),
      ),
    ],
    /** Whether the factors identify the user. */
    identify: (factors: readonly Factor[]): boolean =>
      of(factors.filter(({ beside }) => !beside)).some(({ identifies }) => identifies),
    /** Reads the format of older versions: values of `amr`, with one time for all. */
    ofAmr: (amr: readonly string[], at: Date): Factor[] =>
      methods.filter((m) => isAmrOf(m, amr)).map(({ id }) => ({ authenticator: id, at: at.getTime() })),
    /** Whether a user with credentials of these types has a second factor. */
    haveSecond: (types: readonly string[]): boolean => types.some((type) => secondTypes.includes(type)),
    /** The kinds of credentials that users can set up. */
    kinds: methods.flatMap(({ id, credential, identifies }) =>
      credential ? [{ ...credential, identifies, authenticator: id }] : [],
    ),
    /** Whether one of these types of credentials identifies its user. */
    identifiedBy: (types: readonly string[]): boolean =>
      methods.some(({ credential, identifies }) => identifies && credential && types.includes(credential.type)),
    /** Whether a sign-in with these values of `amr` identified its user. */
    identifyByAmr: (amr: readonly string[]): boolean => methods.some((m) => m.identifies && isAmrOf(m, amr)),
    /** The types of credentials of second factors. */
    secondTypes,
  };
}
export type Factors = ReturnType<typeof createFactors>;
