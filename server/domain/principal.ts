// Who asks: an administrator (a person or a program with permissions), or a person in their own account. A surface finds out
// (features/operations/admin-access, features/authentication/account); handlers and services ask here. Audit rows name them by their party.
import type { FastifyRequest } from 'fastify';
import type { By, Party } from '../contract/events.ts';
import type { Permission } from '../contract/permissions.ts';
import type { Reach } from './reach.ts';

/** How long a person's admin rights last after their sign-in, by cookie or by token. */
export const ADMIN_MAX_MS = 10 * 3_600_000;

/** The session that a person's request belongs to: an administrator's by its cookie's digest, or one of the realm's. */
export type OwnSession = { sessionId: string } | { adminSession: Buffer };

/** Permissions that count within a reach. */
export interface Limited extends Reach {
  permissions: ReadonlySet<Permission>;
}

/** Who asks on the admin API, and what they may do. */
export interface Principal {
  type: 'user' | 'client' | 'agent';
  id: string;
  name: string;
  /** Home realm. */
  realm: string;
  /** Permissions by target realm; `*` is every realm and stands only with principals of `master`. */
  permissions: ReadonlyMap<string, ReadonlySet<Permission>>;
  /** What is held in the home realm for single groups or clients alone. It counts where a route says so, and nowhere else. */
  limited: readonly Limited[];
  /** A client that registers itself, whose scopes the realm's policy has judged (features/protocol/registration). */
  registers?: true;
  session?: OwnSession;
  /** Epoch ms; null where the credential itself bounds it. */
  expiresAt: number | null;
}

/** Who asks on the account surface. */
export interface AccountHolder {
  userId: string;
  username: string;
  /** The session that the request came by, or that its token hangs on. */
  sessionId: string | undefined;
  /** The application, where a token was sent. */
  clientId: string | undefined;
  /** What a write by cookie must send back, so that no other site can make one. */
  csrf: string | undefined;
  /** Somebody acts for the person, and may only look. */
  acting: boolean;
  /** An application's token in an administrator's account: it changes nothing there. */
  onlyReads: boolean;
  /** The level that changes of how they sign in ask for, and whether it was proven a moment ago. */
  level: number;
  fresh: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the admin surface. */
    principal?: Principal;
    /** Set by the admin surface where the caller holds the route's permission for single groups or clients alone. */
    reach?: Reach;
    /** Set by the account surface. */
    holder?: AccountHolder;
  }
}

/** The caller of an admin route; the surface has made sure that there is one. */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new Error(`${request.routeOptions.url} is not on the admin surface`);
  return request.principal;
}

/** The person of a request on the account surface. */
export function holderOf(request: FastifyRequest): AccountHolder {
  if (!request.holder) throw new Error(`${request.routeOptions.url} is not on the account surface`);
  return request.holder;
}

/** What the principal may do in a realm: grants over it, and those over every realm. */
export function permissionsIn(principal: Principal, realm: string): ReadonlySet<Permission> {
  const here = principal.permissions.get(realm);
  const everywhere = principal.permissions.get('*');
  if (!everywhere) return here ?? new Set();
  return here ? new Set([...here, ...everywhere]) : everywhere;
}

export const hasPermission = (principal: Principal, realm: string, permission: Permission): boolean =>
  permissionsIn(principal, realm).has(permission);

/** How far the principal holds a permission that they don't hold over the whole realm. */
export function reachOf(principal: Principal, realm: string, permission: Permission): Reach | undefined {
  if (principal.realm !== realm) return undefined;
  const held = principal.limited.filter(({ permissions }) => permissions.has(permission));
  if (held.length === 0) return undefined;
  return { groups: held.flatMap(({ groups }) => groups), clients: held.flatMap(({ clients }) => clients) };
}

export const partyOf = ({ type, id, name }: Principal): Party => ({ type, id, name });

export const byPrincipal = (principal: Principal, ipAddress: string | null): By => ({
  actor: partyOf(principal),
  ipAddress,
});
