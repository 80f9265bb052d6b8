// The built-in texts of the pages, for administrators who replace some: contract/message-texts.ts.
import type { FastifyInstance } from 'fastify';
import { listBuiltInTexts } from '../../../contract/message-texts.ts';
import { Problem } from '../../../contract/problem.ts';
import { bind } from '../../../http/bind.ts';
import {
  isWritten,
  languageOf,
  placeholdersIn,
  sourceTexts,
  TRANSLATED_LANGUAGES,
  usualForm,
} from '../../../http/languages.ts';
import { decodeCursor, page } from '../../../http/paging.ts';

export function builtInTextRoutes(app: FastifyInstance): void {
  bind(app, listBuiltInTexts, async ({ query: { locale, q = '', cursor, limit }, request, reply }) => {
    if (!isWritten(locale)) {
      const message = `must be a language that pages are written in: ${TRANSLATED_LANGUAGES.join(', ')}`;
      throw new Problem('invalid-request', undefined, { errors: [{ path: 'locale', message }] });
    }
    const [after = ''] = decodeCursor(cursor, 1) ?? [];
    const { texts } = await languageOf(locale);
    const sought = q.toLowerCase();
    const rows = Object.entries(texts)
      .map(([key, text]) => ({ key, text: usualForm(text) }))
      .filter(({ key, text }) => key > after && `${key}\n${text}`.toLowerCase().includes(sought))
      .sort((one, other) => (one.key < other.key ? -1 : 1))
      .slice(0, limit + 1)
      // as the realm's own texts are checked (resource.ts)
      .map((row) => ({
        ...row,
        placeholders: placeholdersIn(usualForm(sourceTexts[row.key as keyof typeof sourceTexts])),
      }));
    return page({ request, reply }, rows, limit, ({ key }) => [key]);
  });
}
