// A user's own credentials on the account API: set up and removed by the user. Specification 4.11; decisions "Enrolment".
import { z } from 'zod';
import { accountPath, ofOwnAccount as own } from './account.ts';
import { EpochMs, Id, name, RealmName, text } from './names.ts';
import { route } from './route.ts';
import { Credential } from './users.ts';

const at = `${accountPath}/credentials` as const;
const ticket = z.string().describe('Comes back with what was set up; good for ten minutes');
const label = text(100).optional().describe('As you see it in lists');
const sent = text(16_384).min(1).describe('Of the answer before');

export const listOwnCredentials = route({
  ...own,
  method: 'GET',
  path: at,
  operationId: 'listOwnCredentials',
  summary: 'What you can sign in with',
  response: z.array(Credential),
});
export const deleteOwnCredential = route({
  ...own,
  method: 'DELETE',
  path: `${at}/:type/:id`,
  operationId: 'deleteOwnCredential',
  summary: 'Remove a way to sign in; all other sessions end',
  description: 'A password is changed, not removed. Refused (409) where nothing is left that says who you are.',
  fresh: true,
  params: z.strictObject({ realm: RealmName, type: name(50), id: Id }),
  status: 204,
  problems: ['not-found', 'wrong-state', 'last-administrator'],
});

export const startOwnOtp = route({
  ...own,
  method: 'POST',
  path: `${at}/otp/start`,
  operationId: 'startOwnOtp',
  summary: 'Begin to set up an authenticator app',
  fresh: true,
  response: z.object({
    ticket,
    secret: z.string().describe('Base32'),
    address: z.string().describe('`otpauth://…`: what a QR code for the app holds'),
  }),
  recordsNothing: true,
});
export const createOwnOtp = route({
  ...own,
  method: 'POST',
  path: `${at}/otp`,
  operationId: 'createOwnOtp',
  summary: 'Set up an authenticator app, by its first code',
  fresh: true,
  body: z.strictObject({ ticket: sent, code: text(20).min(1), label }),
  example: { ticket: 'of the answer before', code: '123456', label: 'Phone' },
  status: 201,
  response: z.object({ id: Id }),
});

export const startOwnPasskey = route({
  ...own,
  method: 'POST',
  path: `${at}/webauthn/start`,
  operationId: 'startOwnPasskey',
  summary: 'Begin to set up a passkey',
  description: 'Passkeys are of the realm’s own host: the page that makes one is shown there.',
  fresh: true,
  response: z.object({
    ticket,
    publicKey: z.looseObject({}).describe('WebAuthn’s `PublicKeyCredentialCreationOptionsJSON`'),
  }),
  recordsNothing: true,
});
export const createOwnPasskey = route({
  ...own,
  method: 'POST',
  path: `${at}/webauthn`,
  operationId: 'createOwnPasskey',
  summary: 'Set up a passkey, by what the browser made',
  fresh: true,
  body: z.strictObject({
    ticket: sent,
    response: z.looseObject({}).describe('WebAuthn’s `RegistrationResponseJSON`'),
    label,
  }),
  example: { ticket: 'of the answer before', response: {}, label: 'Laptop' },
  status: 201,
  response: z.object({ id: Id }),
});

export const createOwnRecoveryCodes = route({
  ...own,
  method: 'POST',
  path: `${at}/recovery-codes`,
  operationId: 'createOwnRecoveryCodes',
  summary: 'Make recovery codes, in place of those that there were',
  description: 'Each works once. They are shown this one time.',
  fresh: true,
  status: 201,
  response: z.object({ id: Id, codes: z.array(z.string()) }),
});

export const createOwnUserCode = route({
  ...own,
  method: 'POST',
  path: `${at}/user-code`,
  operationId: 'createOwnUserCode',
  summary: 'Choose the code by which applications may ask you on your devices, in place of the one that there was',
  description:
    'Some applications need it (OpenID Connect CIBA, `user_code`), so that strangers can’t make your devices ring. You can’t sign in with it.',
  fresh: true,
  body: z.strictObject({ code: text(64).min(4).describe('From 4 characters on; do not use your password') }),
  example: { code: '4711' },
  status: 201,
  response: z.object({ id: Id }),
});

export const createOwnEnrolmentToken = route({
  ...own,
  method: 'POST',
  path: `${accountPath}/enrollment-tokens`,
  operationId: 'createOwnEnrolmentToken',
  summary: 'Make a token by which a device of yours is enrolled',
  description: 'It works once and for ten minutes; the device counts at once.',
  fresh: true,
  status: 201,
  response: z.object({
    token: z.string(),
    url: z.string().describe('What the QR code for the device holds'),
    expiresAt: EpochMs,
  }),
});
