// Keycloak's identity providers, including the well-known ones with a type of their own. docs/keycloak.md.

import { z } from 'zod';
import type { IdentityProviderInput } from '../../../../contract/identity-providers.ts';
import { type IdentityProvider, type IdentityProviderMapper, isMasked } from './export-shape.ts';
import type { Notes } from './notes.ts';

type Config = NonNullable<z.input<typeof IdentityProviderInput>['config']>;
type Known = { type: 'oidc' | 'oauth2'; config: Config; scopes: string[] };
const openid = ['openid', 'profile', 'email'];
/** Settings of well-known providers that Keycloak doesn't export. */
const byName: Readonly<Record<string, Known>> = {
  google: { type: 'oidc', config: { issuer: 'https://accounts.google.com' }, scopes: openid },
  gitlab: { type: 'oidc', config: { issuer: 'https://gitlab.com' }, scopes: openid },
  'linkedin-openid-connect': { type: 'oidc', config: { issuer: 'https://www.linkedin.com/oauth' }, scopes: openid },
  github: {
    type: 'oauth2',
    config: {
      authorizationEndpoint: 'https://github.com/login/oauth/authorize',
      tokenEndpoint: 'https://github.com/login/oauth/access_token',
      userinfoEndpoint: 'https://api.github.com/user',
    },
    scopes: ['user:email'],
  },
};

const formats: Readonly<Record<string, Config['nameIdFormat']>> = {
  persistent: 'persistent',
  transient: 'transient',
  emailAddress: 'emailAddress',
  unspecified: 'unspecified',
};
const present = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''));

function oidcConfig(at: Record<string, string>): Config {
  const method = at.clientAuthMethod ?? '';
  return present({
    issuer: at.issuer,
    authorizationEndpoint: at.authorizationUrl,
    tokenEndpoint: at.tokenUrl,
    userinfoEndpoint: at.userInfoUrl,
    jwksUri: at.jwksUrl,
    endSessionEndpoint: at.logoutUrl,
    tokenEndpointAuthMethod: /^(client_secret_basic|client_secret_post|private_key_jwt)$/.test(method)
      ? method
      : undefined,
    pkce: at.pkceEnabled === undefined ? undefined : at.pkceEnabled === 'true',
  });
}

/** Settings that are carried over, or that this server always implies; every other set value is reported. */
const silent =
  /^(issuer|authorizationUrl|tokenUrl|userInfoUrl|jwksUrl|useJwksUrl|logoutUrl|clientAuthMethod|pkceEnabled|pkceMethod|clientId|clientSecret|defaultScope|syncMode|hideOnLoginPage|idpEntityId|metadataDescriptorUrl|useMetadataDescriptorUrl|singleSignOnServiceUrl|singleLogoutServiceUrl|postBindingAuthnRequest|postBindingResponse|postBindingLogout|signingCertificate|nameIDPolicyFormat|wantAuthnRequestsSigned|wantAssertionsSigned|validateSignature|signatureAlgorithm|xmlSigKeyInfoKeyNameTransformer|allowCreate|enabledFromMetadata|backchannelSupported|addExtensionsElementWithKeyInfo|attributeConsumingServiceIndex|metadataValidUntil.*|filteredByClaim|trustEmail|clientAssertionAudience)$/;
const why: Readonly<Record<string, string>> = {
  guiOrder: 'providers stand in the order of their aliases here',
  hostedDomain: 'every user of the provider can sign in here: let the provider check the domain',
  entityId: 'the realm’s own entity id is its address here: tell the provider',
  wantAssertionsEncrypted: 'is asked for, with the realm’s key here: give the provider its metadata',
  principalType: 'people are known by their NameID here',
  principalAttribute: 'people are known by their NameID here',
};
const usual: Readonly<Record<string, string>> = { principalType: 'SUBJECT', validateSignature: 'true' };

function samlConfig(at: Record<string, string>): Config {
  const certificates = (at.signingCertificate ?? '').split(',').filter((text) => text.trim() !== '');
  return present({
    entityId: at.idpEntityId,
    metadataUrl: at.metadataDescriptorUrl,
    singleSignOnUrl: at.singleSignOnServiceUrl,
    singleLogoutUrl: at.singleLogoutServiceUrl,
    binding: at.postBindingAuthnRequest === 'true' ? 'POST' : 'Redirect',
    nameIdFormat: formats[(at.nameIDPolicyFormat ?? '').split(':').at(-1) ?? ''],
    signRequests: at.wantAuthnRequestsSigned === 'true',
    wantAssertionsEncrypted: at.wantAssertionsEncrypted === 'true' || undefined,
    signingCertificates: certificates.length === 0 ? undefined : certificates.map(pem),
  });
}
const pem = (text: string): string =>
  text.includes('BEGIN')
    ? text.trim()
    : `-----BEGIN CERTIFICATE-----\n${text.replace(/\s/g, '')}\n-----END CERTIFICATE-----`;

/** @param flows aliases of the flows that are carried over */
export function identityProviderOf(
  given: IdentityProvider,
  mappers: readonly IdentityProviderMapper[],
  notes: Notes,
): Record<string, unknown> | undefined {
  const { alias: key, providerId, config: at = {} } = given;
  const note = (field: string | undefined, why: string) => notes.add({ kind: 'identityProvider', key, field }, why);
  const known = byName[providerId];
  const type = providerId === 'saml' ? 'saml' : /^(keycloak-)?oidc$/.test(providerId) ? 'oidc' : known?.type;
  if (type === undefined) {
    note(undefined, `there is no ${providerId} here: declare it as oidc, oauth2 or saml`);
    return undefined;
  }
  if (given.linkOnly) note('linkOnly', 'Keycloak lets nobody sign in by it; it is disabled here, where users could');
  if (given.storeToken)
    note(
      'storeToken',
      type === 'saml' ? 'assertions are not kept here' : 'who may read its tokens is to be set: config.tokenReaders',
    );
  if (given.postBrokerLoginFlowAlias) note('postBrokerLoginFlowAlias', 'there is no such flow here');
  if (given.firstBrokerLoginFlowAlias && given.firstBrokerLoginFlowAlias !== 'first broker login')
    note('firstBrokerLoginFlowAlias', 'flows of first sign-ins are not carried over');
  for (const [field, value] of Object.entries(at))
    if (!silent.test(field) && value !== '' && value !== 'false' && value !== usual[field])
      note(`config.${field}`, why[field] ?? 'has no counterpart here');
  if (at.validateSignature === 'false') note('config.validateSignature', 'signatures are always checked here');
  const ofAnyKind = present({
    trustEmail: given.trustEmail || undefined,
    storeToken: (type !== 'saml' && given.storeToken) || undefined,
  });
  const masked = at.clientSecret !== undefined && isMasked(at.clientSecret);
  if (masked) note('config.clientSecret', 'is not in the export: set it');
  const scopes = (at.defaultScope ?? '').split(' ').filter(Boolean);
  return {
    alias: key,
    type,
    ...(given.displayName && { displayName: given.displayName }),
    enabled: (given.enabled ?? true) && !given.linkOnly,
    hidden: given.hideOnLogin ?? at.hideOnLoginPage === 'true',
    ...(type !== 'saml' && {
      clientId: at.clientId ?? null,
      scopes: scopes.length > 0 ? scopes : (known?.scopes ?? openid),
    }),
    config: { ...(known ? known.config : type === 'saml' ? samlConfig(at) : oidcConfig(at)), ...ofAnyKind },
    mappers: mappers.flatMap((mapper) => {
      const mapped = mapperOf(mapper);
      if (!mapped) note(`mappers.${mapper.name}`, `there is no mapper ${mapper.identityProviderMapper} here`);
      const { syncMode = 'INHERIT' } = mapper.config ?? {};
      if (mapped && syncMode !== 'INHERIT' && (syncMode === 'FORCE') !== (at.syncMode === 'FORCE'))
        note(`mappers.${mapper.name}.syncMode`, 'all mappers count when the provider’s do here');
      return mapped ?? [];
    }),
    syncMode: at.syncMode === 'FORCE' ? ('always' as const) : ('import' as const),
    ...(at.clientSecret && !masked && type !== 'saml' && { secret: at.clientSecret }),
  };
}

const Claims = z.array(z.object({ key: z.string().min(1), value: z.string() }));
function claimsIn(text = '[]') {
  try {
    return Claims.safeParse(JSON.parse(text)).data ?? [];
  } catch {
    return [];
  }
}
/** A client's role is written `client.role`. */
const isRealms = (role = ''): boolean => role !== '' && !role.includes('.');

const properties = new Set(['username', 'email', 'firstName', 'lastName']);

function mapperOf({ name, identityProviderMapper: type, config = {} }: IdentityProviderMapper) {
  const claim = config.claim || config['attribute.name'] || config['attribute.friendly.name'] || config.jsonField;
  const target = config['user.attribute'] || config.userAttribute;
  if (/(user-attribute-idp-mapper|user-attribute-mapper)$/.test(type) && claim && target)
    return { name, claim, to: properties.has(target) ? 'property' : 'attribute', target };
  const group = config.group ?? '';
  const [one, ...more] = claimsIn(config.claims);
  // This server's mappers compare one claim with one value: they support neither several claims nor patterns.
  const single = one && more.length === 0 && config['are.claim.values.regex'] !== 'true' ? one : undefined;
  if (single && /^(oidc|keycloak-oidc)-advanced-group-idp-mapper$/.test(type) && group !== '')
    return { name, claim: single.key, value: single.value, to: 'group', target: group };
  if (single && /^(oidc|keycloak-oidc)-advanced-role-idp-mapper$/.test(type) && isRealms(config.role))
    return { name, claim: single.key, value: single.value, to: 'role', target: config.role };
  const value = config['claim.value'] || config['attribute.value'] || null;
  if (/^(oidc|keycloak-oidc|saml)-role-idp-mapper$/.test(type) && claim && isRealms(config.role))
    return { name, claim, value, to: 'role', target: config.role };
  return undefined;
}
