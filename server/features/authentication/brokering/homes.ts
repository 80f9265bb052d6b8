// Maps e-mail domains to identity providers: the provider of the organization with the verified domain, or the provider
// that the domain is bound to. This server asks for no password for such an address; it redirects to the provider.
import { asciiEmail } from '../../../contract/email.ts';
import { createRealmCache } from '../../../db/cache.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Providers } from './providers.ts';

export interface HomesDeps {
  sql: Sql;
  providers: Pick<Providers, 'enabled'>;
  now: () => Date;
}

/** Only addresses on this machine use http. */
const isPlain = (value: unknown): value is string => typeof value === 'string' && value.startsWith('http://');

/**
 * The domain of an address in each form in which a user is found by it (credentials/store.ts): otherwise a password would do
 * for `ann@ａcme.example`, or for a domain in its own script.
 */
function domainsOf(name: string): string[] {
  const composed = name.normalize('NFKC');
  const forms = [name, composed, asciiEmail(name), asciiEmail(composed)];
  return forms.flatMap((form) => {
    const at = form.lastIndexOf('@');
    return at < 1 ? [] : [form.slice(at + 1).toLowerCase()];
  });
}

export function createHomes({ sql, providers, now }: HomesDeps) {
  const organizations = createRealmCache<readonly { domain: string; aliases: readonly string[] }[]>({
    now,
    load: (realm) => sql<{ domain: string; aliases: string[] }>`
      select d.name as domain, o.identity_providers as aliases from organization_domain d
      join organization o on o.realm_id = d.realm_id and o.id = d.organization_id
      where d.realm_id = ${realm} and d.verified and o.enabled and cardinality(o.identity_providers) > 0`,
  });
  async function all(realm: string): Promise<ReadonlyMap<string, string>> {
    const [enabled, bound] = await Promise.all([providers.enabled(realm), organizations.get(realm, '')]);
    const known = new Set(enabled.map(({ alias }) => alias));
    const homes = new Map(enabled.flatMap(({ alias, domains }) => domains.map((domain) => [domain, alias] as const)));
    for (const { domain, aliases } of bound) {
      const alias = aliases.find((one) => known.has(one));
      if (alias !== undefined) homes.set(domain, alias);
    }
    return homes;
  }
  return {
    /**
     * The addresses to which sign-in forms may redirect, as sources of a page's policy; empty: no domain has a provider.
     */
    async sources(realm: string): Promise<string[]> {
      const homes = new Set((await all(realm)).values());
      if (homes.size === 0) return [];
      const enabled = (await providers.enabled(realm)).filter(({ alias }) => homes.has(alias));
      const plain = enabled.flatMap(({ config }) => Object.values(config)).filter(isPlain);
      return ['https:', ...new Set(plain.map((address) => new URL(address).origin))];
    },
    any: async (realm: string): Promise<boolean> => (await all(realm)).size > 0,
    /** The provider for an address; undefined: none, or the name is no address. */
    async of(realm: string, name: string): Promise<string | undefined> {
      const homes = await all(realm);
      return domainsOf(name)
        .map((domain) => homes.get(domain))
        .find((alias) => alias !== undefined);
    },
    drop: organizations.drop,
  };
}
export type Homes = ReturnType<typeof createHomes>;
