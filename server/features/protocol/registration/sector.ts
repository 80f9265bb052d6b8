// Checks that a client belongs to its claimed sector: the sector's host must list the client's redirect URIs. Otherwise
// any client could learn the pairwise subjects of another's sector. OpenID Connect Core §8.1.
import { z } from 'zod';
import type { ClientMetadata } from '../../../contract/registration.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { Outbound } from '../../../http/outbound.ts';

const LIMITS = { timeoutMs: 5_000, maxBytes: 256 * 1024 };
const Listed = z.array(z.string());

/** @throws OAuthError `invalid_client_metadata` */
export async function refuseForeignSector(
  outbound: Pick<Outbound, 'fetch'>,
  { sector_identifier_uri: uri, redirect_uris: redirects = [] }: ClientMetadata,
): Promise<void> {
  if (uri === undefined) return;
  const invalid = (what: string, cause?: unknown) =>
    new OAuthError('invalid_client_metadata', `sector_identifier_uri ${what}`, { cause });
  let listed: readonly string[];
  try {
    const { status, body } = await outbound.fetch(uri, { headers: { accept: 'application/json' }, ...LIMITS });
    if (status !== 200) throw new Error(`it answered ${status}`);
    listed = Listed.parse(JSON.parse(body.toString()));
  } catch (cause) {
    throw invalid('does not answer a JSON list of redirect URIs by https', cause);
  }
  if (!redirects.every((address) => listed.includes(address)))
    throw invalid('does not list every one of redirect_uris');
}
