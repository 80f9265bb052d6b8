// Owns: reading foreign XML: no document types, only the five predefined entities, limits of size, depth and number.
// Does not own: the meaning of elements (features), signatures (signature.ts).
// Implements: decisions "SAML client"; the only way in which the server reads XML.
import { DOMParser, type Element } from '@xmldom/xmldom';
import { NOT_XML } from './write.ts';

/** The limits of a document. All are checked by one pass over the text, before it is parsed to a tree. */
export interface XmlLimits {
  bytes: number;
  elements: number;
  /** The attributes of all elements together. */
  attributes: number;
  /** Comments, CDATA sections and processing instructions together. */
  sections: number;
  /** Whether processing instructions may stand beside the root element, as `<?xml-stylesheet?>` does; the server ignores them. */
  instructions: boolean;
}
/**
 * The limits of a message, which anybody may send. A response of 128 KB has fewer than 1,600 attribute values, since
 * each takes 80 bytes or more with its tags. Reading and checking a message at these limits costs about 20 ms of the
 * event loop.
 */
export const MESSAGE: XmlLimits = {
  bytes: 128 * 1024,
  elements: 2_000,
  attributes: 6_000,
  sections: 1_000,
  instructions: false,
};
/** The limits of metadata, which an administrator configures; it may be a federation's aggregate. */
export const METADATA: XmlLimits = {
  bytes: 1024 * 1024,
  elements: 20_000,
  attributes: 60_000,
  sections: 5_000,
  instructions: true,
};

const DEEPEST = 64;
const MOST_ATTRIBUTES = 64;
/** The most namespaces in scope of an element: canonicalisation compares each prefix with all of them. */
const MOST_NAMESPACES = 64;
/** Canonicalisation may repeat the name at each element that uses its prefix. */
const LONGEST_NAMESPACE = 256;
const NAMESPACE = /\sxmlns[^\s=]*\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
/** US-ASCII is a part of UTF-8. */
const DECLARATION =
  /^<\?xml\s+version=(["'])1\.0\1(\s+encoding=(["'])(?:utf-8|us-ascii|iso-8859-1)\3)?(\s+standalone=(["'])(yes|no)\5)?\s*\?>$/i;
const IS_LATIN = /^<\?xml\s[^>]*\sencoding=(["'])iso-8859-1\1/i;
const INSTRUCTION = /^<\?(?!xml[\s?])[A-Za-z_][\w.-]*[\s?]/i;
/** The longest beginning of a text that the two look at. */
const BEGINNING = 200;

/** A fault of the XML, in words for its sender. */
export class XmlError extends Error {}

/** One element, with the data that readers need. */
export interface Xml {
  namespace: string;
  name: string;
  /** Attributes without a namespace, by name. */
  attributes: Readonly<Record<string, string>>;
  /** Of `xml:lang`. */
  language: string | undefined;
  children: readonly Xml[];
  /** The element's own text without comments; its children have theirs. */
  text: string;
}

/**
 * A document that is parsed only once, also for `readSigned` (signature.ts): parsing costs more than the signature
 * does.
 */
export interface XmlDocument {
  root: Element;
  /** The content, which may be unsigned. */
  xml: Xml;
  limits: XmlLimits;
}

/** @throws XmlError */
export function parseDocument(source: string | Buffer, limits: XmlLimits): XmlDocument {
  const root = parseDom(textOf(source, limits), limits);
  return { root, xml: readElement(root), limits };
}

/** @throws XmlError */
export const parseXml = (source: string | Buffer, limits: XmlLimits): Xml => parseDocument(source, limits).xml;

/** Decodes bytes as UTF-8, or as ISO-8859-1 if they declare it. @throws XmlError if they are too many or not UTF-8 */
export function textOf(source: string | Buffer, { bytes }: XmlLimits): string {
  if (source.length > bytes) throw new XmlError(`The XML is larger than ${bytes} bytes`);
  if (typeof source === 'string') return source.replace(/^\uFEFF/, '');
  if (IS_LATIN.test(source.subarray(0, BEGINNING).toString('latin1'))) return source.toString('latin1');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(source);
  } catch {
    throw new XmlError('The XML is not UTF-8');
  }
}

/** The root element. @throws XmlError */
function parseDom(text: string, limits: XmlLimits): Element {
  refuseUnsafe(text, limits);
  const fail = (message: string) => {
    throw new XmlError(`The XML is not well-formed: ${message.split('\n')[0]}`);
  };
  // some faults are only warnings here, such as a repeated attribute, but other parsers read them in another way
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
const BY_NUMBER = /&#(?:(\d+)|x([\da-f]+));/gi;

/** Whether all numeric references are to characters that XML permits (§2.2); the parsed tree would not show that. */
const areCharacters = (part: string): boolean =>
  !part.includes('&#') ||
  part.matchAll(BY_NUMBER).every(([, decimal, hex]) => {
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return code <= 0x10_ff_ff && String.fromCodePoint(code).search(NOT_XML) < 0;
  });

/** Checks the text before it is parsed: one pass, which no nesting can slow down. */
function refuseUnsafe(text: string, limits: XmlLimits): void {
  const open: { name: string; namespaces: number }[] = [];
  const counted = { elements: 0, attributes: 0, sections: 0 };
  const count = (what: keyof typeof counted, words: string, more = 1) => {
    counted[what] += more;
    if (counted[what] > limits[what]) throw new XmlError(`The XML has more than ${limits[what]} ${words}`);
  };
  let namespaces = 0;
  const malformed = (why: string) => new XmlError(`The XML is not well-formed: ${why}`);
  const past = (mark: string, from: number): number => {
    const found = text.indexOf(mark, from);
    if (found < 0) throw malformed(`${mark} is missing`);
    return found + mark.length;
  };
  const refuseReferences = (part: string) => {
    if (NO_REFERENCE.test(part)) throw malformed('& stands alone');
    if (!areCharacters(part)) throw malformed('it refers to a character that XML does not have');
  };
  if (text.search(NOT_XML) >= 0) throw malformed('it has a character that XML does not have');
  const between = (from: number, to: number) => {
    const part = text.slice(from, to);
    refuseReferences(part);
    if (open.length === 0 && part.trim() !== '') throw malformed('there is text beside its element');
  };
  let end = 0;
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', end)) {
    between(end, at);
    if (text.startsWith('<!--', at) || text.startsWith('<![CDATA[', at)) {
      end = text.startsWith('<!--', at) ? past('-->', at + 4) : past(']]>', at + 9);
      count('sections', 'comments and CDATA sections');
    } else if (text.startsWith('<!', at)) throw new XmlError('The XML has a document type');
    else if (text.startsWith('<?', at)) {
      const declares = at === 0 && /^<\?xml\s/.test(text);
      const isBeside = limits.instructions && open.length === 0 && INSTRUCTION.test(text.slice(at, at + BEGINNING));
      if (!declares && !isBeside) throw new XmlError('The XML has a processing instruction');
      end = past('?>', at);
      if (!declares) count('sections', 'comments and CDATA sections');
      else if (!DECLARATION.test(text.slice(0, end))) throw new XmlError('The XML is not version 1.0 in UTF-8');
    } else if (text.startsWith('</', at)) {
      end = past('>', at);
      const name = text.slice(at + 2, end - 1).trimEnd();
      const ended = open.pop();
      if (ended?.name !== name) throw malformed(`</${name}> ends nothing`);
      namespaces -= ended.namespaces;
    } else {
      const { end: after, attributes } = endOfTag(text, at);
      end = after;
      const tag = text.slice(at + 1, end);
      refuseReferences(tag);
      count('elements', 'elements');
      count('attributes', 'attributes', attributes);
      const declared = namespacesIn(tag);
      if (namespaces + declared > MOST_NAMESPACES)
        throw new XmlError(`The XML has more than ${MOST_NAMESPACES} namespaces in one place`);
      if (tag.endsWith('/>')) continue;
      open.push({ name: /^[^\s/>]*/.exec(tag)?.[0] ?? '', namespaces: declared });
      namespaces += declared;
      if (open.length > DEEPEST) throw new XmlError(`The XML is nested more than ${DEEPEST} levels deep`);
    }
  }
  between(end, text.length);
}

/** The number of namespaces that a start tag declares. Text in a value that looks like a declaration counts too. */
function namespacesIn(tag: string): number {
  if (!tag.includes('xmlns')) return 0;
  const names = Array.from(tag.matchAll(NAMESPACE), ([, double, single]) => double ?? single ?? '');
  if (names.some(({ length }) => length > LONGEST_NAMESPACE))
    throw new XmlError(`A namespace has more than ${LONGEST_NAMESPACE} characters`);
  return names.length;
}

/** The end of a tag; a `>` in an attribute's value doesn't end it. */
function endOfTag(text: string, from: number): { end: number; attributes: number } {
  let attributes = 0;
  for (let at = from + 1; at < text.length; at++) {
    const char = text[at];
    if (char === '>') return { end: at + 1, attributes };
    if (char === '<') break;
    if (char !== '"' && char !== "'") continue;
    if (++attributes > MOST_ATTRIBUTES) throw new XmlError(`An element has more than ${MOST_ATTRIBUTES} attributes`);
    at = text.indexOf(char, at + 1);
    if (at < 0) break;
  }
  throw new XmlError('The XML is not well-formed: > is missing');
}

/** Reads an element with all its contents. @throws XmlError */
export function readElement(element: Element): Xml {
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
