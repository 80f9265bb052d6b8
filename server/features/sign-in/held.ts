// The sign-in that a request's cookie names: found, and kept again. How it began is in the cookie, what has happened since in a
// row; strangers of one address get no more rows than people need.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../contract/problem.ts';
import { newSecret, sha256 } from '../../crypto/tokens.ts';
import type { InLane } from '../../db/realm-share.ts';
import type { Sql } from '../../db/sql.ts';
import { inRealm } from '../../domain/attempts.ts';
import { type Beginning, type Carried, LIFETIME_SECONDS, type SignInCookie } from './cookie.ts';
import type { SignInState } from './state.ts';
import * as store from './store.ts';

/** A sign-in that a request holds. */
export interface Held {
  token: string;
  /** Its number among the browser's sign-ins. */
  tab: number;
  id: Buffer;
  state: SignInState;
  expiresAt: Date;
  /** Whether the state is a row's; else it is how the sign-in began, by its cookie. */
  stored: boolean;
}

export interface HoldingDeps {
  sql: Sql;
  inLane: InLane;
  /** Bounds how often one address may have kept what nobody has proven anything in. */
  strangers: { take(address: string): number | undefined };
  cookie: SignInCookie;
  now: () => Date;
}

export function createHolding({ sql, inLane, strangers, cookie, now }: HoldingDeps) {
  const ending = (): Date => new Date(now().getTime() + LIFETIME_SECONDS * 1000);

  async function reload(realm: string, of: Pick<Held, 'token' | 'tab' | 'id'>): Promise<Held | undefined> {
    const { token, tab, id } = of;
    const kept = await store.read(sql, realm, id, now());
    return kept && { token, tab, id, ...kept, stored: true };
  }

  /** A row for somebody who has proven nothing: from one address not more than people need. */
  function keepForStranger(realm: string, { ip }: FastifyRequest): void {
    const retryAfterSeconds = strangers.take(inRealm(realm, ip));
    if (retryAfterSeconds !== undefined)
      throw new Problem('too-many-requests', 'Too many sign-ins were begun from here. Try again shortly.', {
        retryAfterSeconds,
      });
  }

  return {
    /**
     * The sign-in of a cookie. Where the cookie itself says how it began, nobody is asked whether more has happened: that
     * shows when something is to be kept, and until then there is nothing in it but the way to a form.
     */
    async load(realm: string, carried: Carried | undefined): Promise<Held | undefined> {
      if (!carried) return undefined;
      const { begun, ...of } = carried;
      return begun ? { ...of, ...begun, stored: false } : reload(realm, of);
    },
    /** Where it stands by now; undefined: nothing of it is kept. */
    reload,

    /** Begins one that is nothing yet, in the cookie alone. @returns its number; undefined: it is too much for a cookie */
    carry: (reply: FastifyReply, realm: string, beginning: Beginning, state: SignInState): number | undefined =>
      cookie.carry(reply, realm, beginning, { state, expiresAt: ending() }),
    /** Begins one as a row. @returns its number */
    async keepNew(reply: FastifyReply, realm: string, beginning: Beginning, state: SignInState): Promise<number> {
      if (!state.session) keepForStranger(realm, reply.request);
      const token = newSecret();
      const expiresAt = ending();
      await store.insert(inLane(realm), realm, sha256(token), state, now(), expiresAt);
      return cookie.keepNew(reply, realm, beginning, token, expiresAt);
    },

    /** @returns whether nobody kept anything else meanwhile */
    async keep(reply: FastifyReply, realm: string, held: Held, state: SignInState): Promise<boolean> {
      const { id, expiresAt, stored } = held;
      if (stored) return store.save(inLane(realm), realm, id, state);
      if (state.factors.length === 0) keepForStranger(realm, reply.request);
      const first = await store.insert(inLane(realm), realm, id, state, now(), expiresAt);
      cookie.keep(reply, realm, held);
      return first;
    },
  };
}
