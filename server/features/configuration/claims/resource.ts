// Owns: claims, which define the source of values in tokens, and those of single clients; the same by API and by a document.
// Does not own: computing their values (domain/claims.ts), the claims of a scope (client-scopes).
// Implements: decisions "Claim", "Protocol mapper"; specification 2.10, 4.10.
import { claims } from '../../../contract/claims.ts';
import { clientProtocolMappers } from '../../../contract/protocol-mappers.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';
import { splitClientRoleKey, strings } from '../../../resource/items.ts';
import type { Fields, Reference } from '../../../resource/part.ts';
import { claimFaults, unknownClients } from './rules.ts';

const table = { columns: { in: { type: 'text[]', name: 'places' } } } as const;

/** The client whose roles the claim contains, if they are declared together; else {@link unknownClients} checks it. */
const rolesOf = ({ source, value }: Fields): Reference[] =>
  source === 'clientRoles' ? strings([value]).map((key) => ({ kind: 'client', key, path: 'value' })) : [];

export const claimsResource = (deps: ResourceDeps) =>
  declaredResource(
    claims,
    {
      table,
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

export const clientProtocolMappersResource = (deps: ResourceDeps) =>
  declaredResource(
    clientProtocolMappers,
    {
      table,
      renames: {},
      check: ({ key, fields }, realm) =>
        claimFaults({ name: nameIn(key), ...fields }, { baseUrl: deps.baseUrl, realm }),
      references: ({ fields }) => rolesOf(fields),
      whole: (sql, realm, changes) => unknownClients(sql, realm, changes, 'protocolMapper'),
      partOf: (key) => ({ kind: 'client', key: clientIn(key) }),
      clientOf: clientIn,
      actsAs: ({ key }) => [clientIn(key)],
    },
    deps,
  );
