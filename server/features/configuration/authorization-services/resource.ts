// Owns: authorization services, one object for each client that has them; the same by the admin API and in the realm document.
// Does not own: changing single items (items.ts), deciding (evaluate.ts).
// Implements: decisions "Authorization services"; specification 2.10, 4.10.
import { AuthorizationService, freshAuthorizationSettings } from '../../../contract/authorization-services.ts';
import { fragment } from '../../../db/sql.ts';
import { clientRoleKey } from '../../../resource/items.ts';
import type { Fields, Item, Reference } from '../../../resource/part.ts';
import { type Resource, resource } from '../../../resource/resource.ts';
import { canonicalDocument } from './canonical.ts';
import { faultsOf, type Services } from './rules.ts';

const Shape = AuthorizationService.omit({ clientId: true });
const Policies = AuthorizationService.shape.policies;

/** All fields of an object, as they are stored and returned. A row of an earlier version lacks settings that were added later. */
export const servicesOf = (fields: Fields): Services =>
  Shape.parse({ ...fields, settings: { ...freshAuthorizationSettings, ...Object(fields.settings) } });

export const freshServices = (): Services => ({
  settings: { ...freshAuthorizationSettings },
  resources: [],
  scopes: [],
  policies: [],
  permissions: [],
});

function refersTo({ key: clientId, fields }: Item): Reference[] {
  const policies = Policies.parse(fields.policies ?? []);
  return [
    { kind: 'client', key: clientId, path: 'clientId' },
    ...policies.flatMap(
      ({ config: { roles = [], clientRoles = {}, groups = [], clients = [] } }, index): Reference[] => {
        const at = (field: string) => `policies[${index}].config.${field}`;
        const named = (kind: string, keys: readonly string[], field: string) =>
          keys.map((key) => ({ kind, key, path: at(field) }));
        const own = Object.entries(clientRoles).flatMap(([of, names]) => names.map((role) => clientRoleKey(of, role)));
        return [
          ...named('role', roles, 'roles'),
          ...named('clientRole', own, 'clientRoles'),
          ...named('group', groups, 'groups'),
          ...named('client', clients, 'clients'),
        ];
      },
    ),
  ];
}

export const createAuthorizationServiceResource = ({ now }: { now: () => Date }): Resource =>
  resource(
    {
      section: 'authorizationServices',
      wire: AuthorizationService,
      table: {
        name: 'authorization_service',
        columns: { settings: 'jsonb', resources: 'jsonb', scopes: 'jsonb', policies: 'jsonb', permissions: 'jsonb' },
      },
      fresh: () => ({ ...freshServices() }),
      canonical: canonicalDocument,
      references: refersTo,
      check: ({ fields }) => faultsOf(servicesOf(fields)),
      fallsWith: { kind: 'client', which: (_, removed) => fragment`t.client_id = any(${removed}::text[])` },
      partOf: (key) => ({ kind: 'client', key }),
      clientOf: (key) => key,
      actsAs: ({ key }) => [key],
    },
    { now },
  );
