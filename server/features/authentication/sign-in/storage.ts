// Stores sign-ins behind one interface: the initial state in the browser's cookie (cookie.ts), later states in a row under
// the cookie's token (store.ts). The rows of sign-ins without a proof are limited for each client address.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { phrase } from '../../../contract/phrases.ts';
import { Problem } from '../../../contract/problem.ts';
import type { TokenSeal } from '../../../crypto/token-seal.ts';
import { newSecret, sha256 } from '../../../crypto/tokens.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import { inRealm } from '../../../domain/rate-limit.ts';
import { type Beginning, type Carried, createSignInCookie, LIFETIME_SECONDS } from './cookie.ts';
import { type FinishedState, REGISTER, type SignInState } from './state.ts';
import * as store from './store.ts';

/** The sign-in of a request. */
export interface HeldSignIn {
  token: string;
  /** The number of the sign-in in this browser. */
  tab: number;
  id: Buffer;
  state: SignInState;
  expiresAt: Date;
  /** true: the state is from a row; false: it is the initial state in the cookie. */
  stored: boolean;
}

export interface StorageDeps {
  sql: Sql;
  realmSql: RealmSql;
  /** Limits the stored sign-ins without a proof of one client address. */
  unproven: { take(address: string): number | undefined };
  /** Seals the state in the cookie. */
  seal: TokenSeal;
  baseUrl: string;
  now: () => Date;
}

/** Another request has stored another state in the meantime. */
class Lost extends Error {}

export function createStorage({ sql, realmSql, unproven, seal, baseUrl, now }: StorageDeps) {
  const cookie = createSignInCookie({ seal, baseUrl, now });
  const hasProven = (state: SignInState): boolean => state.is !== 'unknown' && state.user !== undefined;

  async function reload(realm: string, of: Pick<HeldSignIn, 'token' | 'tab' | 'id'>): Promise<HeldSignIn | undefined> {
    const { token, tab, id } = of;
    const kept = await store.read(sql, realm, id, now());
    return kept && { token, tab, id, ...kept, stored: true };
  }

  /** Counts a row without a proof, and refuses it beyond the limit of the client address. */
  function limitUnproven(realm: string, { ip }: FastifyRequest): void {
    const retryAfterSeconds = unproven.take(inRealm(realm, ip));
    if (retryAfterSeconds !== undefined)
      throw new Problem('too-many-requests', phrase('tooManySignIns'), {
        retryAfterSeconds,
      });
  }

  return {
    /** The sign-in that the request's address names, without reading its row. */
    named: (request: FastifyRequest, realm: string): Carried | undefined => cookie.read(request, realm),
    /** The sign-in of this browser with the matching token. */
    find: (request: FastifyRequest, realm: string, isIts: (token: string) => boolean): Carried | undefined =>
      cookie.all(request, realm).find(({ token }) => isIts(token)),
    /** The unfinished sign-in of this browser that continues at `continueAt`, apart from registrations. */
    async inProgress(request: FastifyRequest, realm: string, continueAt: string): Promise<Carried | undefined> {
      const all = cookie.all(request, realm);
      const ids = all.flatMap(({ id, begun }) => (begun ? [] : [id]));
      const rows = ids.length > 0 ? await store.inProgress(realmSql(realm), realm, ids, continueAt, now()) : [];
      const isIts = (state: SignInState) =>
        state.purpose.continueAt === continueAt && (state.is !== 'unknown' || state.chosen !== REGISTER);
      return all.find(({ id, begun }) => (begun ? isIts(begun.state) : rows.some((row) => row.equals(id))));
    },
    /**
     * If the cookie holds the initial state, the database isn't asked for a later one. A later state shows when the request
     * stores something; until then the page only shows a form.
     */
    async load(realm: string, named: Carried | undefined): Promise<HeldSignIn | undefined> {
      if (!named) return undefined;
      const { begun, ...of } = named;
      return begun ? { ...of, ...begun, stored: false } : reload(realm, of);
    },
    /** The sign-in of this browser that waits at this address. */
    async waiting(request: FastifyRequest, realm: string, address: string): Promise<HeldSignIn | undefined> {
      const id = await store.atAddress(sql, realm, address, now());
      const named = id && cookie.all(request, realm).find((one) => one.id.equals(id));
      return named && reload(realm, named);
    },
    /** The present state of the row; undefined: there is none. */
    reload,

    /** @param inCookie keep the state in the cookie if it fits. @returns the number of the sign-in in this browser */
    async begin(
      reply: FastifyReply,
      realm: string,
      state: SignInState,
      { beginning, inCookie }: { beginning: Beginning; inCookie: boolean },
    ): Promise<number> {
      const expiresAt = new Date(now().getTime() + LIFETIME_SECONDS * 1000);
      const carried = inCookie ? cookie.carry(reply, realm, beginning, { state, expiresAt }) : undefined;
      if (carried !== undefined) return carried;
      if (!state.before) limitUnproven(realm, reply.request);
      const token = newSecret();
      await store.insert(realmSql(realm), realm, sha256(token), state, now(), expiresAt);
      return cookie.keepNew(reply, realm, beginning, token, expiresAt);
    },

    /** @returns false: another request has stored another state in the meantime */
    async keep(reply: FastifyReply, realm: string, held: HeldSignIn, state: SignInState): Promise<boolean> {
      const { id, expiresAt, stored } = held;
      if (stored) return store.save(realmSql(realm), realm, id, state);
      if (!hasProven(state)) limitUnproven(realm, reply.request);
      const first = await store.insert(realmSql(realm), realm, id, state, now(), expiresAt);
      cookie.keep(reply, realm, held);
      return first;
    },

    /**
     * Something was proven: the sign-in continues under a new token that only this response contains. So a person who knew
     * the former token (session fixation) gains nothing.
     * @param left the state that stays under the former token
     * @returns false: another request has stored another state in the meantime
     */
    async rotate(
      reply: FastifyReply,
      realm: string,
      { id, tab, expiresAt, stored }: HeldSignIn,
      { left, state, token }: { left: SignInState; state: SignInState; token: string },
    ): Promise<boolean> {
      const next = { id: sha256(token), state };
      const went = stored
        ? await store.rotate(realmSql(realm), realm, { id, state: left }, next, now(), expiresAt)
        : await store.insert(realmSql(realm), realm, next.id, state, now(), expiresAt);
      if (went) cookie.keep(reply, realm, { tab, token, expiresAt });
      return went;
    },
    /** Sets the cookie to the token under which the sign-in has continued. */
    follow: (reply: FastifyReply, realm: string, { tab, expiresAt }: HeldSignIn, token: string): void =>
      cookie.keep(reply, realm, { tab, token, expiresAt }),

    /**
     * Stores the final state of a sign-in with a row, in the transaction of the end. @throws an error for which {@link
     * isLost} is true
     */
    async keepOver(tx: Tx, realm: string, { id }: HeldSignIn, state: FinishedState): Promise<void> {
      if (!(await store.save(tx.sql, realm, id, state))) throw new Lost();
    },
    /** The same for a sign-in without a row. The transaction fails if another request has inserted it. */
    keepOverLast: (run: Tx['atLast'], realm: string, { id, expiresAt }: HeldSignIn, state: FinishedState): void =>
      void store.insertLast(run, realm, id, state, now(), expiresAt),
    /** Whether another request has ended or continued the sign-in. */
    isLost: (error: unknown): boolean => error instanceof Lost || store.isKept(error),

    /** Sets the cookie without the initial state: from now on the row counts, even if another request has inserted it. */
    isRow(reply: FastifyReply, realm: string, held: HeldSignIn): void {
      if (!held.stored) cookie.keep(reply, realm, held);
    },
    /** Unties the sign-in from a session that ends in the same transaction. */
    detach: async (tx: Tx, realm: string, { id }: HeldSignIn): Promise<void> =>
      void (await store.detach(tx.sql, realm, id)),
    /** Deletes the row and the cookie. */
    async drop(reply: FastifyReply, realm: string, { id, tab }: HeldSignIn): Promise<void> {
      await store.remove(realmSql(realm), realm, [id]);
      cookie.clear(reply, realm, tab);
    },
    /** Deletes all stored sign-ins of this browser. Those without a row name no user. */
    async dropAll(request: FastifyRequest, reply: FastifyReply, realm: string): Promise<void> {
      const stored = cookie.all(request, realm).filter(({ begun }) => !begun);
      if (stored.length === 0) return;
      const ids = stored.map(({ id }) => id);
      await store.remove(realmSql(realm), realm, ids);
      for (const { tab } of stored) cookie.clear(reply, realm, tab);
    },
    /** Deletes the cookie. */
    forget: (reply: FastifyReply, realm: string, { tab }: Pick<HeldSignIn, 'tab'>): void =>
      cookie.clear(reply, realm, tab),

    /** Takes a finished sign-in that continues at `continueAt`, once. */
    async take(
      reply: FastifyReply,
      realm: string,
      named: Carried | undefined,
      continueAt: string,
    ): Promise<FinishedState | undefined> {
      if (!named) return undefined;
      const state = await store.take(realmSql(realm), realm, named.id, continueAt, now());
      if (state?.is !== 'done') return undefined;
      cookie.clear(reply, realm, named.tab);
      return state;
    },
  };
}
export type Storage = ReturnType<typeof createStorage>;
