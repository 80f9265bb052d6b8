// SQL of messages and of what they are made of. Providers and templates are written by the resource engine.
import type { TemplateKey } from '../../contract/message-templates.ts';
import type { Sql } from '../../db/sql.ts';
import type { TemplateText } from './built-in-templates.ts';

export interface FoundTemplate extends TemplateText {
  locale: string;
}
/** The enabled one of the first of these locales that has one. */
export async function template(
  sql: Sql,
  realm: string,
  key: TemplateKey,
  locales: readonly string[],
): Promise<FoundTemplate | undefined> {
  const [row] = await sql<FoundTemplate>`
    select locale, subject, content as body, html from message_template
    where realm_id = ${realm} and template_key = ${key} and locale = any(${locales}::text[]) and enabled
    order by array_position(${locales}::text[], locale) limit 1`;
  return row;
}
