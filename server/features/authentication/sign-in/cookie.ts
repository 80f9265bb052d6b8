// The cookie of a sign-in: a token, and the sealed initial state, so that a visitor who only looks at the page costs no
// row. The first change is stored in a row under the token, and from then on the row counts. Further sign-ins in other tabs
// of the browser have numbered cookies of their own.
import type {} from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { TokenSeal } from '../../../crypto/token-seal.ts';
import { sha256 } from '../../../crypto/tokens.ts';
import { realmCookie } from '../../../http/realm-cookie.ts';
import { SignInState } from './state.ts';

const SIGN_IN_COOKIE = 'SVC_SIGN_IN';
/** Browsers limit a cookie to 4,096 bytes with its name and attributes (RFC 6265 §6.1). */
const LONGEST = 3000;
/** The most sign-ins of one browser. A further one drops the oldest. */
const MOST_AT_ONCE = 3;
/**
 * The limit of all sign-in cookies together: their header line must fit into 8 KiB (nginx, large_client_header_buffers).
 */
const LONGEST_TOGETHER = 6000;
const LAST_TAB = 99;
export const LIFETIME_SECONDS = 1800;
/** Each entry takes some kilobytes. */
const MOST_REMEMBERED = 500;

const NUMBERED = new RegExp(`^(?:__Host-)?${SIGN_IN_COOKIE}(?:\\.[a-z0-9-]+)?(?:_([1-9]\\d?))?$`);

/** The number of the sign-in that the request's address names; 0 is the unnumbered one. */
export const tabOf = ({ url }: FastifyRequest): number => Number(/[?&]tab=([1-9]\d?)(?:&|$)/.exec(url)?.[1] ?? 0);
/** The address with the sign-in's number. */
export const inTab = (path: string, tab: number): string =>
  tab === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}tab=${tab}`;

/** The browser's sign-ins of all realms whose cookies it sends to this address, oldest first. */
const allOf = ({ cookies }: FastifyRequest): { name: string; tab: number; length: number }[] =>
  Object.entries(cookies)
    .flatMap(([name, value = '']) => {
      const [whole, tab = 0] = NUMBERED.exec(name) ?? [];
      return whole === undefined ? [] : [{ name, tab: Number(tab), length: value.length }];
    })
    .sort((a, b) => a.tab - b.tab);

/** Where a new sign-in goes: beside the browser's others, or in place of the one that the request's address names. */
export type Beginning = 'beside others' | 'in its place';

const Begun = z.object({ state: SignInState, until: z.int() });

/** The opened contents of a cookie. */
interface Opened {
  realm: string;
  sealed: string;
  state: SignInState;
  expiresAt: Date;
}

/**
 * Cookies that this process sealed or opened lately, by the digest of their token: a browser sends the same cookie at least
 * twice. This saves decryption and parsing; the token, the sealed text, the realm and the expiry are compared each time.
 */
function createMemory(now: () => Date) {
  const opened = new Map<string, Opened>();
  const keyOf = (id: Buffer) => id.toString('base64url');
  return {
    /** All entries live equally long, so they expire in the order in which they were added. */
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

/** The sign-in that the request's cookie names. */
export interface Carried {
  token: string;
  /** The number of the sign-in in this browser. */
  tab: number;
  /** The id of the row, if there is one. */
  id: Buffer;
  /** The initial state in the cookie itself. There may be a row with a later state. */
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
  /** Chooses the number of a new sign-in, and drops older sign-ins until `length` more characters fit. */
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
    // Another version of the server may have sealed it: a state that can't be parsed counts as expired.
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
    /** @returns the sign-in's number; undefined: the state is too long for a cookie */
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

    /** Sets the cookie of a sign-in that begins with a row. @returns its number */
    keepNew(reply: FastifyReply, realm: string, beginning: Beginning, token: string, expiresAt: Date): number {
      const tab = place(reply, realm, beginning, token.length);
      set(reply, realm, tab, token, expiresAt);
      return tab;
    },

    /** The cookie loses the initial state: from now on the row of the token counts. */
    keep: (
      reply: FastifyReply,
      realm: string,
      { tab, token, expiresAt }: Pick<Carried, 'tab' | 'token'> & { expiresAt: Date },
    ): void => set(reply, realm, tab, token, expiresAt),

    /** The sign-in that the request's address names. */
    read: (request: FastifyRequest, realm: string): Carried | undefined => read(request, realm, tabOf(request)),

    /** The browser's sign-ins in this realm, oldest first. */
    all: (request: FastifyRequest, realm: string): Carried[] =>
      ofRealm(request, realm).flatMap(({ tab }) => read(request, realm, tab) ?? []),

    clear,
  };
}
export type SignInCookie = ReturnType<typeof createSignInCookie>;
