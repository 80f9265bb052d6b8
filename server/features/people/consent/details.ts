// The details of a rich authorization request, in the words of their types: what the realm declared, with the client's values as plain
// text. Each field that the words leave out is listed below them, so that no words hide a part of what is asked. RFC 9396 §11.1. Pure.
import { DETAIL_PLACEHOLDER } from '../../../contract/authorization-detail-types.ts';
import type { AskedDetail } from '../../../domain/authorization-details.ts';
import { type Html, html, isolated } from '../../../http/html.ts';

/** A field with a value that can be shown: one text, number, boolean or null, or a list of these. */
interface Leaf {
  path: string;
  values: readonly unknown[];
}

const isPlain = (value: unknown): boolean => typeof value !== 'object' || value === null;

function leavesOf(value: unknown, path: string): Leaf[] {
  if (isPlain(value)) return [{ path, values: [value] }];
  if (Array.isArray(value)) {
    if (value.every(isPlain)) return [{ path, values: value }];
    return value.flatMap((one, i) => leavesOf(one, `${path}[${i}]`));
  }
  const entries = Object.entries(Object(value));
  if (entries.length === 0) return [{ path, values: [] }];
  return entries.flatMap(([name, one]) => leavesOf(one, path === '' ? name : `${path}.${name}`));
}

const written = (value: unknown): string => (value === '' ? '“”' : String(value));
/** Each value stands out on its own, so that one value can't look like two, or like the realm's words. */
const shown = (values: readonly unknown[]): Html =>
  values.length === 0
    ? html`–`
    : html`${values.map((value, i) => html`${i > 0 && ', '}<strong>${isolated(written(value))}</strong>`)}`;

/** Quotation marks, and signs that look like them; apostrophes are no such. */
const QUOTES = /(?!['‘’‚‛‹›])[\p{Quotation_Mark}″‶❝❞\\]/gu;
/** Letters that run from right to left. Without isolation (Unicode UAX #9) they would move the values beside them. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** A text between quotation marks that nothing in it can end. */
function quoted(value: unknown): string {
  const text = `“${String(value).replace(QUOTES, '\\$&')}”`;
  return RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text;
}
const plainly = (values: readonly unknown[]): string => (values.length === 0 ? '–' : values.map(quoted).join(', '));
/** A field that only a client named could look like more fields. */
const named = (path: string): string => (/^[\w.[\]-]+$/.test(path) ? path : quoted(path));

/** The words in the page's language, else in English, else in the first one. */
function wordsIn(words: AskedDetail['words'], tag: string): string | undefined {
  const [language = tag] = tag.split('-');
  const [first] = Object.keys(words).toSorted();
  return words[tag] ?? words[language] ?? words.en ?? (first === undefined ? undefined : words[first]);
}

/** The words with the values in their places, and what they leave out. @param tag the language of the page */
function described<Part>(
  { detail, words }: AskedDetail,
  tag: string,
  { text, value }: { text(words: string): Part; value(values: readonly unknown[]): Part },
): { parts: Part[]; rest: Leaf[] } {
  const { type, ...fields } = detail;
  const leaves = Object.entries(fields).flatMap(([name, value]) => leavesOf(value, name));
  // A field name may contain the dots of a path: such fields are ambiguous, and the words don't stand for them.
  const byPath = new Map(leaves.map((leaf) => [leaf.path, leaf]));
  const ambiguous = new Set(leaves.map(({ path }) => path).filter((path, i, all) => all.indexOf(path) !== i));
  const said = new Set<string>();
  const parts = (wordsIn(words, tag) ?? type).split(DETAIL_PLACEHOLDER).map((part, i) => {
    if (i % 2 === 0) return text(part);
    if (part === 'type') return value([type]);
    const leaf = ambiguous.has(part) ? undefined : byPath.get(part);
    said.add(part);
    return value(leaf?.values ?? []);
  });
  const others = leaves.filter(({ path }) => ambiguous.has(path) || !said.has(path));
  return { parts, rest: [{ path: 'type', values: [type] }, ...others] };
}

/** @param tag the language of the page */
export function detailItem(listed: AskedDetail, tag: string): Html {
  const { parts, rest } = described(listed, tag, { text: (words) => html`${words}`, value: shown });
  const rows = rest.map(({ path, values }) => html`<dt>${isolated(path)}</dt><dd>${shown(values)}</dd>`);
  return html`<li><div><div class="what"><bdi>${parts}</bdi></div><dl class="soft">${rows}</dl></div></li>`;
}

/** A detail as one line of text, for a device: each value in quotes. */
export function detailLine(listed: AskedDetail, tag: string): string {
  const { parts, rest } = described(listed, tag, { text: (words) => words, value: plainly });
  return `${parts.join('')} (${rest.map(({ path, values }) => `${named(path)}: ${plainly(values)}`).join('; ')})`;
}
