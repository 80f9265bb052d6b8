// Who is asking on the admin API, and what they may do. Made by features/admin-access, checked by http/admin.ts.
import type { By } from '../contract/events.ts';
import type { Permission } from '../contract/permissions.ts';

/** How long a person's admin rights last after their sign-in, by cookie or by token. */
export const ADMIN_MAX_MS = 10 * 3_600_000;

/** The session that a person's request belongs to: an administrator's by its cookie's digest, or one of the realm's. */
export type OwnSession = { sessionId: string } | { adminSession: Buffer };

export interface Principal {
  type: 'user' | 'client';
  id: string;
  name: string;
  /** Home realm. */
  realm: string;
  /** Permissions by target realm; `*` is every realm and stands only with principals of `master`. */
  permissions: ReadonlyMap<string, ReadonlySet<Permission>>;
  session?: OwnSession;
  /** Epoch ms; null where the credential itself bounds it. */
  expiresAt: number | null;
}

/** What the principal may do in a realm: grants over it, and those over every realm. */
export function permissionsIn(principal: Principal, realm: string): ReadonlySet<Permission> {
  const here = principal.permissions.get(realm);
  const everywhere = principal.permissions.get('*');
  if (!everywhere) return here ?? new Set();
  return here ? new Set([...here, ...everywhere]) : everywhere;
}

export const may = (principal: Principal, realm: string, permission: Permission): boolean =>
  permissionsIn(principal, realm).has(permission);

export const byPrincipal = (principal: Principal, ipAddress: string | null): By => ({
  actor: { type: principal.type, id: principal.id, name: principal.name },
  ipAddress,
});
