// The used part of @xmldom/xmldom. Its own types would bring a browser's globals into every file (tsconfig.json,
// paths).
export interface Attribute {
  name: string;
  localName: string;
  prefix: string | null;
  namespaceURI: string | null;
  value: string;
}
export interface Element {
  nodeType: number;
  nodeValue: string | null;
  localName: string;
  prefix: string | null;
  namespaceURI: string | null;
  textContent: string | null;
  attributes: ArrayLike<Attribute>;
  childNodes: ArrayLike<{ nodeType: number; nodeValue: string | null }>;
  /** The document itself, whose `nodeType` is another, has no attributes. */
  parentNode: Element | null;
  nextSibling: unknown;
  removeChild(child: Element): unknown;
  insertBefore(child: Element, before: unknown): unknown;
}
export interface Document {
  documentElement: Element | undefined;
}
type Report = (message: string) => void;
export declare class DOMParser {
  constructor(options: { errorHandler: { warning: Report; error: Report; fatalError: Report } });
  parseFromString(text: string, type: 'text/xml'): Document | undefined;
}
