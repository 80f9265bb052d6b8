// Owns: reading XML that somebody else wrote: no document types, no entities but the five, bounded in size, depth and number.
// Does not own: what the elements mean (features), signatures (signature.ts).
// Implements: decisions "SAML client"; the only way in which the server reads XML.
import { DOMParser, type Element } from '@xmldom/xmldom';

const MOST_BYTES = 1024 * 1024;
const DEEPEST = 64;
const MOST_ELEMENTS = 20_000;
const MOST_ATTRIBUTES = 64;
const DECLARATION =
  /^<\?xml\s+version=(["'])1\.0\1(\s+encoding=(["'])utf-8\3)?(\s+standalone=(["'])(yes|no)\5)?\s*\?>$/i;

/** What is wrong with it, in words for whoever sent it. */
export class XmlError extends Error {}

/** One element, as much of it as readers need. */
export interface Xml {
  namespace: string;
  name: string;
  /** Of no namespace, by name. */
  attributes: Readonly<Record<string, string>>;
  /** Of `xml:lang`. */
  language: string | undefined;
  children: readonly Xml[];
  /** Its own text, comments left out; that of its children is theirs. */
  text: string;
}

/** @throws XmlError */
export function parseXml(source: string | Buffer): Xml {
  return readElement(parseDom(textOf(source)));
}

/** As UTF-8, whatever it says of itself. @throws XmlError */
export function textOf(source: string | Buffer): string {
  if (source.length > MOST_BYTES) throw new XmlError(`The XML is larger than ${MOST_BYTES} bytes`);
  if (typeof source === 'string') return source.replace(/^\uFEFF/, '');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(source);
  } catch {
    throw new XmlError('The XML is not UTF-8');
  }
}

/** The root element, as signatures are looked for in it. @throws XmlError */
export function parseDom(text: string): Element {
  refuseUnsafe(text);
  const fail = (message: string) => {
    throw new XmlError(`The XML is not well-formed: ${message.split('\n')[0]}`);
  };
  // what it would only warn of, as of an attribute that stands twice, others read in another way
  const parser = new DOMParser({ errorHandler: { warning: fail, error: fail, fatalError: fail } });
  let parsed: ReturnType<typeof parser.parseFromString>;
  try {
    parsed = parser.parseFromString(text, 'text/xml');
  } catch (error) {
    if (error instanceof XmlError) throw error;
    throw new XmlError('The XML is not well-formed', { cause: error });
  }
  if (!parsed?.documentElement) throw new XmlError('The XML has no element');
  return parsed.documentElement;
}

const NO_REFERENCE = /&(?!(?:lt|gt|amp|quot|apos|#\d{1,7}|#x[\da-f]{1,6});)/i;

/** Before a tree is made of it: one walk over the text, which no nesting can slow down. */
function refuseUnsafe(text: string): void {
  const open: string[] = [];
  let elements = 0;
  const malformed = (why: string) => new XmlError(`The XML is not well-formed: ${why}`);
  const past = (mark: string, from: number): number => {
    const found = text.indexOf(mark, from);
    if (found < 0) throw malformed(`${mark} is missing`);
    return found + mark.length;
  };
  const between = (from: number, to: number) => {
    const part = text.slice(from, to);
    if (NO_REFERENCE.test(part)) throw malformed('& stands alone');
    if (open.length === 0 && part.trim() !== '') throw malformed('there is text beside its element');
  };
  let end = 0;
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', end)) {
    between(end, at);
    if (text.startsWith('<!--', at)) end = past('-->', at + 4);
    else if (text.startsWith('<![CDATA[', at)) end = past(']]>', at + 9);
    else if (text.startsWith('<!', at)) throw new XmlError('The XML has a document type');
    else if (text.startsWith('<?', at)) {
      if (at > 0 || !/^<\?xml\s/.test(text)) throw new XmlError('The XML has a processing instruction');
      end = past('?>', at);
      if (!DECLARATION.test(text.slice(0, end))) throw new XmlError('The XML is not version 1.0 in UTF-8');
    } else if (text.startsWith('</', at)) {
      end = past('>', at);
      const name = text.slice(at + 2, end - 1).trimEnd();
      if (open.pop() !== name) throw malformed(`</${name}> ends nothing`);
    } else {
      end = endOfTag(text, at);
      const tag = text.slice(at + 1, end);
      if (NO_REFERENCE.test(tag)) throw malformed('& stands alone');
      if (!tag.endsWith('/>')) open.push(/^[^\s/>]*/.exec(tag)?.[0] ?? '');
      if (open.length > DEEPEST) throw new XmlError(`The XML is nested more than ${DEEPEST} levels deep`);
      if (++elements > MOST_ELEMENTS) throw new XmlError(`The XML has more than ${MOST_ELEMENTS} elements`);
    }
  }
  between(end, text.length);
}

/** A `>` in an attribute's value ends nothing. */
function endOfTag(text: string, from: number): number {
  let attributes = 0;
  for (let at = from + 1; at < text.length; at++) {
    const char = text[at];
    if (char === '>') return at + 1;
    if (char === '<') break;
    if (char !== '"' && char !== "'") continue;
    if (++attributes > MOST_ATTRIBUTES) throw new XmlError(`An element has more than ${MOST_ATTRIBUTES} attributes`);
    at = text.indexOf(char, at + 1);
    if (at < 0) break;
  }
  throw new XmlError('The XML is not well-formed: > is missing');
}

function readElement(element: Element): Xml {
  const attributes = Array.from(element.attributes);
  for (const { prefix, namespaceURI } of [element, ...attributes])
    if (prefix && !namespaceURI) throw new XmlError(`The XML is not well-formed: nothing says what ${prefix}: is`);
  return {
    namespace: element.namespaceURI ?? '',
    name: element.localName,
    attributes: Object.fromEntries(
      attributes.filter(({ namespaceURI }) => !namespaceURI).map(({ localName, value }) => [localName, value]),
    ),
    language: attributes.find(({ name }) => name === 'xml:lang')?.value,
    children: childrenOf(element).map(readElement),
    text: textIn(element),
  };
}

const TEXT = new Set([3, 4]);
const textIn = (element: Element): string =>
  Array.from(element.childNodes)
    .filter(({ nodeType }) => TEXT.has(nodeType))
    .map(({ nodeValue }) => nodeValue ?? '')
    .join('');

export const childrenOf = (element: Element): Element[] =>
  Array.from(element.childNodes).filter((node): node is Element => node.nodeType === 1);
