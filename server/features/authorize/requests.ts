// What a request asks for, by the same checks whether a browser brings it or its application has pushed it beforehand.
import type { RealmSettingsDto } from '../../contract/settings.ts';
import type { Form } from '../../http/form.ts';
import { adminAudience } from '../../http/own-addresses.ts';
import type { ClientView } from '../clients/view.ts';
import { type AuthorizationRequest, foreignScopes, requestOf, type Target } from './checks.ts';

/** Parameters, and by the digest of which request_uri they were pushed, if they were. */
export interface Given extends Form {
  pushed?: Buffer | undefined;
}

export interface Clients {
  view(realm: string, clientId: string): Promise<ClientView | undefined>;
  knownScopes(realm: string): Promise<ReadonlySet<string>>;
}

export function createRequests({
  clients,
  levels,
  baseUrl,
}: {
  clients: Clients;
  /** What sign-ins can reach. */
  levels: readonly number[];
  baseUrl: string;
}) {
  const adminResource = adminAudience(baseUrl);

  return {
    /** @throws OAuthError that goes back to the application */
    async read(
      realm: string,
      settings: Pick<RealmSettingsDto, 'resourceIndicators' | 'requirePushedAuthorizationRequests'>,
      given: Given,
      target: Target,
    ): Promise<AuthorizationRequest> {
      const { client } = target;
      const foreign = foreignScopes(given, client);
      const known = foreign.length > 0 ? await clients.knownScopes(realm) : undefined;
      return requestOf(target, {
        form: given,
        client,
        pushed: given.pushed,
        mustBePushed: settings.requirePushedAuthorizationRequests || client.requirePushedAuthorizationRequests,
        realmList: settings.resourceIndicators,
        adminAudience: adminResource,
        levels,
        unknownScopes: new Set(foreign.filter((name) => !known?.has(name))),
      });
    },
  };
}
export type Requests = ReturnType<typeof createRequests>;
