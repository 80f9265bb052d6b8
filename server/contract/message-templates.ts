// Message templates: the texts of messages, by key, channel and locale. Specification 2.6, 4.4; decisions "Messaging".
import { z } from 'zod';
import { htmlFault } from './html-template.ts';
import { ManagedPage, managedBy, WithManagers } from './managed-by.ts';
import { Channel, placeholderFault } from './message-drivers.ts';
import { type TemplateKey as Key, messages } from './message-keys.ts';
import { Id, InRealm, RealmName, text } from './names.ts';
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
const fields = {
  subject: Subject.nullable().describe('Of e-mail, and the title of a push message; null for SMS'),
  body: text(50_000).min(1).describe('With {{placeholders}}; values are escaped in HTML'),
  enabled: z.boolean().describe('false: the built-in text is sent instead'),
  html: z.boolean().describe('Whether the body is HTML; only e-mail can be'),
};
const key = {
  templateKey: TemplateKey.describe('Which message'),
  channel: Channel.describe('The message’s own'),
  locale: Locale.describe('The language that it is in'),
};

export const MessageTemplate = z
  .object({ id: Id, realmId: RealmName, ...key, ...fields, ...managedBy })
  .meta({ id: 'MessageTemplate' });
export type MessageTemplate = z.infer<typeof MessageTemplate>;

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

/** In a realm document; the natural key is template, channel and locale. */
export const MessageTemplateDocument = z.strictObject(fields).partial().extend(key);
export type MessageTemplateDocument = z.infer<typeof MessageTemplateDocument>;

export const MessageTemplateInput = MessageTemplateDocument.extend({
  channel: Channel.optional().describe('Each template has one channel, which is this where it is left out'),
  locale: Locale.optional().describe('Default en'),
  id: Id.optional(),
  realmId: RealmName.optional(),
  ...managedBy,
});
export type MessageTemplateInput = z.infer<typeof MessageTemplateInput>;

const tag = 'messaging';
const at = '/admin/realms/:realm/messaging/templates' as const;

export const listMessageTemplates = route({
  method: 'GET',
  path: at,
  tag,
  summary: 'List message templates; a fresh realm has one of each key, in English',
  permission: 'messaging:read',
  params: InRealm,
  query: ManagedPage,
  response: z.array(MessageTemplate),
});
export const getMessageTemplate = route({
  method: 'GET',
  path: `${at}/:templateKey/:channel/:locale`,
  tag,
  summary: 'Read a message template',
  permission: 'messaging:read',
  params: InRealm.extend(key),
  query: WithManagers,
  response: MessageTemplate,
  problems: ['not-found'],
});
export const putMessageTemplate = route({
  method: 'PUT',
  path: at,
  tag,
  summary: 'Edit a template, or make it for another locale; a field that is left out keeps its value',
  description: 'In a locale that has none yet it begins with what is built in for the language.',
  permission: 'messaging:write',
  params: InRealm,
  body: MessageTemplateInput,
  example: {
    templateKey: 'otp-email',
    locale: 'en',
    subject: '{{code}} is your code for {{realm}}',
    body: 'Hello {{user.firstName}},\n\n{{code}} is your code. It is good for {{ttl}}.\n',
    html: false,
    enabled: true,
  },
  response: MessageTemplate,
  problems: ['declared-only', 'precondition-failed', 'privilege-escalation'],
});
export const deleteMessageTemplate = route({
  method: 'DELETE',
  path: `${at}/:templateKey/:channel/:locale`,
  tag,
  summary: 'Delete a template; those in English are built in',
  permission: 'messaging:write',
  params: InRealm.extend(key),
  status: 204,
  problems: ['declared-only', 'not-found', 'built-in', 'precondition-failed'],
});

const Sample = z.union([text(2000), z.number(), z.null()]);
export const previewMessageTemplate = route({
  method: 'POST',
  path: `${at}/preview`,
  tag,
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
    body: text(50_000).min(1).optional().describe('In place of the stored one'),
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

export const messageTemplateRoutes = {
  list: listMessageTemplates,
  get: getMessageTemplate,
  upsert: putMessageTemplate,
  remove: deleteMessageTemplate,
};
