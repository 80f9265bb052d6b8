// Owns: the tokens by which another system provisions a realm: creating, revoking and finding them.
// Does not own: the actions by a token (users.ts, groups.ts), the check of each request (surface.ts).
// Implements: decisions "SCIM token"; specification 4.11, 5.
import type { By } from '../../../contract/events.ts';
import type { Permission } from '../../../contract/permissions.ts';
import { Problem } from '../../../contract/problem.ts';
import type { ScimPermission, ScimToken, ScimTokenInput } from '../../../contract/scim-tokens.ts';
import { newToken, sha256, wellFormed } from '../../../crypto/tokens.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import { hasPermission, type Principal } from '../../../domain/principal.ts';
import * as store from './token-store.ts';

/** The maximum age of `lastUsedAt`, so that not every request writes. */
const TOUCH_MS = 60_000;

const needed: Record<ScimPermission, readonly Permission[]> = {
  read: ['users:read', 'groups:read'],
  write: ['users:write', 'groups:write'],
};

/** Who provisions. */
export interface Provisioner {
  id: string;
  name: string;
  permissions: readonly ScimPermission[];
}

const toWire = (row: store.TokenRow): ScimToken => ({
  id: row.id,
  name: row.name,
  permissions: row.permissions,
  createdAt: row.created_at.getTime(),
  expiresAt: row.expires_at?.getTime() ?? null,
  lastUsedAt: row.last_used_at?.getTime() ?? null,
});

export function createScimTokens({
  sql,
  realmSql,
  transact,
  now,
  newId,
}: {
  sql: Sql;
  realmSql: RealmSql;
  transact: Transact;
  now: () => Date;
  newId: () => string;
}) {
  return {
    list: async (realm: string, after: string | undefined, limit: number): Promise<ScimToken[]> =>
      (await store.list(sql, realm, { after, limit })).map(toWire),

    async create(
      principal: Principal,
      by: By,
      realm: string,
      { name, permissions, expiresAt }: ScimTokenInput,
    ): Promise<ScimToken & { token: string }> {
      const given = [...new Set(permissions)].sort();
      const missing = given
        .flatMap((one) => needed[one])
        .find((permission) => !hasPermission(principal, realm, permission));
      if (missing !== undefined) throw new Problem('privilege-escalation', `The token would give ${missing}`);
      const at = now();
      const until = expiresAt === undefined ? null : new Date(expiresAt);
      if (until && !(until > at))
        throw new Problem('invalid-request', undefined, {
          errors: [{ path: 'expiresAt', message: 'must be in the future' }],
        });
      const token = newToken('svc_scim_');
      const row = { id: newId(), name, permissions: given, created_at: at, expires_at: until, last_used_at: null };
      return transact(realm, async (tx) => {
        await store.insert(tx.sql, realm, sha256(token), row);
        const subject = { type: 'object', id: row.id, name } as const;
        const data = { permissions: given, expiresAt: until?.getTime() ?? null };
        tx.record({ type: 'SCIM_TOKEN_CREATED', realm, by, subject, data });
        return { ...toWire(row), token };
      });
    },

    remove: (by: By, realm: string, id: string): Promise<void> =>
      transact(realm, async (tx) => {
        const name = await store.remove(tx.sql, realm, id);
        if (name === undefined) throw new Problem('not-found', 'There is no such SCIM token');
        tx.record({ type: 'SCIM_TOKEN_DELETED', realm, by, subject: { type: 'object', id, name } });
      }),

    /** The client of the token; undefined: the token is unknown or expired. */
    async find(realm: string, token: string): Promise<Provisioner | undefined> {
      if (!wellFormed(token, 'svc_scim_')) return undefined;
      const at = now();
      const row = await store.find(sql, realm, sha256(token), at);
      if (!row) return undefined;
      if (at.getTime() - (row.last_used_at?.getTime() ?? 0) >= TOUCH_MS)
        await store.touch(realmSql(realm), realm, row.id, at);
      return { id: row.id, name: row.name, permissions: row.permissions };
    },
  };
}
export type ScimTokens = ReturnType<typeof createScimTokens>;
