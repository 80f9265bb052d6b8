// Owns: claims, which say where a value in tokens comes from, and those of single clients; the same by API and by a document.
// Does not own: making values of them (domain/claims.ts), which scope names which (client-scopes).
// Implements: decisions "Claim", "Protocol mapper"; specification 2.10, 4.10.
import { claims, freshClaim } from '../../../contract/claims.ts';
import { ProtocolMapper } from '../../../contract/protocol-mappers.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';
import { asSet, clientRoleKey, splitClientRoleKey, strings } from '../../../resource/items.ts';
import type { Fields, Reference } from '../../../resource/part.ts';
import { type Resource, resource } from '../../../resource/resource.ts';
import { claimFaults, unknownClients } from './rules.ts';

const claimColumns = {
  claim: 'text',
  source: 'text',
  attribute: 'text',
  value: 'text',
  multivalued: 'boolean',
  aggregate: 'boolean',
  jsonType: 'text',
  in: { type: 'text[]', name: 'places' },
} as const;

const canonicalClaim = (fields: Fields): Fields =>
  fields.in === undefined ? fields : { ...fields, in: asSet(strings(fields.in)) };

/** The client whose roles the claim contains, if they are declared together; else {@link unknownClients} checks it. */
const rolesOf = ({ source, value }: Fields): Reference[] =>
  source === 'clientRoles' ? strings([value]).map((key) => ({ kind: 'client', key, path: 'value' })) : [];

export const claimsResource = (deps: ResourceDeps) =>
  declaredResource(
    claims,
    {
      table: { columns: { in: claimColumns.in } },
      seeded: true,
      renames: {},
      check: ({ key, fields }, realm) => claimFaults({ name: key, ...fields }, { baseUrl: deps.baseUrl, realm }),
      references: ({ fields }) => rolesOf(fields),
      whole: (sql, realm, changes) => unknownClients(sql, realm, changes, 'claim'),
    },
    deps,
  );

const nameIn = (key: string): string => splitClientRoleKey(key).role;
const clientIn = (key: string): string => splitClientRoleKey(key).clientId;

export const createProtocolMapperResource = ({ baseUrl, now }: { baseUrl: string; now: () => Date }): Resource =>
  resource(
    {
      section: 'clientProtocolMappers',
      wire: ProtocolMapper,
      search: ['name', 'claim'],
      fresh: () => ({ ...freshClaim, in: [...freshClaim.in] }),
      canonical: canonicalClaim,
      renames: {},
      table: {
        name: 'protocol_mapper',
        columns: claimColumns,
        under: { column: 'client', table: 'client', key: 'client_id' },
      },
      keyOf: async (_, __, input, before) =>
        clientRoleKey(
          String(input.clientId ?? (before && clientIn(before.key))),
          String(input.name ?? (before && nameIn(before.key))),
        ),
      check: ({ key, fields }, realm) => claimFaults({ name: nameIn(key), ...fields }, { baseUrl, realm }),
      whole: (sql, realm, changes) => unknownClients(sql, realm, changes, 'protocolMapper'),
      references: ({ key, fields }) => [{ kind: 'client', key: clientIn(key), path: '' }, ...rolesOf(fields)],
      partOf: (key) => ({ kind: 'client', key: clientIn(key) }),
      clientOf: clientIn,
      actsAs: ({ key }) => [clientIn(key)],
    },
    { now },
  );
