// The realm document's `clientScopes`. Specification 2.10; decisions "Client scope".
import { type Claim, ClientScopeDocument } from '../../contract/client-scopes.ts';
import { declared, parsing } from '../../http/document.ts';
import type { RealmPart } from '../transfer/part.ts';

interface Row {
  name: string;
  description: string | null;
  include_in_token_scope: boolean;
  claims: Claim[];
}

/** A claim with its defaults said; claims in the order of their names. */
const canonical = (claims: readonly Claim[]): Claim[] =>
  claims
    .map((claim) => ({ accessToken: false, idToken: false, userinfo: true, ...claim }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.source < b.source ? -1 : 1));

export const clientScopesPart: RealmPart = {
  section: 'clientScopes',
  kind: 'clientScope',
  area: 'client-scopes',
  list: true,
  seeded: true,
  parse: parsing(ClientScopeDocument, ({ name, claims, ...fields }, path) => [
    { key: name, fields: declared({ ...fields, claims: claims && canonical(claims) }), path },
  ]),
  print: (objects) => objects.map(({ key, fields }) => ({ name: key, ...fields })),
  fresh: () => ({ description: null, includeInTokenScope: true, claims: [] }),
  async read(sql, realm, keys) {
    const rows = await sql<Row>`
      select name, description, include_in_token_scope, claims from client_scope
      where realm_id = ${realm} and (${keys ?? null}::text[] is null or name = any(${keys ?? null}::text[]))`;
    return new Map(
      rows.map((row) => [
        row.name,
        {
          fields: {
            description: row.description,
            includeInTokenScope: row.include_in_token_scope,
            claims: canonical(row.claims),
          },
        },
      ]),
    );
  },
  async write(sql, realm, { create, update, remove }) {
    const rows = [...create, ...update].map(({ key, fields }) => ({ name: key, ...fields }));
    if (rows.length > 0)
      await sql`
        insert into client_scope (realm_id, id, name, description, include_in_token_scope, claims)
        select ${realm}, gen_random_uuid(), name, description, "includeInTokenScope", claims
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
          as r (name text, description text, "includeInTokenScope" boolean, claims jsonb)
        on conflict (realm_id, name) do update set description = excluded.description,
          include_in_token_scope = excluded.include_in_token_scope, claims = excluded.claims`;
    if (remove.length > 0)
      await sql`delete from client_scope where realm_id = ${realm} and name = any(${remove}::text[])`;
  },
  events: { create: 'CLIENT_SCOPE_CREATED', update: 'CLIENT_SCOPE_UPDATED', delete: 'CLIENT_SCOPE_DELETED' },
};
