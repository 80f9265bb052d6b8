// Fresh proofs: changing how an account can be accessed needs a proof of the last minutes, so that another person at an
// open browser can't take the account over. Decisions "Single sign-on and freshness"; RFC 9470.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequiredAction } from '../../../contract/required-actions.ts';
import { type Factor, type Factors, provenSince, SECOND_FACTOR } from '../../../domain/factors.ts';
import type { LiveSession } from '../../people/sessions/service.ts';
import type { SignIns } from '../sign-in/service.ts';
import { accountPath, outcomeOfStep, viewOfAction, viewOfStep } from './views.ts';

export const FRESH_SECONDS = 300;

/** Users with a second factor must prove it, too. */
export const levelFor = (factors: Pick<Factors, 'haveSecond'>, types: readonly string[]): number =>
  factors.haveSecond(types) ? SECOND_FACTOR : 1;

/** The level of the factors proven in the last minutes; 0: they don't identify the user. */
export function freshLevel(
  factors: Pick<Factors, 'levelOf' | 'identify'>,
  proven: readonly Factor[],
  now: Date,
): number {
  const fresh = provenSince(proven, now.getTime() - FRESH_SECONDS * 1000);
  return factors.identify(fresh) ? factors.levelOf(fresh) : 0;
}

/** Asks for a fresh proof, then for the credential that the user wants to set up. */
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

/** Freshness for the pages. */
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
      continueAt: accountPath(realm, setUp === undefined ? viewOfAction(request.routeOptions.url) : viewOfStep(setUp)),
      ...(setUp !== undefined && {
        afterSetUp: `/realms/${realm}/account?view=${viewOfStep(setUp)}&said=${outcomeOfStep(setUp)}`,
      }),
    });
  return {
    prove,
    isFresh: ({ factors: proven, standing }: LiveSession): boolean =>
      freshLevel(factors, proven, now()) >= levelFor(factors, standing.types),
  };
}
