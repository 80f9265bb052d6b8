// The message template as a resource: the same by the admin API and in the realm document. Specification 2.6, 4.4.
// Every realm has the built-in ones, in English; they can be edited but not deleted.
import { Channel } from '../../../contract/message-drivers.ts';
import { messages, messageTemplates, TemplateKey, templateFaults } from '../../../contract/message-templates.ts';
import type { FieldError } from '../../../contract/problem.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';
import { joinPaths } from '../../../resource/items.ts';
import type { Saved } from '../../../resource/part.ts';
import { splitKey } from '../../../resource/table.ts';
import { builtInTemplate } from './built-in-templates.ts';
import { placementFault } from './placement.ts';
import { readersOf } from './readers.ts';
import { BUILT_IN_LOCALE } from './words.ts';

const partsOf = (key: string) => {
  const [templateKey, channel, locale = ''] = splitKey(key, 3);
  return { templateKey: TemplateKey.parse(templateKey), channel: Channel.parse(channel), locale };
};

const check = ({ key, fields: { subject, body, html } }: Saved): FieldError[] =>
  templateFaults({
    ...partsOf(key),
    subject: typeof subject === 'string' ? subject : null,
    body: String(body),
    html: html === true,
  });

export const messageTemplatesResource = (deps: ResourceDeps) =>
  declaredResource(
    messageTemplates,
    {
      table: { columns: { body: { type: 'text', name: 'content' } } },
      fresh: (_, key) => {
        const { templateKey, locale } = partsOf(key);
        return { ...builtInTemplate(templateKey, locale), enabled: true };
      },
      keyOf: async (_, __, { templateKey, channel, locale = BUILT_IN_LOCALE }, before) => {
        if (before) return before.key;
        const { channel: usual } = messages[TemplateKey.parse(templateKey)];
        return [templateKey, channel ?? usual, locale].join('/');
      },
      permanent: ({ key }) => partsOf(key).locale === BUILT_IN_LOCALE,
      check,
      async whole(_, __, changes) {
        const faults: FieldError[] = [];
        for (const { kind, action, path, fields } of changes) {
          if (kind !== 'messageTemplate' || action === 'delete' || fields.html !== true) continue;
          const message = await placementFault(String(fields.body));
          if (message !== undefined) faults.push({ path: joinPaths(path, 'body'), message });
        }
        return faults;
      },
      signsInAs: readersOf,
      detail: ({ enabled }) => ({ enabled }),
    },
    deps,
  );
