// Gives message templates without a language of their own the realm's default one: the document's, else the stored one.
// Specification 2.6; contract/earlier-documents.ts.
import { DEFAULT_LANGUAGE } from '../../../contract/message-templates.ts';
import { freshSettings } from '../../../contract/settings.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Section } from '../../../resource/part.ts';
import { splitKey } from '../../../resource/table.ts';
import { type Document, doubles, refuse } from './document.ts';

const isUndetermined = (key: string): boolean => splitKey(key, 3)[2] === DEFAULT_LANGUAGE;

async function defaultLanguage(sql: Sql, realm: string, declared: readonly Section[]): Promise<string> {
  const settings = declared.find(({ part }) => part.section === 'realm')?.items ?? [];
  const said = settings.find(({ key }) => key === 'defaultLocale')?.fields.value;
  if (typeof said === 'string') return said;
  const [row] = await sql<{ locale: string | null }>`
    select settings ->> 'defaultLocale' as locale from realm where realm_id = ${realm}`;
  return row?.locale ?? freshSettings(realm).defaultLocale;
}

/** @throws Problem `invalid-request`: the document has the template in that language, too */
export async function inDefaultLanguage(sql: Sql, realm: string, document: Document): Promise<Document> {
  const templates = document.declared.find(({ part }) => part.section === 'messageTemplates');
  if (!templates?.items.some(({ key }) => isUndetermined(key))) return document;
  const locale = await defaultLanguage(sql, realm, document.declared);
  const items = templates.items.map((item) => {
    if (!isUndetermined(item.key)) return item;
    const [templateKey, channel] = splitKey(item.key, 3);
    return { ...item, key: [templateKey, channel, locale].join('/') };
  });
  const declared = document.declared.map((one) => (one === templates ? { ...one, items } : one));
  refuse(doubles(declared));
  return { ...document, declared };
}
