// The used part of xml-crypto. Its own types would bring a browser's globals into every file (tsconfig.json, paths).
import type { KeyObject } from 'node:crypto';
import type { Element } from './xmldom.d.ts';

interface Namespace {
  prefix: string;
  namespaceURI: string;
}
interface Canonicalization {
  /** The element as text, without comments. It may write declarations that are in scope anyway. */
  process(
    element: Element,
    options: { inclusiveNamespacesPrefixList: string[]; ancestorNamespaces: Namespace[] },
  ): string;
}
/** Signing, which only tests do with this package. */
export interface SignedXml {
  addReference(reference: { xpath: string; transforms: string[]; digestAlgorithm: string; uri?: string }): void;
  computeSignature(
    text: string,
    options: { prefix: string; location: { reference: string; action: 'prepend' | 'after' | 'append' | 'before' } },
  ): void;
  getSignedXml(): string;
  /** In place of signatures. */
  enableHMAC(): void;
}
interface Options {
  privateKey?: KeyObject;
  signatureAlgorithm?: string;
  canonicalizationAlgorithm?: string;
  getKeyInfoContent?(args: { prefix?: string | null }): string | null;
}
/** A CommonJS package, so it has only a default export. */
declare const xmlCrypto: {
  ExclusiveCanonicalization: new () => Canonicalization;
  C14nCanonicalization: new () => Canonicalization;
  SignedXml: new (options: Options) => SignedXml;
};
export default xmlCrypto;
