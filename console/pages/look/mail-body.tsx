// The HTML of a mail as elements of this page, without anything that loads, runs or leads away: known elements alone, their texts,
// and a few declarations of style. The browser parses it into a document that is never shown.
import { type CSSProperties, createElement, type ReactNode, useMemo } from 'react';
import { inertDocument, SET_ASIDE } from './inert-html.ts';

const KNOWN: ReadonlySet<string> = new Set(
  'p div span br hr strong b em i u s small sub sup blockquote pre code ul ol li dl dt dd table thead tbody tfoot tr td th caption center'.split(
    ' ',
  ),
);
/** Elements whose content is no text. */
const SKIPPED: ReadonlySet<string> = new Set(
  'script style head title meta link iframe object embed template noscript svg math form input button select textarea'.split(
    ' ',
  ),
);
const EMPTY: ReadonlySet<string> = new Set(['br', 'hr']);
const DECLARATION =
  /^(color|background|background-color|font-size|font-weight|font-style|line-height|letter-spacing|text-align|text-decoration|text-transform|vertical-align|display|width|max-width|height|(margin|padding|border)(-(top|right|bottom|left|radius|collapse))?)$/;
const MOST_DEPTH = 60;

/** No address gets out of a style: none of its values has parentheses but colours'. */
const isHarmless = (value: string): boolean => !/url|expression|image|var\(|@|\\|fixed/i.test(value);
function styleOf(text: string | null): CSSProperties {
  const style: Record<string, string> = {};
  for (const declaration of (text ?? '').split(';')) {
    const [name = '', ...rest] = declaration.split(':');
    const value = rest
      .join(':')
      .replace(/!important/i, '')
      .trim();
    if (DECLARATION.test(name.trim().toLowerCase()) && isHarmless(value))
      style[
        name
          .trim()
          .toLowerCase()
          .replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
      ] = value;
  }
  return style;
}

function shown(node: Node, key: number, depth: number): ReactNode {
  if (node.nodeType === Node.TEXT_NODE) return node.textContent;
  if (!(node instanceof Element) || depth > MOST_DEPTH) return null;
  const name = node.localName;
  if (SKIPPED.has(name)) return null;
  const children = [...node.childNodes].map((child, at) => shown(child, at, depth + 1));
  const style = styleOf(node.getAttribute(`${SET_ASIDE}style`));
  if (name === 'img')
    return (
      <span key={key} className="no-picture">
        {node.getAttribute('alt') || 'picture'}
      </span>
    );
  if (name === 'a')
    return (
      <span key={key} className="no-link" style={style} title={node.getAttribute('href') ?? ''}>
        {children}
      </span>
    );
  // the headings of this page are its own
  if (/^h[1-6]$/.test(name))
    return (
      <div key={key} className={`mail-${name}`} style={style}>
        {children}
      </div>
    );
  if (!KNOWN.has(name)) return children;
  const tag = name === 'center' ? 'div' : name;
  return createElement(tag, { key, style }, ...(EMPTY.has(tag) ? [] : children));
}

export function MailBody({ html }: { html: string }) {
  const content = useMemo(() => [...inertDocument(html).body.childNodes].map((node, at) => shown(node, at, 0)), [html]);
  return <div className="mail-html">{content}</div>;
}
