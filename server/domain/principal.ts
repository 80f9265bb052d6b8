// The authenticated caller of a request: an administrator (a user or a client with permissions), or a user in their own account. A surface
// authenticates the caller (features/operations/admin-access, features/authentication/account); handlers and services read them here.
// Audit rows name the caller by their party.
import type { FastifyRequest } from 'fastify';
import type { By, Party } from '../contract/events.ts';
import type { Permission } from '../contract/permissions.ts';
import { Problem } from '../contract/problem.ts';
import type { Reach } from './reach.ts';

/** Milliseconds that a user's admin rights last after sign-in, by cookie or by token. */
export const ADMIN_MAX_MS = 10 * 3_600_000;

/** The session of a user's request: an admin session, by its cookie's digest, or one of the realm's sessions. */
export type OwnSession = { sessionId: string } | { adminSession: Buffer };

/** Permissions that are limited to single groups or clients. */
export interface Limited extends Reach {
  permissions: ReadonlySet<Permission>;
}

/** The caller of an admin route, with their permissions. */
export interface Principal {
  type: 'user' | 'client' | 'agent';
  id: string;
  name: string;
  /** Home realm. */
  realm: string;
  /** Permissions by target realm; `*` is every realm and stands only with principals of `master`. */
  permissions: ReadonlyMap<string, ReadonlySet<Permission>>;
  /** Permissions in the home realm that are limited to single groups or clients. They count only on routes that say so. */
  limited: readonly Limited[];
  /** A client that registers itself, whose scopes the realm's policy has judged (features/protocol/registration). */
  registers?: true;
  session?: OwnSession;
  /** Epoch ms; null if the credential itself has an expiry. */
  expiresAt: number | null;
}

/** The caller of an account route. */
export interface AccountHolder {
  userId: string;
  username: string;
  /** The request's session, or the session of its token. */
  sessionId: string | undefined;
  /** The application, if the request has a token. */
  clientId: string | undefined;
  /** The CSRF token that a write by cookie must send, so that no other site can make one. */
  csrf: string | undefined;
  /** An administrator impersonates the user, and may only read. */
  acting: boolean;
  /** An application's token in an administrator's account: it changes nothing there. */
  onlyReads: boolean;
  /** The level that a change of credentials needs, and whether the user has proven it recently. */
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

/** The caller of an admin route. @throws Error on a route that the admin surface does not guard */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new Error(`${request.routeOptions.url} is not on the admin surface`);
  return request.principal;
}

/** The caller of an account route. */
export function holderOf(request: FastifyRequest): AccountHolder {
  if (!request.holder) throw new Error(`${request.routeOptions.url} is not on the account surface`);
  return request.holder;
}

/** The principal's permissions in a realm: those over this realm, and those over every realm. */
export function permissionsIn(principal: Principal, realm: string): ReadonlySet<Permission> {
  const here = principal.permissions.get(realm);
  const everywhere = principal.permissions.get('*');
  if (!everywhere) return here ?? new Set();
  return here ? new Set([...here, ...everywhere]) : everywhere;
}

/** Whether the principal has the permission over the whole realm. */
export const hasPermission = (principal: Principal, realm: string, permission: Permission): boolean =>
  permissionsIn(principal, realm).has(permission);

/**
 * For a permission that only some requests of a route need. The admin surface audits the refusal by its `extra.permission`.
 * @throws Problem `forbidden`
 */
export function requirePermission(
  principal: Principal,
  realm: string,
  permission: Permission,
  because = `This needs the permission ${permission} in the realm ${realm}`,
): void {
  if (!hasPermission(principal, realm, permission)) throw new Problem('forbidden', because, { extra: { permission } });
}

/** The groups and clients to which the principal's permission is limited; undefined if they don't have it there. */
export function reachOf(principal: Principal, realm: string, permission: Permission): Reach | undefined {
  if (principal.realm !== realm) return undefined;
  const held = principal.limited.filter(({ permissions }) => permissions.has(permission));
  if (held.length === 0) return undefined;
  return { groups: held.flatMap(({ groups }) => groups), clients: held.flatMap(({ clients }) => clients) };
}

/** The caller as actor of an audit event. */
export const partyOf = ({ type, id, name }: Principal): Party => ({ type, id, name });

/** The caller and its address, for the audit events of its request. */
export const byPrincipal = (principal: Principal, ipAddress: string | null): By => ({
  actor: partyOf(principal),
  ipAddress,
});
