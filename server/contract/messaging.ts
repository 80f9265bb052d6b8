// Messaging providers: the gateways for a realm's e-mail, SMS and push messages. Specification 2.5, 4.4; decisions
// "Messaging".
import { z } from 'zod';
import { ManagedPage, managedBy, WithManagers } from './managed-by.ts';
import { Channel, DriverName, driversOf } from './message-drivers.ts';
import { anyObject, EpochMs, Id, InRealm, name, RealmName, text } from './names.ts';
import { route } from './route.ts';

const fields = {
  enabled: z.boolean().describe('Of several that are enabled in a channel, tries go round by the order of their names'),
  fromAddress: name(255)
    .nullable()
    .describe(
      'The sender: an e-mail address, a phone number or sender name. Without one, mail comes from the username, or no-reply@ the server’s host',
    ),
  fromName: name(200).nullable().describe('What people see as the sender'),
  config: anyObject(100).describe(
    'The driver’s own settings; docs/messaging.md has each driver’s. No secrets: they can be read',
  ),
};
const key = {
  channel: Channel.describe('What it sends'),
  driver: DriverName.describe(
    Object.entries(driversOf)
      .map(([channel, drivers]) => `${channel}: ${drivers.join(' or ')}`)
      .join('; '),
  ),
};
/** Longer than other secrets, because it can be a service account's key file. */
const Secret = text(8192)
  .min(1)
  .describe(
    'smtp: the password; http: what {{secret}} stands for; twilio: the token; fcm: the service account’s key file; apns: the key (.p8)',
  );

export const MessagingProvider = z
  .object({
    id: Id,
    realmId: RealmName,
    ...key,
    ...fields,
    secret: z.null().describe('Write-only'),
    secretSet: z.boolean(),
    createdAt: EpochMs.nullable(),
    ...managedBy,
  })
  .meta({ id: 'MessagingProvider' });
export type MessagingProvider = z.infer<typeof MessagingProvider>;

/** In a realm document; the natural key is channel and driver. */
export const MessagingProviderDocument = z
  .strictObject({ ...fields, secret: Secret })
  .partial()
  .extend(key);
export type MessagingProviderDocument = z.infer<typeof MessagingProviderDocument>;

/** PUT accepts the response of GET: read-only fields are ignored, and `secret: null` keeps the stored one. */
export const MessagingProviderInput = MessagingProviderDocument.extend({
  secret: Secret.nullable().optional().describe('Left out or null: the stored secret stays'),
  id: Id.optional(),
  realmId: RealmName.optional(),
  secretSet: z.boolean().optional(),
  createdAt: EpochMs.nullable().optional(),
  ...managedBy,
});
export type MessagingProviderInput = z.infer<typeof MessagingProviderInput>;

const tag = 'messaging';
const at = '/admin/realms/:realm/messaging/providers' as const;

export const listMessagingProviders = route({
  method: 'GET',
  path: at,
  tag,
  summary: 'List messaging providers; a fresh realm has none, and sends nothing',
  permission: 'messaging:read',
  params: InRealm,
  query: ManagedPage,
  response: z.array(MessagingProvider),
});
export const getMessagingProvider = route({
  method: 'GET',
  path: `${at}/:channel/:driver`,
  tag,
  summary: 'Read a messaging provider',
  permission: 'messaging:read',
  params: InRealm.extend(key),
  query: WithManagers,
  response: MessagingProvider,
  problems: ['not-found'],
});
export const putMessagingProvider = route({
  method: 'PUT',
  path: at,
  tag,
  summary: 'Make or change the provider of a channel and driver; a field that is left out keeps its value',
  permission: 'messaging:write',
  params: InRealm,
  body: MessagingProviderInput,
  example: {
    channel: 'EMAIL',
    driver: 'smtp',
    enabled: true,
    fromAddress: 'no-reply@example.com',
    fromName: 'Example',
    config: { host: 'smtp.example.com', port: 587, username: 'example', tls: 'starttls' },
    secret: 'the password',
  },
  response: MessagingProvider,
  problems: ['declared-only', 'precondition-failed', 'privilege-escalation'],
});
export const deleteMessagingProvider = route({
  method: 'DELETE',
  path: `${at}/:channel/:driver`,
  tag,
  summary: 'Delete a messaging provider',
  permission: 'messaging:write',
  params: InRealm.extend(key),
  status: 204,
  problems: ['declared-only', 'not-found', 'precondition-failed'],
});
export const messagingProviderRoutes = {
  list: listMessagingProviders,
  get: getMessagingProvider,
  upsert: putMessagingProvider,
  remove: deleteMessagingProvider,
};
