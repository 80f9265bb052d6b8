// The sign-in's cookie: a token, and beside it, sealed, all there is to know while nothing has happened yet. So a visitor who
// only looks at the page costs no row. The first thing that happens is stored under the token, and from then on the row counts.
import type {} from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { TokenSeal } from '../../crypto/token-seal.ts';
import { sha256 } from '../../crypto/tokens.ts';
import { SignInState } from './state.ts';

const SIGN_IN_COOKIE = 'SVC_SIGN_IN';
/** A browser keeps 4,096 bytes of a cookie, its name and attributes included (RFC 6265 §6.1). */
const LONGEST = 3000;
export const LIFETIME_SECONDS = 1800;
/** Some kilobytes each. */
const MOST_REMEMBERED = 500;

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
  /** Of the row, where there is one. */
  id: Buffer;
  /** What the cookie itself holds: how it began, which says nothing about whether there is a row by now. */
  begun: { state: SignInState; expiresAt: Date } | undefined;
}

export function createSignInCookie({ seal, baseUrl, now }: { seal: TokenSeal; baseUrl: string; now: () => Date }) {
  const options = (realm: string) => ({
    path: `/realms/${realm}`,
    httpOnly: true,
    sameSite: 'lax' as const,
    secure: baseUrl.startsWith('https:'),
  });
  const set = (reply: FastifyReply, realm: string, value: string, expiresAt: Date): void => {
    const maxAge = Math.ceil((expiresAt.getTime() - now().getTime()) / 1000);
    void reply.setCookie(SIGN_IN_COOKIE, value, { ...options(realm), maxAge });
  };
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

  return {
    /** @returns false: it is too much for a cookie */
    carry(reply: FastifyReply, realm: string, state: SignInState, expiresAt: Date): boolean {
      const begun: z.infer<typeof Begun> = { state, until: expiresAt.getTime() };
      const { token, sealed } = seal.seal(JSON.stringify(begun), contextOf(realm));
      const value = `${token}.${sealed}`;
      if (value.length > LONGEST) return false;
      set(reply, realm, value, expiresAt);
      memory.put(sha256(token), { realm, sealed, state, expiresAt });
      return true;
    },

    /** The row of this token is what counts from now on. */
    keep: (reply: FastifyReply, realm: string, token: string, expiresAt: Date): void =>
      set(reply, realm, token, expiresAt),

    read(request: FastifyRequest, realm: string): Carried | undefined {
      const [token, sealed] = request.cookies[SIGN_IN_COOKIE]?.split('.') ?? [];
      if (!token) return undefined;
      const id = sha256(token);
      if (sealed === undefined) return { token, id, begun: undefined };
      const opened = open(token, id, realm, sealed);
      if (!opened || opened.expiresAt <= now()) return undefined;
      return { token, id, begun: { state: opened.state, expiresAt: opened.expiresAt } };
    },

    clear: (reply: FastifyReply, realm: string): void => void reply.clearCookie(SIGN_IN_COOKIE, options(realm)),
  };
}
export type SignInCookie = ReturnType<typeof createSignInCookie>;
