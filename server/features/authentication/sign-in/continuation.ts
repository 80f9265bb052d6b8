// The action that follows a sign-in, if it can run in the request and transaction that end it, which saves a request and a
// commit. The module that starts sign-ins provides it (features/protocol/authorize). Without a continuation, the browser
// goes to `continueAt`.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Tx } from '../../../db/transact.ts';
import type { SsoSession } from '../../people/sessions/service.ts';

export interface Continuation {
  /** Unique among all continuations. */
  name: string;
  /** Serves the sign-ins that continue at this path. */
  continueAt(realm: string): string;
  /**
   * @param request the value that the sign-in kept for its caller
   * @param session begins when `write` has been committed
   * @returns undefined: the request needs more than a session
   */
  prepare(
    request: unknown,
    at: FastifyRequest,
    realm: string,
    session: SsoSession,
  ): Promise<ContinuationStep | undefined>;
  /** Tells the application that the user has left the sign-in, which is over. */
  cancel(reply: FastifyReply, at: FastifyRequest, realm: string, request: unknown): Promise<FastifyReply>;
  /** The address that starts the same request again, for a browser that returns after the request was done. */
  again(request: unknown, realm: string): string;
  /** The request as text in a form that outlives the sign-in. The browser sends it back, so it isn't trusted. */
  asked: { write(request: unknown): string; read(text: string): unknown };
}

/** The result returned to the code that started the sign-in, once. */
export interface Finished {
  take(
    reply: FastifyReply,
    request: FastifyRequest,
    realm: string,
    continueAt: string,
  ): Promise<{ request: unknown; done: { sessionId: string; since: number } } | undefined>;
}

/** Writes that can be batched with those of other sign-ins, because they read nothing. */
export type Writes = Pick<Tx, 'atLast' | 'record'>;

export interface ContinuationStep {
  /** Adds the rows to write and their events. */
  write(tx: Writes): void;
  /** After the commit. Redirects by 303, so that the browser doesn't send the password again. */
  send(reply: FastifyReply): FastifyReply;
}

/** The continuation of a sign-in; undefined: the browser only goes to `continueAt`. */
export const continuationOf = (
  all: readonly Continuation[],
  realm: string,
  { continueAt }: { continueAt: string },
): Continuation | undefined => all.find((one) => one.continueAt(realm) === continueAt);

/** The request as text, for a form that starts it again after its sign-in has expired. */
export const askedOf = ({ name, asked }: Continuation, request: unknown): string => `${name}:${asked.write(request)}`;

/** The address that starts the request of {@link askedOf} again. @param text untrusted */
export function askedAgain(all: readonly Continuation[], realm: string, text: string): string | undefined {
  const colon = text.indexOf(':');
  const one = all.find(({ name }) => name === text.slice(0, colon));
  return one?.again(one.asked.read(text.slice(colon + 1)), realm);
}
