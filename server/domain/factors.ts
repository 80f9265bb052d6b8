// What somebody has proven, by which authenticator and when: what sessions remember, and what tokens say of it (`acr`, `amr`,
// `auth_time`). What an authenticator proves is its registry record's to say; which are asked for is the flow's
// (features/authentication/sign-in). Decisions "Single sign-on and freshness".

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Phrase } from '../contract/phrases.ts';
import type { RequiredAction } from '../contract/users.ts';

export const Factor = z.object({
  authenticator: z.string(),
  /** Milliseconds. */
  at: z.int(),
  /** Of the execution in which it was passed, where it has any. */
  config: z.record(z.string(), z.unknown()).optional(),
  /** RFC 8176, where its authenticator doesn't always prove the same. */
  amr: z.array(z.string()).optional(),
  /** It counts beside another proof, and says by itself not who it is. */
  beside: z.literal(true).optional(),
});
export type Factor = z.infer<typeof Factor>;

/** The level from which an authenticator is a second factor (specification 2.2: otp is 2). */
export const SECOND_FACTOR = 2;

/** Those of all authenticators, which discovery names before any of them is loaded. */
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

/** Whether it is what an execution of that configuration asks for. */
export const isPassOf = (factor: Factor, authenticator: string, config: Record<string, unknown>): boolean =>
  factor.authenticator === authenticator && isDeepStrictEqual(factor.config ?? {}, config);

/** What was proven before, and what was proven since in its place. */
export const mergedFactors = (before: readonly Factor[], since: readonly Factor[]): Factor[] => [
  ...before.filter((old) => !since.some((f) => isPassOf(f, old.authenticator, old.config ?? {}))),
  ...since,
];

/** @param since milliseconds */
export const provenSince = (factors: readonly Factor[], since: number): Factor[] =>
  factors.filter((f) => f.at >= since);

/** Milliseconds: since when all of it has been proven; undefined where nothing is. */
export const oldestOf = (factors: readonly Factor[]): number | undefined =>
  factors.length === 0 ? undefined : Math.min(...factors.map(({ at }) => at));

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
    /** Whether they say who it is. */
    identify: (factors: readonly Factor[]): boolean =>
      of(factors.filter(({ beside }) => !beside)).some(({ identifies }) => identifies),
    /** What older versions kept: values of `amr`, and one time for all. */
    ofAmr: (amr: readonly string[], at: Date): Factor[] =>
      methods.filter((m) => isAmrOf(m, amr)).map(({ id }) => ({ authenticator: id, at: at.getTime() })),
    /** Whether who has set up such credentials has a second factor. */
    haveSecond: (types: readonly string[]): boolean => types.some((type) => secondTypes.includes(type)),
    /** What people hold who have set something up. */
    kinds: methods.flatMap(({ credential, identifies }) => (credential ? [{ ...credential, identifies }] : [])),
    /** Whether somebody who holds credentials of such types can say by one of them who they are. */
    identifiedBy: (types: readonly string[]): boolean =>
      methods.some(({ credential, identifies }) => identifies && credential && types.includes(credential.type)),
    /** Whether the values of `amr` are those of a sign-in that found out who it is. */
    identifyByAmr: (amr: readonly string[]): boolean => methods.some((m) => m.identifies && isAmrOf(m, amr)),
    /** Types of credentials that second factors are proven by. */
    secondTypes,
  };
}
export type Factors = ReturnType<typeof createFactors>;
