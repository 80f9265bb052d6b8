// Composes sign-in with external identity providers, and logout at them. Specification 4.10.
import type { FastifyInstance } from 'fastify';
import type { Seal } from '../../../crypto/seal.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Transact } from '../../../db/transact.ts';
import type { Outbound } from '../../../http/outbound.ts';
import { createRemoteDocuments } from '../../../http/remote-documents.ts';
import type { Keys } from '../../configuration/keys/service.ts';
import { createSigningKeyOf } from '../../configuration/keys/signing-key.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import type { SettingsService } from '../../configuration/settings/service.ts';
import type { Sessions } from '../../people/sessions/service.ts';
import { createCodeFlow } from './code-flow.ts';
import { createConnections } from './connect.ts';
import { createFirstSignIns, type FirstSignInDeps } from './first-sign-in.ts';
import { createHomes } from './homes.ts';
import { createLinks } from './links.ts';
import { createUpstreamLogout } from './logout.ts';
import { upstreamLogoutRoutes } from './logout-routes.ts';
import { createOauth2 } from './oauth2.ts';
import { createOidc } from './oidc.ts';
import { createProviderSessions } from './provider-sessions.ts';
import { createProviderTokens } from './provider-tokens.ts';
import { createProviders } from './providers.ts';
import { createSamlBrokering } from './saml.ts';
import { type Applications, createSamlLogout } from './saml-logout.ts';
import { createSamlProviders } from './saml-providers.ts';
import { createBrokering } from './service.ts';

interface Shared {
  sql: Sql;
  realmSql: RealmSql;
  transact: Transact;
  seal: Seal;
  settings: SettingsService;
  notify: Notify;
  /** The realm's keys: they sign requests to identity providers and decrypt their assertions. */
  keys: Pick<Keys, 'active' | 'certificates' | 'decrypting'>;
  outbound: Outbound;
  /** `documentEnvironment`: the values of placeholders. */
  config: { documentEnvironment: Readonly<Record<string, string>> };
  baseUrl: string;
  now: () => Date;
  newId: () => string;
}

export function createSignInByProviders(deps: Shared & Omit<FirstSignInDeps, 'links' | 'providers'>) {
  const { keys, outbound, now } = deps;
  const providers = createProviders({ ...deps, environment: deps.config.documentEnvironment });
  const homes = createHomes({ ...deps, providers });
  const links = createLinks(deps);
  const providerSessions = createProviderSessions(deps);
  const providerTokens = createProviderTokens(deps);
  const codeFlow = createCodeFlow(deps);
  const oidc = createOidc({ codeFlow, documents: createRemoteDocuments({ outbound, loopback: true, now }), now });
  const metadata = createRemoteDocuments({ outbound, loopback: true, read: (body) => body, keepOld: true, now });
  const samlProviders = createSamlProviders({ ...deps, documents: metadata });
  const signerOf = createSigningKeyOf(keys);
  const saml = createSamlBrokering({ ...deps, samlProviders, signerOf });
  const upstreams = { oidc, oauth2: createOauth2({ codeFlow }), saml };
  const firstSignIns = createFirstSignIns({ ...deps, links, providers });
  return {
    providers,
    homes,
    links,
    providerSessions,
    providerTokens,
    upstreams,
    samlProviders,
    signerOf,
    brokering: createBrokering({
      ...deps,
      providers,
      links,
      firstSignIns,
      providerSessions,
      providerTokens,
      upstreams,
    }),
    drop(realm: string | undefined): void {
      providers.drop(realm);
      homes.drop(realm);
    },
  };
}
type SignInByProviders = ReturnType<typeof createSignInByProviders>;

/** The parts that need sessions: logout at the provider, and connecting a provider to a signed-in user's account. */
export function createBrokeringInSessions(deps: Shared & SignInByProviders & { sessions: Sessions }) {
  const samlLogout = createSamlLogout(deps);
  const upstreamLogout = createUpstreamLogout({ ...deps, ...deps.upstreams, samlLogout });
  return {
    upstreamLogout,
    connections: createConnections(deps),
    mountLogout: (pages: FastifyInstance, applications: Applications): void =>
      upstreamLogoutRoutes(pages, { ...deps, logout: upstreamLogout, samlLogout, applications }),
  };
}
