// Owns: writing XML in the form of exclusive canonicalisation, so that the written text can be signed unchanged.
// Does not own: the meaning of elements (features), signatures (sign.ts), encryption (encrypt.ts).
// Implements: Exclusive XML Canonicalization 1.0, for elements and attributes as SAML has them; attributes of no namespace alone.

const namespaces = {
  samlp: 'urn:oasis:names:tc:SAML:2.0:protocol',
  saml: 'urn:oasis:names:tc:SAML:2.0:assertion',
  md: 'urn:oasis:names:tc:SAML:2.0:metadata',
  ds: 'http://www.w3.org/2000/09/xmldsig#',
  xenc: 'http://www.w3.org/2001/04/xmlenc#',
} as const;
type Prefix = keyof typeof namespaces;
export type XmlName = `${Prefix}:${string}`;

export interface XmlNode {
  name: XmlName;
  attributes: Readonly<Record<string, string | undefined>>;
  /** Strings are text. */
  children: readonly (XmlNode | string)[];
}

type Child = XmlNode | string | undefined | readonly XmlNode[];

/** Builds an element; undefined attributes and children are left out. */
export const xml = (
  name: XmlName,
  attributes: Readonly<Record<string, string | undefined>> = {},
  ...children: readonly Child[]
): XmlNode => ({ name, attributes, children: children.flatMap((child) => child ?? []) });

/** The node as canonical text, which is the same at every place in a document. */
export const canonicalXml = (node: XmlNode): string => write(node, new Set());

function write({ name, attributes, children }: XmlNode, declared: ReadonlySet<Prefix>): string {
  const prefix = prefixOf(name);
  const declares = declared.has(prefix) ? '' : ` xmlns:${prefix}="${namespaces[prefix]}"`;
  const inside = new Set([...declared, prefix]);
  const given = Object.entries(attributes)
    .filter((pair): pair is [string, string] => pair[1] !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([attribute, value]) => ` ${attribute}="${inAttribute(value)}"`)
    .join('');
  const content = children.map((child) => (typeof child === 'string' ? inText(child) : write(child, inside))).join('');
  return `<${name}${declares}${given}>${content}</${name}>`;
}

const isPrefix = (text: string): text is Prefix => Object.hasOwn(namespaces, text);
function prefixOf(name: XmlName): Prefix {
  const prefix = name.slice(0, name.indexOf(':'));
  if (!isPrefix(prefix)) throw new Error(`${name} has no namespace`);
  return prefix;
}

/** Characters that XML can't hold, even escaped: control characters, halves of surrogate pairs. */
export const NOT_XML = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;
const clean = (text: string): string => text.toWellFormed().replaceAll(NOT_XML, '\uFFFD');

const inText = (text: string): string => clean(text).replaceAll(/[&<>\r]/g, (char) => escapes[char] ?? char);
const inAttribute = (text: string): string => clean(text).replaceAll(/[&<"\t\n\r]/g, (char) => escapes[char] ?? char);
const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#x9;',
  '\n': '&#xA;',
  '\r': '&#xD;',
};
