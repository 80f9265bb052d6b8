// Owns: the details of rich authorization requests: whether the client may ask for them, and whether they conform to their types.
// Does not own: their form and comparison (domain/authorization-details.ts), the types (features/configuration), the consent page.
// Implements: RFC 9396 §5, §6; decisions "Authorization detail type".
import { createRealmCache } from '../../../db/cache.ts';
import type { Sql } from '../../../db/sql.ts';
import {
  type AskedDetail,
  type AuthorizationDetail,
  badDetails,
  parseDetails,
} from '../../../domain/authorization-details.ts';
import { detailFault, loadDetailSchemas } from '../../../domain/detail-schema.ts';
import type { ClientView } from '../../configuration/clients/view.ts';

interface DetailType {
  type: string;
  schema: Readonly<Record<string, unknown>>;
  words: Readonly<Record<string, string>>;
  locations: string[];
  clientCredentials: boolean;
}
type Client = Pick<ClientView, 'authorizationDetailsTypes'>;

export function createAuthorizationDetails({ sql, now }: { sql: Sql; now: () => Date }) {
  const types = createRealmCache<ReadonlyMap<string, DetailType>>({
    now,
    async load(realm) {
      const rows = await sql<DetailType>`
        select type, schema, words, locations, client_credentials as "clientCredentials" from authorization_detail_type
        where realm_id = ${realm} and enabled order by type limit 200`;
      return new Map(rows.map((row) => [row.type, row]));
    },
  });

  return {
    /**
     * Reads a request's parameter.
     * @param ownBehalf the client asks for itself, so no user consents
     * @throws OAuthError `invalid_authorization_details`
     */
    async asked(
      realm: string,
      client: Client,
      text: string,
      { ownBehalf = false }: { ownBehalf?: boolean } = {},
    ): Promise<AskedDetail[]> {
      const details = parseDetails(text);
      const known = await types.get(realm, '');
      await loadDetailSchemas();
      return details.map((detail) => {
        const { type, locations = [], ...fields } = detail;
        const of = client.authorizationDetailsTypes.has(type) ? known.get(type) : undefined;
        // One answer for both, so that a client doesn't learn which types others have.
        if (!of) throw badDetails(`The type ${type} is unknown, or this client may not use it`);
        if (ownBehalf && !of.clientCredentials) throw badDetails(`The type ${type} needs a person’s consent`);
        const foreign = locations.find((location) => !of.locations.includes(location));
        if (foreign !== undefined) throw badDetails(`The type ${type} is not for the location ${foreign}`);
        const fault = detailFault(of.schema, fields);
        if (fault !== undefined) throw badDetails(`A detail of type ${type} ${fault}`);
        return { detail, words: of.words };
      });
    },

    /** The granted details that the client may still have: its types, or the realm's, may have changed since. */
    async present(
      realm: string,
      client: Client,
      granted: readonly AuthorizationDetail[],
    ): Promise<AuthorizationDetail[]> {
      if (granted.length === 0) return [];
      const known = await types.get(realm, '');
      return granted.flatMap((detail) => {
        const { type, locations } = detail;
        const of = client.authorizationDetailsTypes.has(type) ? known.get(type) : undefined;
        if (!of || !locations) return of ? [detail] : [];
        const still = locations.filter((location) => of.locations.includes(location));
        return still.length === 0 ? [] : [{ ...detail, locations: still }];
      });
    },

    drop: (realm: string | undefined): void => types.drop(realm),
  };
}
export type AuthorizationDetails = ReturnType<typeof createAuthorizationDetails>;
