// Sent and waiting messages, the test of a provider, and the devices that push messages reach. Specification 4.4;
// decisions "Messaging".
import { z } from 'zod';
import { Channel, DriverName } from './message-drivers.ts';
import { Locale, TemplateKey } from './message-templates.ts';
import { ById, EpochMs, Id, InRealm, name, Page, text } from './names.ts';
import { route } from './route.ts';

const tag = 'messaging';
const at = '/admin/realms/:realm/messaging' as const;

export const Message = z
  .object({
    id: Id,
    channel: Channel,
    templateKey: TemplateKey,
    userId: Id.nullable(),
    recipient: z.string().describe('Shortened'),
    status: z.enum(['pending', 'retrying', 'sent', 'dead']),
    attempts: z.int(),
    error: z.string().nullable().describe('The gateway’s own words, without what the message says'),
    createdAt: EpochMs,
    lastAttemptAt: EpochMs.nullable(),
    expiresAt: EpochMs.describe('After this it is not sent any more'),
    retryable: z
      .boolean()
      .describe('Whether it was given up and can be sent again: what it says, such as a code, has not expired'),
  })
  .meta({ id: 'Message' });
export type Message = z.infer<typeof Message>;

export const listMessages = route({
  method: 'GET',
  path: `${at}/messages`,
  tag,
  summary: 'List messages of the last 30 days, newest first; never what they say',
  permission: 'messaging:read',
  params: InRealm,
  query: Page.extend({
    status: Message.shape.status.optional().describe('dead: given up'),
    userId: Id.optional(),
  }),
  response: z.array(Message),
});

export const retryMessage = route({
  method: 'POST',
  path: `${at}/messages/:id/retry`,
  operationId: 'retryMessage',
  tag,
  summary: 'Send a message that was given up again, to the same recipient, with a new schedule of tries',
  description:
    'By the gateways as they are now. 409 `wrong-state`: the message was not given up, its device is gone, or it has expired, and with it its code or link.',
  permission: 'messaging:write',
  params: ById,
  status: 202,
  response: Message,
  problems: ['not-found', 'wrong-state'],
});

const recipient = name(4096).describe(
  'E-mail address, phone number, or a device: the id of a push token, or a token itself',
);
const driver = DriverName.optional().describe('Of several; it needn’t be enabled. Left out: the first that is enabled');
const Tested = z.object({
  delivered: z.boolean().describe('Whether the gateway took it'),
  driver: DriverName,
  answer: z.string().describe('The gateway’s own words'),
});
export const testMessagingProvider = route({
  method: 'POST',
  path: `${at}/providers/:channel/test`,
  tag,
  summary: 'Send a test message through a provider at once; nothing but the event MESSAGE_TESTED is stored',
  permission: 'messaging:write',
  params: InRealm.extend({ channel: Channel }),
  body: z.strictObject({ to: recipient, driver }),
  example: { to: 'ada@example.com' },
  response: Tested,
  problems: ['not-found', 'too-many-requests'],
});

export const testMessageTemplate = route({
  method: 'POST',
  path: `${at}/templates/test`,
  tag,
  summary:
    'Send a stored template at once as a test message, with values of the server’s own; nothing but the event MESSAGE_TESTED is stored',
  description:
    'The values are samples: a code that no sign-in takes, a link to the realm’s account page, and a user who does not exist. Unsaved texts are not sent: the preview renders them.',
  permission: 'messaging:write',
  params: InRealm,
  body: z.strictObject({
    templateKey: TemplateKey,
    locale: Locale.optional().describe('Of the person; default: the realm’s'),
    to: recipient,
    driver,
  }),
  example: { templateKey: 'otp-email', to: 'ada@example.com' },
  response: Tested.extend({ locale: Locale.describe('Of the template that was taken') }),
  problems: ['not-found', 'too-many-requests'],
});

const Platform = z.enum(['fcm', 'apns']);
const device = {
  userId: Id,
  platform: Platform,
  deviceName: name(200).nullable().optional(),
};
export const PushToken = z
  .object({ id: Id, ...device, deviceName: z.string().nullable(), createdAt: EpochMs, lastUsedAt: EpochMs.nullable() })
  .meta({ id: 'PushToken' });
export type PushToken = z.infer<typeof PushToken>;
export const PushTokenInput = z.strictObject({
  ...device,
  token: text(4096).min(1).describe('The device’s token at the platform; write-only'),
});
export type PushTokenInput = z.infer<typeof PushTokenInput>;

export const listPushTokens = route({
  method: 'GET',
  path: `${at}/push-tokens`,
  tag,
  summary: 'List devices that push messages reach, newest first',
  permission: 'messaging:read',
  params: InRealm,
  query: Page.extend({ userId: Id.optional() }),
  response: z.array(PushToken),
});
export const registerPushToken = route({
  method: 'POST',
  path: `${at}/push-tokens`,
  tag,
  summary: 'Register a device for a user; a token that is known already is moved to them',
  permission: 'messaging:write',
  params: InRealm,
  body: PushTokenInput,
  // `userId` is a user of the realm
  example: {
    userId: '0190c6a1-6f5e-7c39-8b6a-3f1d5c7e9a20',
    platform: 'fcm',
    deviceName: 'Phone',
    token: 'the token that the gateway gave the app',
  },
  status: 201,
  response: PushToken,
  problems: ['not-found', 'privilege-escalation'],
});
export const deletePushToken = route({
  method: 'DELETE',
  path: `${at}/push-tokens/:id`,
  tag,
  summary: 'Remove a device; push messages reach it no more',
  permission: 'messaging:write',
  params: ById,
  status: 204,
  problems: ['not-found', 'privilege-escalation'],
});
