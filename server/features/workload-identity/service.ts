// Owns: the credentials that say whose foreign tokens are traded for ours, and who may make them.
// Does not own: the exchange itself (exchange.ts), clients and what they hold.
// Implements: specification 2.8, 4.7 (admin); decisions "Rights": nobody can give what they don't hold.
import type { By, EventType } from '../../contract/events.ts';
import { Problem, unknownName } from '../../contract/problem.ts';
import type {
  WorkloadIdentity,
  WorkloadIdentityInput,
  WorkloadIdentityUpdate,
} from '../../contract/workload-identity.ts';
import type { Sql } from '../../db/sql.ts';
import type { Transact, Tx } from '../../db/transact.ts';
import type { Expect } from '../../http/etag.ts';
import { isNoRealms } from '../../http/own-addresses.ts';
import type { Principal } from '../../http/principal.ts';
import * as store from './store.ts';

export interface WorkloadIdentitiesDeps {
  sql: Sql;
  transact: Transact;
  access: {
    covers(principal: Principal, realm: string, target: { clientUuid: string }, on: Sql): Promise<boolean>;
  };
  baseUrl: string;
  newId(): string;
}

export const toWire = (realm: string, row: store.CredentialRow): WorkloadIdentity => ({
  id: row.id,
  realmId: realm,
  name: row.name,
  issuer: row.issuer,
  jwksUri: row.jwks_uri,
  subject: row.subject,
  audience: row.audience,
  clientId: row.client_id,
  scopes: row.scopes,
  enabled: row.enabled,
  adminAccess: row.admin_access,
});

/** What a field has that was left out: its value before, or a fresh credential's. */
const merged = (
  input: WorkloadIdentityInput,
  before: store.CredentialRow | undefined,
  id: string,
): store.CredentialRow => ({
  id,
  name: input.name,
  issuer: input.issuer,
  jwks_uri: input.jwksUri === undefined ? (before?.jwks_uri ?? null) : input.jwksUri,
  subject: input.subject,
  audience: input.audience,
  client_id: input.clientId,
  scopes: input.scopes ?? before?.scopes ?? '',
  enabled: input.enabled ?? before?.enabled ?? true,
  admin_access: input.adminAccess ?? before?.admin_access ?? true,
});

export const noRealmsIssuer = 'is this server’s, and no realm’s issuer';
const missing = () => new Problem('not-found', 'There is no such credential');

export function createWorkloadIdentities({ sql, transact, access, baseUrl, newId }: WorkloadIdentitiesDeps) {
  const record = (tx: Tx, type: EventType, by: By, realm: string, { id, name, ...row }: store.CredentialRow) =>
    tx.record({
      type,
      realm,
      by,
      subject: { type: 'object', id, name },
      clientId: row.client_id,
      data: {
        issuer: row.issuer,
        subject: row.subject,
        audience: row.audience,
        scopes: row.scopes,
        enabled: row.enabled,
        adminAccess: row.admin_access,
      },
    });

  /** Whoever makes a workload act as a client could act as it, too. */
  async function mayActFor(tx: Tx, principal: Principal, realm: string, clientId: string): Promise<void> {
    const client = await store.clientOf(tx.sql, realm, clientId);
    if (!client)
      throw new Problem('invalid-request', undefined, { errors: [unknownName('clientId', 'client', clientId)] });
    if (!(await access.covers(principal, realm, { clientUuid: client.id }, tx.sql)))
      throw new Problem('privilege-escalation', `The client ${clientId} holds admin roles that you do not hold`);
  }

  function refuseIssuer(issuer: string, before?: string): void {
    if (issuer === before || !isNoRealms(issuer, baseUrl)) return;
    throw new Problem('invalid-request', undefined, { errors: [{ path: 'issuer', message: noRealmsIssuer }] });
  }

  async function refuseClash(tx: Tx, realm: string, row: store.CredentialRow): Promise<void> {
    const other = await store.clash(tx.sql, realm, row);
    if (other?.byName) throw new Problem('name-taken', `There is a credential named ${row.name}`);
    if (other)
      throw new Problem('name-taken', `The credential ${other.name} has this issuer, subject and audience already`);
  }

  return {
    async list(realm: string, after: string | undefined, limit: number): Promise<WorkloadIdentity[]> {
      return (await store.list(sql, realm, after, limit)).map((row) => toWire(realm, row));
    },

    async get(realm: string, id: string): Promise<WorkloadIdentity> {
      const row = await store.find(sql, realm, id);
      if (!row) throw missing();
      return toWire(realm, row);
    },

    create: (principal: Principal, by: By, realm: string, input: WorkloadIdentityInput): Promise<WorkloadIdentity> =>
      transact(realm, async (tx) => {
        const row = merged(input, undefined, newId());
        refuseIssuer(row.issuer);
        await mayActFor(tx, principal, realm, row.client_id);
        await refuseClash(tx, realm, row);
        if (!(await store.insert(tx.sql, realm, row))) throw new Problem('name-taken');
        record(tx, 'WORKLOAD_IDENTITY_CREATED', by, realm, row);
        return toWire(realm, row);
      }),

    update: (
      principal: Principal,
      by: By,
      realm: string,
      id: string,
      input: WorkloadIdentityUpdate,
      expect: Expect,
    ): Promise<WorkloadIdentity> =>
      transact(realm, async (tx) => {
        const before = await store.lock(tx.sql, realm, id);
        if (!before) throw missing();
        expect(toWire(realm, before));
        const row = merged(input, before, id);
        refuseIssuer(row.issuer, before.issuer);
        // Both ends: neither a client's credential may be taken over, nor one be made for a client.
        for (const clientId of new Set([before.client_id, row.client_id]))
          await mayActFor(tx, principal, realm, clientId);
        await refuseClash(tx, realm, row);
        await store.update(tx.sql, realm, row);
        record(tx, 'WORKLOAD_IDENTITY_UPDATED', by, realm, row);
        return toWire(realm, row);
      }),

    remove: (principal: Principal, by: By, realm: string, id: string, expect: Expect): Promise<void> =>
      transact(realm, async (tx) => {
        const row = await store.lock(tx.sql, realm, id);
        if (!row) throw missing();
        expect(toWire(realm, row));
        // Else whoever may write credentials could shut the operator out.
        await mayActFor(tx, principal, realm, row.client_id);
        await store.remove(tx.sql, realm, id);
        record(tx, 'WORKLOAD_IDENTITY_DELETED', by, realm, row);
      }),
  };
}
export type WorkloadIdentities = ReturnType<typeof createWorkloadIdentities>;
