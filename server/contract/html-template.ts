// Where a placeholder may stand in the HTML of a message: in text, and in a quoted attribute that is no address, style
// or script. There an escaped value stays a value. Pure; HTML that mail programs could parse differently is refused.
import { PLACEHOLDER } from './message-drivers.ts';
import { isSecret } from './secret-placeholders.ts';

/** Elements whose content isn't unescaped as text, or is executed. */
const RAW = 'script style xmp iframe noembed noframes noscript plaintext'.split(' ');
export const ADDRESSES: ReadonlySet<string> = new Set(
  `href src srcset imagesrcset lowsrc dynsrc action formaction background poster cite data codebase archive classid usemap longdesc ping
  attributionsrc manifest profile icon xlink:href`.split(/\s+/),
);
export const OBEYED = /^(on.*|style|srcdoc|http-equiv|content)$/;

const COMMENT = /<!--[\s\S]*?(?:-->|$)/y;
/** A declaration, or text that browsers parse as a comment. */
const OTHER = /<(?:[!?]|\/[^a-zA-Z])[^>]*>?/y;
const TAG = /<\/?([a-zA-Z][^\s/>{}]*)/y;
const ATTRIBUTE = /[\s/]*([^\s"'>/=]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'=<>`]+))?/y;
const TAG_END = /[\s/]*>/y;

/** @returns the template's fault, in words for its author; undefined if it has none */
export function htmlFault(html: string): string | undefined {
  let at = 0;
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(html);
    if (found) at = pattern.lastIndex;
    return found;
  };
  while (at < html.length) {
    const start = html.indexOf('<', at);
    if (start < 0) return undefined;
    at = start;
    const aside = next(COMMENT) ?? next(OTHER);
    if (aside) {
      if (aside[0].includes('{{')) return 'has a placeholder in a comment';
      continue;
    }
    const [, name] = next(TAG) ?? [];
    if (name === undefined) {
      if (html.startsWith('<{{', at)) return 'has a placeholder in the name of a tag';
      at += 1;
      continue;
    }
    if (html[at] === '{') return 'has a placeholder in the name of a tag';
    while (!next(TAG_END)) {
      const [whole, attribute = '', value = ''] = next(ATTRIBUTE) ?? [];
      if (!whole) return `has a tag <${name} that can’t be read`;
      const fault = attributeFault(name.toLowerCase(), attribute.toLowerCase(), value);
      if (fault) return fault;
    }
    const raw = RAW.find((one) => one === name.toLowerCase());
    if (raw === undefined || html[start + 1] === '/') continue;
    const end = html.toLowerCase().indexOf(`</${raw}`, at);
    const inside = html.slice(at, end < 0 ? undefined : end);
    if (inside.includes('{{')) return `has a placeholder in ${raw}`;
    at = end < 0 ? html.length : end;
  }
  return undefined;
}

/** Whether the attribute, with these texts around a link's address, is the target of a link. */
export const isLinkTarget = (
  tag: string,
  attribute: string,
  { before, after }: { before: string; after: string },
): boolean => tag === 'a' && attribute === 'href' && before.trim() === '' && /^(&|\s*$)/.test(after);

function attributeFault(tag: string, attribute: string, value: string): string | undefined {
  if (attribute.includes('{{')) return 'has a placeholder in a tag outside a quoted attribute';
  if (!value.includes('{{')) return undefined;
  if (!/^["']/.test(value)) return `has a placeholder in ${attribute} without quotes`;
  if (OBEYED.test(attribute)) return `has a placeholder in ${attribute}`;
  const placeholders = [...value.matchAll(PLACEHOLDER)];
  const others = placeholders.some(([, of]) => of !== 'link');
  if (ADDRESSES.has(attribute) && others) return `has a placeholder in ${attribute} that isn’t {{link}}`;
  const secret = placeholders.find(([, of = '']) => isSecret(of));
  if (secret === undefined) return undefined;
  const [whole, of] = secret;
  const [before = '', after = ''] = value.slice(1, -1).split(whole);
  if (of === 'link' && placeholders.length === 1 && isLinkTarget(tag, attribute, { before, after })) return undefined;
  return of === 'link'
    ? `has {{link}} in ${attribute}: it stands in text, or at the beginning of the href of a link`
    : `has {{${of}}} in ${attribute}: it stands in text`;
}
