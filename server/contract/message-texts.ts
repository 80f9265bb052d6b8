// A realm's own texts of the pages, by language. Decisions "Of further resources" (`messageTexts`);
// server/http/languages has all texts.
import { z } from 'zod';
import { kind } from './kind.ts';
import { Locale } from './message-templates.ts';
import { HIDES, hasHiddenCharacters, InRealm, name, SearchPage, text } from './names.ts';
import { route } from './route.ts';

/** The prefix of texts about client scopes, which the consent page shows. */
export const SCOPE_TEXT = 'scope.';

const MOST_TEXTS = 1000;
const Texts = z
  .record(
    name(300),
    text(2000)
      .min(1)
      .refine((words) => words.trim() !== '', 'must not be blank')
      .refine((words) => !hasHiddenCharacters(words), HIDES),
  )
  .refine((texts) => Object.keys(texts).length <= MOST_TEXTS, `must have at most ${MOST_TEXTS} entries`)
  .describe(
    'Key → what the page says instead, with the placeholders of the built-in text; scope.<name>: what a client scope means. docs/texts.md has the keys',
  );

export const messageTexts = kind({
  section: 'messageTexts',
  kind: 'messageText',
  one: 'texts of a language',
  many: 'texts of the pages by language',
  description: 'What the realm’s pages say in its own words, by language',
  key: 'locale',
  at: 'locale',
  fields: {
    locale: Locale.describe('One that pages are written in, or a region of it: de also counts for de-CH'),
    texts: Texts,
  },
  needed: ['texts'],
  fresh: { texts: {} },
  most: 100,
  example: { locale: 'de', texts: { 'password.title': 'Willkommen zurück' } },
  updateExample: { texts: { 'password.title': 'Schön, dass Sie da sind', 'scope.email': 'Ihre Adresse lesen' } },
});

export const BuiltInText = z
  .object({
    key: z.string(),
    text: z.string().describe('Of several plural forms, the usual one'),
    placeholders: z.array(z.string()).describe('Names that a text in its place must have, in braces: `{client}`'),
  })
  .meta({ id: 'BuiltInText' });
export type BuiltInText = z.infer<typeof BuiltInText>;
export const listBuiltInTexts = route({
  method: 'GET',
  path: '/admin/realms/:realm/built-in-texts',
  tag: 'message-texts',
  summary: 'List the built-in texts of the pages in a language, by key: what the realm’s own texts may replace',
  permission: 'message-texts:read',
  params: InRealm,
  query: SearchPage.extend({
    q: text(255).optional().describe('Text that is in the key or in the text, whatever its case'),
    locale: Locale.default('en').describe('One that pages are written in, or a region of it; default: en'),
  }),
  response: z.array(BuiltInText),
});
