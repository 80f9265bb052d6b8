// The realm document's `workloadIdentity`: as 2.8 without ids. For whom a workload may act is the engine's right to check.
import { WorkloadIdentityDocument } from '../../contract/workload-identity.ts';
import { declared, parsing } from '../../http/document.ts';
import type { Existing, RealmPart } from '../transfer/part.ts';
import type { CredentialRow } from './store.ts';

type Row = Omit<CredentialRow, 'id'>;

export function createWorkloadIdentityPart({ newId }: { newId: () => string }): RealmPart {
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
    async write(sql, realm, { create, update, remove }) {
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
      if (remove.length > 0)
        await sql`delete from workload_identity where realm_id = ${realm} and name = any(${remove}::text[])`;
    },
    events: {
      create: 'WORKLOAD_IDENTITY_CREATED',
      update: 'WORKLOAD_IDENTITY_UPDATED',
      delete: 'WORKLOAD_IDENTITY_DELETED',
    },
  };
}
