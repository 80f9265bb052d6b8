// Owns: realms: the list with its revisions, creation with the seeds of every feature, deletion.
// Does not own: a realm's objects (each feature), import and adoption (features/operations/transfer), health (health.ts).
// Implements: decisions "Realms", "Import, export, plan" (revision list with ETag); specification 1.

import { errorWords } from '../../../contract/error-words.ts';
import type { By } from '../../../contract/events.ts';
import { Problem } from '../../../contract/problem.ts';
import { type Adoption, MASTER, type Realm, type RealmSummary } from '../../../contract/realms.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { byPrincipal, type Principal } from '../../../domain/principal.ts';
import type { Denied } from '../../../events/denials.ts';
import type { Expect } from '../../../http/etag.ts';
import { issuerOf } from '../../../http/own-addresses.ts';
import type { Removal } from './removal.ts';
import { isBeingDeleted } from './removal-store.ts';
import type { RealmSeed } from './seed.ts';
import * as store from './store.ts';

export interface RealmsDeps {
  sql: Sql;
  transact: Transact;
  baseUrl: string;
  now: () => Date;
  /** In order: a seed may use objects of earlier ones. */
  seeds: readonly RealmSeed[];
  /** Audits a refused creation. */
  denied: Denied;
  /** Drops the realm from this process's caches; other processes are notified by NOTIFY. */
  gone(realm: string): void;
  removal: Pick<Removal, 'within'>;
  warn(message: string): void;
}

/** The request, for auditing a refusal. */
interface AuditedRequest {
  ip: string;
  method: string;
  path: string;
}

/** How long a request waits until all that the realm held is gone. A job removes the rest. */
const REMOVAL_MS = 5_000;

const toSummary = (row: store.RealmRow): RealmSummary => ({
  realm: row.realm_id,
  displayName: row.display_name ?? row.realm_id,
  revision: row.revision,
});

/** The realms that a principal may read. */
function visibleTo({ permissions }: Principal): store.Visible {
  const reads = [...permissions].filter(([, held]) => held.has('realm:read')).map(([realm]) => realm);
  return reads.includes('*') ? 'all' : reads;
}

export function createRealms({ sql, transact, baseUrl, now, seeds, denied, gone, removal, warn }: RealmsDeps) {
  const toWire = (row: store.RealmRow): Realm => ({
    ...toSummary(row),
    issuer: issuerOf(baseUrl, { realmId: row.realm_id, issuer: row.issuer }),
    createdAt: row.created_at.getTime(),
    declaredOnly: row.declared_only,
  });
  const missing = (realm: string) => new Problem('not-found', `There is no realm ${realm}`);

  /** Inserts the realm and the objects that every feature seeds; the import engine also creates realms by it. */
  async function seedInto(tx: Tx, by: By, realm: string, displayName?: string, createdBy = ''): Promise<Realm> {
    const row = await store.insert(tx.sql, { realm, displayName, createdBy, at: now() });
    if (!row && (await isBeingDeleted(tx.sql, realm)))
      throw new Problem('being-deleted', `The realm ${realm} is being deleted; its name is free as soon as it is gone`);
    if (!row) throw new Problem('name-taken', `There is a realm ${realm} already`);
    for (const seed of seeds) await seed(tx, realm, by);
    tx.record({
      type: 'REALM_CREATED',
      realm,
      by,
      subject: { type: 'realm', id: realm, name: realm },
      data: { displayName: displayName ?? realm, ...(createdBy === '' ? {} : { manager: createdBy }) },
    });
    // The event raises the revision, so the fresh realm's is one more than the row's.
    return toWire({ ...row, revision: row.revision + 1 });
  }

  const create = (by: By, { realm, displayName }: { realm: string; displayName?: string | undefined }) =>
    transact(realm, (tx) => seedInto(tx, by, realm, displayName));

  /** @throws Problem if the principal lacks `realm:create`, which can only be granted for all realms */
  async function maker(principal: Principal, { ip, method, path }: AuditedRequest): Promise<By> {
    const by = byPrincipal(principal, ip);
    if (principal.permissions.get('*')?.has('realm:create')) return by;
    await denied({ realm: principal.realm, by, permission: 'realm:create', method, path });
    throw new Problem('forbidden', 'This needs the permission realm:create over every realm');
  }

  return {
    seedInto,
    renameMakers: store.renameMakers,
    create,

    /** Creates a realm for an administrator. */
    createAs: async (
      principal: Principal,
      wanted: { realm: string; displayName?: string | undefined },
      asked: AuditedRequest,
    ): Promise<Realm> => create(await maker(principal, asked), wanted),

    /** The creator and managers of a deleted realm, for callers who may create it again. */
    async former(principal: Principal, realm: string, asked: AuditedRequest): Promise<Adoption> {
      await maker(principal, asked);
      const row = await store.readFormer(sql, realm);
      if (!row) throw new Problem('not-found', `No realm ${realm} was deleted`);
      return { managers: row.adoption, createdBy: row.created_by };
    },

    async get(realm: string): Promise<Realm> {
      const row = await store.read(sql, realm);
      if (!row) throw missing(realm);
      return toWire(row);
    },

    /** One tag for all pages of `list` without a pattern: it changes when any visible realm does. */
    digest: (principal: Principal) => store.digest(sql, visibleTo(principal)),

    /** Ordered by name; one row more than `limit` shows that there are more. */
    async list(
      principal: Principal,
      page: { after: string; limit: number; pattern: string | undefined },
    ): Promise<RealmSummary[]> {
      const rows = await store.list(sql, visibleTo(principal), { ...page, limit: page.limit + 1 });
      return rows.map(toSummary);
    },

    /**
     * Deletes the realm with all its data, including its audit log. Only REALM_DELETED in master's log remains. The realm
     * answers no request from the moment of this call.
     * @returns whether all data is gone; if not, a job removes the rest, and the name is taken until it has
     */
    async remove(by: By, realm: string, expect: Expect): Promise<boolean> {
      if (realm === MASTER) throw new Problem('realm-protected', 'The realm master always exists');
      await transact(realm, async (tx) => {
        const row = await store.lock(tx.sql, realm);
        if (!row) throw missing(realm);
        expect(toWire(row));
        await store.markDeleted(tx.sql, realm, now());
        tx.record({
          type: 'REALM_DELETED',
          realm: MASTER,
          by,
          subject: { type: 'realm', id: realm, name: realm },
          data: { revision: row.revision },
        });
      });
      gone(realm);
      const removed = await removal.within(realm, REMOVAL_MS).catch((error: unknown) => {
        warn(`removing the realm ${realm} was interrupted (${errorWords(error)}); a job goes on`);
        return false;
      });
      if (removed) gone(realm);
      return removed;
    },
  };
}
export type Realms = ReturnType<typeof createRealms>;
