// The kinds of objects by which a realm and others know each other's people: providers and service providers.
import { identityProviderRoutes } from '../server/contract/identity-providers.ts';
import { samlClientRoutes } from '../server/contract/saml-clients.ts';
import { list, text, time, yes } from './cells.ts';
import { type Kind, kind } from './kinds.ts';

const identityProviders = kind({
  plural: 'identity-providers',
  singular: 'identity-provider',
  help: 'by whom else people sign in: OpenID Connect, OAuth 2, SAML 2.0',
  inRealm: true,
  routes: identityProviderRoutes,
  at: ({ alias }) => ({ alias }),
  nameOf: ({ alias }) => alias,
  columns: [
    { head: 'PROVIDER', cell: (p) => p.alias },
    { head: 'TYPE', cell: (p) => p.type },
    { head: 'ENABLED', cell: (p) => yes(p.enabled) },
    { head: 'NAME', cell: (p) => text(p.displayName) },
    { head: 'DOMAINS', cell: (p) => list(p.domains), wide: true },
    { head: 'SECRET', cell: (p) => yes(p.secretSet), wide: true },
  ],
});

const samlClients = kind({
  plural: 'saml-clients',
  singular: 'saml-client',
  help: 'service providers by SAML 2.0',
  inRealm: true,
  searches: true,
  routes: samlClientRoutes,
  at: ({ entityId }) => ({ entityId }),
  nameOf: ({ entityId }) => entityId,
  columns: [
    { head: 'ENTITY ID', cell: (c) => c.entityId },
    { head: 'ENABLED', cell: (c) => yes(c.enabled) },
    { head: 'NAME', cell: (c) => text(c.name) },
    { head: 'NAME ID', cell: (c) => c.nameIdFormat, wide: true },
    { head: 'ASSERTIONS GO TO', cell: (c) => list(c.assertionConsumerServices.map((s) => s.url)), wide: true },
    { head: 'FLOW', cell: (c) => text(c.flowOverride), wide: true },
    { head: 'CREATED', cell: (c) => time(c.createdAt), wide: true },
  ],
});

export const federationKinds: readonly Kind[] = [identityProviders, samlClients];
