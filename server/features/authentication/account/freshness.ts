// A proof of a moment ago, which whatever changes who gets into an account asks for: who finds a browser open can't take it over.
// Decisions "Single sign-on and freshness"; RFC 9470.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequiredAction } from '../../../contract/users.ts';
import { type Factor, type Factors, provenSince, SECOND_FACTOR } from '../../../domain/factors.ts';
import type { LiveSession } from '../../people/sessions/service.ts';
import type { SignIns } from '../sign-in/service.ts';

export const FRESH_SECONDS = 300;

/** Whoever has a second factor proves that, too. */
export const levelFor = (factors: Pick<Factors, 'haveSecond'>, types: readonly string[]): number =>
  factors.haveSecond(types) ? SECOND_FACTOR : 1;

/** The level that was proven a moment ago; 0: nothing that says who it is. */
export function freshLevel(
  factors: Pick<Factors, 'levelOf' | 'identify'>,
  proven: readonly Factor[],
  now: Date,
): number {
  const fresh = provenSince(proven, now.getTime() - FRESH_SECONDS * 1000);
  return factors.identify(fresh) ? factors.levelOf(fresh) : 0;
}

/** Asks for a proof of a moment ago, then for what is to be set up. */
export type Prove = (
  request: FastifyRequest,
  reply: FastifyReply,
  realm: string,
  session: LiveSession,
  setUp?: RequiredAction,
) => Promise<FastifyReply>;

export interface FreshnessDeps {
  factors: Pick<Factors, 'haveSecond' | 'levelOf' | 'identify'>;
  signIns: Pick<SignIns, 'begin'>;
  now: () => Date;
}

/** For the pages. */
export function createFreshness({ factors, signIns, now }: FreshnessDeps) {
  const prove: Prove = (request, reply, realm, session, setUp) =>
    signIns.begin(reply, request, {
      realm,
      requiredLevel: levelFor(factors, session.standing.types),
      session,
      forced: false,
      maxAgeSeconds: FRESH_SECONDS,
      setUp,
      request: null,
      continueAt: `/realms/${realm}/account`,
    });
  return {
    prove,
    isFresh: ({ factors: proven, standing }: LiveSession): boolean =>
      freshLevel(factors, proven, now()) >= levelFor(factors, standing.types),
  };
}
