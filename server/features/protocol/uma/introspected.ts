// Introspection of a token of the grant: its permissions in UMA's form, without those that the owner no longer shares.
// Federated Authorization for UMA 2.0 §5.1.1.
import type { Subjects } from '../../../domain/subjects.ts';
import type { Decisions } from '../../configuration/authorization-services/decisions.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Claims } from '../../configuration/issued-tokens/service.ts';
import { permissionsIn } from './requester.ts';

export function createShown({
  clients,
  subjects,
  decisions,
  now,
}: {
  clients: { view(realm: string, clientId: string): Promise<ClientView | undefined> };
  subjects: Pick<Subjects, 'find'>;
  decisions: Pick<Decisions, 'of'>;
  now: () => Date;
}) {
  /** undefined: it is not a token of this grant. An empty list: none of its permissions is valid any more. */
  return async (realm: string, claims: Claims): Promise<object[] | undefined> => {
    const permissions = permissionsIn(claims);
    if (permissions.length === 0) return undefined;
    const shared = permissions.filter((one) => one.shared);
    const server = shared.length > 0 ? await clients.view(realm, [claims.aud].flat()[0] ?? '') : undefined;
    const requester = {
      userId: subjects.find(realm, claims) ?? null,
      clientId: claims.client_id ?? '',
      at: now(),
      context: {},
    };
    const still =
      server &&
      (await decisions.of(
        realm,
        server.id,
        requester,
        shared.map(({ rsid, shared: scopes = [] }) => ({ resource: rsid, scopes })),
      ));
    const ended = ({ rsid, shared: scopes = [] }: (typeof permissions)[number]): string[] => {
      const left = still?.permitted.find((one) => one.rsid === rsid)?.scopes ?? [];
      return scopes.filter((scope) => !left.includes(scope));
    };
    return permissions.flatMap((one) => {
      const gone = ended(one);
      const scopes = (one.scopes ?? []).filter((scope) => !gone.includes(scope));
      if (gone.length > 0 && scopes.length === 0) return [];
      return [{ resource_id: one.rsid, resource_scopes: scopes, exp: claims.exp }];
    });
  };
}
export type ShownPermissions = ReturnType<typeof createShown>;
