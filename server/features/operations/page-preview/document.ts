// The document of a previewed page: the layout of all pages with its style sheets inside, without any script, under a policy that
// permits nothing else. It works as a file, and its forms lead nowhere.

import { pageStyle } from '../../../http/page-style.ts';
import type { Brand } from '../../../http/pages.ts';
import { Html, html, languageForm, layout, type Page, themeCss } from '../../../http/pages.ts';

export type Scheme = 'light' | 'dark';

const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; require-trusted-types-for 'script'";
/**
 * A media feature, and the parts of CSS that look like one and are none: comments and strings. One that doesn't end goes on to the
 * end of the line or the text, so that each character is read once.
 */
const SCHEME =
  /\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"\\\n]|\\[\s\S])*(?:"|\n|\\?$)|'(?:[^'\\\n]|\\[\s\S])*(?:'|\n|\\?$)|\(\s*prefers-color-scheme\s*:\s*(light|dark)\s*\)/gi;

/** The style sheet for readers of one scheme: conditions on the scheme are always true or never. */
export const inScheme = (css: string, scheme: Scheme | undefined): string =>
  scheme === undefined
    ? css
    : `${css.replaceAll(SCHEME, (found, wanted: string | undefined) =>
        wanted === undefined ? found : wanted.toLowerCase() === scheme ? '(min-width:0)' : '(max-width:0)',
      )}\n:root{color-scheme:${scheme}}`;

/** Nothing in a style sheet ends the element that it is in, or begins a comment of HTML. */
const inElement = (css: string): Html => new Html(css.replaceAll('</', '<\\/').replaceAll('<!--', ''));

export function documentOf(
  page: Page & { realm: string; brand: Brand },
  {
    languages,
    scheme,
    rightToLeft,
  }: { languages: readonly string[]; scheme: Scheme | undefined; rightToLeft: boolean | undefined },
): string {
  const { realm, brand, plain = false } = page;
  const css = inScheme(`${pageStyle}\n${themeCss(plain ? { ...brand, customCss: null } : brand)}`, scheme);
  const head = html`<meta http-equiv="content-security-policy" content="${POLICY}">
<style>${inElement(css)}</style>`;
  const still = { ...page, script: undefined, foreign: undefined, waiting: undefined };
  const choice = languages.length > 1 && languageForm(realm, languages, '');
  return layout(still, { languages: choice, head, rightToLeft }).text;
}
