// Types of rich authorization requests: what clients may ask for in `authorization_details`, and the words in which the consent page
// shows it. RFC 9396; decisions "Authorization detail type".
import { z } from 'zod';
import { DetailTypeName } from './detail-type-name.ts';
import { kind } from './kind.ts';
import { Locale } from './message-templates.ts';
import { anyObject, HIDES, isAllSeen, text } from './names.ts';
import { ResourceIndicator } from './settings.ts';

/** A place for a value in the words: the path of a field of the detail, as `{instructedAmount.amount}`. */
export const DETAIL_PLACEHOLDER = /\{([\w-]+(?:\.[\w-]+)*)\}/;
const MOST_LANGUAGES = 50;

const DetailWords = text(1000)
  .min(1)
  .refine((words) => words.trim() !== '', 'must not be blank')
  .refine(isAllSeen, HIDES)
  .refine(
    (words) => !/[{}]/.test(words.replaceAll(new RegExp(DETAIL_PLACEHOLDER, 'g'), '')),
    'has a brace that belongs to no placeholder such as {amount} or {amount.value}',
  );

export const authorizationDetailTypes = kind({
  section: 'authorizationDetailTypes',
  kind: 'authorizationDetailType',
  one: 'an authorization detail type',
  many: 'authorization detail types',
  description: 'Types of rich authorization requests (RFC 9396)',
  key: 'type',
  fields: {
    type: DetailTypeName.describe('The `type` of the details, as clients send it'),
    enabled: z.boolean().describe('false: clients may not ask for it, and tokens do not carry it'),
    schema: anyObject(100).describe(
      'JSON Schema (2020-12) of a detail without its `type` and `locations`. It may use no references; fields that it does not name are refused',
    ),
    words: z
      .record(Locale, DetailWords)
      .refine((words) => Object.keys(words).length > 0, 'needs the words of one language at least')
      .refine((words) => Object.keys(words).length <= MOST_LANGUAGES, `must have at most ${MOST_LANGUAGES} languages`)
      .describe(
        'By language, what the consent page says of a detail. {amount} stands for the value of a field, {amount.value} for one inside; the page lists the other fields below',
      ),
    locations: z
      .array(ResourceIndicator)
      .max(100)
      .describe('The resource servers that a detail may name in `locations`; empty: it may name none'),
    clientCredentials: z
      .boolean()
      .describe('Whether clients may have it for themselves (client_credentials), without any person’s consent'),
    openToRegistration: z.boolean().describe('Whether clients that register themselves may name it in their metadata'),
  },
  needed: ['schema', 'words'],
  fresh: { enabled: true, clientCredentials: false, openToRegistration: false },
  searches: ['type'],
  most: 200,
  problems: ['in-use'],
  describe: { remove: 'Delete a type that no client has' },
  form: {
    lead: 'What applications may ask for in detail, such as one payment, and how people are asked',
    groups: [
      { title: 'General', fields: ['type', 'enabled', 'schema', 'words'] },
      { title: 'Use', fields: ['locations', 'clientCredentials', 'openToRegistration'] },
    ],
    fields: {
      schema: { label: 'JSON Schema', widget: 'json' },
      words: { label: 'Words by language', widget: 'json' },
      clientCredentials: { label: 'Clients may have it for themselves' },
      openToRegistration: { label: 'Clients that register themselves may name it' },
    },
  },
  example: {
    type: 'payment_initiation',
    schema: {
      type: 'object',
      properties: {
        amount: { type: 'string', pattern: '^[0-9]{1,9}\\.[0-9]{2}$' },
        currency: { type: 'string', enum: ['EUR', 'GBP'] },
        creditor: { type: 'string', maxLength: 70 },
      },
      required: ['amount', 'currency', 'creditor'],
    },
    words: { en: 'Pay {amount} {currency} to {creditor}' },
  },
  updateExample: {
    enabled: false,
    schema: {
      type: 'object',
      properties: { amount: { type: 'string' }, currency: { type: 'string' }, creditor: { type: 'string' } },
    },
    words: { en: 'Pay {amount}', de: '{amount} {currency} zahlen' },
    locations: ['https://files.example.com'],
    clientCredentials: true,
    openToRegistration: true,
  },
  cli: {
    help: 'types of rich authorization requests (RFC 9396)',
    shown: ['enabled', 'clientCredentials', 'locations'],
    wide: ['openToRegistration', 'words'],
    heads: { clientCredentials: 'WITHOUT A PERSON', openToRegistration: 'REGISTRATION' },
  },
});
export const {
  list: listAuthorizationDetailTypes,
  create: createAuthorizationDetailType,
  get: getAuthorizationDetailType,
  put: putAuthorizationDetailType,
  remove: deleteAuthorizationDetailType,
} = authorizationDetailTypes.routes;
