// Owns: request objects at an address of the client: fetched when a request names it, then treated as if sent by value.
// Does not own: the check that the object is the client's (request-objects.ts), the guard of connections (http/outbound.ts).
// Implements: RFC 9101 §5.2, §10.4; OpenID Connect Core §6.2.

import { inRealm, type RateLimit } from '../../../domain/rate-limit.ts';
import { withoutFragment } from '../../../domain/redirect-uri.ts';
import { parseForm } from '../../../http/form.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { Outbound } from '../../../http/outbound.ts';
import { OutboundError } from '../../../http/outbound-connection.ts';
import type { ClientView } from '../../configuration/clients/view.ts';
import type { RequestParameters } from './requests.ts';

/** The same limit as for a request object sent by value. */
const LIMITS = { timeoutMs: 5_000, maxBytes: 16 * 1024 };
const ACCEPT = 'application/oauth-authz-req+jwt, application/jwt';

/**
 * The parameters for starting a stored request again: the object's address without the fetched object. The object isn't
 * sent again: it may have no expiry, or one that has passed.
 */
export function asItCame(text: string): string {
  const parameters = new URLSearchParams(text);
  if (!parameters.has('request_uri')) return text;
  parameters.delete('request');
  return parameters.toString();
}

export function createRequestUris({
  outbound,
  attempts,
}: {
  outbound: Pick<Outbound, 'fetch'>;
  /** The rate limit of callers that make this server fetch. */
  attempts: Pick<RateLimit, 'take'>;
}) {
  /** Returns undefined for every fault: details would let a caller explore networks through this server. */
  async function fetched(uri: string): Promise<string | undefined> {
    try {
      const { status, body } = await outbound.fetch(uri, { headers: { accept: ACCEPT }, ...LIMITS });
      return status === 200 ? body.toString().trim() : undefined;
    } catch (error) {
      if (error instanceof OutboundError) return undefined;
      throw error;
    }
  }

  return {
    /**
     * The request with the object that it refers to. A request whose address the client hasn't registered stays
     * unchanged.
     * @throws OAuthError for a page
     */
    async resolve(
      realm: string,
      client: ClientView | undefined,
      given: RequestParameters,
      ipAddress: string,
    ): Promise<RequestParameters> {
      const uri = given.get('request_uri');
      const beside = given.get('request') !== undefined;
      if (uri === undefined || beside || !client?.enabled || !client.requestUris.has(withoutFragment(uri)))
        return given;
      const retryAfterSeconds = attempts.take(inRealm(realm, ipAddress));
      if (retryAfterSeconds !== undefined)
        throw new OAuthError('slow_down', 'Too many requests were asked for by their address', { retryAfterSeconds });
      // The fragment tells caches that the content has changed (OpenID Connect Core §6.2); this server fetches it each time.
      const object = await fetched(withoutFragment(uri));
      if (object === undefined)
        throw new OAuthError('invalid_request_uri', 'The request of the application could not be fetched', {
          page: { back: client },
        });
      // The object at the address may change: a sign-in continues with the object that it began with.
      const parameters = new URLSearchParams(given.text);
      parameters.set('request', object);
      return { ...parseForm(parameters.toString()), fetched: true };
    },
  };
}
export type RequestUris = ReturnType<typeof createRequestUris>;
