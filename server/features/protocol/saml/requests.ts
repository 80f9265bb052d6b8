// Reads sign-on requests: the sender, its proof, and the data to store. Until the sender is proven, an error is shown
// on a page. The page is the same for unknown service providers and for those without a proof.

import { issuerOf } from '../../../domain/saml-checks.ts';
import type { Binding } from '../../../domain/saml-names.ts';
import { oauthErrorOf } from '../../../http/oauth.ts';
import { loggableText, OAuthError } from '../../../http/oauth-error.ts';
import { endpointsOf } from '../../../http/realm-endpoints.ts';
import { type AuthnRequest, authnRequestOf, consumerOf } from './authn-request.ts';
import { type Wanted, wantedBy } from './contexts.ts';
import type { KeptLogin } from './kept.ts';
import type { SamlClientView, SamlClientViews } from './view.ts';
import { type Failed, failures, UNPROVEN } from './vocabulary.ts';

/** The code that parses XML is loaded with the first request. */
const reading = () => import('../../../domain/saml-message.ts');

const LONGEST_ENTITY_ID = 255;

/** `reason` appears only in the log and the audit log. */
export interface Refused {
  error: OAuthError;
  entityId: string | undefined;
  reason: string;
}
export interface Arrived {
  kept: KeptLogin;
  /** The failure that the service provider gets at once. */
  failed: Failed | undefined;
}

const ANY: Wanted = { level: 0, tell: [] };

/** Why the request fails for every user. */
function faultOf(asked: AuthnRequest, { entityId }: SamlClientView, wanted: Wanted | undefined): Failed | undefined {
  if (asked.otherBinding) return failures.binding;
  if (asked.format === null || (asked.qualifier !== undefined && asked.qualifier !== entityId))
    return failures.nameIdPolicy;
  if (asked.subject === null) return failures.subject;
  return wanted ? undefined : failures.noContext;
}

export function createSamlRequests({
  clients,
  baseUrl,
  now,
}: {
  clients: Pick<SamlClientViews, 'view'>;
  baseUrl: string;
  now: () => Date;
}) {
  const refused = (entityId: string, error: OAuthError, reason = error.description ?? error.error): Refused => ({
    error,
    entityId: loggableText(entityId, LONGEST_ENTITY_ID) || undefined,
    reason,
  });
  /** The same error for an unknown service provider and for one whose identity isn't proven. */
  const unknown = (entityId: string, reason: string): Refused =>
    refused(entityId, new OAuthError('invalid_request', 'The application is not known here', { reason }), reason);

  async function read(realm: string, binding: Binding, text: string): Promise<Arrived | Refused> {
    const { messageOf, unverifiedMessage, verifiedMessage } = await reading();
    const message = messageOf(binding, text);
    if (message.kind !== 'SAMLRequest') throw new OAuthError('invalid_request', 'SAMLRequest is needed');
    const first = unverifiedMessage(message);
    const entityId = issuerOf(first);
    const client = await clients.view(realm, entityId);
    if (!client) return unknown(entityId, 'There is no such SAML client, or it is switched off');
    const { signingCertificates: certificates, requireSignedRequests: needed } = client;
    const xml = verifiedMessage(message, first, { certificates, needed });
    if (!xml || issuerOf(xml) !== entityId) return unknown(entityId, UNPROVEN);
    try {
      const asked = authnRequestOf(xml, { now: now(), addresses: [endpointsOf(baseUrl, realm).samlSignOn] });
      const consumer = consumerOf(asked.consumer, client.consumers);
      if (consumer === undefined)
        throw new OAuthError(
          'invalid_request',
          'The address for the response is not one that the application has registered',
        );
      const wanted = asked.context ? wantedBy(asked.context) : ANY;
      return {
        kept: {
          realm,
          entityId,
          requestId: asked.id,
          consumer,
          relayState: message.relayState,
          format: asked.format ?? client.nameIdFormat,
          forced: asked.forced,
          passive: asked.passive,
          subject: asked.subject ?? undefined,
          ...(wanted ?? ANY),
          tell: [...(wanted ?? ANY).tell],
          at: now().getTime(),
        },
        failed: faultOf(asked, client, wanted),
      };
    } catch (error) {
      return refused(entityId, oauthErrorOf(error));
    }
  }

  return {
    async arrived(realm: string, binding: Binding, text: string): Promise<Arrived | Refused> {
      try {
        return await read(realm, binding, text);
      } catch (error) {
        if (error instanceof OAuthError) return refused('', error);
        throw error;
      }
    },

    /** A sign-on without a request, started at the identity provider's own address. */
    async initiated(
      realm: string,
      { entityId, relayState }: { entityId: string; relayState: string | undefined },
    ): Promise<Arrived | Refused> {
      const client = await clients.view(realm, entityId);
      if (!client?.idpInitiated) return unknown(entityId, 'There is no such SAML client that may be opened from here');
      const consumer = consumerOf({ url: undefined, index: undefined }, client.consumers);
      if (consumer === undefined) throw new Error(`the SAML client ${entityId} has no assertion consumer service`);
      return {
        kept: {
          realm,
          entityId,
          requestId: null,
          consumer,
          relayState,
          format: client.nameIdFormat,
          forced: false,
          passive: false,
          ...ANY,
          tell: [],
          at: now().getTime(),
        },
        failed: undefined,
      };
    },
  };
}
