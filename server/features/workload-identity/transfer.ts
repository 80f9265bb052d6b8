// The realm document's `workloadIdentity`: as 2.8 without ids. For whom a workload may act is the engine's right to check.
import { Problem } from '../../contract/problem.ts';
import { WorkloadIdentityDocument } from '../../contract/workload-identity.ts';
import { declared, join, parsing } from '../../http/document.ts';
import { isNoRealms } from '../../http/own-addresses.ts';
import type { Existing, Fields, RealmPart } from '../transfer/part.ts';
import { noRealmsIssuer } from './service.ts';
import type { CredentialRow } from './store.ts';

type Row = Omit<CredentialRow, 'id'>;
type Match = Pick<Row, 'name' | 'issuer' | 'subject' | 'audience'>;

/** Whose tokens it takes: unique in a realm. */
const matchOf = ({ issuer, subject, audience }: Fields | Match): string => JSON.stringify([issuer, subject, audience]);

export function createWorkloadIdentityPart({ baseUrl, newId }: { baseUrl: string; newId: () => string }): RealmPart {
  return {
    section: 'workloadIdentity',
    kind: 'workloadIdentity',
    area: 'workload-identity',
    list: true,
    parse: parsing(WorkloadIdentityDocument, ({ name, ...fields }, path) => [
      { key: name, fields: declared(fields), path },
    ]),
    print: (objects) => objects.map(({ key, fields }) => ({ name: key, ...fields })),
    fresh: () => ({ jwksUri: null, scopes: '', enabled: true, adminAccess: true }),
    required: ['issuer', 'subject', 'audience', 'clientId'],
    async read(sql, realm, keys) {
      const rows = await sql<Row>`
        select name, issuer, jwks_uri, subject, audience, client_id, scopes, enabled, admin_access
        from workload_identity
        where realm_id = ${realm} and (${keys ?? null}::text[] is null or name = any(${keys ?? null}::text[]))`;
      return new Map(
        rows.map(({ name, jwks_uri, client_id, admin_access, ...rest }): [string, Existing] => [
          name,
          { fields: { ...rest, jwksUri: jwks_uri, clientId: client_id, adminAccess: admin_access } },
        ]),
      );
    },
    references: ({ fields }) =>
      typeof fields.clientId === 'string' ? [{ kind: 'client', key: fields.clientId, path: 'clientId' }] : [],
    check: (saved) =>
      saved
        .filter(({ changed, fields }) => changed.includes('issuer') && isNoRealms(String(fields.issuer), baseUrl))
        .map(({ path }) => ({ path: join(path, 'issuer'), message: noRealmsIssuer })),
    async whole(sql, realm, changes) {
      const changed = changes.filter(({ kind }) => kind === 'workloadIdentity');
      const saved = changed.filter(({ action }) => action !== 'delete');
      if (saved.length === 0) return [];
      const others = await sql<Match>`
        select name, issuer, subject, audience from workload_identity
        where realm_id = ${realm} and name <> all(${changed.map((c) => c.key)}::text[])
          and subject = any(${saved.map((s) => String(s.fields.subject))}::text[])`;
      const trusted = new Map(others.map((row) => [matchOf(row), row.name]));
      for (const { key, fields, path } of saved) {
        const match = matchOf(fields);
        const other = trusted.get(match);
        if (other !== undefined)
          throw new Problem(
            'name-taken',
            `${path}: the workload identity ${other} trusts the same issuer, subject and audience as ${key}`,
            { errors: [{ path: `${path}.subject`, message: `is trusted by ${other} for this issuer and audience` }] },
          );
        trusted.set(match, key);
      }
      return [];
    },
    atOnce: true,
    async write(sql, realm, { create, update, remove }) {
      if (remove.length > 0)
        await sql`delete from workload_identity where realm_id = ${realm} and name = any(${remove}::text[])`;
      // Whom they trust is unique, and may go from one to another in one statement: out of the way first.
      if (update.length > 0)
        await sql`
          update workload_identity set subject = id::text
          where realm_id = ${realm} and name = any(${update.map((s) => s.key)}::text[])`;
      const rows = [...create, ...update].map(({ key, fields }) => ({ id: newId(), name: key, ...fields }));
      if (rows.length > 0)
        await sql`
          insert into workload_identity (realm_id, id, name, issuer, jwks_uri, subject, audience, client_id, scopes, enabled,
            admin_access)
          select ${realm}, id, name, issuer, "jwksUri", subject, audience, "clientId", scopes, enabled, "adminAccess"
          from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (id uuid, name text, issuer text, "jwksUri" text,
            subject text, audience text, "clientId" text, scopes text, enabled boolean, "adminAccess" boolean)
          on conflict (realm_id, name) do update set issuer = excluded.issuer, jwks_uri = excluded.jwks_uri,
            subject = excluded.subject, audience = excluded.audience, client_id = excluded.client_id,
            scopes = excluded.scopes, enabled = excluded.enabled, admin_access = excluded.admin_access`;
    },
    events: {
      create: 'WORKLOAD_IDENTITY_CREATED',
      update: 'WORKLOAD_IDENTITY_UPDATED',
      delete: 'WORKLOAD_IDENTITY_DELETED',
    },
  };
}
