// Renders a template with sample values, as users would get it; nothing is sent or stored. Specification 4.4.
import type { z } from 'zod';
import { messages } from '../../../contract/message-keys.ts';
import { type previewMessageTemplate, templateFaults } from '../../../contract/message-templates.ts';
import { Problem } from '../../../contract/problem.ts';
import type { Sql } from '../../../db/sql.ts';
import { placementFault } from './placement.ts';
import { render } from './render.ts';
import type { Texts } from './texts.ts';

type Input = z.output<typeof previewMessageTemplate.body>;
type Preview = z.input<typeof previewMessageTemplate.response>;

/** `{"user": {"firstName": "Ada"}}` and `{"user.firstName": "Ada"}` mean the same. */
const flat = (sample: Input['sample']): Map<string, string> =>
  new Map(
    Object.entries(sample ?? {}).flatMap(([name, value]): [string, string][] =>
      value !== null && typeof value === 'object'
        ? Object.entries(value).map(([field, one]) => [`${name}.${field}`, String(one ?? '')])
        : [[name, String(value ?? '')]],
    ),
  );

export const createPreview =
  ({ sql, texts }: { sql: Sql; texts: Texts }) =>
  async (realm: string, { templateKey, sample, locale, ...unsaved }: Input): Promise<Preview> => {
    const { channel } = messages[templateKey];
    const { realmName, ...found } = await texts.of(sql, realm, templateKey, locale === undefined ? [] : [locale]);
    const text = {
      subject: unsaved.subject === undefined ? found.subject : unsaved.subject,
      body: unsaved.body ?? found.body,
      html: unsaved.html ?? found.html,
    };
    const errors = templateFaults({ templateKey, channel, ...text });
    const misplaced = text.html && errors.length === 0 ? await placementFault(text.body) : undefined;
    if (misplaced !== undefined) errors.push({ path: 'body', message: misplaced });
    if (errors.length > 0) throw new Problem('invalid-request', undefined, { errors });
    const values = new Map([['realm', realmName], ...flat(sample)]);
    return { templateKey, channel, locale: found.locale, ...(await render(text, values, 'placeholder')) };
  };
