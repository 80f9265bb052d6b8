// The sign-in's cookie: a token, and beside it, sealed, all there is to know while nothing has happened yet. So a visitor who
// only looks at the page costs no row. The first thing that happens is stored under the token, and from then on the row counts.
// A sign-in that is begun beside others of the same browser, in another tab, has a cookie and a number of its own.
import type {} from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { TokenSeal } from '../../../crypto/token-seal.ts';
import { sha256 } from '../../../crypto/tokens.ts';
import { realmCookie } from '../../../http/realm-cookie.ts';
import { SignInState } from './state.ts';

const SIGN_IN_COOKIE = 'SVC_SIGN_IN';
/** A browser keeps 4,096 bytes of a cookie, its name and attributes included (RFC 6265 §6.1). */
const LONGEST = 3000;
/** Sign-ins in one browser at once; beyond them the oldest are let go. */
const MOST_AT_ONCE = 3;
/** All of their cookies: the header line they come in has to fit into 8 KiB (nginx, large_client_header_buffers). */
const LONGEST_TOGETHER = 6000;
const LAST_TAB = 99;
export const LIFETIME_SECONDS = 1800;
/** Some kilobytes each. */
const MOST_REMEMBERED = 500;

const NUMBERED = new RegExp(`^(?:__Host-)?${SIGN_IN_COOKIE}(?:\\.[a-z0-9-]+)?(?:_([1-9]\\d?))?$`);

/** The number of the sign-in that an address is about; 0 is the one that isn't numbered. */
export const tabOf = ({ url }: FastifyRequest): number => Number(/[?&]tab=([1-9]\d?)(?:&|$)/.exec(url)?.[1] ?? 0);
/** An address about the sign-in of that number. */
export const inTab = (path: string, tab: number): string =>
  tab === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}tab=${tab}`;

/** The browser's sign-ins of all realms that their cookies are sent to, the oldest first. */
const allOf = ({ cookies }: FastifyRequest): { name: string; tab: number; length: number }[] =>
  Object.entries(cookies)
    .flatMap(([name, value = '']) => {
      const [whole, tab = 0] = NUMBERED.exec(name) ?? [];
      return whole === undefined ? [] : [{ name, tab: Number(tab), length: value.length }];
    })
    .sort((a, b) => a.tab - b.tab);

/** A sign-in that begins: one more of the browser's, or in the place of the one that the request's address is about. */
export type Beginning = 'beside others' | 'in its place';

const Begun = z.object({ state: SignInState, until: z.int() });

/** What a cookie holds, open. */
interface Opened {
  realm: string;
  sealed: string;
  state: SignInState;
  expiresAt: Date;
}

/**
 * What this process sealed or opened a moment ago, by its token's digest: each sign-in comes back with the same cookie twice
 * or more. It spares the opening and the parsing; the token, the seal, the realm and the time are looked at as ever.
 */
function createMemory(now: () => Date) {
  const opened = new Map<string, Opened>();
  const keyOf = (id: Buffer) => id.toString('base64url');
  return {
    /** Begun at about the same time, they expire in the order that they came in. */
    put(id: Buffer, entry: Opened): void {
      for (const [key, { expiresAt }] of opened) {
        if (opened.size < MOST_REMEMBERED && expiresAt > now()) break;
        opened.delete(key);
      }
      opened.set(keyOf(id), entry);
    },
    find(id: Buffer, realm: string, sealed: string): Opened | undefined {
      const entry = opened.get(keyOf(id));
      return entry?.realm === realm && entry.sealed === sealed ? entry : undefined;
    },
  };
}

/** A sign-in as the request's cookie names it. */
export interface Carried {
  token: string;
  /** Its number among the browser's sign-ins. */
  tab: number;
  /** Of the row, where there is one. */
  id: Buffer;
  /** What the cookie itself holds: how it began, which says nothing about whether there is a row by now. */
  begun: { state: SignInState; expiresAt: Date } | undefined;
}

export function createSignInCookie({ seal, baseUrl, now }: { seal: TokenSeal; baseUrl: string; now: () => Date }) {
  const { nameIn, options } = realmCookie(baseUrl, SIGN_IN_COOKIE);
  const nameOf = (realm: string, tab: number): string => (tab === 0 ? nameIn(realm) : `${nameIn(realm)}_${tab}`);
  const ofRealm = (request: FastifyRequest, realm: string) =>
    allOf(request).filter(({ name, tab }) => name === nameOf(realm, tab));
  const set = (reply: FastifyReply, realm: string, tab: number, value: string, expiresAt: Date): void => {
    const maxAge = Math.ceil((expiresAt.getTime() - now().getTime()) / 1000);
    void reply.setCookie(nameOf(realm, tab), value, { ...options(realm), maxAge });
  };
  const clear = (reply: FastifyReply, realm: string, tab: number): void =>
    void reply.clearCookie(nameOf(realm, tab), options(realm));
  /** The number of one that begins, and room for its `length` characters beside the others. */
  function place(reply: FastifyReply, realm: string, beginning: Beginning, length: number): number {
    if (beginning === 'in its place') return tabOf(reply.request);
    const mine = ofRealm(reply.request, realm);
    const next = (mine.at(-1)?.tab ?? -1) + 1;
    let room = next > LAST_TAB ? 0 : LONGEST_TOGETHER - length;
    for (const [newer, other] of mine.toReversed().entries()) {
      room -= other.length;
      if (newer + 1 >= MOST_AT_ONCE || room < 0) clear(reply, realm, other.tab);
    }
    for (const { name, tab, length: theirs } of allOf(reply.request)) {
      if (name === nameOf(realm, tab)) continue;
      room -= theirs;
      if (room < 0) void reply.clearCookie(name, options(realm));
    }
    return next > LAST_TAB ? 0 : next;
  }
  const contextOf = (realm: string): string => `sign-in:${realm}`;
  const memory = createMemory(now);

  function open(token: string, id: Buffer, realm: string, sealed: string): Opened | undefined {
    const known = memory.find(id, realm, sealed);
    if (known) return known;
    const plain = seal.open(token, sealed, contextOf(realm));
    // A replica of another version may have sealed it: what can't be read has expired.
    const parsed = plain === undefined ? undefined : Begun.safeParse(JSON.parse(plain)).data;
    if (!parsed) return undefined;
    const opened = { realm, sealed, state: parsed.state, expiresAt: new Date(parsed.until) };
    if (opened.expiresAt > now()) memory.put(id, opened);
    return opened;
  }

  function read(request: FastifyRequest, realm: string, tab: number): Carried | undefined {
    const [token, sealed] = request.cookies[nameOf(realm, tab)]?.split('.') ?? [];
    if (!token) return undefined;
    const id = sha256(token);
    if (sealed === undefined) return { token, tab, id, begun: undefined };
    const opened = open(token, id, realm, sealed);
    if (!opened || opened.expiresAt <= now()) return undefined;
    return { token, tab, id, begun: { state: opened.state, expiresAt: opened.expiresAt } };
  }

  return {
    /** @returns its number; undefined: it is too much for a cookie */
    carry(
      reply: FastifyReply,
      realm: string,
      beginning: Beginning,
      { state, expiresAt }: { state: SignInState; expiresAt: Date },
    ): number | undefined {
      const begun: z.infer<typeof Begun> = { state, until: expiresAt.getTime() };
      const { token, sealed } = seal.seal(JSON.stringify(begun), contextOf(realm));
      const value = `${token}.${sealed}`;
      if (value.length > LONGEST) return undefined;
      const tab = place(reply, realm, beginning, value.length);
      set(reply, realm, tab, value, expiresAt);
      memory.put(sha256(token), { realm, sealed, state, expiresAt });
      return tab;
    },

    /** For one that begins with a row of its own. @returns its number */
    keepNew(reply: FastifyReply, realm: string, beginning: Beginning, token: string, expiresAt: Date): number {
      const tab = place(reply, realm, beginning, token.length);
      set(reply, realm, tab, token, expiresAt);
      return tab;
    },

    /** The row of this token is what counts from now on. */
    keep: (
      reply: FastifyReply,
      realm: string,
      { tab, token, expiresAt }: Pick<Carried, 'tab' | 'token'> & { expiresAt: Date },
    ): void => set(reply, realm, tab, token, expiresAt),

    /** The sign-in that the request's address is about. */
    read: (request: FastifyRequest, realm: string): Carried | undefined => read(request, realm, tabOf(request)),

    /** The browser's sign-ins, the oldest first. */
    all: (request: FastifyRequest, realm: string): Carried[] =>
      ofRealm(request, realm).flatMap(({ tab }) => read(request, realm, tab) ?? []),

    clear,
  };
}
export type SignInCookie = ReturnType<typeof createSignInCookie>;
