// The identity providers of a realm, as sign-ins use them, cached in this process.
// features/configuration/identity-providers has the admin API.
import type { IdentityProvider, ProviderConfig } from '../../../contract/identity-providers.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { createRealmCache } from '../../../db/cache.ts';
import type { Sql } from '../../../db/sql.ts';
import { sealed } from '../../../resource/at-rest.ts';

type Mapper = IdentityProvider['mappers'][number];

export interface Provider {
  id: string;
  alias: string;
  type: 'oidc' | 'oauth2' | 'saml';
  /** The name that users see. */
  title: string;
  enabled: boolean;
  hidden: boolean;
  clientId: string;
  /** The secret is decrypted on each call. */
  secret(): string | undefined;
  scopes: readonly string[];
  config: ProviderConfig;
  mappers: readonly Mapper[];
  syncMode: 'import' | 'always';
  firstLoginFlow: string | null;
  linking: 'ask' | 'never';
  domains: readonly string[];
}
interface Row extends Omit<Provider, 'title' | 'secret' | 'clientId'> {
  displayName: string | null;
  clientId: string | null;
  secret: Buffer | null;
}

export interface ProvidersDeps {
  sql: Sql;
  seal: Seal;
  /** The values of placeholders. */
  environment: Readonly<Record<string, string>>;
  now: () => Date;
}

const PLACEHOLDER = /^\$\{(SVC_VAR_[A-Z0-9_]+)\}$/;

export function createProviders({ sql, seal, environment, now }: ProvidersDeps) {
  const secrets = sealed(seal, 'identity-provider');
  /** Leaves out a placeholder without a value: users of the provider then read that it is unreachable. */
  const resolved = (config: ProviderConfig): ProviderConfig =>
    Object.fromEntries(
      Object.entries(config).flatMap(([field, value]) => {
        const name = typeof value === 'string' ? PLACEHOLDER.exec(value)?.[1] : undefined;
        const found = name === undefined ? value : environment[name];
        return found === undefined ? [] : [[field, found]];
      }),
    );
  const providers = createRealmCache<readonly Provider[]>({
    now,
    async load(realm) {
      const rows = await sql<Row>`
        select id, alias, type, display_name as "displayName", enabled, hidden, client_id as "clientId", secret, scopes, config,
          mappers, sync_mode as "syncMode", first_login_flow as "firstLoginFlow", linking, domains
        from identity_provider where realm_id = ${realm} order by alias collate "C"`;
      return rows.map(({ displayName, secret, ...row }) => ({
        ...row,
        title: displayName ?? row.alias,
        clientId: row.clientId ?? '',
        secret: () => (secret?.length ? secrets.open(secret, { realm, id: row.id }) : undefined),
        config: resolved(row.config),
      }));
    },
  });
  const enabled = async (realm: string): Promise<Provider[]> =>
    (await providers.get(realm, '')).filter((one) => one.enabled);
  return {
    /** The providers that users can sign in with, ordered by name. */
    enabled,
    named: async (realm: string, alias: string): Promise<Provider | undefined> =>
      (await enabled(realm)).find((one) => one.alias === alias),
    drop: providers.drop,
  };
}
export type Providers = ReturnType<typeof createProviders>;
