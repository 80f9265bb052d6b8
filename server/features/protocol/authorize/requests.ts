// Reads authorization requests. The same checks apply whether a browser brings a request or its application has pushed it.
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { AUTHORIZATION_DETAILS } from '../../../domain/authorization-details.ts';
import type { Form } from '../../../http/form.ts';
import { adminAudience } from '../../../http/own-addresses.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { AuthorizationDetails } from '../authorization-details/service.ts';
import {
  type AuthorizationRequest,
  backchannelRequestOf,
  type CheckContext,
  deviceRequestOf,
  foreignScopes,
  requestOf,
  type Target,
} from './checks.ts';

export interface RequestParameters extends Form {
  /** The digest of the request_uri, if the request was pushed. */
  pushed?: Buffer | undefined;
  /** The client has signed the request; for a pushed request that was checked at the push. */
  signed?: boolean;
  /** The request object was fetched just now from the client's address. */
  fetched?: boolean;
}

type OfRealm = Pick<RealmSettingsDto, 'resourceIndicators' | 'requirePushedAuthorizationRequests'>;

export interface Clients {
  view(realm: string, clientId: string): Promise<ClientView | undefined>;
  knownScopes(realm: string): Promise<ReadonlySet<string>>;
}

/** Clients whose id is the address of their metadata document. */
export interface Documents {
  ensure(realm: string, clientId: string, ipAddress: string): Promise<void>;
}

export function createAuthorizationRequests({
  clients,
  details,
  levels,
  baseUrl,
}: {
  clients: Clients;
  details: Pick<AuthorizationDetails, 'asked'>;
  /** The authentication levels that sign-ins can reach. */
  levels: readonly number[];
  baseUrl: string;
}) {
  const adminResource = adminAudience(baseUrl);

  async function contextOf(
    realm: string,
    settings: OfRealm,
    given: RequestParameters,
    client: ClientView,
  ): Promise<CheckContext> {
    const foreign = foreignScopes(given, client);
    const known = foreign.length > 0 ? await clients.knownScopes(realm) : undefined;
    return {
      form: given,
      client,
      pushed: given.pushed,
      signed: given.signed ?? false,
      mustBePushed: settings.requirePushedAuthorizationRequests || client.requirePushedAuthorizationRequests,
      realmList: settings.resourceIndicators,
      adminAudience: adminResource,
      levels,
      unknownScopes: new Set(foreign.filter((name) => !known?.has(name))),
    };
  }

  /** Adds the request's details, which the realm's types decide about. */
  async function withDetails(realm: string, form: Form, request: AuthorizationRequest): Promise<AuthorizationRequest> {
    const asked = form.get(AUTHORIZATION_DETAILS);
    return asked === undefined ? request : { ...request, details: await details.asked(realm, request.client, asked) };
  }

  return {
    /** @throws OAuthError that goes back to the application */
    async read(
      realm: string,
      settings: OfRealm,
      given: RequestParameters,
      target: Target,
    ): Promise<AuthorizationRequest> {
      return withDetails(realm, given, requestOf(target, await contextOf(realm, settings, given, target.client)));
    },

    /** Reads a request by the backchannel. @throws OAuthError for the client */
    async readBackchannel(
      realm: string,
      settings: OfRealm,
      form: Form,
      client: ClientView,
    ): Promise<AuthorizationRequest> {
      return withDetails(realm, form, backchannelRequestOf(await contextOf(realm, settings, form, client)));
    },

    /** Reads a device's request. @throws OAuthError for the device */
    async readDevice(realm: string, settings: OfRealm, form: Form, client: ClientView): Promise<AuthorizationRequest> {
      return withDetails(realm, form, deviceRequestOf(await contextOf(realm, settings, form, client)));
    },
  };
}
export type Requests = ReturnType<typeof createAuthorizationRequests>;
