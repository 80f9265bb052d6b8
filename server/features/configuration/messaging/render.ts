// Fills a template's placeholders, so that each value stays plain text: escaped in HTML, one line in a subject. Pure.
// Specification 2.6; contract/message-templates.ts lists the placeholders.
import { PLACEHOLDER } from '../../../contract/message-drivers.ts';
import { escapeHtml } from '../../../http/html.ts';
import type { TemplateText } from './built-in-templates.ts';
import { filledPlaceholders } from './placement.ts';

/** Values by placeholder: `code`, `user.firstName`. */
export type Values = ReadonlyMap<string, string>;
export interface Rendered {
  subject: string | null;
  body: string;
  html: boolean;
}

/** The longest text from a user in mails to others: a name must not contain a whole letter. */
const LONGEST_OF_USER = 100;
const LONGEST = 2048;
const LONGEST_SUBJECT = 500;

/** The value as one line, without characters that control a terminal or reverse text. */
function plain(placeholder: string, value: string): string {
  const most = placeholder.startsWith('user') ? LONGEST_OF_USER : LONGEST;
  return value
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, most);
}

/** @param missing the text for a placeholder without a value: empty, or the placeholder itself */
export async function render(
  { subject, body, html }: TemplateText,
  values: Values,
  missing: 'nothing' | 'placeholder' = 'nothing',
): Promise<Rendered> {
  const fill = async (template: string, isHtml: boolean) => {
    const filled = await filledPlaceholders(template, isHtml);
    let n = -1;
    return template.replaceAll(PLACEHOLDER, (whole, placeholder: string) => {
      n += 1;
      if (!filled.has(n)) return '';
      const value = values.get(placeholder);
      if (value === undefined) return missing === 'nothing' ? '' : whole;
      const text = plain(placeholder, value);
      return isHtml ? escapeHtml(text) : text;
    });
  };
  return {
    subject: subject === null ? null : plain('', await fill(subject, false)).slice(0, LONGEST_SUBJECT),
    body: await fill(body, html),
    html,
  };
}
