// A template with values in its placeholders, so that no value can be more than text: in HTML escaped, in a subject one line.
// Pure. Specification 2.6; which placeholders there are is contract/message-templates.ts's.
import { PLACEHOLDER } from '../../../contract/message-drivers.ts';
import { escapeHtml } from '../../../http/html.ts';
import type { TemplateText } from './built-in-templates.ts';
import { filledPlaceholders } from './placement.ts';

/** By placeholder: `code`, `user.firstName`. */
export type Values = ReadonlyMap<string, string>;
export interface Rendered {
  subject: string | null;
  body: string;
  html: boolean;
}

/** The length of a user's own texts in mails to others: a name must not carry a whole letter. */
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

/** @param missing what stands where there is no value: nothing, or the placeholder as it was */
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
