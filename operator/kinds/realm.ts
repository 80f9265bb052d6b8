// Kind Realm: settings, clients, roles, scopes, groups: the document's sections by the same names.
// Decisions "Custom resources".
import { type RealmSpec, RealmSpec as Schema } from '../../server/contract/resources/realm.ts';
import type { RealmDocument } from '../../server/contract/transfer.ts';
import { declared, type Kind, literal, secretOf } from './kind.ts';

export const realm: Kind<RealmSpec> = {
  name: 'Realm',
  spec: Schema,
  deletionPolicy: 'Retain',
  attached: false,
  secrets: (spec) => (spec.clients ?? []).flatMap((c) => (c.secretKeyRef ? [c.secretKeyRef] : [])),
  document(spec, { secrets }): RealmDocument {
    const { settings, clients, resourceIndicators, clientScopes, roles, clientRoles } = spec;
    const { adminRoles, serviceAccountRoles, groups } = spec;
    return declared({
      realm: settings,
      resourceIndicators,
      clientScopes,
      roles,
      clients: clients?.map(({ secretKeyRef, ...client }) => ({
        ...client,
        ...(secretKeyRef && { secret: literal(secretOf(secretKeyRef, secrets), `the secret of ${client.clientId}`) }),
      })),
      clientRoles,
      adminRoles,
      serviceAccountRoles,
      groups,
    });
  },
  givesAdminRoles: ({ adminRoles = [], serviceAccountRoles = [] }) =>
    adminRoles.length > 0 || serviceAccountRoles.some((account) => (account.adminRoles ?? []).length > 0),
  status: () => ({}),
};
