// What a sign-in was begun for, where that can be done in the very request and transaction that end it: one request and one
// commit less. Whoever begins sign-ins gives it (features/protocol/authorize); without it the browser goes on at `continueAt`.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Tx } from '../../../db/transact.ts';
import type { SsoSession } from '../../people/sessions/service.ts';

export interface Continuation {
  /** Its own among all there are. */
  name: string;
  /** The sign-ins that it is for are those that go on here. */
  continueAt(realm: string): string;
  /**
   * @param request what the sign-in was given to keep; @param session begins when `write` has been committed
   * @returns undefined: more than a session is needed
   */
  prepare(
    request: unknown,
    at: FastifyRequest,
    realm: string,
    session: SsoSession,
  ): Promise<ContinuationStep | undefined>;
  /** Where the same thing is asked for anew: for a browser that comes back when it has been done. */
  again(request: unknown, realm: string): string;
  /** The same in a form that outlives the sign-in; what comes back in it isn't trusted. */
  asked: { write(request: unknown): string; read(text: string): unknown };
}

/** What whoever began a sign-in gets of its end, once. */
export interface Finished {
  take(
    reply: FastifyReply,
    request: FastifyRequest,
    realm: string,
    continueAt: string,
  ): Promise<{ request: unknown; done: { sessionId: string; since: number } } | undefined>;
}

/** What can be written together with other people's: nothing is read for it. */
export type Writes = Pick<Tx, 'atLast' | 'record'>;

export interface ContinuationStep {
  /** Adds what is to be kept, with its events. */
  write(tx: Writes): void;
  /** After commit; leads away by 303, so that nothing sends the password twice. */
  send(reply: FastifyReply): FastifyReply;
}

/** What a sign-in goes on to that leads to `continueAt`; undefined: nothing but that address. */
export const continuationOf = (
  all: readonly Continuation[],
  realm: string,
  { continueAt }: { continueAt: string },
): Continuation | undefined => all.find((one) => one.continueAt(realm) === continueAt);

/** What it was asked for, for a form that leads back to it when its sign-in is gone. */
export const askedOf = ({ name, asked }: Continuation, request: unknown): string => `${name}:${asked.write(request)}`;

/** Where the same is asked for anew. @param text {@link askedOf}, or anything that somebody sent for it */
export function askedAgain(all: readonly Continuation[], realm: string, text: string): string | undefined {
  const colon = text.indexOf(':');
  const one = all.find(({ name }) => name === text.slice(0, colon));
  return one?.again(one.asked.read(text.slice(colon + 1)), realm);
}
