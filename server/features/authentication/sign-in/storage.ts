// Where sign-ins are kept, behind one interface: how one began in the browser's cookie (cookie.ts), what has happened since in a
// row under the cookie's token (store.ts); strangers of one address get no more rows than people need.

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

/** A sign-in that a request holds. */
export interface HeldSignIn {
  token: string;
  /** Its number among the browser's sign-ins. */
  tab: number;
  id: Buffer;
  state: SignInState;
  expiresAt: Date;
  /** Whether the state is a row's; else it is how the sign-in began, by its cookie. */
  stored: boolean;
}

export interface StorageDeps {
  sql: Sql;
  realmSql: RealmSql;
  /** Bounds how many sign-ins without any proof one address may have stored. */
  unproven: { take(address: string): number | undefined };
  /** For what the cookie carries. */
  seal: TokenSeal;
  baseUrl: string;
  now: () => Date;
}

/** Another request has kept something else meanwhile. */
class Lost extends Error {}

export function createStorage({ sql, realmSql, unproven, seal, baseUrl, now }: StorageDeps) {
  const cookie = createSignInCookie({ seal, baseUrl, now });
  const hasProven = (state: SignInState): boolean => state.is !== 'unknown' && state.user !== undefined;

  async function reload(realm: string, of: Pick<HeldSignIn, 'token' | 'tab' | 'id'>): Promise<HeldSignIn | undefined> {
    const { token, tab, id } = of;
    const kept = await store.read(sql, realm, id, now());
    return kept && { token, tab, id, ...kept, stored: true };
  }

  /** A row for somebody who has proven nothing: from one address not more than people need. */
  function limitUnproven(realm: string, { ip }: FastifyRequest): void {
    const retryAfterSeconds = unproven.take(inRealm(realm, ip));
    if (retryAfterSeconds !== undefined)
      throw new Problem('too-many-requests', phrase('tooManySignIns'), {
        retryAfterSeconds,
      });
  }

  return {
    /** Which sign-in the request's address is about; nothing is read for it. */
    named: (request: FastifyRequest, realm: string): Carried | undefined => cookie.read(request, realm),
    /** The one of the browser's sign-ins whose token it is. */
    find: (request: FastifyRequest, realm: string, isIts: (token: string) => boolean): Carried | undefined =>
      cookie.all(request, realm).find(({ token }) => isIts(token)),
    /** The one of the browser's sign-ins that is to lead to `continueAt`, by no new account, and has not come to its end. */
    async inProgress(request: FastifyRequest, realm: string, continueAt: string): Promise<Carried | undefined> {
      const all = cookie.all(request, realm);
      const ids = all.flatMap(({ id, begun }) => (begun ? [] : [id]));
      const rows = ids.length > 0 ? await store.inProgress(realmSql(realm), realm, ids, continueAt, now()) : [];
      const isIts = (state: SignInState) =>
        state.purpose.continueAt === continueAt && (state.is !== 'unknown' || state.chosen !== REGISTER);
      return all.find(({ id, begun }) => (begun ? isIts(begun.state) : rows.some((row) => row.equals(id))));
    },
    /**
     * Where the cookie itself says how it began, the database isn't asked whether more has happened: that shows when something is to
     * be kept, and until then there is nothing in it but the way to a form.
     */
    async load(realm: string, named: Carried | undefined): Promise<HeldSignIn | undefined> {
      if (!named) return undefined;
      const { begun, ...of } = named;
      return begun ? { ...of, ...begun, stored: false } : reload(realm, of);
    },
    /** The one of the browser's sign-ins that waits for what has this address. */
    async waiting(request: FastifyRequest, realm: string, address: string): Promise<HeldSignIn | undefined> {
      const id = await store.atAddress(sql, realm, address, now());
      const named = id && cookie.all(request, realm).find((one) => one.id.equals(id));
      return named && reload(realm, named);
    },
    /** Where it stands by now; undefined: nothing of it is kept. */
    reload,

    /** @param inCookie where nothing has happened yet, and there is room for it. @returns its number among the browser's */
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

    /** @returns whether nobody kept anything else meanwhile */
    async keep(reply: FastifyReply, realm: string, held: HeldSignIn, state: SignInState): Promise<boolean> {
      const { id, expiresAt, stored } = held;
      if (stored) return store.save(realmSql(realm), realm, id, state);
      if (!hasProven(state)) limitUnproven(realm, reply.request);
      const first = await store.insert(realmSql(realm), realm, id, state, now(), expiresAt);
      cookie.keep(reply, realm, held);
      return first;
    },

    /**
     * Something was proven: it goes on under a token that only the answer to this request says, so that whoever knew the one before
     * is behind nobody's password (session fixation).
     * @param left what stays under the token before. @returns whether nobody kept anything else meanwhile
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
    /** It went on under that token. */
    follow: (reply: FastifyReply, realm: string, { tab, expiresAt }: HeldSignIn, token: string): void =>
      cookie.keep(reply, realm, { tab, token, expiresAt }),

    /** The end of one that is a row, in its transaction. @throws what {@link isLost} knows */
    async keepOver(tx: Tx, realm: string, { id }: HeldSignIn, state: FinishedState): Promise<void> {
      if (!(await store.save(tx.sql, realm, id, state))) throw new Lost();
    },
    /** The same of one that has no row yet: where another request made it first, the transaction fails. */
    keepOverLast: (run: Tx['atLast'], realm: string, { id, expiresAt }: HeldSignIn, state: FinishedState): void =>
      void store.insertLast(run, realm, id, state, now(), expiresAt),
    /** Whether another request finished it, or went on with it. */
    isLost: (error: unknown): boolean => error instanceof Lost || store.isKept(error),

    /** From now on the row counts, which another request may have made. */
    isRow(reply: FastifyReply, realm: string, held: HeldSignIn): void {
      if (!held.stored) cookie.keep(reply, realm, held);
    },
    /** Its session is about to end, in the transaction that ends the sign-in, too. */
    detach: async (tx: Tx, realm: string, { id }: HeldSignIn): Promise<void> =>
      void (await store.detach(tx.sql, realm, id)),
    /** Nothing of it is kept. */
    async drop(reply: FastifyReply, realm: string, { id, tab }: HeldSignIn): Promise<void> {
      await store.remove(realmSql(realm), realm, [id]);
      cookie.clear(reply, realm, tab);
    },
    /** The same of all stored sign-ins of this browser; those without a row name nobody. */
    async dropAll(request: FastifyRequest, reply: FastifyReply, realm: string): Promise<void> {
      const stored = cookie.all(request, realm).filter(({ begun }) => !begun);
      if (stored.length === 0) return;
      const ids = stored.map(({ id }) => id);
      await store.remove(realmSql(realm), realm, ids);
      for (const { tab } of stored) cookie.clear(reply, realm, tab);
    },
    /** The browser needs it no more. */
    forget: (reply: FastifyReply, realm: string, { tab }: Pick<HeldSignIn, 'tab'>): void =>
      cookie.clear(reply, realm, tab),

    /** One that is done and leads to `continueAt`; it leads there once. */
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
