// GET /.well-known/webauthn: the origins that browsers accept for passkeys of the request's host (WebAuthn §5.11). A page at a
// listed origin can ask for the passkeys of each realm of the host. All realms share the host of SVC_BASE_URL, so there the
// server's operator gives the list (SVC_RELATED_ORIGINS). An address of SVC_OTHER_ADDRESSES has the lists of the realms whose
// issuer is at it. Each realm accepts a signature only from its own origins (passkeys.ts).
import type { FastifyInstance } from 'fastify';
import { labelOf, MOST_LABELS, relatedOriginsRoute } from '../../../contract/passkeys.ts';
import type { Sql } from '../../../db/sql.ts';

const MOST_ORIGINS = 100;

/** The origins in their order, as far as browsers consider them. */
export function boundedOrigins(listed: readonly string[]): string[] {
  const labels = new Set<string>();
  const all = [...new Set(listed)].filter((origin) => {
    const label = labelOf(origin);
    if (!labels.has(label) && labels.size === MOST_LABELS) return false;
    labels.add(label);
    return true;
  });
  return all.slice(0, MOST_ORIGINS);
}

/**
 * The realm whose issuer is the address itself comes first, then the others in the order in which they were made: a new realm does not
 * displace the origins of another one.
 * @param addresses as origins
 */
const listsAt = async (sql: Sql, addresses: readonly string[]): Promise<string[]> =>
  (
    await sql<{ origins: string[] }>`
      select settings -> 'passkeyRelatedOrigins' as origins from realm
      where deleted_at is null and settings ? 'passkeyRelatedOrigins'
        and split_part(own_issuer, '/', 1) || '//' || split_part(own_issuer, '/', 3) = any (${addresses}::text[])
      order by split_part(own_issuer, '/', 4) <> '', created_at, realm_id`
  ).flatMap(({ origins }) => origins);

export interface RelatedOriginsDeps {
  sql: Sql;
  baseUrl: string;
  config: { SVC_RELATED_ORIGINS: readonly string[] };
}

export function relatedOriginsRoutes(app: FastifyInstance, { sql, baseUrl, config }: RelatedOriginsDeps): void {
  const shared = new URL(baseUrl).hostname;
  app.route({
    ...relatedOriginsRoute,
    handler: async (request, reply) => {
      const host = request.hostname;
      const addresses = (app.otherAddresses ?? []).filter((address) => new URL(address).hostname === host);
      const own = addresses.length > 0 ? await listsAt(sql, addresses) : [];
      const origins = boundedOrigins([...(host === shared ? config.SVC_RELATED_ORIGINS : []), ...own]);
      return reply.header('cache-control', 'no-cache').send({ origins });
    },
  });
}
