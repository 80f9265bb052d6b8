// Message templates: the texts of messages, by key, channel and locale. Specification 2.6, 4.4; decisions "Messaging".
import { z } from 'zod';
import { htmlFault } from './html-template.ts';
import { type AnswerOf, type InputOf, kind } from './kind.ts';
import { Channel, placeholderFault } from './message-drivers.ts';
import { type TemplateKey as Key, messages } from './message-keys.ts';
import { InRealm, RealmName, text } from './names.ts';
import { route } from './route.ts';
import { addressFault } from './secret-placeholders.ts';

export { messages } from './message-keys.ts';

export type TemplateKey = Key;
export const TemplateKey = z.enum(Object.keys(messages) as [Key, ...Key[]]);

const everywhere = ['realm', 'user'];
const USER_FIELD = /^user\.[A-Za-z0-9_][A-Za-z0-9_.:-]{0,254}$/;
export const isPlaceholderOf = (key: TemplateKey, placeholder: string): boolean =>
  everywhere.includes(placeholder) ||
  USER_FIELD.test(placeholder) ||
  messages[key].placeholders.some((own) => own === placeholder);

export const Locale = z
  .string()
  .regex(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, 'must be a language tag such as en or pt-BR')
  .max(35)
  .meta({ examples: ['en'] });

/** The language tag of ISO 639-2 for "undetermined": in a document it means the realm's default language. */
export const DEFAULT_LANGUAGE = 'und';

const Subject = text(500).refine((s) => !/\p{Cc}/u.test(s), 'must be one line without control characters');
const Body = text(50_000).min(1);

export const messageTemplates = kind({
  section: 'messageTemplates',
  kind: 'messageTemplate',
  area: 'messaging',
  path: 'messaging/templates',
  one: 'a message template',
  many: 'message templates',
  description: 'What messages say, by template, channel and locale',
  key: ['templateKey', 'channel', 'locale'],
  fields: {
    templateKey: TemplateKey.describe('Which message'),
    channel: Channel.describe('The message’s own'),
    locale: Locale.describe('The language that it is in'),
    subject: Subject.nullable().describe('Of e-mail, and the title of a push message; null for SMS'),
    body: Body.describe('With {{placeholders}}; values are escaped in HTML'),
    enabled: z.boolean().describe('false: the built-in text is sent instead'),
    html: z.boolean().describe('Whether the body is HTML; only e-mail can be'),
  },
  fresh: { enabled: true },
  asked: {
    channel: Channel.describe('Each template has one channel, which is this where it is left out'),
    locale: Locale.describe('Default en'),
  },
  answered: { realmId: RealmName },
  most: 1000,
  mostInResource: 200,
  problems: ['built-in', 'privilege-escalation'],
  describe: {
    list: 'List message templates; a fresh realm has one of each key, in English',
    put: 'Edit a template, or make it for another locale, beginning with what is built in for the language; a field that is left out keeps its value',
    remove: 'Delete a template; those in English are built in',
  },
  example: {
    templateKey: 'otp-email',
    locale: 'en',
    subject: '{{code}} is your code for {{realm}}',
    body: 'Hello {{user.firstName}},\n\n{{code}} is your code. It is good for {{ttl}}.\n',
    html: false,
    enabled: true,
  },
  updateExample: { subject: 'Your code', body: '<p>Your code is {{code}}</p>', html: true, enabled: false },
  cli: {
    help: 'what messages say, by locale',
    shown: ['enabled', 'html', 'subject'],
    wide: ['id'],
    heads: { 'templateKey/channel/locale': 'TEMPLATE' },
  },
});
export type MessageTemplate = AnswerOf<typeof messageTemplates>;
export type MessageTemplateInput = InputOf<typeof messageTemplates>;
export const {
  list: listMessageTemplates,
  get: getMessageTemplate,
  upsert: putMessageTemplate,
  remove: deleteMessageTemplate,
} = messageTemplates.routes;

/** Field errors of a template's subject and body, which must fit together. */
export function templateFaults(
  template: { templateKey: TemplateKey; channel: Channel } & Partial<
    Pick<MessageTemplate, 'subject' | 'body' | 'html'>
  >,
): { path: string; message: string }[] {
  const { templateKey, channel, subject, body = '', html } = template;
  const { channel: own } = messages[templateKey];
  if (channel !== own) return [{ path: 'channel', message: `must be ${own} for ${templateKey}` }];
  const known = [...everywhere, 'user.*', ...messages[templateKey].placeholders].join(', ');
  const faults = Object.entries({ subject: subject ?? '', body }).flatMap(([path, value]) => {
    const fault = placeholderFault(value, (of) => isPlaceholderOf(templateKey, of));
    return fault === undefined ? [] : [{ path, message: `${fault}; ${templateKey} has ${known}` }];
  });
  const unsafe = html ? htmlFault(body) : addressFault(body);
  if (unsafe !== undefined) faults.push({ path: 'body', message: unsafe });
  const unsafeSubject = addressFault(subject ?? '');
  if (unsafeSubject !== undefined) faults.push({ path: 'subject', message: unsafeSubject });
  if (channel === 'SMS' && typeof subject === 'string')
    faults.push({ path: 'subject', message: 'must be null for SMS' });
  if (channel !== 'EMAIL' && html) faults.push({ path: 'html', message: 'can be true for e-mail alone' });
  return faults;
}

const Sample = z.union([text(2000), z.number(), z.null()]);
export const previewMessageTemplate = route({
  method: 'POST',
  path: '/admin/realms/:realm/messaging/templates/preview',
  tag: 'messaging',
  summary: 'Render a template with sample values; nothing is sent',
  description: 'A placeholder that the sample has no value for stays as it is. Unsaved texts can be given with it.',
  permission: 'messaging:write',
  params: InRealm,
  body: z.strictObject({
    templateKey: TemplateKey,
    sample: z
      .record(z.string().max(300), z.union([Sample, z.record(z.string().max(255), Sample)]))
      .optional()
      .describe(
        'Values by placeholder: `{"code": "123456", "user.firstName": "Ada"}`, or `{"user": {"firstName": "Ada"}}`',
      ),
    locale: Locale.optional().describe('Of the person; default: the realm’s'),
    subject: Subject.nullable().optional().describe('In place of the stored one'),
    body: Body.optional().describe('In place of the stored one'),
    html: z.boolean().optional(),
  }),
  example: { templateKey: 'otp-email', sample: { code: '123456', ttl: '5 minutes', user: 'Ada' } },
  response: z.object({
    templateKey: TemplateKey,
    channel: Channel,
    locale: Locale.describe('Of the template that was taken'),
    subject: z.string().nullable(),
    body: z.string(),
    html: z.boolean(),
  }),
  recordsNothing: true,
});
