// The address at which a browser sees a realm's pages: links in messages begin with it, and passkeys are bound to its host.
import type { FastifyRequest } from 'fastify';
import type { RealmSettingsDto } from '../contract/settings.ts';
import { createTellOnce } from './told-once.ts';

export interface Site {
  /** A host without its port (WebAuthn, "RP ID"). */
  rpId: string;
  origin: string;
}

/**
 * The realm's own address if the browser uses it and the server's operator configured it; else the server's. The realm's issuer or the
 * request's host alone never chooses the host of a link or a passkey.
 */
export function siteOf(
  { host, server }: Pick<FastifyRequest, 'host' | 'server'>,
  { issuer }: Pick<RealmSettingsDto, 'issuer'>,
  baseUrl: string,
): Site {
  const own = issuer === null ? undefined : new URL(issuer);
  const isConfigured = own !== undefined && (server.otherAddresses ?? []).includes(own.origin);
  const usual = new URL(baseUrl);
  if (own?.host !== host) return siteAt(usual);
  if (isConfigured) return siteAt(own);
  // if the issuer only names tokens, no browser uses that address
  if (own.host !== usual.host)
    tellOnce(
      `A browser asked at ${own.origin}, where a realm has its issuer, and SVC_OTHER_ADDRESSES lacks that address: the realm’s passkeys, the links of its messages and its way back from identity providers are at ${usual.origin}`,
      (words) => server.log.warn(words),
    );
  return siteAt(usual);
}
const siteAt = ({ hostname: rpId, origin }: URL): Site => ({ rpId, origin });
const tellOnce = createTellOnce();

/**
 * Whether another site's page sent the request. A program sends neither header. Browsers omit the origin of a form on a page without
 * referrers, as the server's pages are, and send `Sec-Fetch-Site` instead.
 */
export function isFromElsewhere({ headers }: FastifyRequest, { origin }: Site): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin';
  return headers.origin !== undefined && headers.origin !== origin;
}
