// Owns: SAML requests by hand, as no library would make them, and how they get to the identity provider.
// Does not own: signing them (saml.ts), what becomes of them.
// Implements: tests of what SAML's endpoints refuse.
import { createPrivateKey, randomBytes, sign } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import type { Person, ShownPage } from './person.ts';
import { serviceProviderKeys, WIKI } from './service-provider.ts';

export interface RequestOptions {
  id?: string;
  issuer?: string;
  destination?: string | undefined;
  issued?: Date;
  attributes?: string;
  inside?: string;
}

export const newRequestId = (): string => `_${randomBytes(16).toString('hex')}`;

export function authnRequest({
  id = newRequestId(),
  issuer = WIKI,
  destination,
  issued = new Date(),
  attributes = '',
  inside = '',
}: RequestOptions = {}): string {
  const to = destination === undefined ? '' : ` Destination="${destination}"`;
  return `<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" Version="2.0" IssueInstant="${issued.toISOString()}"${to}${attributes}><saml:Issuer>${issuer}</saml:Issuer>${inside}</samlp:AuthnRequest>`;
}

export interface LogoutOptions {
  name: string;
  index?: string | undefined;
  id?: string;
  issuer?: string;
  issued?: Date;
  more?: string;
}
export const logoutRequest = ({
  name,
  index,
  id = newRequestId(),
  issuer = WIKI,
  issued = new Date(),
  more = '',
}: LogoutOptions) =>
  authnRequest({
    id,
    issuer,
    issued,
    attributes: more,
    inside: `<saml:NameID>${name}</saml:NameID>${index === undefined ? '' : `<samlp:SessionIndex>${index}</samlp:SessionIndex>`}`,
  }).replaceAll('AuthnRequest', 'LogoutRequest');

const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
export interface RedirectOptions {
  relayState?: string;
  key?: string | undefined;
  algorithm?: string;
  digest?: string;
  kind?: 'SAMLRequest' | 'SAMLResponse';
}

/** The query of the Redirect binding; with a key it is signed. */
export function redirectQuery(
  xml: string,
  { relayState, key, algorithm = RSA_SHA256, digest = 'sha256', kind = 'SAMLRequest' }: RedirectOptions = {},
): string {
  const parts = [
    [kind, deflateRawSync(Buffer.from(xml)).toString('base64')],
    ...(relayState === undefined ? [] : [['RelayState', relayState]]),
    ...(key === undefined ? [] : [['SigAlg', algorithm]]),
  ];
  const text = parts.map(([name, value = '']) => `${name}=${encodeURIComponent(value)}`).join('&');
  if (key === undefined) return text;
  const signature = sign(digest, Buffer.from(text), createPrivateKey(key)).toString('base64');
  return `${text}&Signature=${encodeURIComponent(signature)}`;
}

export const byRedirect = (
  person: Person,
  address: string,
  xml: string,
  options: RedirectOptions = {},
): Promise<ShownPage> =>
  person.open(`${new URL(address).pathname}?${redirectQuery(xml, { key: serviceProviderKeys.key, ...options })}`);

export const byPost = (person: Person, address: string, xml: string, relayState?: string): Promise<ShownPage> =>
  person.post(new URL(address).pathname, {
    SAMLRequest: Buffer.from(xml).toString('base64'),
    ...(relayState !== undefined && { RelayState: relayState }),
  });
