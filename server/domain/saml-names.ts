// SAML 2.0's names, for both sides: the realm as identity provider and as service provider. Core §3.2.2.2, §8.3; Bindings §3.4, §3.5.

export const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol';
export const ASSERTION = 'urn:oasis:names:tc:SAML:2.0:assertion';
export const METADATA = 'urn:oasis:names:tc:SAML:2.0:metadata';
export const SIGNATURES = 'http://www.w3.org/2000/09/xmldsig#';

/** Bytes. The standard says 80 (Bindings §3.4.3), and partners send more: other products carry what comes. */
export const MOST_RELAY_STATE = 1024;
export const RELAY_STATE_TOO_LONG = `RelayState is longer than ${MOST_RELAY_STATE} bytes`;

export type Binding = 'POST' | 'Redirect';
export const bindingNames: Readonly<Record<Binding, string>> = {
  POST: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST',
  Redirect: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect',
};

export const nameIdFormats = {
  persistent: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  transient: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient',
  emailAddress: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
  unspecified: 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
} as const;
export type NameIdFormat = keyof typeof nameIdFormats;

/** The URN of a status code (SAML Core §3.2.2.2). */
export const samlStatus = (name: string): string => `urn:oasis:names:tc:SAML:2.0:status:${name}`;
export const SUCCESS = samlStatus('Success');
export const PARTIAL_LOGOUT = samlStatus('PartialLogout');
