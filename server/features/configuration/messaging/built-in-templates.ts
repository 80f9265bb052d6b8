// The built-in templates, and those of a new realm. Specification 2.6.
import { messages } from '../../../contract/message-keys.ts';
import type { MessageTemplate, TemplateKey } from '../../../contract/message-templates.ts';
import type { Sql } from '../../../db/sql.ts';
import type { Tx } from '../../../db/transact.ts';
import { BUILT_IN_LOCALE, wordsIn } from './words.ts';

export type TemplateText = Pick<MessageTemplate, 'subject' | 'body' | 'html'>;

export const builtInTemplate = (key: TemplateKey, locale: string): TemplateText => ({
  ...wordsIn(locale).templates[key],
  html: false,
});

const seeded = JSON.stringify(
  Object.entries(messages).map(([key, { channel }]) => ({
    key,
    channel,
    ...wordsIn(BUILT_IN_LOCALE).templates[key as TemplateKey],
  })),
);

/** Adds missing English templates to realms; edited templates stay. */
export async function refreshMessageTemplates(sql: Sql, realms: readonly string[]): Promise<void> {
  await sql`
    insert into message_template (realm_id, id, template_key, channel, locale, subject, content, html, enabled)
    select realm, gen_random_uuid(), t.key, t.channel, ${BUILT_IN_LOCALE}, t.subject, t.body, false, true
    from unnest(${realms}::text[]) as realm
    cross join jsonb_to_recordset(${seeded}::jsonb) as t (key text, channel text, subject text, body text)
    on conflict (realm_id, template_key, channel, locale) do nothing`;
}
export const seedMessageTemplates = async ({ sql }: Tx, realm: string): Promise<void> =>
  refreshMessageTemplates(sql, [realm]);
