// A value for each field of the kinds by which a realm and others know each other's people.
import { identityProviderRoutes } from '../../../server/contract/identity-providers.ts';
import { samlClientRoutes } from '../../../server/contract/saml-clients.ts';
import { SAML_CERTIFICATE } from '../../support/saml.ts';
import type { Sample } from './sample.ts';

export const federationSamples: readonly Sample[] = [
  {
    section: 'identityProviders',
    table: 'identity_provider',
    key: 'alias',
    routes: identityProviderRoutes,
    needed: { type: 'oidc', config: { issuer: 'https://id.example' } },
    fields: {
      displayName: 'Corporate',
      enabled: false,
      hidden: true,
      clientId: 'us',
      scopes: ['openid', 'email', 'openid'],
      config: { pkce: false, issuer: 'https://other.example' },
      mappers: [
        { name: 'b', claim: 'b', to: 'attribute', target: 'b' },
        { name: 'a', claim: 'a', to: 'role', target: 'reader', value: 'x' },
      ],
      syncMode: 'always',
      firstLoginFlow: 'browser',
      linking: 'never',
      domains: ['b.example', 'a.example'],
      secret: 'the secret there',
    },
    random: ['secret'],
  },
  {
    section: 'samlClients',
    table: 'saml_client',
    key: 'entityId',
    column: 'entity_id',
    routes: samlClientRoutes,
    needed: { assertionConsumerServices: [{ url: 'https://wiki.example/acs' }] },
    fields: {
      name: 'Wiki',
      enabled: false,
      assertionConsumerServices: [{ url: 'https://b.example/acs', index: 3 }, { url: 'https://a.example/acs' }],
      singleLogoutServices: [{ url: 'https://wiki.example/slo', binding: 'Redirect' }],
      nameIdFormat: 'transient',
      signingCertificates: [SAML_CERTIFICATE, SAML_CERTIFICATE.trim()],
      encryptionCertificate: SAML_CERTIFICATE.trim(),
      signAssertions: false,
      signResponses: false,
      idpInitiated: true,
      consentRequired: true,
      mappers: [{ name: 'b', source: 'property', attribute: 'email' }, { name: 'a' }],
      metadataUrl: 'https://wiki.example/metadata',
      metadataCertificate: SAML_CERTIFICATE,
      flowOverride: 'browser',
    },
    whole: { requireSignedRequests: true, encryptAssertions: true },
  },
];
