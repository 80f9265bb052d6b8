// The composition root's part for other identity providers: signing in by them, who people are there, signing out with them.
// It decides nothing. Specification 4.10.
import type { FastifyInstance } from 'fastify';
import type { Seal } from './crypto/seal.ts';
import type { RealmSql } from './db/realm-share.ts';
import type { Sql } from './db/sql.ts';
import type { Transact } from './db/transact.ts';
import { createIdentitySection } from './features/authentication/account/identities.ts';
import type { OwnIdentities } from './features/authentication/account/own-identities.ts';
import type { AccountSection } from './features/authentication/account/section.ts';
import type { MailedCodes } from './features/authentication/authenticators/mailed-code.ts';
import { createCodeFlow } from './features/authentication/brokering/code-flow.ts';
import { type Connections, createConnections } from './features/authentication/brokering/connect.ts';
import { createFirstSignIns, type FirstSignInDeps } from './features/authentication/brokering/first-sign-in.ts';
import { createHomes } from './features/authentication/brokering/homes.ts';
import { createLinks } from './features/authentication/brokering/links.ts';
import { createUpstreamLogout, type UpstreamLogout } from './features/authentication/brokering/logout.ts';
import { upstreamLogoutRoutes } from './features/authentication/brokering/logout-routes.ts';
import { createOauth2 } from './features/authentication/brokering/oauth2.ts';
import { createOidc } from './features/authentication/brokering/oidc.ts';
import { createProviderSessions } from './features/authentication/brokering/provider-sessions.ts';
import { createProviderTokens, providerTokenRoutes } from './features/authentication/brokering/provider-tokens.ts';
import { createProviders } from './features/authentication/brokering/providers.ts';
import { brokeringRoutes } from './features/authentication/brokering/routes.ts';
import { createSamlBrokering } from './features/authentication/brokering/saml.ts';
import { type Applications, createSamlLogout } from './features/authentication/brokering/saml-logout.ts';
import { createSamlProviders } from './features/authentication/brokering/saml-providers.ts';
import { createBrokering } from './features/authentication/brokering/service.ts';
import type { Continuation } from './features/authentication/sign-in/continuation.ts';

import type { SignIns } from './features/authentication/sign-in/service.ts';
import type { Keys } from './features/configuration/keys/service.ts';
import type { Notify } from './features/configuration/messaging/notify.ts';
import type { SettingsService } from './features/configuration/settings/service.ts';
import type { Credentials } from './features/people/credentials/service.ts';
import type { Sessions } from './features/people/sessions/service.ts';
import type { OwnAccounts } from './features/people/users/own-account.ts';
import { createSigningKeyOf } from './features/protocol/saml/signing-key.ts';
import type { Outbound } from './http/outbound.ts';
import { createRemoteDocuments } from './http/remote-documents.ts';

export interface IdentityBrokeringDeps {
  sql: Sql;
  realmSql: RealmSql;
  transact: Transact;
  seal: Seal;
  settings: SettingsService;
  accounts: OwnAccounts;
  credentials: Credentials;
  codes: MailedCodes;
  notify: Notify;
  /** Whether the realm has somebody who sends for the channel. */
  sends(realm: string, channel: 'EMAIL'): Promise<boolean>;
  /** What the realm proves itself by to identity providers. */
  keys: Pick<Keys, 'active' | 'certificates' | 'decrypting'>;
  outbound: Outbound;
  /** What a flow has for first sign-ins. */
  firstSteps: FirstSignInDeps['firstSteps'];
  /** What placeholders stand for. */
  environment: Readonly<Record<string, string>>;
  baseUrl: string;
  now: () => Date;
  newId: () => string;
}

export function createIdentityBrokering(deps: IdentityBrokeringDeps) {
  const { sql, realmSql, transact, seal, settings, notify, keys, outbound, baseUrl, now, newId } = deps;
  const providers = createProviders({ sql, seal, environment: deps.environment, now });
  const homes = createHomes({ sql, providers, now });
  const links = createLinks({ sql, notify, now, newId });
  const providerSessions = createProviderSessions({ sql, seal, newId });
  const providerTokens = createProviderTokens({ seal, newId, now });
  const codeFlow = createCodeFlow({ outbound, keys, newId, now });
  const documents = createRemoteDocuments({ outbound, loopback: true, now });
  const oidc = createOidc({ codeFlow, documents, now });
  const texts = createRemoteDocuments({ outbound, loopback: true, read: (text) => text, keepOld: true, now });
  const samlProviders = createSamlProviders({ documents: texts, settings, now });
  const signerOf = createSigningKeyOf(keys);
  const saml = createSamlBrokering({ samlProviders, keys, signerOf, realmSql, seal, now });
  const firstSignIns = createFirstSignIns({
    ...deps,
    ...{ links, providers },
  });
  const upstreams = { oidc, oauth2: createOauth2({ codeFlow }), saml };
  const brokering = createBrokering({
    ...{ providers, links, firstSignIns, providerSessions, providerTokens },
    ...{ upstreams, notify, seal, now },
  });
  return {
    brokering,
    homes,
    links,
    logoutWith(
      sessions: Sessions,
    ): UpstreamLogout & { mount(pages: FastifyInstance, applications: Applications): void } {
      const samlLogout = createSamlLogout({
        ...{ samlProviders, providerSessions, sessions, signerOf, settings, realmSql, transact, seal, now },
      });
      const logout = createUpstreamLogout({
        ...{ oidc, samlLogout, providers, providerSessions, sessions, transact, seal, baseUrl, now },
      });
      const mount = (pages: FastifyInstance, applications: Applications) =>
        upstreamLogoutRoutes(pages, { logout, samlLogout, applications, providers, settings, baseUrl });
      return { ...logout, mount };
    },
    connectionsWith: (sessions: Sessions): Connections =>
      createConnections({
        ...{ providers, upstreams, links, providerTokens, sessions },
        ...{ notify, transact, seal, baseUrl, now },
      }),
    section: (connections: Connections, ownIdentities: OwnIdentities): AccountSection =>
      createIdentitySection({ links, ownIdentities, connections, settings, transact, baseUrl }),
    /** What applications read of people's accounts. */
    mountTokens: (account: FastifyInstance): void => providerTokenRoutes(account, { providers, transact, seal, now }),
    drop(realm: string | undefined): void {
      providers.drop(realm);
      homes.drop(realm);
    },
    mountPages(
      pages: FastifyInstance,
      {
        signIns,
        continuations,
        connections,
      }: { signIns: SignIns; continuations: readonly Continuation[]; connections: Connections },
    ): void {
      brokeringRoutes(pages, { signIns, settings, continuations, providers, connections, saml, baseUrl });
    },
  };
}
