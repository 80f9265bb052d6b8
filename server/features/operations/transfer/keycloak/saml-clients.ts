// SAML clients of Keycloak. docs/keycloak.md.
import { type Client, type ClientScope, isCatalogued } from './export-shape.ts';
import { samlMapperOf } from './mappers.ts';
import type { Notes } from './notes.ts';

const formats: Readonly<Record<string, string>> = {
  username: 'unspecified',
  email: 'emailAddress',
  transient: 'transient',
  persistent: 'persistent',
};
/** Keycloak exports certificates without the PEM lines. */
const pem = (certificate: string): string =>
  certificate.includes('BEGIN')
    ? certificate
    : `-----BEGIN CERTIFICATE-----\n${certificate.replace(/\s/g, '').replace(/.{64}/g, '$&\n').trimEnd()}\n-----END CERTIFICATE-----\n`;

/** Attributes that are carried over or have no effect here; other SAML attributes are reported. */
const silent =
  /^(saml_assertion_consumer_url_(post|redirect)|saml_artifact_binding_url|saml_single_logout_service_url_(post|redirect)|saml_name_id_format|saml_idp_initiated_sso_url_name|saml\.(signing|encryption)\.certificate|saml\.(client\.signature|assertion\.signature|server\.signature|encrypt|authnstatement|force\.post\.binding|signature\.algorithm|signing\.certificate\..*|artifact\.binding.*|multivalued\.roles|server\.signature\.keyinfo\.ext)|saml\$.*|saml_signature_canonicalization_method|saml\.server\.signature\.keyinfo\$.*|realm_client|display\.on\.consent\.screen|client\.secret\..*|post\.logout\.redirect\.uris|(backchannel|frontchannel)\..*|oauth2\..*|oidc\..*|use\.refresh\.tokens)$/;

/**
 * @param flows aliases by Keycloak's ids
 * @param scopes the realm's client scopes; the SAML client gets their mappers as its own
 */
export function samlClientOf(
  given: Client,
  { flows, scopes, notes }: { flows: ReadonlyMap<string, string>; scopes: readonly ClientScope[]; notes: Notes },
): Record<string, unknown> {
  const { clientId: key, attributes: at = {} } = given;
  const note = (field: string, why: string) => notes.add({ kind: 'client', key, field }, why);
  const is = (field: string) => at[field] === 'true';
  const below = (uri: string) => (uri.startsWith('/') ? (given.rootUrl ?? '').replace(/(?<!\/)\/+$/, '') + uri : uri);
  const consumers = new Set([at.saml_assertion_consumer_url_post ?? '', ...(given.redirectUris ?? []).map(below)]);
  for (const url of consumers) if (url.includes('*')) note('redirectUris', `${url}: addresses are exact here`);
  if (at.saml_assertion_consumer_url_redirect)
    note('attributes.saml_assertion_consumer_url_redirect', 'assertions go by POST here');
  if (at.saml_artifact_binding_url) note('attributes.saml_artifact_binding_url', 'there is no artifact binding here');
  const logouts = [
    ['POST', at.saml_single_logout_service_url_post],
    ['Redirect', at.saml_single_logout_service_url_redirect],
  ].flatMap(([binding, url]) => (url ? [{ binding, url: below(url) }] : []));
  for (const [name, value] of Object.entries(at))
    if (!silent.test(name) && value !== '' && value !== 'false') note(`attributes.${name}`, 'has no counterpart here');
  const its = scopes.filter(({ name, protocol }) => protocol === 'saml' && given.defaultClientScopes?.includes(name));
  const all = [...(given.protocolMappers ?? []), ...its.flatMap(({ protocolMappers = [] }) => protocolMappers)];
  // The client's own mappers take precedence over mappers of scopes with the same name.
  const named = new Map(all.toReversed().map((mapper) => [mapper.name, mapper]));
  const mappers = [...named.values()].flatMap((mapper) => {
    if (mapper.protocolMapper === 'saml-authn-context-class-ref-mapper') return [];
    const mapped = samlMapperOf(mapper);
    if (!mapped) note(`protocolMappers.${mapper.name}`, `there is no mapper ${mapper.protocolMapper} here`);
    return mapped ?? [];
  });
  const has = (what: string) => (at[`saml.${what}.certificate`] ?? '') !== '';
  if (is('saml.client.signature') && !has('signing'))
    note('attributes.saml.client.signature', 'its certificate is missing');
  if (is('saml.encrypt') && !has('encryption')) note('attributes.saml.encrypt', 'its certificate is missing');
  const flow = flows.get(given.authenticationFlowBindingOverrides?.browser ?? '');
  return {
    entityId: key,
    ...(given.name && !isCatalogued(given.name) && { name: given.name }),
    enabled: given.enabled ?? true,
    assertionConsumerServices: [...consumers]
      .filter((url) => url !== '' && !url.includes('*'))
      .map((url) => ({ url, binding: 'POST' })),
    singleLogoutServices: logouts,
    nameIdFormat: formats[at.saml_name_id_format ?? ''] ?? 'unspecified',
    ...(at['saml.signing.certificate'] && { signingCertificates: [pem(at['saml.signing.certificate'])] }),
    ...(at['saml.encryption.certificate'] && { encryptionCertificate: pem(at['saml.encryption.certificate']) }),
    requireSignedRequests: is('saml.client.signature') && has('signing'),
    signAssertions: is('saml.assertion.signature'),
    signResponses: is('saml.server.signature'),
    encryptAssertions: is('saml.encrypt') && has('encryption'),
    consentRequired: given.consentRequired ?? false,
    idpInitiated: (at.saml_idp_initiated_sso_url_name ?? '') !== '',
    mappers,
    ...(flow !== undefined && { flowOverride: flow }),
  };
}
