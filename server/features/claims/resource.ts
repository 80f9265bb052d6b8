// Owns: claims, which say where a value in tokens and userinfo comes from; the same by the admin API and by a document.
// Does not own: making values of them (domain/claims.ts), which scope names which (client-scopes).
// Implements: decisions "Claim"; specification 2.10, 4.10.
import { Claim, freshClaim } from '../../contract/claims.ts';
import { asSet, strings } from '../../http/document.ts';
import type { Fields } from '../../resource/part.ts';
import { type Resource, resource } from '../../resource/resource.ts';
import { claimFaults } from './rules.ts';

const claimColumns = {
  claim: 'text',
  source: 'text',
  attribute: 'text',
  value: 'text',
  multivalued: 'boolean',
  jsonType: 'text',
  in: { type: 'text[]', name: 'places' },
} as const;

const canonicalClaim = (fields: Fields): Fields =>
  fields.in === undefined ? fields : { ...fields, in: asSet(strings(fields.in)) };

export const createClaimResource = ({ baseUrl, now }: { baseUrl: string; now: () => Date }): Resource =>
  resource(
    {
      section: 'claims',
      wire: Claim,
      table: { name: 'claim', columns: claimColumns },
      search: ['name', 'claim'],
      seeded: true,
      fresh: () => ({ ...freshClaim, in: [...freshClaim.in] }),
      canonical: canonicalClaim,
      check: ({ key, fields }, realm) => claimFaults({ name: key, ...fields }, { baseUrl, realm }),
      renames: {},
      events: { create: 'CLAIM_CREATED', update: 'CLAIM_UPDATED', delete: 'CLAIM_DELETED' },
    },
    { now },
  );
