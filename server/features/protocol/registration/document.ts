// A client's metadata document, as fetched: its client, the members that apply here, and how long it is fresh. Pure.
// draft-ietf-oauth-client-id-metadata-document; RFC 9111 §4.2.

import { z } from 'zod';
import { DAY_SECONDS, HOUR_SECONDS } from '../../../contract/durations.ts';
import type { Provisioning } from '../../../contract/provisioning.ts';
import { ClientMetadata } from '../../../contract/registration.ts';
import { jsonFault } from '../../../http/json-body.ts';
import { STANDARD_SCOPES, withoutNulls } from './metadata.ts';

const LONGEST_ID = 255;
const BY_DEFAULT_SECONDS = HOUR_SECONDS;
const BOUNDS_SECONDS = { least: 60, most: DAY_SECONDS };

/**
 * Whether the id is a metadata address in normalized form: URLs are compared character by character, and another
 * spelling would be another client.
 */
export function isDocumentAddress(clientId: string): boolean {
  if (!clientId.startsWith('https://') || clientId.length > LONGEST_ID || !URL.canParse(clientId)) return false;
  const { href, username, password, pathname } = new URL(clientId);
  return href === clientId && !clientId.includes('#') && username === '' && password === '' && pathname !== '/';
}

const Document = ClientMetadata.extend({
  client_id: z.string(),
  // the document is public, so it can't contain a secret
  client_secret: z.undefined().optional(),
  client_secret_expires_at: z.undefined().optional(),
  token_endpoint_auth_method: z.enum(['none', 'private_key_jwt']).default('none'),
});

/**
 * A document is written for all servers, so features that this realm lacks are dropped, not refused.
 * @returns the metadata, or the document's fault
 */
export function metadataIn(
  body: string,
  clientId: string,
  { allowedGrantTypes, allowedScopes }: Provisioning,
): ClientMetadata | string {
  let json: unknown;
  try {
    json = withoutNulls(JSON.parse(body));
  } catch {
    return 'it is not JSON';
  }
  const unfit = jsonFault(json, 'it');
  if (unfit !== undefined) return unfit;
  const document = Document.safeParse(json);
  if (!document.success) {
    const [issue] = document.error.issues;
    const [field] = issue?.path ?? [];
    return field === undefined ? 'it is not a JSON object' : `${String(field)}: ${issue?.message ?? 'is invalid'}`;
  }
  const { client_id: named, client_secret: _, client_secret_expires_at: __, ...said } = document.data;
  if (named !== clientId) return 'its client_id is not its address';
  const scopes = allowedScopes.length > 0 ? allowedScopes : STANDARD_SCOPES;
  const given = (scope: string) => scope === 'openid' || scopes.includes(scope);
  return {
    ...said,
    grant_types: (said.grant_types ?? ['authorization_code']).filter((grant) =>
      allowedGrantTypes.some((allowed) => allowed === grant),
    ),
    scope: said.scope?.split(' ').filter(given).join(' '),
    response_types: undefined,
    // A sector would need a further fetch; each document is a sector of its own.
    subject_type: undefined,
    sector_identifier_uri: undefined,
  };
}

/** How long a response may be used without asking again. */
export function freshSeconds(headers: Headers): number {
  const directives = headers.get('cache-control') ?? '';
  const maxAge = /(?:^|[\s,])max-age="?(\d{1,9})/i.exec(directives)?.[1];
  const said = /(?:^|[\s,])no-(?:store|cache)(?:$|[\s,;=])/i.test(directives)
    ? 0
    : maxAge === undefined
      ? BY_DEFAULT_SECONDS
      : Number(maxAge) - Number(headers.get('age') ?? 0);
  const { least, most } = BOUNDS_SECONDS;
  return Math.min(Math.max(Number.isNaN(said) ? least : said, least), most);
}
