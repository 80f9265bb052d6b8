// Owns: a realm's own texts of the pages as administrators configure them.
// Does not own: their fields and routes (contract/message-texts.ts), showing them (languages.ts).
// Implements: decisions "Of further resources" (`messageTexts`).
import { messageTexts, SCOPE_TEXT } from '../../../contract/message-texts.ts';
import type { FieldError } from '../../../contract/problem.ts';
import {
  isTextKey,
  isWritten,
  placeholdersIn,
  sourceTexts,
  TRANSLATED_LANGUAGES,
  usualForm,
} from '../../../http/languages.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';

function textFault(key: string, words: string): string | undefined {
  const isPage = isTextKey(key);
  if (!isPage && !key.startsWith(SCOPE_TEXT)) return 'is not the key of a text; docs/texts.md has them';
  const wanted = isPage ? placeholdersIn(usualForm(sourceTexts[key])) : [];
  const given = placeholdersIn(words);
  const unknown = given.find((placeholder) => !wanted.includes(placeholder));
  if (unknown !== undefined)
    return `there is no placeholder {${unknown}}; there ${wanted.length === 0 ? 'are none' : `is ${list(wanted)}`}`;
  // no text may leave out a value that the page must show, such as the application that asks for consent
  const missing = wanted.filter((placeholder) => !given.includes(placeholder));
  return missing.length === 0 ? undefined : `must have the placeholder ${list(missing)}`;
}
const list = (placeholders: readonly string[]): string => placeholders.map((one) => `{${one}}`).join(', ');

/** The faults of a language's texts, by field. */
export const faultsOfTexts = (locale: string, texts: Record<string, string>): FieldError[] => [
  ...(isWritten(locale)
    ? []
    : [
        { path: 'locale', message: `must be a language that pages are written in: ${TRANSLATED_LANGUAGES.join(', ')}` },
      ]),
  ...Object.entries(texts).flatMap(([key, words]) => {
    const message = textFault(key, words);
    return message === undefined ? [] : [{ path: `texts.${key}`, message }];
  }),
];

export const messageTextsResource = (deps: ResourceDeps) =>
  declaredResource(
    messageTexts,
    {
      keyStays: 'make those of another language instead',
      check: ({ key, fields: { texts } }) => faultsOfTexts(key, Object(texts)),
      detail: ({ texts }) => ({ texts: Object.keys(Object(texts)).length }),
    },
    deps,
  );
