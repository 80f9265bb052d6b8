// Gateways by channel and driver. docs/messaging.md has each driver's settings.
import type { Row } from '../../kinds/entry.ts';
import { type Answers, type Ask, textOf, withoutEmpty } from './asks.tsx';
import type { Variant } from './create-wizard.tsx';

const sender = (fromAddress: string, help: string): Ask[] => [
  { name: 'fromAddress', label: 'Sender', help, placeholder: fromAddress, optional: true, mono: true },
];
const senderName: Ask = {
  name: 'fromName',
  label: 'Sender’s name',
  help: 'What people see as the sender',
  optional: true,
};
const secretAsk = (label: string, help?: string): Ask => ({
  name: 'secret',
  label,
  is: 'secret',
  ...(help && { help }),
});

const gateway = (channel: string, driver: string, answers: Answers, config: Row): Row => ({
  channel,
  driver,
  enabled: true,
  config,
  ...withoutEmpty({
    fromAddress: textOf(answers, 'fromAddress'),
    fromName: textOf(answers, 'fromName'),
    secret: textOf(answers, 'secret'),
  }),
});
/** Values of config by the answers of the same name. */
const configOf = (answers: Answers, ...names: string[]): Row =>
  withoutEmpty(Object.fromEntries(names.map((name) => [name, textOf(answers, name)])));

const variant = (id: string, label: string, help: string, asks: readonly Ask[], body: Variant['body']): Variant => ({
  id,
  label,
  help,
  section: 'messagingProviders',
  steps: [{ id: 'settings', title: 'Settings', asks }],
  body,
});

const httpAsks: readonly Ask[] = [
  {
    name: 'url',
    label: 'Address of the gateway',
    at: 'config.url',
    placeholder: 'https://gateway.example.com/send',
    mono: true,
  },
  {
    name: 'authorization',
    label: 'Header authorization',
    help: 'With {{secret}} in the place of the secret',
    at: 'config.headers',
    fresh: 'Bearer {{secret}}',
    optional: true,
    mono: true,
  },
  {
    name: 'format',
    label: 'Format of the body',
    is: 'choice',
    at: 'config.format',
    fresh: 'json',
    options: [
      { id: 'json', label: 'JSON' },
      { id: 'form', label: 'Form' },
      { id: 'text', label: 'Text' },
    ],
  },
  {
    name: 'body',
    label: 'Body',
    help: 'With {{to}}, {{from}}, {{subject}}, {{text}}, {{html}} and {{secret}}. Left out: an object with to and text',
    is: 'long',
    at: 'config.body',
    optional: true,
    placeholder: '{ "recipient": "{{to}}", "message": "{{text}}" }',
  },
];
const httpConfig = (answers: Answers): Row => ({
  ...configOf(answers, 'url', 'format', 'body'),
  ...(textOf(answers, 'authorization') !== '' && { headers: { authorization: textOf(answers, 'authorization') } }),
});

export const gatewayVariants: readonly Variant[] = [
  variant(
    'smtp',
    'Mail, by SMTP',
    'Any mail server, and every mail service',
    [
      { name: 'host', label: 'Mail server', at: 'config.host', placeholder: 'smtp.example.com', mono: true },
      {
        name: 'tls',
        label: 'Encryption',
        is: 'choice',
        at: 'config.tls',
        fresh: 'starttls',
        options: [
          { id: 'starttls', label: 'STARTTLS', help: 'Port 587, if no other is given' },
          { id: 'tls', label: 'TLS from the first byte', help: 'Port 465' },
          { id: 'none', label: 'None', help: 'Port 25, without a sign-in' },
        ],
      },
      {
        name: 'port',
        label: 'Port',
        help: 'Empty: the usual one of the encryption',
        is: 'number',
        at: 'config.port',
        optional: true,
      },
      {
        name: 'username',
        label: 'Username',
        at: 'config.username',
        optional: true,
        mono: true,
        when: ({ tls }) => tls !== 'none',
      },
      { ...secretAsk('Password'), optional: true, when: ({ tls }) => tls !== 'none' },
      ...sender(
        'no-reply@example.com',
        'Without one, mail comes from the username, or from no-reply at the server’s host',
      ),
      senderName,
    ],
    (answers) => {
      const port = textOf(answers, 'port');
      const isOpen = answers.tls === 'none';
      return gateway('EMAIL', 'smtp', isOpen ? { ...answers, secret: '' } : answers, {
        ...configOf(answers, 'host', 'tls', ...(isOpen ? [] : ['username'])),
        ...(port !== '' && { port: Number(port) }),
      });
    },
  ),
  variant(
    'mail-http',
    'Mail, by HTTP',
    'A mail service with an API of its own',
    [
      ...httpAsks,
      secretAsk('Secret', 'What {{secret}} stands for'),
      ...sender('no-reply@example.com', 'The sender’s address'),
      senderName,
    ],
    (answers) => gateway('EMAIL', 'http', answers, httpConfig(answers)),
  ),
  variant(
    'twilio',
    'SMS, by Twilio',
    'Also for services with the same API',
    [
      { name: 'accountSid', label: 'Account SID', at: 'config.accountSid', placeholder: 'AC…', mono: true },
      {
        name: 'apiKeySid',
        label: 'API key SID',
        help: 'With one, the secret is the key’s; without, the account’s token',
        at: 'config.apiKeySid',
        optional: true,
        placeholder: 'SK…',
        mono: true,
      },
      secretAsk('Auth token, or the key’s secret'),
      ...sender('+15005550006', 'A phone number or a sender name'),
      {
        name: 'messagingServiceSid',
        label: 'Messaging service SID',
        help: 'Chooses the sender, in place of the field above',
        at: 'config.messagingServiceSid',
        optional: true,
        placeholder: 'MG…',
        mono: true,
      },
    ],
    (answers) => gateway('SMS', 'twilio', answers, configOf(answers, 'accountSid', 'apiKeySid', 'messagingServiceSid')),
  ),
  variant(
    'sms-http',
    'SMS, by HTTP',
    'Any gateway that takes a request',
    [
      ...httpAsks,
      secretAsk('Secret', 'What {{secret}} stands for'),
      ...sender('Acme', 'A phone number or a sender name'),
    ],
    (answers) => gateway('SMS', 'http', answers, httpConfig(answers)),
  ),
  variant(
    'fcm',
    'Push to Android, by Firebase',
    'Firebase Cloud Messaging',
    [
      { name: 'projectId', label: 'Project ID', at: 'config.projectId', placeholder: 'my-project', mono: true },
      {
        name: 'secret',
        label: 'Key file of the service account',
        help: 'The JSON file as downloaded. It is not kept in this browser',
        is: 'long-secret',
      },
    ],
    (answers) => gateway('PUSH', 'fcm', answers, configOf(answers, 'projectId')),
  ),
  variant(
    'apns',
    'Push to iPhone, by Apple',
    'Apple Push Notification service',
    [
      { name: 'teamId', label: 'Team ID', at: 'config.teamId', placeholder: 'TEAM123456', mono: true },
      { name: 'keyId', label: 'Key ID', at: 'config.keyId', placeholder: 'KEY1234567', mono: true },
      {
        name: 'bundleId',
        label: 'Bundle ID of the app',
        at: 'config.bundleId',
        placeholder: 'com.example.app',
        mono: true,
      },
      {
        name: 'sandbox',
        label: 'Development environment',
        help: 'On for builds from Xcode',
        is: 'toggle',
        at: 'config.sandbox',
      },
      {
        name: 'secret',
        label: 'Key (.p8)',
        help: 'The file’s text. It is not kept in this browser',
        is: 'long-secret',
      },
    ],
    (answers) =>
      gateway('PUSH', 'apns', answers, {
        ...configOf(answers, 'teamId', 'keyId', 'bundleId'),
        ...(answers.sandbox === true && { sandbox: true }),
      }),
  ),
];
