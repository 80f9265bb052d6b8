// Decides which placeholders of a template are filled: those in text or in a quoted attribute. Placeholders for a link
// or a code are filled only where nobody but the reader of the message sees the value. In an address they would tell
// that address's host (`<img src="https://host/?{{link}}">`). Templates are checked when they are saved, and again when
// they are rendered: in one from an older release such a placeholder stays empty. Pure. WHATWG HTML §13.2.5 by parse5's
// tokenizer.
import { randomBytes } from 'node:crypto';
import type { Token, TokenHandler } from 'parse5';
import { ADDRESSES, isLinkTarget, OBEYED } from '../../../contract/html-template.ts';
import { PLACEHOLDER } from '../../../contract/message-drivers.ts';
import { isSecret, placeholdersIn, standsInAddress } from '../../../contract/secret-placeholders.ts';
import { createRecentlyUsed } from '../../../schedule/recently-used.ts';

/** Elements whose content isn't shown as text. */
const RAW = new Set('style xmp iframe noembed noframes noscript'.split(' '));
/** In HTML, elements that contain only text; within an SVG their content is markup. */
const TITLES = new Set(['title', 'textarea']);
/** Elements that end a word; any other element, known or not, may stand within a word. */
const BREAKS = new Set(
  `address article aside blockquote body br caption center col colgroup dd details dialog dir div dl dt fieldset figcaption figure footer
  form h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li main menu nav ol p pre search section summary table tbody td tfoot th
  thead tr ul`.split(/\s+/),
);
/** A form sends the text of an option, which ends with one of these at the latest. */
const OPTION = 'option';
const OPTION_ENDS = new Set([OPTION, 'select', 'datalist']);
/** Attributes that run code, or report a link's address to another site when a user follows it. */
const TELLS = /^(ping|attributionsrc|on.*)$/;

/** The placeholders in order, and the HTML with a mark in place of each. */
function marked(html: string) {
  const nonce = randomBytes(8).toString('hex');
  const placeholders: string[] = [];
  const text = html.replaceAll(PLACEHOLDER, (_, placeholder: string) => {
    // The mark contains a space, which ends an unquoted attribute, so that the mark is complete only in quoted ones.
    placeholders.push(placeholder);
    return `m${nonce} n${placeholders.length - 1}n${nonce}`;
  });
  return { text, placeholders, mark: new RegExp(`m${nonce} n(\\d+)n${nonce}`, 'g') };
}

const fillsAttribute = (
  placeholder: string,
  { tagName, attrs }: Token.TagToken,
  { name, before, after }: { name: string; before: string; after: string },
): boolean => {
  if (!isSecret(placeholder)) return !ADDRESSES.has(name) && !OBEYED.test(name);
  const leadsOn = placeholder === 'link' && isLinkTarget(tagName, name, { before, after });
  return leadsOn && !attrs.some((attribute) => TELLS.test(attribute.name));
};

/** The indices of the placeholders that may be filled. */
async function filledInHtml(html: string): Promise<Set<number>> {
  const { text, placeholders, mark } = marked(html);
  const filled = new Set<number>();
  if (placeholders.length === 0) return filled;
  // Loaded by the first HTML template: a new realm has none.
  const { Tokenizer, TokenizerMode } = await import('parse5');
  const states = new Map<string, (typeof TokenizerMode)[keyof typeof TokenizerMode]>([
    ['script', TokenizerMode.SCRIPT_DATA],
    ['plaintext', TokenizerMode.PLAINTEXT],
    ...[...RAW].map((name) => [name, TokenizerMode.RAWTEXT] as const),
    ...[...TITLES].map((name) => [name, TokenizerMode.RCDATA] as const),
  ]);
  /** The text of the document, and that of its titles and options; other elements' contents are in neither. */
  let [shown, titles, inside] = ['', '', ''];
  let inOption = false;
  const write = (characters: string) => {
    if (inside === '' && !inOption) shown += characters;
    else if (inside === '' || TITLES.has(inside)) titles += characters;
  };
  const handler: TokenHandler = {
    onStartTag(token) {
      if (BREAKS.has(token.tagName)) shown += '\n';
      if (token.tagName === OPTION) inOption = true;
      for (const { name, value } of token.attrs)
        for (const { 0: whole, 1: number, index } of value.matchAll(mark)) {
          const at = { name, before: value.slice(0, index), after: value.slice(index + whole.length) };
          if (fillsAttribute(placeholders[Number(number)] ?? '', token, at)) filled.add(Number(number));
        }
      const state = states.get(token.tagName);
      if (state === undefined) return;
      tokenizer.state = state;
      inside = token.tagName;
    },
    onEndTag({ tagName }) {
      if (BREAKS.has(tagName)) shown += '\n';
      if (OPTION_ENDS.has(tagName)) inOption = false;
      inside = '';
    },
    onCharacter: ({ chars }) => write(chars),
    onWhitespaceCharacter: ({ chars }) => write(chars),
    onNullCharacter: () => {},
    onComment: () => {},
    onDoctype: () => {},
    onEof: () => {},
  };
  const tokenizer = new Tokenizer({}, handler);
  tokenizer.write(text, true);
  for (const [, number] of titles.matchAll(mark))
    if (!isSecret(placeholders[Number(number)] ?? '')) filled.add(Number(number));
  for (const [number, fits] of wordsOf(shown, mark))
    if (fits || !isSecret(placeholders[number] ?? '')) filled.add(number);
  return filled;
}

/** The placeholders in text, and whether each is a word by itself. */
function wordsOf(shown: string, mark: RegExp): [number, boolean][] {
  const marks = [...shown.matchAll(mark)].map(({ 0: whole, 1: number, index }) => ({
    number: Number(number),
    from: index,
    to: index + whole.length,
  }));
  return marks.map(({ number, from, to }, i) => {
    const [last, next] = [marks[i - 1], marks[i + 1]];
    const before = last ? `{${shown.slice(last.to, from)}` : shown.slice(0, from);
    const after = next ? `${shown.slice(to, next.from)}{` : shown.slice(to);
    return [number, !standsInAddress(before, after)];
  });
}

const filledInText = (text: string): Set<number> =>
  new Set([...placeholdersIn(text).entries()].flatMap(([n, { fits }]) => (fits ? [n] : [])));

/** Results by template: a template is rendered for each message and changes seldom. */
const recent = createRecentlyUsed<Promise<ReadonlySet<number>>>({ most: 200 });

/** The indices of the placeholders that are filled. */
export async function filledPlaceholders(template: string, html: boolean): Promise<ReadonlySet<number>> {
  return html ? recent.get(template, () => filledInHtml(template)) : filledInText(template);
}

/** @returns the fault of an HTML body, in words for the administrator who writes it; undefined: it has none */
export async function placementFault(body: string): Promise<string | undefined> {
  const filled = await filledPlaceholders(body, true);
  const placeholders = [...body.matchAll(PLACEHOLDER)].map(([, placeholder = '']) => placeholder);
  const wrong = placeholders.find((_, n) => !filled.has(n));
  if (wrong === undefined) return undefined;
  return isSecret(wrong)
    ? `has {{${wrong}}} in an address or attribute: it stands in text${wrong === 'link' ? ', or at the beginning of the href of a link' : ''}`
    : `has {{${wrong}}} where HTML shows no text`;
}
