// The names that SAML 2.0 has for things. Core §3.2.2.2, §8.3; Bindings §3.4, §3.5; Authentication Context.

export const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol';
export const ASSERTION = 'urn:oasis:names:tc:SAML:2.0:assertion';
export const SIGNATURES = 'http://www.w3.org/2000/09/xmldsig#';

/** Bytes. Bindings §3.4.3. */
export const MOST_RELAY_STATE = 80;

/** For the log and the audit trail alone. */
export const UNPROVEN = 'The request is not signed, or not with a key of the client by RSA with SHA-256 or SHA-512';

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

const status = (name: string) => `urn:oasis:names:tc:SAML:2.0:status:${name}`;
export const SUCCESS = status('Success');
export const PARTIAL_LOGOUT = status('PartialLogout');

/** Who is to blame, and what it is. */
export interface Failed {
  top: string;
  code: string;
  message: string;
}
const failed = (top: 'Requester' | 'Responder', code: string, message: string): Failed => ({
  top: status(top),
  code: status(code),
  message,
});
export const failures = {
  noPassive: failed('Responder', 'NoPassive', 'The person has to sign in'),
  denied: failed('Responder', 'RequestDenied', 'The person may not use this application'),
  applicationOff: failed('Responder', 'RequestDenied', 'The application is switched off'),
  otherPerson: failed('Responder', 'UnknownPrincipal', 'Somebody else has signed in'),
  acting: failed('Responder', 'RequestDenied', 'The person themselves would have to sign in'),
  noNameId: failed('Responder', 'InvalidNameIDPolicy', 'The person has no name of this format'),
  nameIdPolicy: failed('Requester', 'InvalidNameIDPolicy', 'There are no names of this format, or for others'),
  noContext: failed('Requester', 'NoAuthnContext', 'Nobody can sign in as the request asks'),
  subject: failed('Requester', 'RequestUnsupported', 'The subject must be named in plain text'),
  binding: failed('Requester', 'UnsupportedBinding', 'Responses go by HTTP-POST'),
} as const satisfies Record<string, Failed>;
