// Owns: a service provider by a library that others run (node-saml): its requests, and what it makes of responses.
// Does not own: the identity provider, the person (person.ts), certificates (saml.ts).
// Implements: tests of SAML as an application meets it.
import { SAML, type SamlConfig, ValidateInResponseTo } from '@node-saml/node-saml';
import type { z } from 'zod';
import { createSamlClient, type SamlClientInput } from '../../server/contract/saml-clients.ts';
import { PASSWORD } from './applications.ts';
import type { Person, ShownPage } from './person.ts';
import { samlKeyPair } from './saml.ts';
import type { TestServer } from './server.ts';

export const WIKI = 'https://wiki.example.com/saml';
export const ACS = 'https://wiki.example.com/saml/acs';
/** Of every service provider here. */
export const serviceProviderKeys = samlKeyPair();

export const samlEndpointUrl = (server: TestServer, realm: string, endpoint: string): string =>
  `${server.baseUrl}/realms/${realm}/saml/idp/${endpoint}`;

/** Certificates of the identity provider's metadata. */
export async function certificatesOf(server: TestServer, realm: string): Promise<string[]> {
  const metadata = await (await fetch(samlEndpointUrl(server, realm, 'metadata'))).text();
  return [...metadata.matchAll(/<md:KeyDescriptor use="signing">.*?<ds:X509Certificate>([^<]*)</g)].map(
    ([, certificate = '']) => certificate,
  );
}

export async function makeServiceProvider(
  server: TestServer,
  realm: string,
  more: Partial<z.input<typeof SamlClientInput>> = {},
): Promise<void> {
  const body = { entityId: WIKI, assertionConsumerServices: [{ url: ACS }], ...more };
  await server.admin.call(createSamlClient, { params: { realm }, body });
}

/** A service provider that accepts only signed responses to its own requests. */
export async function serviceProvider(
  server: TestServer,
  realm: string,
  { entityId = WIKI, ...more }: Partial<SamlConfig> & { entityId?: string } = {},
): Promise<SAML> {
  return new SAML({
    issuer: entityId,
    callbackUrl: ACS,
    audience: entityId,
    entryPoint: samlEndpointUrl(server, realm, 'sso'),
    logoutUrl: samlEndpointUrl(server, realm, 'slo'),
    idpIssuer: `${server.baseUrl}/realms/${realm}`,
    idpCert: await certificatesOf(server, realm),
    privateKey: serviceProviderKeys.key,
    publicCert: serviceProviderKeys.certificate,
    signatureAlgorithm: 'sha256',
    wantAssertionsSigned: true,
    wantAuthnResponseSigned: true,
    validateInResponseTo: ValidateInResponseTo.always,
    disableRequestedAuthnContext: true,
    identifierFormat: null,
    acceptedClockSkewMs: 1000,
    ...more,
  });
}

/** Signs in where that is asked for. */
export async function signedIn(person: Person, shown: ShownPage, username = 'alice'): Promise<ShownPage> {
  return shown.heading === 'Sign in' ? person.fill(shown, { username, password: PASSWORD }) : shown;
}

/** The message that the identity provider posts to the service provider, by the page's form. */
export function postedSamlMessage({ text, fields }: ShownPage): {
  action: string;
  xml: string;
  fields: Record<string, string>;
} {
  const action = /<form method="post" action="([^"]*)"/.exec(text)?.[1] ?? '';
  if (!fields.SAMLResponse && !fields.SAMLRequest) throw new Error(`nothing is posted: ${text}`);
  return { action, xml: Buffer.from(fields.SAMLResponse ?? fields.SAMLRequest ?? '', 'base64').toString(), fields };
}
export const statusOf = (shown: ShownPage): string[] =>
  [...postedSamlMessage(shown).xml.matchAll(/<samlp:StatusCode Value="[^"]*:([^":]+)"/g)].map(([, code = '']) => code);
