// The html template: values are escaped unless they are Html themselves, which prevents injection into pages.
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

export type HtmlValue = string | number | Html | readonly Html[] | false | null | undefined;

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Safe in text and in quoted attributes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (c) => escapes[c] ?? c);

function render(value: HtmlValue): string {
  if (value === undefined || value === null || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map((part) => part.text).join('');
  return escapeHtml(String(value));
}

/** `html\`<p>${name}</p>\``: escapes strings and numbers; `false`, `null` and `undefined` become nothing. */
export const html = (strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html =>
  new Html(strings.reduce((out, string, i) => out + render(values[i - 1]) + string));

/** A name or text that an administrator or a user wrote: its direction may differ from the page's. */
export const isolated = (own: string): Html => html`<bdi>${own}</bdi>`;
