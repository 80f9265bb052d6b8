// Owns: a SAML 2.0 identity provider of a test's own: its assertions, right or wrong, and a user who comes back with one.
// Does not own: signatures (saml.ts), forgeries of them (signature-wrapping.ts).
import { inflateRawSync } from 'node:zlib';
import type { ProviderConfig } from '../../server/contract/identity-providers.ts';
import { makeProvider, sentTo } from './brokering.ts';
import { createPerson, type Person, type ShownPage } from './person.ts';
import { samlKeyPair } from './saml.ts';
import type { TestServer } from './server.ts';

export const IDP = 'https://idp.example.com/saml';
/** Its own. */
export const identityProviderKeys = samlKeyPair();

export interface RealmAt {
  server: TestServer;
  realm: string;
}
export const callbackOf = ({ server, realm }: RealmAt): string =>
  `${server.baseUrl}/realms/${realm}/broker/corp/endpoint`;
export const minutesFromNow = (n: number): string => new Date(Date.now() + n * 60_000).toISOString();

/** Deliberate faults of an assertion. */
export interface Lies {
  id?: string;
  issuer?: string;
  audience?: string;
  recipient?: string;
  inResponseTo?: string;
  from?: string;
  until?: string;
  format?: string;
  status?: string;
  name?: string;
  sessionIndex?: string;
}

export function assertionOf(place: RealmAt, requestId: string, lies: Lies = {}): string {
  const { server, realm } = place;
  const { id = '_a1', issuer = IDP, audience = `${server.baseUrl}/realms/${realm}` } = lies;
  const { recipient = callbackOf(place), inResponseTo = requestId } = lies;
  const { from = minutesFromNow(-5), until = minutesFromNow(5) } = lies;
  const { name = 'ada@corp.example', sessionIndex } = lies;
  const format = lies.format ?? 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
  const session = sessionIndex === undefined ? '' : ` SessionIndex="${sessionIndex}"`;
  return `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" Version="2.0" IssueInstant="${minutesFromNow(0)}"><saml:Issuer>${issuer}</saml:Issuer><saml:Subject><saml:NameID Format="${format}">${name}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData Recipient="${recipient}" NotOnOrAfter="${until}" InResponseTo="${inResponseTo}"/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${from}" NotOnOrAfter="${until}"><saml:AudienceRestriction><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions><saml:AuthnStatement AuthnInstant="${minutesFromNow(0)}"${session}/></saml:Assertion>`;
}

export const responseOf = (place: RealmAt, inside: string, { id = '_r1', status = 'Success' }: Lies = {}): string =>
  `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="${id}" Version="2.0" IssueInstant="${minutesFromNow(0)}" Destination="${callbackOf(place)}"><saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${IDP}</saml:Issuer><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${status}"/></samlp:Status>${inside}</samlp:Response>`;

/** The message in an address of the Redirect binding. */
export const messageIn = (url: string, kind: 'SAMLRequest' | 'SAMLResponse' = 'SAMLRequest'): string =>
  inflateRawSync(Buffer.from(new URL(url).searchParams.get(kind) ?? '', 'base64')).toString();
export const idIn = (message: string): string => /ID="(_[0-9a-f]+)"/.exec(message)?.[1] ?? '';

/** It is the realm's provider `corp`. */
export const makeSamlProvider = ({ server, realm }: RealmAt, config: ProviderConfig = {}): Promise<string> =>
  makeProvider(server, realm, {
    ...{ alias: 'corp', type: 'saml', displayName: 'Corp' },
    config: {
      entityId: IDP,
      singleSignOnUrl: `${IDP}/sso`,
      signingCertificates: [identityProviderKeys.certificate],
      trustEmail: true,
      ...config,
    },
  });

export interface Come {
  person: Person;
  page: ShownPage;
  /** The same once more. */
  send(by?: Person): Promise<ShownPage>;
}

/** A user who comes back with the answer that the test makes of their request. */
export async function comeWith(
  place: RealmAt,
  make: (requestId: string) => string,
  { person = createPerson(place.server.baseUrl) }: { person?: Person } = {},
): Promise<Come> {
  const url = await sentTo(person, await person.open(`/realms/${place.realm}/login?for=account`));
  const state = new URL(url).searchParams.get('RelayState') ?? '';
  const SAMLResponse = Buffer.from(make(idIn(messageIn(url)))).toString('base64');
  const send = (by = person) => by.post(new URL(callbackOf(place)).pathname, { SAMLResponse, RelayState: state });
  return { person, send, page: await send() };
}
