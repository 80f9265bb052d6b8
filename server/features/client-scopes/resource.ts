// Owns: client scopes, which say what a scope puts into tokens; the same by the admin API and in the realm document.
// Does not own: making claims of them (http/claims.ts), which client has which (clients).
// Implements: decisions "Client scope"; specification 2.10, 4.10.
import { Claim, ClientScope } from '../../contract/client-scopes.ts';
import { type Resource, resource } from '../../resource/resource.ts';

/** A claim with its defaults said; claims in the order of their names. */
const canonicalClaims = (claims: readonly Claim[]): Claim[] =>
  claims
    .map((claim) => ({ accessToken: false, idToken: false, userinfo: true, ...claim }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.source < b.source ? -1 : 1));

const Claims = Claim.array();

export const createClientScopeResource = ({ now }: { now: () => Date }): Resource =>
  resource(
    {
      section: 'clientScopes',
      wire: ClientScope,
      table: {
        name: 'client_scope',
        columns: { description: 'text', includeInTokenScope: 'boolean', claims: 'jsonb' },
      },
      seeded: true,
      fresh: () => ({ description: null, includeInTokenScope: true, claims: [] }),
      canonical: ({ claims, ...fields }) =>
        claims === undefined ? fields : { ...fields, claims: canonicalClaims(Claims.parse(claims)) },
      renames: {},
      events: { create: 'CLIENT_SCOPE_CREATED', update: 'CLIENT_SCOPE_UPDATED', delete: 'CLIENT_SCOPE_DELETED' },
    },
    { now },
  );
