// Devices on which users approve sign-ins: the API that their apps call. Specification 4.11; decisions "Enrolment".
// docs/devices.md says how a device signs.
import { z } from 'zod';
import { EpochMs, Id, name, RealmName, text } from './names.ts';
import { route } from './route.ts';

const tag = 'devices';
const surface = 'devices' as const;
const InRealm = z.strictObject({ realm: RealmName });
const ById = z.strictObject({ realm: RealmName, id: Id });
const at = '/realms/:realm' as const;

const coordinate = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be 32 bytes in base64url');
/** RFC 7517, RFC 8037; a private member is refused as an unknown field. */
export const DeviceKey = z.discriminatedUnion('kty', [
  z.strictObject({ kty: z.literal('EC'), crv: z.literal('P-256'), x: coordinate, y: coordinate }),
  z.strictObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: coordinate }),
]);
export type DeviceKey = z.infer<typeof DeviceKey>;

const Push = z.strictObject({
  platform: z.enum(['fcm', 'apns']),
  token: text(4096).min(1).describe('What the platform gave the app; write-only'),
});

export const startEnrolment = route({
  method: 'POST',
  path: `${at}/device/enroll/start`,
  operationId: 'startDeviceEnrolment',
  tag,
  surface,
  summary: 'Begin the enrolment of a device',
  description: 'With an enrolment token: `Authorization: Bearer svc_enr_…`. It is not used up.',
  principal: 'own-token',
  permission: null,
  params: InRealm,
  response: z.object({
    challenge: z.string().describe('To be signed by the new key'),
    algorithms: z.array(z.enum(['ES256', 'EdDSA'])),
    realm: RealmName,
    displayName: z.string(),
    username: z.string(),
    expiresAt: EpochMs,
  }),
  recordsNothing: true,
});
export const enrolDevice = route({
  method: 'POST',
  path: `${at}/device/enroll`,
  operationId: 'enrolDevice',
  tag,
  surface,
  summary: 'Enrol a device; the token is used up',
  description:
    '`proof` is a JWS by the new key with the `typ` `device+jwt`, over `{aud, iat, challenge}`. A device that a sign-in asked for is `pending` until the person confirms it there.',
  principal: 'own-token',
  permission: null,
  params: InRealm,
  body: z.strictObject({
    name: name(100).describe('As the person sees it in lists'),
    publicKey: DeviceKey,
    proof: text(4096).min(1),
    push: Push.optional().describe('Left out: it asks by itself whether something waits'),
  }),
  example: {
    name: 'Phone',
    publicKey: {
      kty: 'EC',
      crv: 'P-256',
      x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
      y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
    },
    proof: 'eyJhbGciOiJFUzI1NiIsInR5cCI6ImRldmljZStqd3QifQ.…',
    push: { platform: 'fcm', token: 'the token that the gateway gave the app' },
  },
  status: 201,
  response: z.object({ deviceId: Id.describe('The `kid` of all it signs'), status: z.enum(['active', 'pending']) }),
});
export const putDevicePush = route({
  method: 'PUT',
  path: `${at}/device/push-token`,
  operationId: 'updateDevicePushToken',
  tag,
  surface,
  summary: 'Tell where push messages reach the device now',
  principal: 'device',
  permission: null,
  params: InRealm,
  body: Push,
  example: { platform: 'fcm', token: 'the token that the gateway gave the app' },
  status: 204,
});

export const Approval = z
  .object({
    id: Id,
    challenge: z.string().describe('Goes into what the device signs'),
    username: z.string(),
    application: z.string().nullable().describe('What is signed in to'),
    ipAddress: z.string().nullable().describe('Where from'),
    userAgent: z.string().nullable().describe('With what browser'),
    createdAt: EpochMs,
    expiresAt: EpochMs,
  })
  .meta({ id: 'Approval' });
export type Approval = z.infer<typeof Approval>;

export const listPushes = route({
  method: 'GET',
  path: `${at}/push`,
  operationId: 'listPushes',
  tag,
  surface,
  summary: 'What waits for an approval by the person, newest first',
  principal: 'device',
  permission: null,
  params: InRealm,
  response: z.array(Approval),
});
export const getPush = route({
  method: 'GET',
  path: `${at}/push/:id`,
  operationId: 'getPush',
  tag,
  surface,
  summary: 'What a push asks to approve',
  principal: 'device',
  permission: null,
  params: ById,
  response: Approval,
  problems: ['not-found'],
});
export const approvePush = route({
  method: 'POST',
  path: `${at}/push/:id/approve`,
  operationId: 'approvePush',
  tag,
  surface,
  summary: 'Approve a sign-in',
  description:
    'The device signs `challenge` and the `number` that the person reads where they sign in. A wrong number ends that sign-in.',
  principal: 'device',
  permission: null,
  params: ById,
  status: 204,
  problems: ['not-found', 'wrong-state'],
});
export const denyPush = route({
  method: 'POST',
  path: `${at}/push/:id/deny`,
  operationId: 'denyPush',
  tag,
  surface,
  summary: 'Report a sign-in that the person did not begin',
  description:
    'The device signs `challenge`. The sign-in ends, it counts as a failed one, and for ten minutes no other push is sent.',
  principal: 'device',
  permission: null,
  params: ById,
  status: 204,
  problems: ['not-found', 'wrong-state'],
});

const Code = z.strictObject({ code: text(2000).min(1).describe('Of the address in the QR code') });
export const getQr = route({
  method: 'GET',
  path: `${at}/qr/:id`,
  operationId: 'getQr',
  tag,
  surface,
  summary: 'What a QR code asks to confirm',
  description: 'The address that is in the QR code.',
  principal: 'device',
  permission: null,
  params: ById,
  query: Code,
  response: Approval,
  problems: ['not-found'],
});
export const confirmQr = route({
  method: 'POST',
  path: `${at}/qr/:id/confirm`,
  operationId: 'confirmQr',
  tag,
  surface,
  summary: 'Sign the person in where the QR code is shown',
  description: 'The device signs the `challenge` that it read.',
  principal: 'device',
  permission: null,
  params: ById,
  query: Code,
  status: 204,
  problems: ['not-found', 'wrong-state'],
});

export const createEnrolmentToken = route({
  method: 'POST',
  path: '/admin/realms/:realm/users/:userId/enrollment-tokens',
  operationId: 'createEnrolmentToken',
  tag: 'users',
  summary: 'Make a token by which a device of the user is enrolled',
  description: 'Works once, for ten minutes. Whoever has it enrols a device that can approve sign-ins of the user.',
  permission: 'users:write',
  params: z.strictObject({ realm: RealmName, userId: Id }),
  status: 201,
  response: z.object({
    token: z.string().describe('Shown this once: svc_enr_…'),
    url: z.string().describe('What a QR code for the app holds: the token after the `#`'),
    expiresAt: EpochMs,
  }),
  problems: ['not-found', 'privilege-escalation'],
});
