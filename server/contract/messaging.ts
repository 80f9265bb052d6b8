// Messaging providers: the gateways for a realm's e-mail, SMS and push messages. Specification 2.5, 4.4; decisions
// "Messaging".
import { z } from 'zod';
import { type AnswerOf, type InputOf, kind } from './kind.ts';
import { Channel, DriverName, driversOf } from './message-drivers.ts';
import { anyObject, EpochMs, name, RealmName, text } from './names.ts';

export const messagingProviders = kind({
  section: 'messagingProviders',
  kind: 'messagingProvider',
  area: 'messaging',
  path: 'messaging/providers',
  one: 'a messaging provider',
  many: 'messaging providers',
  description: 'Who sends the realm’s messages, by channel and driver',
  key: ['channel', 'driver'],
  fields: {
    channel: Channel.describe('What it sends'),
    driver: DriverName.describe(
      Object.entries(driversOf)
        .map(([channel, drivers]) => `${channel}: ${drivers.join(' or ')}`)
        .join('; '),
    ),
    enabled: z
      .boolean()
      .describe('Of several that are enabled in a channel, tries go round by the order of their names'),
    fromAddress: name(255)
      .nullable()
      .describe(
        'The sender: an e-mail address, a phone number or sender name. Without one, mail comes from the username, or no-reply@ the server’s host',
      ),
    fromName: name(200).nullable().describe('What people see as the sender'),
    config: anyObject(100).describe(
      'The driver’s own settings; docs/messaging.md has each driver’s. No secrets: they can be read',
    ),
  },
  fresh: { enabled: true },
  secrets: {
    // longer than other secrets, because it can be a service account's key file
    secret: text(8192)
      .min(1)
      .describe(
        'smtp: the password; http: what {{secret}} stands for; twilio: the token; fcm: the service account’s key file; apns: the key (.p8)',
      ),
  },
  answered: { realmId: RealmName, createdAt: EpochMs.nullable() },
  most: 20,
  problems: ['privilege-escalation'],
  describe: {
    list: 'List messaging providers; a fresh realm has none, and sends nothing',
    put: 'Make or change the provider of a channel and driver; a field that is left out keeps its value',
  },
  form: { lead: 'The gateways for the realm’s mail, SMS and push messages; without one the realm sends nothing' },
  example: {
    channel: 'EMAIL',
    driver: 'smtp',
    enabled: true,
    fromAddress: 'no-reply@example.com',
    fromName: 'Example',
    config: { host: 'smtp.example.com', port: 587, username: 'example', tls: 'starttls' },
    secret: 'the password',
  },
  updateExample: {
    enabled: false,
    fromAddress: 'accounts@example.com',
    fromName: 'Example accounts',
    config: { host: 'mail.example.com', tls: 'tls' },
    secret: 'another password',
  },
  cli: {
    help: 'who sends e-mail, SMS and push messages',
    shown: ['enabled', 'fromAddress', 'secretSet'],
    wide: ['fromName', 'createdAt', 'id'],
    heads: { 'channel/driver': 'PROVIDER', fromAddress: 'FROM', secretSet: 'SECRET', createdAt: 'CREATED' },
  },
});
export type MessagingProvider = AnswerOf<typeof messagingProviders>;
export type MessagingProviderInput = InputOf<typeof messagingProviders>;
export const {
  list: listMessagingProviders,
  get: getMessagingProvider,
  upsert: putMessagingProvider,
  remove: deleteMessagingProvider,
} = messagingProviders.routes;
