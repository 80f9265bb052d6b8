// The failures that the identity provider reports if it can't fulfil a request. Core §3.2.2.2.
import { samlStatus } from '../../../domain/saml-names.ts';

/** A reason that appears only in the log and the audit log. */
export const UNPROVEN = 'The request is not signed, or not with a key of the client by RSA with SHA-256 or SHA-512';

/** A SAML status: the responsible side, and the cause. */
export interface Failed {
  top: string;
  code: string;
  message: string;
}
const failed = (top: 'Requester' | 'Responder', code: string, message: string): Failed => ({
  top: samlStatus(top),
  code: samlStatus(code),
  message,
});
export const failures = {
  noPassive: failed('Responder', 'NoPassive', 'The person has to sign in'),
  denied: failed('Responder', 'RequestDenied', 'The person may not use this application'),
  notAgreed: failed('Responder', 'RequestDenied', 'The person did not agree'),
  cancelled: failed('Responder', 'AuthnFailed', 'The person cancelled the sign-in'),
  applicationOff: failed('Responder', 'RequestDenied', 'The application is switched off'),
  otherPerson: failed('Responder', 'UnknownPrincipal', 'Somebody else has signed in'),
  acting: failed('Responder', 'RequestDenied', 'The person themselves would have to sign in'),
  noNameId: failed('Responder', 'InvalidNameIDPolicy', 'The person has no name of this format'),
  nameIdPolicy: failed('Requester', 'InvalidNameIDPolicy', 'There are no names of this format, or for others'),
  noContext: failed('Requester', 'NoAuthnContext', 'No sign-in can reach the requested context'),
  subject: failed('Requester', 'RequestUnsupported', 'The subject must be named in plain text'),
  binding: failed('Requester', 'UnsupportedBinding', 'Responses go by HTTP-POST'),
} as const satisfies Record<string, Failed>;
